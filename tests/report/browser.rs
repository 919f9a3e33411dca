//! The page in a real browser: headless Chromium opens it, uses it, and finds its marks. Where there is none, the test says
//! so and checks nothing; `SCALEPROOF_CHROMIUM` names one that is not in the path.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use scaleproof::report::{Telling, html};

use crate::rich::{big, big_judgement, rich};
use crate::{folder, rich_telling};

fn chromium() -> Option<PathBuf> {
    let named = std::env::var_os("SCALEPROOF_CHROMIUM").map(PathBuf::from);
    let path = std::env::var_os("PATH").unwrap_or_default();
    let names = ["chromium", "chromium-browser", "google-chrome"];
    let in_path = || {
        std::env::split_paths(&path)
            .flat_map(|folder| names.map(|name| folder.join(name)))
            .find(|p| p.is_file())
    };
    let found = named.or_else(in_path);
    if found.is_none() {
        eprintln!(
            "SKIPPED: no Chromium in the path; install one (apt-get install chromium) or name it in SCALEPROOF_CHROMIUM"
        );
    }
    found
}

/// What Chromium makes of a page, or of what is asked of it; it has two minutes.
fn open(chromium: &Path, page: &Path, arguments: &[OsString]) -> String {
    let profile = page.with_extension("profile");
    let mut command = Command::new("timeout");
    command.arg("120").arg(chromium).args([
        "--headless",
        "--no-sandbox",
        "--disable-gpu",
        "--hide-scrollbars",
    ]);
    command.args(["--disable-dev-shm-usage", "--window-size=1500,2000", "--virtual-time-budget=3000"]);
    command.arg(format!("--user-data-dir={}", profile.display())).args(arguments);
    command.arg(format!("file://{}", page.display())).stdin(Stdio::null());
    let output = command.output().unwrap();
    let _ = fs::remove_dir_all(profile);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Uses the page as a reader would, and writes what came of it where the test finds it.
const READER: &str = r##"<script>
addEventListener("error", (event) => { document.body.dataset.error = event.message; });
const say = (name, value) => { document.body.dataset[name] = String(value); };
const all = (what) => document.querySelectorAll(what);
const timeline = document.querySelector(".timeline"), sheet = document.querySelector(".sheet");
const before = sheet.getBoundingClientRect().width;
timeline.focus();
say("focused", document.activeElement === timeline);
timeline.dispatchEvent(new KeyboardEvent("keydown", { key: "+", bubbles: true }));
say("zoomed", sheet.getBoundingClientRect().width > before * 1.5);
timeline.dispatchEvent(new KeyboardEvent("keydown", { key: "0", bubbles: true }));
say("back", Math.abs(sheet.getBoundingClientRect().width - before) < 1);
const lane = document.querySelector("#band-pods .lane").getBoundingClientRect();
document.querySelector("#band-pods .lane").dispatchEvent(
  new PointerEvent("pointermove", { bubbles: true, clientX: lane.left + lane.width / 2, clientY: lane.top + 5 }));
say("cursor", document.getElementById("cursor").textContent);
const rows = [...all("#events tbody tr")], filter = document.getElementById("filter");
filter.value = "small-3 bought";
filter.dispatchEvent(new Event("input"));
say("found", rows.filter((row) => !row.hidden).length);
document.getElementById("events").open = false;
location.hash = document.querySelector(".proofs ul a").hash;
setTimeout(() => say("revealed", document.querySelector(location.hash).checkVisibility()), 200);
const within = [...all(".lane .bar, .lane .mark")].every((mark) => {
  const at = mark.getBoundingClientRect(), lane = mark.parentElement.getBoundingClientRect();
  return at.width > 0 && at.height > 0 && at.left >= lane.left - 20 && at.left <= lane.right + 20;
});
say("within", within);
say("pins", all(".mark.pin").length);
say("overflow", document.documentElement.scrollWidth > innerWidth);
</script></body>"##;

fn said<'d>(dom: &'d str, name: &str) -> &'d str {
    let start = format!("data-{name}=\"");
    dom.split_once(&start).map_or("", |(_, rest)| rest.split('"').next().unwrap())
}

#[test]
fn a_browser_shows_the_page_and_a_reader_can_use_it() {
    let Some(chromium) = chromium() else { return };
    let folder = folder("browser");
    let (rich, big) = (rich(), big(150));
    let large = Telling::of(&big, &big_judgement(&big, 150), None);
    for (name, history, telling) in [("rich", &rich, rich_telling(&rich)), ("big", &big, large)] {
        let page = html::page(history, &telling);
        let path = folder.join(format!("{name}.html"));
        fs::write(&path, page.replace("</body>", READER)).unwrap();
        let dom = open(&chromium, &path, &["--dump-dom".into()]);
        assert_eq!(said(&dom, "error"), "", "{name}");
        assert_eq!(said(&dom, "ready"), "true", "{name}: its script has come to its end");
        for wish in ["focused", "zoomed", "back", "revealed", "within"] {
            assert_eq!(said(&dom, wish), "true", "{name}: {wish}");
        }
        assert_eq!(said(&dom, "overflow"), "false", "{name}");
        assert!(said(&dom, "pins").parse::<usize>().unwrap() >= 4, "{name}: {}", said(&dom, "pins"));
        if name == "rich" {
            assert_eq!(said(&dom, "cursor"), "+45m00.0s");
            assert_eq!(said(&dom, "found"), "1");
        }
    }
}

#[test]
fn a_browser_takes_a_picture_of_it_in_the_light_and_in_the_dark() {
    let Some(chromium) = chromium() else { return };
    let folder = folder("picture");
    let history = rich();
    let path = folder.join("rich.html");
    fs::write(&path, html::page(&history, &rich_telling(&history))).unwrap();
    let mut pictures = Vec::new();
    for (name, scheme) in [("light", "1"), ("dark", "0")] {
        let picture = folder.join(format!("{name}.png"));
        let mut wish = OsString::from("--screenshot=");
        wish.push(&picture);
        let scheme = format!("--blink-settings=preferredColorScheme={scheme}").into();
        open(&chromium, &path, &[wish, scheme]);
        pictures.push(fs::read(picture).unwrap());
    }
    assert!(pictures.iter().all(|picture| picture.starts_with(b"\x89PNG") && picture.len() > 50_000));
    assert_ne!(pictures[0], pictures[1]);
}

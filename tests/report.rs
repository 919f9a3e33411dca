//! Reports of histories: what they say, that they are whole, and that a browser shows them.
#![expect(clippy::unwrap_used, reason = "all of this binary is a test")]

#[path = "report/rich.rs"]
mod rich;
#[path = "checks/story.rs"]
#[expect(dead_code, reason = "a report needs fewer words than the checks")]
mod story;

use scaleproof::check::judge;
use scaleproof::history::{History, file};
use scaleproof::report::{Telling, html};

fn telling(history: &History) -> Telling {
    Telling::of(history, &judge(history), Some("runs/1/history.jsonl"))
}

#[test]
fn pages() {
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("pages");
    std::fs::create_dir_all(&folder).unwrap();
    for (name, history) in [("rich", rich::rich()), ("big", rich::big(500))] {
        let page = html::page(&history, &telling(&history));
        file::write(&history, std::fs::File::create(folder.join(format!("{name}.jsonl"))).unwrap()).unwrap();
        std::fs::write(folder.join(format!("{name}.html")), page).unwrap();
    }
}

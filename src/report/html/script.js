"use strict";
// Zooming, a hair line with the time under the pointer, and the filter of the events. Without it the page is still whole.
(() => {
  const timeline = document.querySelector(".timeline");
  const sheet = timeline.querySelector(".sheet");
  const lines = timeline.querySelector(".lines");
  const hair = document.getElementById("hair");
  const cursor = document.getElementById("cursor");
  const spanMs = Number(timeline.dataset.spanMs);
  let zoom = 1;

  const moment = (ms) => {
    const tenths = Math.round(ms / 100), s = Math.floor(tenths / 10);
    const two = (n) => String(n).padStart(2, "0");
    const h = Math.floor(s / 3600), m = Math.floor(s / 60) % 60, rest = two(s % 60) + "." + (tenths % 10) + "s";
    return "+" + (h ? h + "h" + two(m) + "m" : m + "m") + rest;
  };

  // Where in the run a place on the screen is, from 0 to 1.
  const part = (x) => {
    const box = lines.getBoundingClientRect();
    return (x - box.left) / box.width;
  };

  // Zooms so that what is under x stays there.
  const setZoom = (wanted, x) => {
    const box = timeline.getBoundingClientRect();
    const at = x ?? box.left + box.width / 2;
    const held = Math.min(1, Math.max(0, part(at)));
    zoom = Math.min(64, Math.max(1, wanted));
    sheet.style.setProperty("--zoom", zoom);
    const now = lines.getBoundingClientRect();
    timeline.scrollLeft += now.left + held * now.width - at;
  };
  const by = (factor, x) => setZoom(factor === 0 ? 1 : zoom * factor, x);

  for (const button of document.querySelectorAll("[data-zoom]")) {
    button.addEventListener("click", () => by(Number(button.dataset.zoom)));
  }
  timeline.addEventListener("keydown", (event) => {
    const factor = { "+": 2, "=": 2, "-": 0.5, "0": 0 }[event.key];
    if (factor === undefined || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    by(factor);
  });
  timeline.addEventListener("wheel", (event) => {
    if (!event.ctrlKey) return;
    event.preventDefault();
    by(event.deltaY < 0 ? 1.25 : 0.8, event.clientX);
  }, { passive: false });
  timeline.addEventListener("pointermove", (event) => {
    const at = part(event.clientX);
    const inside = at >= 0 && at <= 1;
    hair.style.display = inside ? "block" : "none";
    if (!inside) return;
    hair.style.left = at * 100 + "%";
    const named = event.target.closest("[title]");
    cursor.textContent = moment(at * spanMs) + (named && named.title ? "  " + named.title : "");
  });
  timeline.addEventListener("pointerleave", () => { hair.style.display = "none"; });

  const events = document.getElementById("events");
  const filter = document.getElementById("filter");
  const found = document.getElementById("found");
  const rows = [...events.querySelectorAll("tbody tr")];
  const words = rows.map((row) => row.textContent.toLowerCase());
  filter.addEventListener("input", () => {
    const wanted = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
    let count = 0;
    rows.forEach((row, at) => {
      row.hidden = !wanted.every((word) => words[at].includes(word));
      if (!row.hidden) count += 1;
    });
    found.textContent = wanted.length ? count + " of " + rows.length : "";
  });

  // A link opens what folds its target away, and shows it even if the filter hides it.
  const reveal = () => {
    const target = location.hash.length > 1 && document.getElementById(location.hash.slice(1));
    if (!target) return;
    target.hidden = false;
    for (let fold = target.closest("details"); fold; fold = fold.parentElement.closest("details")) fold.open = true;
    target.scrollIntoView({ block: "center" });
  };
  addEventListener("hashchange", reveal);
  reveal();
  document.documentElement.dataset.ready = "true";
})();

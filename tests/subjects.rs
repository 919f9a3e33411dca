//! Subjects as they come: what a run makes of them, good, ill and of no use at all.

#![expect(clippy::unwrap_used, reason = "all of this binary is a test")]

#[path = "subjects/bad.rs"]
mod bad;
#[path = "subjects/health.rs"]
mod health;
#[path = "subjects/hostile.rs"]
mod hostile;
#[path = "subjects/orphans.rs"]
mod orphans;
#[path = "subjects/own_words.rs"]
mod own_words;
#[path = "subjects/telling.rs"]
mod telling;
#[path = "subjects/words.rs"]
mod words;
#[path = "subjects/workshop.rs"]
mod workshop;

//! The door between real clients and the two mocks, and between rough clients and a small origin of the tests' own.
//!
//! What rules pick and what answers say is tested beside the code.

#![expect(clippy::unwrap_used, reason = "all of this binary is a test")]

#[path = "door/cloud.rs"]
mod cloud;
#[path = "door/fates.rs"]
mod fates;
#[path = "door/hardship.rs"]
mod hardship;
#[path = "door/kubernetes.rs"]
mod kubernetes;
#[path = "door/stage.rs"]
mod stage;

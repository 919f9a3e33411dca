//! What the server does to an object just before it is stored, whatever the client sent: which fields a client cannot
//! set, and when the generation counts.
//!
//! On create the object has its name and uid already. On update `old` is the stored object; here the metadata that no
//! update can change is restored as well.

mod create;
mod generation;
mod pod;
mod update;

pub(crate) use create::for_create;
pub(crate) use pod::class_of_service;
pub(crate) use update::for_update;

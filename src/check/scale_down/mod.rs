//! Promises about giving nodes back. One a file, named after its claim.

pub(in crate::check) mod pools_reach_zero;
pub(in crate::check) mod unneeded_nodes_go_in_time;
pub(in crate::check) mod unready_nodes_go;

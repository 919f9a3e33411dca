//! Promises about what must survive the faults of others. One a file, named after its claim.

pub(in crate::check) mod lost_servers_are_replaced;
pub(in crate::check) mod never_ready_nodes_go;
pub(in crate::check) mod watches_are_taken_up_again;

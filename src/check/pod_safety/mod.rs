//! Promises about running pods, and about what is not the subject's. One a file, named after its claim.

pub(in crate::check) mod bare_pods_keep_their_node;
pub(in crate::check) mod local_storage_keeps_its_node;
pub(in crate::check) mod system_pods_keep_their_node;
pub(in crate::check) mod unsafe_pods_keep_their_node;

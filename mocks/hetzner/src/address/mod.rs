//! IP addresses: which there are, who may have which, and what comes back when it is given up.
//!
//! Stands below networks, servers, primary and floating IPs, which ask here before they store an address.
//! It routes nothing and knows no resource: an address is taken or it is not.

mod pool;
mod private;
mod range;

pub(crate) use pool::{Exhausted, Pools, default_pointer};
pub(crate) use private::{PrivateSpace, Refusal, Subnet, SubnetKind, SubnetRefusal, Wish};
pub(crate) use range::Range;

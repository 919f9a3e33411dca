//! Public addresses that move between servers.

use serde::{Deserialize, Serialize};

use crate::shelf::{Head, resource};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct FloatingIp {
    pub(crate) head: Head,
    /// To which it leads.
    pub(crate) server: Option<u64>,
}

resource!(FloatingIp, FloatingIp);

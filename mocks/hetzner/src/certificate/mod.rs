//! What load balancers prove their names with.

use serde::{Deserialize, Serialize};

use crate::shelf::{Head, resource};

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Certificate {
    pub(crate) head: Head,
}

resource!(Certificate, Certificate);

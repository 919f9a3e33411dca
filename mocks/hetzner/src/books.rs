//! What the ledger is told.

use crate::call::Call;
use crate::kind::Kind;
use crate::project::Project;

impl Project {
    /// A server is there from now on.
    pub(crate) fn server_opened(&mut self, _call: &Call<'_>, _id: u64) {}

    /// A server goes.
    pub(crate) fn server_closed(&mut self, _call: &Call<'_>, _id: u64) {}

    /// Something else is there from now on.
    pub(crate) fn opened(&mut self, _call: &Call<'_>, _kind: Kind, _id: u64) {}

    /// Something else goes.
    pub(crate) fn closed(&mut self, _call: &Call<'_>, _kind: Kind, _id: u64) {}
}

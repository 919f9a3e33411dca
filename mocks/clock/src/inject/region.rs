//! What a foreign process has of ours in its memory, and where: one stretch of it, the same in all processes of a run.
//!
//! | from the beginning | may be | content |
//! |---|---|---|
//! | `CODE` | executed | the [blob](super::blob) |
//! | `LOCAL` | read | what differs from process to process: [`local`] |
//! | `IMAGE` | executed | the substitute vDSO |
//! | `CLOCK` | read | the clock of the page, shared |
//! | `SHARED` | written | what is shared on the page |

use crate::page::layout;

/// How much room the code has.
pub(super) const CODE_LENGTH: u64 = 0x4000;
pub(super) const LOCAL: u64 = CODE_LENGTH;
pub(super) const LOCAL_LENGTH: u64 = 0x1000;
pub(super) const IMAGE: u64 = LOCAL + LOCAL_LENGTH;
/// How large a vDSO may be, and how much room its substitute has: it has jumps behind it.
pub(super) const VDSO_MAX: u64 = 0x7000;
pub(super) const IMAGE_LENGTH: u64 = 0x8000;
pub(super) const CLOCK: u64 = IMAGE + IMAGE_LENGTH;
pub(super) const SHARED: u64 = CLOCK + layout::CLOCK_LENGTH;
pub(super) const LENGTH: u64 = SHARED + layout::SHARED_LENGTH;

/// Where the region begins, unless something else lies there; any of these will do, the first that is free is taken.
pub(super) const PLACES: [u64; 3] = [0x10_0000_0000, 0x1b_0000_0000, 0x5a_0000_0000];

/// Words that differ from process to process.
pub(super) mod local {
    /// Where the real vDSO begins and ends.
    pub(crate) const VDSO: u64 = 0;
    pub(crate) const VDSO_END: u64 = 8;
    /// Its own `clock_gettime`.
    pub(crate) const CLOCK_GETTIME: u64 = 16;
}

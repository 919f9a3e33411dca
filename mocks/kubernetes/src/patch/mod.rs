//! The four ways to patch: JSON, merge, strategic merge and server-side apply.

//! The controller manager: one file a controller, all fed by the store's log of changes.

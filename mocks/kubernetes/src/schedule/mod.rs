//! The scheduler: queue, filters, scores, binding, pre-emption.

//! Label and field selectors, parsed and matched.

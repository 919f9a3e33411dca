//! Which resources there are, and how clients find out: discovery and OpenAPI.

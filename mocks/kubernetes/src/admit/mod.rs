//! What the server does to a built-in object before it is stored: defaults, admission, validation.

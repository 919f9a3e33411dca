//! What a whole history is judged to be.

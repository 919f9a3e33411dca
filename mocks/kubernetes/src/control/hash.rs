//! Short names for templates: a hash that is the same in every run, written in letters that make no words.

use serde::Serialize;

const LETTERS: &[u8; 27] = b"bcdfghjklmnpqrstvwxz2456789";

/// The hash of a value, and of how often it was found taken. It is not upstream's, which hashes Go's memory.
pub(super) fn short_hash(value: &impl Serialize, collisions: Option<i32>) -> String {
    let mut hash = 0x811c_9dc5_u32;
    let mut feed = |bytes: &[u8]| {
        for byte in bytes {
            hash = (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193);
        }
    };
    feed(&serde_json::to_vec(value).unwrap_or_default());
    if let Some(collisions) = collisions {
        feed(&collisions.to_le_bytes());
    }
    let letter = |digit: u8| char::from(LETTERS[usize::from(digit) % LETTERS.len()]);
    hash.to_string().bytes().map(letter).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_stable_and_tells_collisions_apart() {
        assert_eq!(short_hash(&"a", None), short_hash(&"a", None));
        assert_ne!(short_hash(&"a", None), short_hash(&"b", None));
        assert_ne!(short_hash(&"a", None), short_hash(&"a", Some(1)));
        assert!(short_hash(&"a", None).bytes().all(|letter| LETTERS.contains(&letter)));
    }
}

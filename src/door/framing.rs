//! Where one event of a watch ends and the next one begins, so that the door can say something in between: that the
//! revision is too old, as the API would say it.

use bytes::Bytes;
use serde_json::json;

use super::answer::expired_status;

/// The form of a watch, and where in it we are.
pub(super) enum Framing {
    /// JSON, an event a line.
    Lines {
        /// An event has begun and not ended.
        within: bool,
    },
    /// Protobuf, each event after its length.
    Frames {
        /// What is there of the next length.
        length: Vec<u8>,
        /// What is still to come of the event.
        left: usize,
    },
}

impl Framing {
    pub(super) fn protobuf() -> Self {
        Self::Frames { length: Vec::new(), left: 0 }
    }

    /// These bytes are passed on.
    pub(super) fn passes(&mut self, mut data: &[u8]) {
        match self {
            Self::Lines { within } => *within = data.last().is_some_and(|last| *last != b'\n'),
            Self::Frames { length, left } => {
                while let Some((first, rest)) = data.split_first() {
                    if *left > 0 {
                        let taken = data.len().min(*left);
                        *left -= taken;
                        data = &data[taken..];
                        continue;
                    }
                    length.push(*first);
                    data = rest;
                    if let Ok(bytes) = <[u8; 4]>::try_from(length.as_slice()) {
                        *left = usize::try_from(u32::from_be_bytes(bytes)).unwrap_or(usize::MAX);
                        length.clear();
                    }
                }
            }
        }
    }

    /// An event has begun and not ended.
    pub(super) fn within(&self) -> bool {
        match self {
            Self::Lines { within } => *within,
            Self::Frames { length, left } => *left > 0 || !length.is_empty(),
        }
    }

    /// The event that says that the revision is too old.
    pub(super) fn expired(&self) -> Bytes {
        let status = expired_status();
        if matches!(self, Self::Lines { .. }) {
            return Bytes::from(format!("{}\n", json!({ "type": "ERROR", "object": status })));
        }
        let text = |name: &str| status[name].as_str().unwrap_or_default().as_bytes().to_vec();
        let mut object = Vec::new();
        for (number, bytes) in
            [(1, Vec::new()), (2, text("status")), (3, text("message")), (4, text("reason"))]
        {
            put(&mut object, number, &bytes);
        }
        // The code, as a number.
        object.push(6 << 3);
        put_number(&mut object, 410);
        let mut kind = Vec::new();
        put(&mut kind, 1, b"v1");
        put(&mut kind, 2, b"Status");
        let mut enveloped = b"k8s\0".to_vec();
        put(&mut enveloped, 1, &kind);
        put(&mut enveloped, 2, &object);
        put(&mut enveloped, 3, b"");
        put(&mut enveloped, 4, b"");
        let mut raw = Vec::new();
        put(&mut raw, 1, &enveloped);
        let mut event = Vec::new();
        put(&mut event, 1, b"ERROR");
        put(&mut event, 2, &raw);
        let mut frame = u32::try_from(event.len()).unwrap_or(u32::MAX).to_be_bytes().to_vec();
        frame.append(&mut event);
        Bytes::from(frame)
    }
}

/// A field of bytes.
fn put(out: &mut Vec<u8>, number: u8, bytes: &[u8]) {
    out.push(number << 3 | 2);
    put_number(out, bytes.len());
    out.extend_from_slice(bytes);
}

fn put_number(out: &mut Vec<u8>, number: usize) {
    let [low, ..] = number.to_le_bytes();
    let rest = number >> 7;
    out.push(if rest == 0 { low } else { low | 0x80 });
    if rest > 0 {
        put_number(out, rest);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Wherever the pieces are cut, the ends are found.
    #[test]
    fn the_end_of_an_event_is_known_in_both_forms() {
        for mut framing in [Framing::Lines { within: false }, Framing::protobuf()] {
            let event = framing.expired();
            for cut in 1..event.len() {
                framing.passes(&event[..cut]);
                assert!(framing.within(), "{cut}");
                framing.passes(&event[cut..]);
                assert!(!framing.within(), "{cut}");
            }
            framing.passes(&[event.clone(), event].concat());
            assert!(!framing.within());
        }
    }
}

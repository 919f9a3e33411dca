//! Tags, varints and lengths.

use super::Error;

/// The value behind a tag.
#[derive(Clone, Copy, Debug)]
pub(super) enum Raw<'a> {
    Varint(u64),
    Fixed64(u64),
    Fixed32,
    Bytes(&'a [u8]),
}

impl<'a> Raw<'a> {
    pub(super) fn varint(self) -> Result<u64, Error> {
        match self {
            Self::Varint(value) => Ok(value),
            _ => Err(WRONG_TYPE),
        }
    }

    pub(super) fn bytes(self) -> Result<&'a [u8], Error> {
        match self {
            Self::Bytes(bytes) => Ok(bytes),
            _ => Err(WRONG_TYPE),
        }
    }

    pub(super) fn text(self) -> Result<&'a str, Error> {
        std::str::from_utf8(self.bytes()?).map_err(|_| Error::Malformed("a text is not UTF-8"))
    }
}

pub(super) const WRONG_TYPE: Error = Error::Malformed("wrong wireType");
const SHORT: Error = Error::Malformed("unexpected EOF");

/// Reads the fields of one message.
pub(super) struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// The next field, or nothing at the end.
    pub(super) fn next(&mut self) -> Result<Option<(u32, Raw<'a>)>, Error> {
        if self.0.is_empty() {
            return Ok(None);
        }
        let key = self.varint()?;
        let tag = u32::try_from(key >> 3).map_err(|_| Error::Malformed("illegal tag"))?;
        if tag == 0 {
            return Err(Error::Malformed("illegal tag 0"));
        }
        let raw = match key & 7 {
            0 => Raw::Varint(self.varint()?),
            1 => {
                let bytes = self.take(8)?;
                Raw::Fixed64(u64::from_le_bytes(bytes.try_into().map_err(|_| SHORT)?))
            }
            2 => {
                let length = usize::try_from(self.varint()?).map_err(|_| SHORT)?;
                Raw::Bytes(self.take(length)?)
            }
            5 => {
                self.take(4)?;
                Raw::Fixed32
            }
            _ => return Err(WRONG_TYPE),
        };
        Ok(Some((tag, raw)))
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn varint(&mut self) -> Result<u64, Error> {
        let mut value = 0;
        for (at, byte) in self.0.iter().enumerate().take(10) {
            value |= u64::from(byte & 0x7f) << (7 * at);
            if byte & 0x80 == 0 {
                self.0 = &self.0[at + 1..];
                return Ok(value);
            }
        }
        Err(if self.0.len() < 10 { SHORT } else { Error::Malformed("integer overflow") })
    }

    fn take(&mut self, length: usize) -> Result<&'a [u8], Error> {
        let (taken, rest) = self.0.split_at_checked(length).ok_or(SHORT)?;
        self.0 = rest;
        Ok(taken)
    }
}

pub(super) fn put_varint(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(low_bits(value) | 0x80);
        value >>= 7;
    }
    out.push(low_bits(value));
}

fn low_bits(value: u64) -> u8 {
    u8::try_from(value & 0x7f).unwrap_or(0)
}

pub(super) fn put_number(out: &mut Vec<u8>, tag: u32, value: u64) {
    put_varint(out, u64::from(tag) << 3);
    put_varint(out, value);
}

pub(super) fn put_bytes(out: &mut Vec<u8>, tag: u32, bytes: &[u8]) {
    put_varint(out, u64::from(tag) << 3 | 2);
    put_varint(out, bytes.len() as u64);
    out.extend_from_slice(bytes);
}

pub(super) fn put_double(out: &mut Vec<u8>, tag: u32, value: f64) {
    put_varint(out, u64::from(tag) << 3 | 1);
    out.extend_from_slice(&value.to_le_bytes());
}

/// Writes a message whose length is known only afterwards: most are short, so one byte is kept free for it.
pub(super) fn put_message<E>(
    out: &mut Vec<u8>,
    tag: u32,
    body: impl FnOnce(&mut Vec<u8>) -> Result<(), E>,
) -> Result<(), E> {
    put_varint(out, u64::from(tag) << 3 | 2);
    let start = out.len();
    out.push(0);
    body(out)?;
    let length = (out.len() - start - 1) as u64;
    if length < 0x80 {
        out[start] = low_bits(length);
    } else {
        let mut prefix = Vec::with_capacity(10);
        put_varint(&mut prefix, length);
        out.splice(start..=start, prefix);
    }
    Ok(())
}

//! Reads what resolvers read of a 64-bit x86 ELF image as it lies in memory: segments and dynamic symbols.
//!
//! The image is another program's memory: nothing in it is taken on trust, and what points out of it is an error. It
//! does not look at sections, versions and relocations.

use std::ops::Range;

use super::VdsoError;

const PROGRAM_HEADER: u64 = 56;
const DYNAMIC_ENTRY: u64 = 16;
pub(super) const SYMBOL: u64 = 24;

const PT_LOAD: u32 = 1;
const PT_DYNAMIC: u32 = 2;
const PF_X: u32 = 1;

const DT_NULL: u64 = 0;
const DT_HASH: u64 = 4;
const DT_STRTAB: u64 = 5;
const DT_SYMTAB: u64 = 6;
const DT_GNU_HASH: u64 = 0x6fff_fef5;

/// One entry of the table of dynamic symbols.
pub(super) struct Symbol<'a> {
    pub(super) name: &'a [u8],
    pub(super) section: u16,
    pub(super) value: u64,
}

/// An image and where its parts are. All places are offsets from its beginning.
pub(super) struct Elf<'a> {
    image: &'a [u8],
    /// The address for which the image was linked: from it its own addresses are counted.
    pub(super) linked_at: u64,
    executable: Vec<Range<usize>>,
    strings: u64,
    symbols: u64,
    symbol_count: u64,
}

impl<'a> Elf<'a> {
    pub(super) fn read(image: &'a [u8]) -> Result<Self, VdsoError> {
        // 64 bit, little endian; the machine is x86-64.
        if !image.starts_with(b"\x7fELF\x02\x01") || half(image, 18)? != 62 {
            return Err(VdsoError::NoElf);
        }
        let segments = segments(image)?;
        let first =
            segments.iter().find(|s| s.kind == PT_LOAD).ok_or(VdsoError::Missing("segment to load"))?;
        // Some resolvers add this offset and others do not: they agree where it is 0, as in every known vDSO.
        if first.offset != 0 {
            return Err(VdsoError::Missing("segment that begins with it"));
        }
        let linked_at = first.address;

        let mut executable = Vec::new();
        for s in segments.iter().filter(|s| s.kind == PT_LOAD && s.flags & PF_X != 0) {
            executable.push(s.place(linked_at, image).ok_or(VdsoError::Outside("code"))?);
        }
        let dynamic =
            segments.iter().find(|s| s.kind == PT_DYNAMIC).ok_or(VdsoError::Missing("dynamic section"))?;
        let dynamic = dynamic.address.wrapping_sub(linked_at);
        let table = |tag| -> Result<Option<u64>, VdsoError> {
            Ok(dynamic_value(image, dynamic, tag)?.map(|address| address.wrapping_sub(linked_at)))
        };
        let strings = table(DT_STRTAB)?.ok_or(VdsoError::Missing("names"))?;
        let symbols = table(DT_SYMTAB)?.ok_or(VdsoError::Missing("symbols"))?;
        let symbol_count = match (table(DT_HASH)?, table(DT_GNU_HASH)?) {
            (Some(hash), _) => u64::from(word(image, hash.saturating_add(4))?),
            (None, Some(hash)) => gnu_hash_count(image, hash)?,
            // No table says how many there are, but linkers write the names right behind the symbols.
            (None, None) => {
                strings.checked_sub(symbols).ok_or(VdsoError::Missing("count of symbols"))? / SYMBOL
            }
        };
        Ok(Self { image, linked_at, executable, strings, symbols, symbol_count })
    }

    /// The dynamic symbols in their order.
    pub(super) fn symbols(&self) -> impl Iterator<Item = Result<Symbol<'a>, VdsoError>> {
        (0..self.symbol_count).map(|n| self.symbol(self.symbols.saturating_add(n * SYMBOL)))
    }

    fn symbol(&self, at: u64) -> Result<Symbol<'a>, VdsoError> {
        let name = self.strings.saturating_add(u64::from(word(self.image, at)?));
        Ok(Symbol {
            name: name_at(self.image, name)?,
            section: half(self.image, at.saturating_add(6))?,
            value: double(self.image, at.saturating_add(8))?,
        })
    }

    /// Where the first of these bytes are that can be executed.
    pub(super) fn instruction(&self, bytes: [u8; 2]) -> Option<usize> {
        self.executable.iter().find_map(|code| {
            let found = self.image.get(code.clone())?.windows(2).position(|window| window == bytes)?;
            Some(code.start + found)
        })
    }
}

struct Segment {
    kind: u32,
    flags: u32,
    offset: u64,
    address: u64,
    size: u64,
}

impl Segment {
    /// Which bytes of the image are this segment. The kernel maps a vDSO as one piece.
    fn place(&self, linked_at: u64, image: &[u8]) -> Option<Range<usize>> {
        let start = usize::try_from(self.address.wrapping_sub(linked_at)).ok()?;
        let end = start.checked_add(usize::try_from(self.size).ok()?)?;
        (end <= image.len()).then_some(start..end)
    }
}

fn segments(image: &[u8]) -> Result<Vec<Segment>, VdsoError> {
    let (headers, count) = (double(image, 32)?, u64::from(half(image, 56)?));
    if u64::from(half(image, 54)?) != PROGRAM_HEADER {
        return Err(VdsoError::NoElf);
    }
    (0..count)
        .map(|n| {
            let field = |offset| headers.saturating_add(n * PROGRAM_HEADER + offset);
            Ok(Segment {
                kind: word(image, field(0))?,
                flags: word(image, field(4))?,
                offset: double(image, field(8))?,
                address: double(image, field(16))?,
                size: double(image, field(32))?,
            })
        })
        .collect()
}

/// What stands beside a tag in the dynamic section. Reading ends with the section or, as an error, with the image.
fn dynamic_value(image: &[u8], dynamic: u64, tag: u64) -> Result<Option<u64>, VdsoError> {
    let mut at = dynamic;
    loop {
        let found = double(image, at)?;
        if found == DT_NULL {
            return Ok(None);
        }
        if found == tag {
            return double(image, at.saturating_add(8)).map(Some);
        }
        at = at.saturating_add(DYNAMIC_ENTRY);
    }
}

/// How many symbols a GNU hash table knows: one more than the last of the chain that begins last.
fn gnu_hash_count(image: &[u8], table: u64) -> Result<u64, VdsoError> {
    let (buckets, first) = (word(image, table)?, word(image, table.saturating_add(4))?);
    let bloom_words = u64::from(word(image, table.saturating_add(8))?);
    let bucket_table = table.saturating_add(16 + bloom_words * 8);
    let mut last = 0;
    for n in 0..u64::from(buckets) {
        last = last.max(word(image, bucket_table.saturating_add(n * 4))?);
    }
    // Symbols before the first hashed one are in no chain.
    let Some(mut link) = last.checked_sub(first).map(u64::from) else { return Ok(first.into()) };
    let chains = bucket_table.saturating_add(u64::from(buckets) * 4);
    while word(image, chains.saturating_add(link * 4))? & 1 == 0 {
        link += 1;
    }
    Ok(u64::from(first) + link + 1)
}

fn name_at(image: &[u8], at: u64) -> Result<&[u8], VdsoError> {
    let outside = VdsoError::Outside("name");
    let rest = usize::try_from(at).ok().and_then(|at| image.get(at..)).ok_or(outside)?;
    let end = rest.iter().position(|&byte| byte == 0).ok_or(outside)?;
    Ok(&rest[..end])
}

fn half(image: &[u8], at: u64) -> Result<u16, VdsoError> {
    bytes(image, at).map(u16::from_le_bytes)
}

fn word(image: &[u8], at: u64) -> Result<u32, VdsoError> {
    bytes(image, at).map(u32::from_le_bytes)
}

fn double(image: &[u8], at: u64) -> Result<u64, VdsoError> {
    bytes(image, at).map(u64::from_le_bytes)
}

fn bytes<const N: usize>(image: &[u8], at: u64) -> Result<[u8; N], VdsoError> {
    let found = usize::try_from(at).ok().and_then(|at| image.get(at..)?.first_chunk());
    found.copied().ok_or(VdsoError::Outside("table"))
}

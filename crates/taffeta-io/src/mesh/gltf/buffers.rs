//! The bytes that a document names: the chunk of a GLB file, text in base64, or a file beside it. Each is read when it is first used.

use std::cell::{Cell, OnceCell};
use std::collections::BTreeMap;
use std::io;

use base64::alphabet;
use base64::engine::{DecodePaddingMode, Engine, GeneralPurpose, GeneralPurposeConfig};

use super::document::Document;
use super::{DAMAGED, refuse};
use crate::mesh::{LARGEST_FILE, MeshFault, text};

/// Reads the file of a buffer, whose name is relative and holds no `..`.
pub type Load<'a> = &'a dyn Fn(&str) -> io::Result<Vec<u8>>;

pub struct Buffers<'a> {
    document: &'a Document,
    /// The chunk of a GLB file, which is the first buffer if that has no name.
    chunk: Option<&'a [u8]>,
    load: Load<'a>,
    read: Vec<OnceCell<Vec<u8>>>,
    /// The first buffer of each name: many buffers of one file must not multiply it.
    first_of_name: BTreeMap<&'a str, usize>,
    /// Bytes read beside the file itself.
    pub beside: Cell<u64>,
}

impl<'a> Buffers<'a> {
    pub fn new(document: &'a Document, chunk: Option<&'a [u8]>, load: Load<'a>) -> Self {
        let mut first_of_name = BTreeMap::new();
        for (k, name) in document.buffers.iter().map(|buffer| buffer.uri.as_deref()).enumerate() {
            name.iter().for_each(|name| _ = first_of_name.entry(*name).or_insert(k));
        }
        let read = document.buffers.iter().map(|_| OnceCell::new()).collect();
        Self { document, chunk, load, read, first_of_name, beside: Cell::new(0) }
    }

    /// The bytes of a buffer view, and the distance from element to element if it tells one.
    pub fn view(&self, index: u32) -> Result<(&[u8], Option<usize>), MeshFault> {
        let place = || format!("bufferViews[{index}]");
        let Some(view) = self.document.buffer_views.get(index as usize) else {
            return Err(refuse(place(), "there is no such buffer view", DAMAGED));
        };
        let buffer = self.buffer(view.buffer)?;
        let whole = slice(buffer, view.byte_offset, view.byte_length).ok_or_else(|| {
            let (from, length, have) = (view.byte_offset, view.byte_length, buffer.len());
            let reason =
                format!("the buffer view takes {length} bytes from byte {from} of a buffer of {have} bytes");
            refuse(place(), reason, DAMAGED)
        })?;
        Ok((whole, view.byte_stride.map(|stride| stride as usize)))
    }

    fn buffer(&self, index: u32) -> Result<&[u8], MeshFault> {
        let index = index as usize;
        let place = || format!("buffers[{index}]");
        let Some(buffer) = self.document.buffers.get(index) else {
            return Err(refuse(place(), "there is no such buffer", DAMAGED));
        };
        let bytes: &[u8] = match (buffer.uri.as_deref(), self.chunk) {
            (Some(uri), _) => self.named(uri)?,
            (None, Some(chunk)) if index == 0 => chunk,
            (None, _) => return Err(refuse(place(), "the buffer has no data", DAMAGED)),
        };
        slice(bytes, 0, buffer.byte_length).ok_or_else(|| {
            let reason = format!("the buffer claims {} bytes, but has {}", buffer.byte_length, bytes.len());
            refuse(place(), reason, DAMAGED)
        })
    }

    fn named(&self, uri: &str) -> Result<&[u8], MeshFault> {
        let first = self.first_of_name.get(uri).copied().unwrap_or_default();
        let Some(cell) = self.read.get(first) else { return Ok(&[]) };
        if let Some(bytes) = cell.get() {
            return Ok(bytes);
        }
        let bytes = match uri.strip_prefix("data:") {
            Some(data) => from_data(data)?,
            None => self.load_file(uri)?,
        };
        self.beside.set(self.beside.get().saturating_add(bytes.len() as u64));
        if self.beside.get() > LARGEST_FILE {
            let reason = format!("the buffers are larger than {LARGEST_FILE} bytes together");
            return Err(refuse(excerpt(uri), reason, "split the mesh"));
        }
        Ok(cell.get_or_init(|| bytes))
    }

    fn load_file(&self, uri: &str) -> Result<Vec<u8>, MeshFault> {
        let Some(name) = decode_percents(uri).filter(|name| stays_in_folder(name)) else {
            let reason = "the buffer is not a file in the folder of the mesh";
            let remedy = "put the file into that folder and name it without `..`, drive, scheme or backslash";
            return Err(refuse(excerpt(uri), reason, remedy));
        };
        (self.load)(&name).map_err(|error| {
            let reason = format!("the file of a buffer cannot be read: {error}");
            refuse(excerpt(uri), reason, "put it beside the mesh, or export the mesh as one .glb file")
        })
    }
}

fn excerpt(uri: &str) -> String {
    text::excerpt(uri.as_bytes())
}

/// `length` bytes from `from` on, if they are there.
pub fn slice(bytes: &[u8], from: u64, length: u64) -> Option<&[u8]> {
    let from = usize::try_from(from).ok()?;
    bytes.get(from..from.checked_add(usize::try_from(length).ok()?)?)
}

/// Whether a path is relative and goes down only: a mesh must not read what lies elsewhere.
fn stays_in_folder(path: &str) -> bool {
    !path.contains([':', '\\', '\0']) && path.split('/').all(|part| !matches!(part, "" | "." | ".."))
}

/// The text with its escapes such as `%20` undone.
fn decode_percents(uri: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(uri.len());
    let mut parts = uri.split('%');
    bytes.extend(parts.next()?.bytes());
    for part in parts {
        let digits = part.get(..2).filter(|digits| digits.bytes().all(|b| b.is_ascii_hexdigit()))?;
        bytes.push(u8::from_str_radix(digits, 16).ok()?);
        bytes.extend(part.get(2..)?.bytes());
    }
    String::from_utf8(bytes).ok()
}

/// The bytes of a `data:` URI behind that word.
fn from_data(data: &str) -> Result<Vec<u8>, MeshFault> {
    let encoded = data.split_once(',').and_then(|(about, text)| about.ends_with(";base64").then_some(text));
    encoded
        .and_then(decode_base64)
        .ok_or_else(|| refuse(excerpt(data), "the data of a buffer are not base64", "export the mesh again"))
}

/// Base64 (RFC 4648) without padding; what is left of the last digit may be anything.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::RequireNone)
        .with_decode_allow_trailing_bits(true),
);

/// The bytes that base64 spells; padding may be left out.
fn decode_base64(text: &str) -> Option<Vec<u8>> {
    let unpadded = text.strip_suffix("==").or(text.strip_suffix('=')).unwrap_or(text);
    BASE64.decode(unpadded).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_that_of_the_standard() {
        // RFC 4648, section 10.
        let spelt = [
            ("", ""),
            ("f", "Zg=="),
            ("fo", "Zm8="),
            ("foo", "Zm9v"),
            ("foob", "Zm9vYg=="),
            ("fooba", "Zm9vYmE="),
        ];
        for (plain, text) in spelt {
            assert_eq!(decode_base64(text).as_deref(), Some(plain.as_bytes()));
            assert_eq!(decode_base64(text.trim_end_matches('=')).as_deref(), Some(plain.as_bytes()));
        }
        assert_eq!(decode_base64("+/8A").unwrap(), [0xFB, 0xFF, 0x00]);
        for text in ["Z", "Zm9vY", "Zm 9", "Z===", "Zm-_", "Zg==Zg==", "é"] {
            assert_eq!(decode_base64(text), None, "{text}");
        }
    }

    #[test]
    fn names_lead_nowhere_else() {
        for (uri, name) in
            [("a.bin", "a.bin"), ("sub/a%20b.bin", "sub/a b.bin"), ("caf%C3%A9", "café"), ("é", "é")]
        {
            assert_eq!(decode_percents(uri).filter(|n| stays_in_folder(n)).as_deref(), Some(name));
        }
        for uri in [
            "",
            "/a",
            "..",
            "../a",
            "a/../b",
            "./a",
            "a//b",
            "%2e%2e/a",
            "http://x/a",
            "file:a",
            "c:/a",
            "a\\b",
            "%2Fa",
            "a%00",
            "%",
            "%2",
            "%zz",
            "%+2",
            "%é",
            "%ff",
        ] {
            assert_eq!(decode_percents(uri).filter(|name| stays_in_folder(name)), None, "{uri}");
        }
    }
}

//! The container of a GLB file: a header, a chunk of JSON and a chunk of numbers.

use crate::mesh::{MeshFault, Place, text};

/// What a GLB file starts with.
pub const MAGIC: &[u8] = b"glTF";
const HEADER: usize = 12;
const CHUNK_HEADER: usize = 8;

/// JSON and numbers of a file, which may also be plain JSON.
#[derive(Default)]
pub struct Container<'a> {
    pub json: &'a [u8],
    /// Where the JSON starts, in a GLB file.
    pub json_offset: Option<usize>,
    pub numbers: Option<&'a [u8]>,
    /// Bytes behind the end that the header tells.
    pub beyond: usize,
}

impl<'a> Container<'a> {
    /// Takes a file apart.
    pub fn open(bytes: &'a [u8]) -> Result<Self, MeshFault> {
        if !bytes.starts_with(MAGIC) {
            return Ok(Self { json: bytes, ..Self::default() });
        }
        let (version, length) = match (word(bytes, 4), word(bytes, 8)) {
            (Some(version), Some(length)) => (version, length as usize),
            _ => return Err(refuse(0, bytes.len(), "the header is cut off")),
        };
        if version != 2 {
            return Err(MeshFault::at(
                Place::Byte(4),
                version.to_string(),
                "the version of the container is not 2",
                "export the mesh as glTF 2.0",
            ));
        }
        let Some(whole) = bytes.get(..length).filter(|whole| whole.len() >= HEADER) else {
            let reason = format!("the header tells a length that the {} bytes do not have", bytes.len());
            return Err(refuse(8, length, &reason));
        };
        let mut container = Self { beyond: bytes.len() - length, ..Self::default() };
        let mut at = HEADER;
        while at < whole.len() {
            at = container.take_chunk(whole, at)?;
        }
        match container.json_offset {
            Some(_) => Ok(container),
            None => Err(refuse(HEADER, "end of file", "the chunk of JSON is missing")),
        }
    }

    /// Reads the chunk at `at`; tells where the next one starts.
    fn take_chunk(&mut self, whole: &'a [u8], at: usize) -> Result<usize, MeshFault> {
        let start = at + CHUNK_HEADER;
        let body = word(whole, at).and_then(|length| whole.get(start..start.checked_add(length as usize)?));
        let (Some(body), Some(kind)) = (body, whole.get(at + 4..start)) else {
            return Err(refuse(at, "end of file", "a chunk is cut off"));
        };
        match (kind, self.json_offset) {
            (b"JSON", None) => (self.json, self.json_offset) = (body, Some(start)),
            (_, None) => return Err(refuse(at + 4, text::excerpt(kind), "the first chunk is not JSON")),
            (b"BIN\0", _) if self.numbers.is_none() => self.numbers = Some(body),
            (b"JSON" | b"BIN\0", _) => {
                return Err(refuse(at + 4, text::excerpt(kind), "a second chunk of one kind"));
            }
            // The standard lets others add chunks of their own.
            _ => {}
        }
        Ok(start + body.len())
    }
}

fn word(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_le_bytes(*bytes.get(at..)?.first_chunk()?))
}

fn refuse(at: usize, value: impl ToString, reason: &str) -> MeshFault {
    let remedy = "export the mesh again: the file is cut off or damaged";
    MeshFault::at(Place::Byte(at), value.to_string(), reason, remedy)
}

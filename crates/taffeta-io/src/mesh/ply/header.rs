//! The header of a PLY file: which elements of which properties follow, and how they are written.

use crate::mesh::text::Text;
use crate::mesh::{MeshFault, PlyEncoding};

/// A group of rows that the header declares.
pub struct Element<'a> {
    pub name: &'a [u8],
    pub count: usize,
    /// Line of the header.
    pub line: usize,
    pub properties: Vec<Property<'a>>,
}

pub struct Property<'a> {
    pub name: &'a [u8],
    /// Type of the length, for a list.
    pub length: Option<Scalar>,
    pub scalar: Scalar,
}

#[derive(Clone, Copy)]
pub enum Scalar {
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    F32,
    F64,
}

/// Encoding and elements; leaves the text at the start of the rows.
pub fn read_header<'a>(text: &mut Text<'a>) -> Result<(PlyEncoding, Vec<Element<'a>>), MeshFault> {
    let refuse = |text: &Text, value: &[u8], reason: &str| {
        let remedy = "correct the header, or export the mesh again";
        Err(MeshFault::line(text.line(), value, reason, remedy))
    };
    let (mut encoding, mut elements) = (None, Vec::<Element>::new());
    let magic = text.word().unwrap_or_default();
    if magic != b"ply" {
        return refuse(text, magic, "a PLY file starts with `ply`");
    }
    while text.seek() {
        let keyword = text.word().unwrap_or_default();
        // Comments are free text; all other lines consist of few words.
        let words: [&[u8]; 4] = match keyword {
            b"comment" | b"obj_info" => [&[]; 4],
            _ => std::array::from_fn(|_| text.word().unwrap_or_default()),
        };
        match (keyword, words) {
            (b"comment" | b"obj_info", _) => {}
            (b"format", [b"ascii", b"1.0", ..]) => encoding = Some(PlyEncoding::Ascii),
            (b"format", [b"binary_little_endian", b"1.0", ..]) => encoding = Some(PlyEncoding::LittleEndian),
            (b"format", [b"binary_big_endian", b"1.0", ..]) => encoding = Some(PlyEncoding::BigEndian),
            (b"format", [name, ..]) => return refuse(text, name, "the format is unknown"),
            (b"element", [name, count, ..]) => {
                let Some(count) = std::str::from_utf8(count).ok().and_then(|c| c.parse().ok()) else {
                    return refuse(text, count, "the count of an element is no whole number");
                };
                // Other elements are skipped, so that two of one name do no harm.
                let matters = matches!(name, b"vertex" | b"face");
                if matters && elements.iter().any(|e| e.name == name) {
                    return refuse(text, name, "the element is declared twice");
                }
                elements.push(Element { name, count, line: text.line(), properties: Vec::new() });
            }
            (b"property", words) => match (elements.last_mut(), read_property(words)) {
                (Some(element), Some(property)) => element.properties.push(property),
                (None, _) => return refuse(text, words[1], "the property belongs to no element"),
                (_, None) => return refuse(text, words[0], "the type of the property is unknown"),
            },
            (b"end_header", _) => {
                text.skip_line();
                text.end_line();
                let Some(encoding) = encoding else { return refuse(text, keyword, "the format is missing") };
                return Ok((encoding, elements));
            }
            (keyword, _) => return refuse(text, keyword, "the keyword is unknown in a header"),
        }
        text.skip_line();
    }
    refuse(text, b"end of file", "the header does not end")
}

fn read_property<'a>(words: [&'a [u8]; 4]) -> Option<Property<'a>> {
    let scalar = |name: &[u8]| match name {
        b"char" | b"int8" => Some(Scalar::I8),
        b"uchar" | b"uint8" => Some(Scalar::U8),
        b"short" | b"int16" => Some(Scalar::I16),
        b"ushort" | b"uint16" => Some(Scalar::U16),
        b"int" | b"int32" => Some(Scalar::I32),
        b"uint" | b"uint32" => Some(Scalar::U32),
        b"float" | b"float32" => Some(Scalar::F32),
        b"double" | b"float64" => Some(Scalar::F64),
        _ => None,
    };
    match words {
        [b"list", length, of, name] => {
            Some(Property { name, length: Some(scalar(length)?), scalar: scalar(of)? })
        }
        [of, name, ..] => Some(Property { name, length: None, scalar: scalar(of)? }),
    }
}

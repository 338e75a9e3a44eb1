//! The numbers behind the header of a PLY file, one after the other, ascii or binary.

use super::header::Scalar;
use crate::mesh::text::{self, Text};
use crate::mesh::{MeshFault, Place, PlyEncoding};

/// The rows behind the header.
pub enum Body<'a> {
    Ascii { text: Text<'a>, last: &'a [u8] },
    Binary { bytes: &'a [u8], at: usize, last: usize, little: bool },
}

impl<'a> Body<'a> {
    pub fn new(bytes: &'a [u8], text: Text<'a>, encoding: PlyEncoding) -> Self {
        let at = text.offset();
        match encoding {
            PlyEncoding::Ascii => Self::Ascii { text, last: &[] },
            _ => Self::Binary { bytes, at, last: at, little: encoding == PlyEncoding::LittleEndian },
        }
    }

    /// Bytes not read yet, without the blank lines ahead.
    pub fn left(&mut self) -> usize {
        match self {
            Self::Ascii { text, .. } => {
                text.seek();
                text.rest().len()
            }
            Self::Binary { bytes, at, .. } => bytes.len() - *at,
        }
    }

    pub fn start_row(&mut self) -> Result<(), MeshFault> {
        if let Self::Ascii { text, last } = self
            && !text.seek()
        {
            *last = b"end of file";
            return Err(self.cut_off());
        }
        Ok(())
    }

    pub fn end_row(&mut self) -> Result<(), MeshFault> {
        if let Self::Ascii { text, .. } = self
            && let Some(word) = text.word()
        {
            let reason = "the line holds more numbers than the header declares";
            return Err(MeshFault::line(
                text.line(),
                word,
                reason,
                "declare them in the header, or remove them",
            ));
        }
        Ok(())
    }

    /// The next number; NaN for a word that is none, since properties that nobody uses may hold anything.
    pub fn number(&mut self, scalar: Scalar) -> Result<f64, MeshFault> {
        match self {
            Self::Ascii { text, last } => {
                let word = text.word();
                *last = word.unwrap_or(b"end of line");
                word.map(|w| text::number(w).unwrap_or(f64::NAN))
            }
            Self::Binary { bytes, at, last, little } => {
                *last = *at;
                let end = at.saturating_add(scalar.size());
                bytes.get(*at..end).and_then(|raw| {
                    *at = end;
                    scalar.decode(raw, *little)
                })
            }
        }
        .ok_or_else(|| self.cut_off())
    }

    /// A number that counts something and is below `limit`.
    pub fn whole(&self, value: f64, limit: usize, what: &str) -> Result<u32, MeshFault> {
        if value >= 0.0 && value < limit as f64 && value.fract() == 0.0 {
            return Ok(value as u32);
        }
        let reason = format!("{what} is no whole number from 0 to below {limit}");
        Err(self.fault(
            self.quote(value),
            reason,
            "export the mesh again: the file is damaged or its header is wrong",
        ))
    }

    /// Line, or offset of the last number.
    pub fn place(&self) -> Place {
        match self {
            Self::Ascii { text, .. } => Place::Line(text.line()),
            Self::Binary { last, .. } => Place::Byte(*last),
        }
    }

    /// The last number as the file writes it.
    pub fn quote(&self, value: f64) -> String {
        match self {
            Self::Ascii { last, .. } => text::excerpt(last),
            Self::Binary { .. } => value.to_string(),
        }
    }

    fn cut_off(&self) -> MeshFault {
        let reason = "numbers are missing that the header declares";
        let value = match self {
            Self::Ascii { last, .. } => text::excerpt(last),
            Self::Binary { .. } => "end of file".into(),
        };
        self.fault(value, reason, "export the mesh again: the file is cut off or its header is wrong")
    }

    pub fn fault(&self, value: String, reason: impl Into<String>, remedy: &str) -> MeshFault {
        MeshFault::at(self.place(), value, reason, remedy)
    }
}

impl Scalar {
    pub fn size(self) -> usize {
        match self {
            Self::I8 | Self::U8 => 1,
            Self::I16 | Self::U16 => 2,
            Self::I32 | Self::U32 | Self::F32 => 4,
            Self::F64 => 8,
        }
    }

    /// The value of `raw`, which has as many bytes as the type; every type fits an f64 exactly.
    fn decode(self, raw: &[u8], little: bool) -> Option<f64> {
        let mut bytes = [0; 8];
        let used = bytes.get_mut(..raw.len())?;
        used.copy_from_slice(raw);
        if !little {
            used.reverse();
        }
        let bits = u64::from_le_bytes(bytes);
        Some(match self {
            Self::I8 => f64::from(bits as u8 as i8),
            Self::U8 => f64::from(bits as u8),
            Self::I16 => f64::from(bits as u16 as i16),
            Self::U16 => f64::from(bits as u16),
            Self::I32 => f64::from(bits as u32 as i32),
            Self::U32 => f64::from(bits as u32),
            Self::F32 => f64::from(f32::from_bits(bits as u32)),
            Self::F64 => f64::from_bits(bits),
        })
    }
}

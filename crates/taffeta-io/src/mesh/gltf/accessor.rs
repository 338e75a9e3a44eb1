//! Numbers of an accessor, one element after the other; every range is checked before anything is read.

use super::buffers::{Buffers, slice};
use super::document::{Accessor, Document, Kind, Sparse};
use super::{DAMAGED, refuse};
use crate::mesh::MeshFault;

/// What a number is, with its code in the standard.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Number {
    I8,
    U8,
    I16,
    U16,
    U32,
    F32,
}

/// An accessor whose bytes are all there.
pub struct Elements<'a> {
    pub index: u32,
    pub count: usize,
    pub number: Number,
    pub kind: Kind,
    pub normalized: bool,
    /// Nothing stands for zeros.
    base: Option<Rows<'a>>,
    /// Where other elements stand, and these.
    replaced: Option<(Rows<'a>, Rows<'a>)>,
}

/// Elements at equal distances.
struct Rows<'a> {
    bytes: &'a [u8],
    count: u64,
    stride: usize,
    number: Number,
}

impl<'a> Elements<'a> {
    pub fn find(document: &Document, buffers: &'a Buffers, index: u32) -> Result<Self, MeshFault> {
        let fault = |reason: String| refuse(place(index), reason, DAMAGED);
        let Some(accessor) = document.accessors.get(index as usize) else {
            return Err(fault("there is no such accessor".into()));
        };
        let &Accessor { component_type, count, kind, normalized, .. } = accessor;
        let unknown = || fault(format!("numbers of type {component_type} are unknown"));
        let number = Number::of_code(component_type).ok_or_else(unknown)?;
        let size = number.size() * kind.width();
        let rows = |view: u32, offset: u64, count: u64, number: Number, size: usize| {
            let (bytes, stride) = buffers.view(view)?;
            let stride = stride.unwrap_or(size);
            let needed = (count.saturating_sub(1)).saturating_mul(stride as u64).saturating_add(size as u64);
            let needed = if count == 0 { 0 } else { needed };
            match slice(bytes, offset, needed).filter(|_| stride >= size) {
                Some(bytes) => Ok(Rows { bytes, count, stride, number }),
                None => Err(fault(format!(
                    "{count} elements of {size} bytes, {stride} bytes apart, do not fit into the {} bytes of \
                     `bufferViews[{view}]` from byte {offset} on",
                    bytes.len()
                ))),
            }
        };
        let base = accessor.buffer_view.map(|view| rows(view, accessor.byte_offset, count, number, size));
        let replaced = accessor.sparse.as_deref().map(|Sparse { count: some, indices, values }| {
            let of_index = Number::of_code(indices.component_type).filter(|number| number.counts());
            let Some(of_index) = of_index.filter(|_| *some <= count) else {
                return Err(fault(format!(
                    "{some} sparse elements of {count}, or indices that are no whole numbers"
                )));
            };
            let places = rows(indices.buffer_view, indices.byte_offset, *some, of_index, of_index.size())?;
            Ok((places, rows(values.buffer_view, values.byte_offset, *some, number, size)?))
        });
        if base.is_none() && replaced.is_none() && count > 0 {
            return Err(fault("the accessor has no data".into()));
        }
        let (base, replaced) = (base.transpose()?, replaced.transpose()?);
        let count = usize::try_from(count).map_err(|_| fault(format!("{count} elements are too many")))?;
        Ok(Self { index, count, number, kind, normalized, base, replaced })
    }

    /// The first element, if its bytes stand where they belong: nobody writes matrices as sparse ones.
    pub fn first<const N: usize>(&self) -> Option<[f64; N]> {
        self.base.as_ref().filter(|_| self.count > 0).map(|rows| rows.row(0, self.normalized))
    }

    /// Hands out the elements with their numbers, those of another place once more, as the last.
    pub fn read<const N: usize>(
        &self,
        mut take: impl FnMut(usize, [f64; N]) -> Result<(), MeshFault>,
    ) -> Result<(), MeshFault> {
        match &self.base {
            Some(rows) => {
                (0..self.count).try_for_each(|k| take(k, rows.row(k, self.normalized)))?;
            }
            None => (0..self.count).try_for_each(|k| take(k, [0.0; N]))?,
        }
        let Some((places, values)) = &self.replaced else { return Ok(()) };
        for k in 0..places.count as usize {
            let [at] = places.row(k, false);
            if at >= self.count as f64 {
                let reason =
                    format!("a sparse element stands at {at}, but there are {} elements", self.count);
                return Err(refuse(place(self.index), reason, DAMAGED));
            }
            take(at as usize, values.row(k, self.normalized))?;
        }
        Ok(())
    }
}

impl Rows<'_> {
    /// The numbers of an element; what was checked to be there is found.
    fn row<const N: usize>(&self, k: usize, normalized: bool) -> [f64; N] {
        let size = self.number.size();
        std::array::from_fn(|c| {
            let start = k * self.stride + c * size;
            self.bytes.get(start..start + size).map_or(0.0, |raw| self.number.decode(raw, normalized))
        })
    }
}

/// An accessor as a place for messages.
pub fn place(index: u32) -> String {
    format!("accessors[{index}]")
}

impl Kind {
    fn width(self) -> usize {
        match self {
            Kind::Scalar => 1,
            Kind::Vec2 => 2,
            Kind::Vec3 => 3,
            Kind::Vec4 | Kind::Mat2 => 4,
            Kind::Mat3 => 9,
            Kind::Mat4 => 16,
        }
    }
}

impl Number {
    fn of_code(code: u32) -> Option<Self> {
        Some(match code {
            5120 => Self::I8,
            5121 => Self::U8,
            5122 => Self::I16,
            5123 => Self::U16,
            5125 => Self::U32,
            5126 => Self::F32,
            _ => return None,
        })
    }

    fn size(self) -> usize {
        match self {
            Self::I8 | Self::U8 => 1,
            Self::I16 | Self::U16 => 2,
            Self::U32 | Self::F32 => 4,
        }
    }

    /// Whether it may be an index.
    pub fn counts(self) -> bool {
        matches!(self, Self::U8 | Self::U16 | Self::U32)
    }

    /// The largest number, which no index may be: it would start a new strip.
    pub fn largest(self) -> f64 {
        match self {
            Self::I8 => f64::from(i8::MAX),
            Self::U8 => f64::from(u8::MAX),
            Self::I16 => f64::from(i16::MAX),
            Self::U16 => f64::from(u16::MAX),
            Self::U32 => f64::from(u32::MAX),
            Self::F32 => f64::INFINITY,
        }
    }

    /// The value of as many bytes as the type has; a normalised one stands for a part of its largest.
    fn decode(self, raw: &[u8], normalized: bool) -> f64 {
        let mut bytes = [0; 4];
        bytes.iter_mut().zip(raw).for_each(|(to, from)| *to = *from);
        let bits = u32::from_le_bytes(bytes);
        let value = match self {
            Self::I8 => f64::from(bits as u8 as i8),
            Self::U8 => f64::from(bits as u8),
            Self::I16 => f64::from(bits as u16 as i16),
            Self::U16 => f64::from(bits as u16),
            Self::U32 => f64::from(bits),
            Self::F32 => return f64::from(f32::from_bits(bits)),
        };
        // The smallest of a signed type would be a little below -1.
        if normalized { (value / self.largest()).max(-1.0) } else { value }
    }
}

//! A part of a mesh, checked: points, texture coordinates, and how corners make triangles.

use super::accessor::{self, Elements, Number};
use super::buffers::Buffers;
use super::document::{Document, Kind};
use super::walk::Draw;
use super::{DAMAGED, refuse};
use crate::mesh::MeshFault;

/// A part whose accessors are all there.
pub struct Part<'a> {
    pub mode: Mode,
    pub points: Elements<'a>,
    pub texture: Option<Elements<'a>>,
    pub indices: Option<Elements<'a>>,
}

/// How corners make triangles.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    List,
    Strip,
    Fan,
}

impl Mode {
    /// The mode of a code of the standard, if it makes triangles.
    pub fn of_code(code: u32) -> Option<Self> {
        Some(match code {
            4 => Self::List,
            5 => Self::Strip,
            6 => Self::Fan,
            _ => return None,
        })
    }

    /// The corners of triangle `k`; every second one of a strip is turned so that all show the same side.
    pub fn corners_of(self, k: usize) -> [usize; 3] {
        match self {
            Self::List => [3 * k, 3 * k + 1, 3 * k + 2],
            Self::Strip => [k, k + 1 + k % 2, k + 2 - k % 2],
            Self::Fan => [k + 1, k + 2, 0],
        }
    }
}

impl<'a> Part<'a> {
    /// The part that a node draws, checked; nothing if it is points or lines.
    pub fn find(document: &Document, buffers: &'a Buffers, draw: &Draw) -> Result<Option<Self>, MeshFault> {
        let Some(mode) = Mode::of_code(draw.primitive.mode.unwrap_or(4)) else {
            let known = draw.primitive.mode.is_some_and(|mode| mode < 4);
            return if known { Ok(None) } else { Err(refuse(&draw.place, "the mode is unknown", DAMAGED)) };
        };
        let Some(position) = draw.primitive.attributes.position else {
            return Err(refuse(&draw.place, "the part has no POSITION", DAMAGED));
        };
        let find = |index: u32| Elements::find(document, buffers, index);
        let wrong = |what: &str, elements: &Elements| {
            let reason = format!("{what} of kind {:?} cannot be used", elements.kind);
            refuse(accessor::place(elements.index), reason, DAMAGED)
        };
        let quantized = document.extensions_required.iter().any(|name| name == "KHR_mesh_quantization");
        let points = find(position)?;
        if points.kind != Kind::Vec3
            || (points.number != Number::F32 && !quantized)
            || points.number == Number::U32
        {
            return Err(wrong("a POSITION", &points));
        }
        let texture = draw.primitive.attributes.texture.map(find).transpose()?;
        if let Some(texture) = &texture {
            let plain = texture.number == Number::F32 || texture.normalized || quantized;
            if texture.kind != Kind::Vec2 || !plain {
                return Err(wrong("a TEXCOORD_0", texture));
            }
            if texture.count != points.count {
                let reason = format!("{} texture coordinates for {} points", texture.count, points.count);
                return Err(refuse(accessor::place(texture.index), reason, DAMAGED));
            }
        }
        let indices = draw.primitive.indices.map(find).transpose()?;
        if let Some(indices) = indices.as_ref().filter(|i| i.kind != Kind::Scalar || !i.number.counts()) {
            return Err(wrong("indices", indices));
        }
        let part = Self { mode, points, texture, indices };
        if mode == Mode::List && !part.corner_count().is_multiple_of(3) {
            let reason = format!("{} corners are no whole number of triangles", part.corner_count());
            return Err(refuse(&draw.place, reason, DAMAGED));
        }
        Ok(Some(part))
    }

    fn corner_count(&self) -> usize {
        self.indices.as_ref().unwrap_or(&self.points).count
    }

    /// Triangles, those of a strip that have no area too.
    pub fn triangles(&self) -> u64 {
        let corners = self.corner_count() as u64;
        if self.mode == Mode::List { corners / 3 } else { corners.saturating_sub(2) }
    }

    /// The point of every corner, counted from the first of this part.
    pub fn corners(&self) -> Result<Vec<u32>, MeshFault> {
        let Some(indices) = &self.indices else { return Ok((0..self.points.count as u32).collect()) };
        let mut corners = vec![0; indices.count];
        indices.read(|k, [index]: [f64; 1]| {
            if index >= self.points.count as f64 || index >= indices.number.largest() {
                let reason = format!("index {index} of {} points is out of range", self.points.count);
                return Err(refuse(accessor::place(indices.index), reason, DAMAGED));
            }
            if let Some(to) = corners.get_mut(k) {
                *to = index as u32;
            }
            Ok(())
        })?;
        Ok(corners)
    }
}

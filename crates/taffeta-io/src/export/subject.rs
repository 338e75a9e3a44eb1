//! What is exported besides positions: the mesh, the pieces of cloth, the colliders, under names that all formats allow.

use super::film::Placement;
use super::solid::{Drawn, Solid};
use crate::recording::Header;
use serde_json::Value;
use std::collections::BTreeSet;
use std::ops::Range;
use taffeta::math::DVec3;
use taffeta::model::{Form, Shape};

/// The mesh and its parts.
pub(super) struct Subject {
    /// In the file's axes and units.
    pub rest_positions: Vec<DVec3>,
    pub triangles: Vec<[u32; 3]>,
    /// Material coordinates (u, v) of every particle [m], or none at all.
    pub material: Vec<[f64; 2]>,
    /// Whether each particle is pinned.
    pub pinned: Vec<bool>,
    pub cloths: Vec<Cloth>,
    pub colliders: Vec<Collider>,
    /// Which way up is.
    up: DVec3,
}

/// A piece of cloth.
pub(super) struct Cloth {
    pub name: String,
    pub particles: Range<usize>,
    pub triangles: Range<usize>,
    /// Linear red, green and blue.
    pub colour: Option<[f64; 3]>,
}

/// What the cloth meets, in the file's units.
pub(super) struct Collider {
    pub name: String,
    pub shape: Drawn,
    /// Its place among the frames' poses.
    pub body: usize,
}

impl Subject {
    /// From a header; what its `about` does not say has defaults: one cloth, no colliders.
    pub fn of(header: &Header, placement: Placement) -> Subject {
        let mut taken = BTreeSet::new();
        let particles = header.rest_positions.len();
        let cloths = cloths(header, &mut taken).unwrap_or_else(|| {
            taken.clear();
            let (name, triangles) = (identifier("cloth", &mut taken), 0..header.triangles.len());
            vec![Cloth { name, particles: 0..particles, triangles, colour: None }]
        });
        // Coordinates that are no numbers are as good as none.
        let finite = header.material.as_flattened().iter().all(|x| (*x as f32).is_finite());
        let mut pinned = vec![false; particles];
        header.pinned.iter().for_each(|i| pinned[*i as usize] = true);
        let listed = header.about.get("colliders").and_then(Value::as_array).map_or(&[][..], Vec::as_slice);
        let colliders = listed.iter().enumerate().filter_map(|(body, about)| {
            let shape = match serde_json::from_value(about.get("shape")?.clone()).ok()? {
                Form::Closed(shape) => Drawn::Closed(scaled(shape, placement.scale)?),
                // Whoever needs a body that deforms has its own files.
                Form::Mesh(mesh) if mesh.deforms() => return None,
                Form::Mesh(mesh) => Drawn::Mesh(Solid::of_mesh(&mesh, placement.scale)?),
            };
            Some(Collider { name: named(about, "collider", &mut taken), shape, body })
        });
        Subject {
            rest_positions: header.rest_positions.iter().map(|p| placement.point(*p)).collect(),
            triangles: header.triangles.clone(),
            material: if finite { header.material.clone() } else { Vec::new() },
            pinned,
            colliders: colliders.collect(),
            cloths,
            up: placement.point(DVec3::Y).normalize(),
        }
    }

    /// Triangles of a cloth in its own numbering.
    pub fn local_triangles(&self, cloth: &Cloth) -> impl ExactSizeIterator<Item = [u32; 3]> {
        let first = cloth.particles.start as u32;
        self.triangles[cloth.triangles.clone()].iter().map(move |t| t.map(|i| i - first))
    }

    /// Smooth normals: the mean of the triangles around a particle, weighted by area; up where there is none.
    pub fn normals(&self, positions: &[DVec3], normals: &mut Vec<DVec3>) {
        normals.clear();
        normals.resize(positions.len(), DVec3::ZERO);
        for &[a, b, c] in &self.triangles {
            let [a, b, c] = [a as usize, b as usize, c as usize];
            let doubled = (positions[b] - positions[a]).cross(positions[c] - positions[a]);
            [a, b, c].iter().for_each(|i| normals[*i] += doubled);
        }
        normals.iter_mut().for_each(|n| *n = n.normalize_or(self.up));
    }
}

/// The corners of a box around points, in single precision.
pub(super) fn bounds(points: &[DVec3]) -> [[f32; 3]; 2] {
    let corner = |pick: fn(DVec3, DVec3) -> DVec3| points.iter().copied().reduce(pick).unwrap_or_default();
    [single(corner(DVec3::min)), single(corner(DVec3::max))]
}

/// A vector in single precision.
pub(super) fn single(v: DVec3) -> [f32; 3] {
    v.to_array().map(|x| x as f32)
}

/// The pieces of cloth that `about` lists, if together they are the whole mesh and each stands for itself.
fn cloths(header: &Header, taken: &mut BTreeSet<String>) -> Option<Vec<Cloth>> {
    let (mut particle, mut triangle) = (0, 0);
    let mut cloths = Vec::new();
    for about in header.about.get("cloths")?.as_array()? {
        let (particles, triangles) = (range(about.get("particles")?)?, range(about.get("triangles")?)?);
        let inside = |i: &u32| particles.contains(&(*i as usize));
        if (particles.start, triangles.start) != (particle, triangle)
            || !header.triangles.get(triangles.clone())?.as_flattened().iter().all(inside)
        {
            return None;
        }
        (particle, triangle) = (particles.end, triangles.end);
        let colour = about.get("colour").and_then(Value::as_str).and_then(linear);
        cloths.push(Cloth { name: named(about, "cloth", taken), particles, triangles, colour });
    }
    // A piece without triangles cannot be drawn, and some formats have no empty mesh.
    cloths.retain(|cloth| !cloth.triangles.is_empty());
    ((particle, triangle) == (header.rest_positions.len(), header.triangles.len())).then_some(cloths)
}

fn range(value: &Value) -> Option<Range<usize>> {
    let end = |k| usize::try_from(value.get(k)?.as_u64()?).ok();
    let (start, end) = (end(0)?, end(1)?);
    (start <= end).then_some(start..end)
}

/// The shape in other units, if its sizes are sizes.
fn scaled(shape: Shape, scale: f64) -> Option<Shape> {
    let size = |x: f64| (x >= 0.0 && ((x * scale) as f32).is_finite()).then_some(x * scale);
    Some(match shape {
        Shape::Plane => Shape::Plane,
        Shape::Sphere { radius } => Shape::Sphere { radius: size(radius)? },
        Shape::Capsule { radius, half_length } => {
            Shape::Capsule { radius: size(radius)?, half_length: size(half_length)? }
        }
        Shape::Box { half_size: DVec3 { x, y, z } } => {
            Shape::Box { half_size: DVec3::new(size(x)?, size(y)?, size(z)?) }
        }
    })
}

/// The name in `about`, or else `default`.
fn named(about: &Value, default: &str, taken: &mut BTreeSet<String>) -> String {
    let name = about.get("name").and_then(Value::as_str).filter(|name| !name.is_empty());
    identifier(name.unwrap_or(default), taken)
}

/// A name of ASCII letters, digits and underscores that is not taken yet.
fn identifier(name: &str, taken: &mut BTreeSet<String>) -> String {
    let mut base: String =
        name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).take(100).collect();
    if !base.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
        base.insert(0, '_');
    }
    let mut numbered = (2..).map(|k| format!("{base}_{k}"));
    let mut unique = base.clone();
    while !taken.insert(unique.clone()) {
        unique = numbered.next().unwrap_or_default();
    }
    unique
}

/// Linear red, green and blue of an sRGB colour such as `#a0c0ff`.
fn linear(colour: &str) -> Option<[f64; 3]> {
    let digits = colour.strip_prefix('#').filter(|digits| digits.len() == 6)?;
    // A sign is no digit, though the parser would take one.
    let digits = digits.bytes().all(|b| b.is_ascii_hexdigit()).then_some(digits)?;
    let number = u32::from_str_radix(digits, 16).ok()?;
    Some([16, 8, 0].map(|shift| {
        let c = f64::from(number >> shift & 255) / 255.0;
        if c <= 0.04045 { c / 12.92 } else { power_2_4((c + 0.055) / 1.055) }
    }))
}

/// x^2.4 for 0 < x <= 1 as x² times the fifth root of x², by operations that round the same everywhere.
fn power_2_4(x: f64) -> f64 {
    let square = x * x;
    // Newton's method from above falls steadily.
    let fifth_root = (0..60).fold(1.0, |r: f64, _| r - (r - square / (r * r * r * r)) / 5.0);
    square * fifth_root
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_identifiers_and_unique() {
        let mut taken = BTreeSet::new();
        let made =
            ["flag", "flag", "2 flags", "", "flag_2", "größe"].map(|name| identifier(name, &mut taken));
        assert_eq!(made, ["flag", "flag_2", "_2_flags", "_", "flag_2_2", "gr__e"]);
    }

    #[test]
    fn colours_become_linear() {
        let [r, g, b] = linear("#80ff0a").unwrap();
        // IEC 61966-2-1.
        assert!(
            (r - 0.215_860_500_113_899_26).abs() < 1e-15
                && g == 1.0
                && (b - 10.0 / 255.0 / 12.92).abs() < 1e-18
        );
        assert!([linear("80ff0a"), linear("#80ff0"), linear("#80ff0ü"), linear("#+80ff0")] == [None; 4]);
    }
}

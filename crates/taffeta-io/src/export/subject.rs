//! What is exported besides positions: the meshes, their names and colours, the bodies that only move.

use super::film::{Film, Placement};
use super::names::Names;
use super::shaping::{BodyPoints, Means, PosedBody, Shaping};
use super::solid::{self, Drawn, Solid};
use super::{Bodies, Format, Options};
use crate::recording::Header;
use serde_json::Value;
use std::ops::Range;
use taffeta::math::DVec3;
use taffeta::model::{Form, Shape};

/// All meshes in one numbering, and the bodies that only move.
pub(super) struct Subject {
    /// In the file's axes and units.
    pub rest_positions: Vec<DVec3>,
    pub triangles: Vec<[u32; 3]>,
    /// Material coordinates (u, v) of every point of a cloth [m], or none at all.
    pub material: Vec<[f64; 2]>,
    /// Whether each point of a cloth is pinned.
    pub pinned: Vec<bool>,
    /// The cloths, then the bodies whose points are written.
    pub pieces: Vec<Piece>,
    pub colliders: Vec<Collider>,
    /// What is in the recording and not in the file, a line each.
    pub left_out: Vec<String>,
    /// Which way up is.
    up: DVec3,
}

/// A mesh whose points move.
pub(super) struct Piece {
    pub name: String,
    /// What the user calls it.
    pub called: String,
    pub points: Range<usize>,
    pub triangles: Range<usize>,
    /// Linear red, green and blue.
    pub colour: [f64; 3],
    pub is_cloth: bool,
}

/// What the cloth meets, in the file's units.
pub(super) struct Collider {
    pub name: String,
    /// What the user calls it.
    pub called: String,
    pub shape: Drawn,
    /// Its place among the frames' poses.
    pub body: usize,
}

impl Collider {
    /// Whether it is a half-space.
    fn is_floor(&self) -> bool {
        matches!(self.shape, Drawn::Closed(Shape::Plane))
    }
}

/// Linear grey of bodies, and of cloths that no colour is known of.
pub(super) const GREY: [f64; 3] = [0.5; 3];

impl Subject {
    /// From a header, with where its points come from; what its `about` does not say has defaults: one cloth, no colliders.
    pub fn of(
        header: &Header,
        placement: Placement,
        format: Format,
        options: &Options,
    ) -> (Subject, Shaping) {
        let mut names = Names::new(format);
        let mut used = vec![false; header.rest_positions.len()];
        header.triangles.as_flattened().iter().for_each(|i| used[*i as usize] = true);
        // The handles of free bodies and spares that nothing has torn yet are the engine's own.
        let shown: Vec<u32> = (0..used.len() as u32).filter(|i| used[*i as usize]).collect();
        let place = |particle: usize| shown.partition_point(|i| (*i as usize) < particle);
        let of_shown = |i: &u32| placement.point(header.rest_positions[*i as usize]);
        // Coordinates that are no numbers are as good as none.
        let finite = header.material.as_flattened().iter().all(|x| (*x as f32).is_finite());
        let material = shown.iter().filter_map(|i| header.material.get(*i as usize).copied());
        let mut pinned = vec![false; shown.len()];
        let held = header.pinned.iter().filter(|i| used[**i as usize]);
        held.for_each(|i| pinned[place(*i as usize)] = true);
        let points = |particles: Range<usize>| place(particles.start)..place(particles.end);
        let mut subject = Subject {
            rest_positions: shown.iter().map(of_shown).collect(),
            triangles: header.triangles.iter().map(|t| t.map(|i| place(i as usize) as u32)).collect(),
            material: if finite { material.collect() } else { Vec::new() },
            pinned,
            pieces: cloths(header, &mut names, points).unwrap_or_else(|| {
                let (called, triangles) = ("cloth".to_string(), 0..header.triangles.len());
                names = Names::new(format);
                let (name, points) = (names.take(&called), 0..shown.len());
                vec![Piece { name, called, points, triangles, colour: GREY, is_cloth: true }]
            }),
            colliders: Vec::new(),
            left_out: Vec::new(),
            up: placement.point(DVec3::Y).normalize(),
        };
        let mut shaping = Shaping::new(Means::of_particles(shown.into_iter()));
        if options.bodies == Bodies::Points {
            let listed = header.about.get("colliders").and_then(Value::as_array);
            for (body, about) in listed.map_or(&[][..], Vec::as_slice).iter().enumerate() {
                subject.add_collider(&mut shaping, body, about, placement, &mut names);
            }
        }
        if !options.floor {
            let before = subject.colliders.len();
            subject.colliders.retain(|collider| !collider.is_floor());
            match before - subject.colliders.len() {
                0 => {}
                1 => subject.left_out.push("without the floor; --floor writes it".into()),
                floors => subject.left_out.push(format!("without {floors} floors; --floor writes them")),
            }
        }
        (subject, shaping)
    }

    fn add_collider(
        &mut self,
        shaping: &mut Shaping,
        body: usize,
        about: &Value,
        placement: Placement,
        names: &mut Names,
    ) {
        let called = called(about, "collider");
        let form = about.get("shape").and_then(|shape| serde_json::from_value(shape.clone()).ok());
        let shape = match form {
            Some(Form::Mesh(mesh)) if mesh.deforms() => {
                let piece = names.take(&called);
                self.add_piece(piece, called, mesh.point_count(), mesh.triangles());
                shaping.bodies.push(PosedBody { body, points: BodyPoints::Deforming(mesh) });
                return;
            }
            Some(Form::Mesh(mesh)) => Solid::of_mesh(&mesh, placement.scale).map(Drawn::Mesh),
            Some(Form::Closed(shape)) => scaled(shape, placement.scale).map(Drawn::Closed),
            None => None,
        };
        match shape {
            Some(shape) => self.colliders.push(Collider { name: names.take(&called), called, shape, body }),
            None => self.left_out.push(format!("without `{called}`: it has no shape in units of the file")),
        }
    }

    /// Adds a body whose points follow those that are there.
    fn add_piece(&mut self, name: String, called: String, points: usize, triangles: &[[u32; 3]]) {
        let first = self.pieces.last().map_or(0, |piece| piece.points.end);
        let begin = self.triangles.len();
        self.triangles.extend(triangles.iter().map(|t| t.map(|i| i + first as u32)));
        let (points, triangles) = (first..first + points, begin..self.triangles.len());
        self.pieces.push(Piece { name, called, points, triangles, colour: GREY, is_cloth: false });
    }

    /// Fits itself to what the frames hold: bodies without a pose are left out, and in a format of one mesh all others are part of it.
    pub fn fit(&mut self, film: &mut Film, format: Format, scale: f64) {
        let posed = film.survey.moving.len();
        let lost = self.colliders.extract_if(.., |collider| collider.body >= posed);
        let lost = lost.map(|collider| format!("without `{}`: the frames do not say where it is", collider.called));
        self.left_out.extend(lost);
        if format.is_one_mesh() {
            let size = solid::plane_size(film.survey.low, film.survey.high);
            for Collider { name, called, shape, body } in std::mem::take(&mut self.colliders) {
                let solid = shape.solid(size);
                self.add_piece(name, called, solid.points.len(), &solid.triangles);
                film.shaping.bodies.push(PosedBody { body, points: BodyPoints::Rigid(solid) });
            }
        }
        self.rest_positions.extend(film.shaping.start_of_bodies(&film.survey.poses, scale));
    }

    /// How many points there are.
    pub fn point_count(&self) -> usize {
        self.rest_positions.len()
    }

    /// Triangles of a piece in its own numbering.
    pub fn local_triangles(&self, piece: &Piece) -> impl ExactSizeIterator<Item = [u32; 3]> {
        let first = piece.points.start as u32;
        self.triangles[piece.triangles.clone()].iter().map(move |t| t.map(|i| i - first))
    }

    /// Smooth normals: the mean of the triangles around a point, weighted by area; up where there is none.
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

/// The pieces of cloth that `about` lists, if together they are all triangles and each stands for itself.
fn cloths(
    header: &Header,
    names: &mut Names,
    points: impl Fn(Range<usize>) -> Range<usize>,
) -> Option<Vec<Piece>> {
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
        // A piece without triangles cannot be drawn, and some formats have no empty mesh.
        if triangles.is_empty() {
            continue;
        }
        let colour = about.get("colour").and_then(Value::as_str).and_then(linear).unwrap_or(GREY);
        let called = called(about, "cloth");
        let (name, points) = (names.take(&called), points(particles));
        cloths.push(Piece { name, called, points, triangles, colour, is_cloth: true });
    }
    (triangle == header.triangles.len() && !cloths.is_empty()).then_some(cloths)
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
fn called(about: &Value, default: &str) -> String {
    let name = about.get("name").and_then(Value::as_str).filter(|name| !name.is_empty());
    name.unwrap_or(default).into()
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

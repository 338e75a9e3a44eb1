//! What a page is shown of a cloth: its shape once, and every frame of it.

use crate::packet::Packet;
use bytes::Bytes;
use serde_json::{Map, Value, json};
use std::ops::Range;
use taffeta::collide::rigid::nearest::nearest;
use taffeta::math::{DVec3, Pose};
use taffeta::model::{Form, Model, PosedShape, Shape, topology};
use taffeta::solve::strips::parts;
use taffeta_io::recording;

/// Unit of the distance to bodies [m], and what stands for all that is further.
const GAP_UNIT: f64 = 1e-4;
const GAP_FAR: u16 = 2000;

/// Name, colour, particles and triangles of a piece.
pub type Piece = (String, String, Range<usize>, Range<usize>);

/// All that is drawn and does not move.
#[derive(Debug)]
pub struct Figure {
    /// Name, colour, particles and triangles of every piece.
    pub cloths: Vec<Piece>,
    /// Rigidities of every piece along warp and weft [N·m]; none where they are not known.
    pub bending: Vec<[f64; 2]>,
    /// Names and forms of bodies.
    pub bodies: Vec<(String, Form)>,
    /// So many of them, the last ones, were thrown.
    pub thrown: usize,
    /// Triangles.
    pub triangles: Vec<[u32; 3]>,
    /// Structural edges.
    pub edges: Vec<[u32; 2]>,
    /// Their rest lengths [m].
    pub rest_lengths: Vec<f64>,
    /// Where every particle is at rest [m].
    pub rest_positions: Vec<DVec3>,
    /// Material coordinates, or none [m].
    pub material: Vec<[f64; 2]>,
    /// Particles that the scene pins.
    pub pinned: Vec<u32>,
    /// Methods of the sides.
    pub methods: Vec<String>,
    /// Largest strain allowed [1].
    pub tolerance: f64,
}

impl Figure {
    /// Of a model that is run by these methods.
    pub fn of(model: &Model, methods: Vec<String>) -> Self {
        let cloth = |c: &taffeta::model::ClothPiece| {
            (c.name.clone(), c.fabric.colour.clone(), c.particles.clone(), c.triangles.clone())
        };
        Self {
            cloths: model.cloths.iter().map(cloth).collect(),
            bending: model
                .cloths
                .iter()
                .map(|c| [1e-6 * c.fabric.bending_warp, 1e-6 * c.fabric.bending_weft])
                .collect(),
            bodies: model.colliders.iter().map(|c| (c.name.clone(), c.form.clone())).collect(),
            thrown: 0,
            triangles: model.triangles.clone(),
            edges: model.edges.clone(),
            rest_lengths: model.rest_lengths.clone(),
            rest_positions: model.rest_positions.clone(),
            material: model.material.clone(),
            pinned: model.pins.iter().flat_map(|pin| pin.particles.iter().copied()).collect(),
            methods,
            tolerance: model.tolerance,
        }
    }

    /// The message that shows it.
    pub fn packet(&self, number: u32) -> Bytes {
        let mut packet = Packet::default();
        packet.u32("triangles", self.triangles.iter().flatten().copied());
        packet.u32("edges", self.edges.iter().flatten().copied());
        let (strips, groups) = self.strips();
        packet.u32("strips", strips.into_iter());
        packet.u32("groups", groups.into_iter());
        packet.f32("material", self.material.iter().flatten().map(|x| *x as f32));
        packet.u32("pinned", self.pinned.iter().copied());
        let cloth = |(number, (name, colour, particles, triangles)): (usize, &Piece)| {
            json!({
                "name": name, "colour": colour, "bending": self.bending.get(number),
                "particles": [particles.start, particles.end], "triangles": [triangles.start, triangles.end],
            })
        };
        for (number, (_, form)) in self.bodies.iter().enumerate() {
            if let Form::Mesh(mesh) = form {
                let points = mesh.points(0.0, &Pose::IDENTITY);
                packet.f32(&format!("body {number} points"), coordinates(&points));
                packet.u32(&format!("body {number} triangles"), mesh.triangles().iter().flatten().copied());
            }
        }
        let body = |(name, of): &(String, Form)| json!({ "name": name, "form": form(of) });
        packet.finish(Map::from_iter([
            ("kind".into(), json!("shape")),
            ("shape".into(), json!(number)),
            ("particles".into(), json!(self.rest_positions.len())),
            ("methods".into(), json!(self.methods)),
            ("tolerance".into(), json!(self.tolerance)),
            ("cloths".into(), self.cloths.iter().enumerate().map(cloth).collect()),
            ("bodies".into(), self.bodies.iter().map(body).collect()),
            ("thrown".into(), json!(self.thrown)),
        ]))
    }

    /// Diagonal of its largest piece at rest [m].
    pub fn size(&self) -> f64 {
        let of = |(.., particles, _): &Piece| {
            let (low, high) = bounds(&self.rest_positions[particles.clone()]);
            low.distance(high)
        };
        self.cloths.iter().map(of).fold(0.0, f64::max)
    }

    /// For every edge its strip, and the group of strips that are solved at once: the cut that the methods by strips use.
    fn strips(&self) -> (Vec<u32>, Vec<u32>) {
        let straights = topology::straight_pairs(&self.edges, &self.rest_positions);
        let groups = parts::cut(&self.edges, &straights, self.rest_positions.len());
        let (mut strip_of, mut group_of) = (vec![0; self.edges.len()], vec![0; self.edges.len()]);
        let mut count = 0;
        for (number, group) in groups.iter().enumerate() {
            for strip in group {
                for edge in &strip.edges {
                    (strip_of[*edge as usize], group_of[*edge as usize]) = (count, number as u32);
                }
                count += 1;
            }
        }
        (strip_of, group_of)
    }
}

fn form(form: &Form) -> Value {
    match form {
        Form::Closed(Shape::Plane) => json!({ "plane": {} }),
        Form::Closed(Shape::Sphere { radius }) => json!({ "sphere": { "radius": radius } }),
        Form::Closed(Shape::Capsule { radius, half_length }) => {
            json!({ "capsule": { "radius": radius, "half_length": half_length } })
        }
        Form::Closed(Shape::Box { half_size }) => json!({ "box": { "half_size": half_size.to_array() } }),
        Form::Mesh(mesh) => {
            json!({ "mesh": { "points": mesh.point_count(), "triangles": mesh.triangles().len() } })
        }
    }
}

/// The corners of the box around points.
fn bounds(points: &[DVec3]) -> (DVec3, DVec3) {
    let reduced = |f: fn(DVec3, DVec3) -> DVec3| points.iter().copied().reduce(f).unwrap_or_default();
    (reduced(DVec3::min), reduced(DVec3::max))
}

fn coordinates(points: &[DVec3]) -> impl Iterator<Item = f32> + '_ {
    points.iter().flat_map(|p| p.to_array()).map(|x| x as f32)
}

/// One side of a frame.
#[derive(Debug)]
pub struct Side<'a> {
    /// Positions [m].
    pub positions: &'a [DVec3],
    /// Velocities [m/s]; none where they are not known.
    pub velocities: &'a [DVec3],
    /// Time of the frame [s].
    pub time: f64,
    /// Pressure of bodies on every particle of cloth [kPa]; `None` where it is not known.
    pub pressure: Option<&'a [f32]>,
    /// Where the bodies are.
    pub bodies: Vec<Pose>,
    /// What the steps tell of themselves.
    pub report: Value,
    /// What is certified.
    pub certificate: Value,
}

impl Side<'_> {
    /// Adds its arrays to a message, under its number; returns its part of the head.
    pub fn pack(&self, figure: &Figure, number: usize, packet: &mut Packet) -> Value {
        let (low, high) = bounds(self.positions);
        let centre = 0.5 * low + 0.5 * high;
        let relative = self.positions.iter().flat_map(|p| (*p - centre).to_array());
        packet.f32(&format!("positions {number}"), relative.map(|x| x as f32));

        let strain = strains(self.positions, figure);
        let speed: Vec<f32> = self.velocities.iter().map(|v| v.length() as f32).collect();
        let (strain_unit, speed_unit) = (unit(&strain), unit(&speed));
        packet.u16(&format!("strain {number}"), strain.iter().map(|s| (s / strain_unit) as u16));
        packet.u16(&format!("speed {number}"), speed.iter().map(|s| (s / speed_unit) as u16));
        let pressure_unit = self.pressure.map(unit);
        if let Some((pressure, unit)) = self.pressure.zip(pressure_unit) {
            packet.u16(&format!("pressure {number}"), pressure.iter().map(|p| (p / unit) as u16));
        }
        let posed = || figure.bodies.iter().map(|(_, form)| form).zip(&self.bodies);
        let closed: Vec<PosedShape> = posed()
            .filter_map(|(form, pose)| match form {
                Form::Closed(shape) => Some(PosedShape { shape: *shape, pose: *pose }),
                Form::Mesh(_) => None,
            })
            .collect();
        packet.u16(&format!("gap {number}"), self.positions.iter().map(|x| gap(*x, &closed)));
        for (body, (form, _)) in posed().enumerate() {
            if let Form::Mesh(mesh) = form
                && mesh.deforms()
            {
                let points = mesh.points(self.time, &Pose::IDENTITY);
                packet.f32(&format!("body {body} points {number}"), coordinates(&points));
            }
        }
        let pose = |pose: &Pose| json!([pose.position.to_array(), pose.rotation.to_array()]);
        json!({
            "centre": centre.to_array(),
            "low": low.to_array(),
            "high": high.to_array(),
            "strain_unit": strain_unit,
            "speed_unit": speed_unit,
            "pressure_unit": pressure_unit,
            "poses": self.bodies.iter().map(pose).collect::<Vec<_>>(),
            "report": self.report,
            "certificate": self.certificate,
        })
    }
}

/// The pressure of bodies on particles [kPa] that have pushed by these impulses [N·s] in a time [s].
pub fn pressures(model: &Model, impulses: &[f64], time: f64) -> Vec<f32> {
    recording::pressures(model, impulses, time).into_iter().map(|pressure| pressure as f32).collect()
}

/// The largest strain of the edges around every particle [1].
fn strains(positions: &[DVec3], figure: &Figure) -> Vec<f32> {
    let mut most = vec![0.0_f32; positions.len()];
    for ([a, b], rest) in figure.edges.iter().zip(&figure.rest_lengths) {
        let (a, b) = (*a as usize, *b as usize);
        let strain = ((positions[a].distance(positions[b]) - rest).abs() / rest) as f32;
        most[a] = most[a].max(strain);
        most[b] = most[b].max(strain);
    }
    most
}

/// What one step of 16 bits stands for, so that the largest number just fits.
fn unit(numbers: &[f32]) -> f32 {
    let most = numbers.iter().copied().filter(|n| n.is_finite()).fold(0.0, f32::max);
    (most / f32::from(u16::MAX)).max(f32::MIN_POSITIVE)
}

/// The distance to the nearest body in units, rounded down.
fn gap(x: DVec3, bodies: &[PosedShape]) -> u16 {
    let far = f64::from(GAP_FAR) * GAP_UNIT;
    let gaps = bodies.iter().filter_map(|body| nearest(body, x, far)).map(|near| near.gap);
    // Below zero becomes zero.
    gaps.fold(far, f64::min).max(0.0).div_euclid(GAP_UNIT) as u16
}

#[cfg(test)]
mod tests {
    use super::*;
    use taffeta_io::scene_file;

    #[test]
    fn a_sheet_that_lies_is_pressed_by_its_weight() {
        let text = "fabrics = { heavy = { base = \"cotton\", density = 200 } }\ncollider = [{ plane = {} }]\n\
                    [[cloth]]\nfabric = \"heavy\"\nposition = [0, 1, 0]\nsheet = { width = 0.2, height = 0.4, columns = 5, rows = 7 }\n";
        let scene = scene_file::from_text("sheet", text, &[]).unwrap();
        let model = taffeta_scene::simulation(&scene, &Default::default()).unwrap().model().clone();
        let (gravity, time) = (9.81, 0.02);
        let impulses: Vec<f64> = model.mass.iter().map(|mass| mass * gravity * time).collect();
        for pressure in pressures(&model, &impulses, time) {
            assert!((f64::from(pressure) - 0.2e-3 * gravity).abs() < 1e-8, "{pressure} kPa");
        }
    }
}

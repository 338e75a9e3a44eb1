//! The mannequin: a body that is ours, generated around a skeleton, with the measures that patterns of garments need.
//!
//! It stands on y = 0 above the origin, looks along +z, its left is +x. All numbers of its parts are those of a height of 1.75 m and scale with it.

mod acts;
mod measures;
mod parts;
mod pose;
mod shape;
mod surface_nets;

use crate::scene::Mannequin;
use acts::RATE;
pub use measures::{Joint, Measures, Section};
use pose::Skeleton;
use shape::Figure;
use surface_nets::Lines;
use taffeta::math::DVec3;
use taffeta::model::body_mesh::{BodyMesh, Moments, Pace};
use taffeta::model::skin::Skin;

/// The height that all numbers are given for [m].
const TALL: f64 = 1.75;
/// Cells where hands, feet and the head are, as a share of those elsewhere [1].
const FINE: f64 = 0.45;

/// The surface of a mannequin, on its bones; or what of its measures no surface can have.
pub fn mannequin(asked: &Mannequin) -> Result<BodyMesh, String> {
    Figure::refuse(asked)?;
    let figure = Figure::new(asked, asked.arms);
    let (mut rest, triangles) = surface(&figure, asked);
    let (mut ends, mut shares) = (Vec::with_capacity(rest.len()), Vec::new());
    let scale = asked.height / TALL;
    for p in &mut rest {
        shares.extend(figure.shares(*p));
        ends.push(shares.len() as u32);
        *p *= scale;
    }
    let skeleton = Skeleton::new(&figure);
    let (start, attitudes) = acts::attitudes(asked);
    let moments = attitudes.iter().map(|attitude| skeleton.moment(attitude, scale)).collect();
    let pace = Pace { start, interval: 1.0 / RATE, repeats: false, once: 0 };
    let skin = Skin { rest, ends, shares, morphs: vec![], moments, joints: skeleton.joints(scale) };
    BodyMesh::new(triangles, Moments::Skin(Box::new(skin)), pace, asked.thickness)
}

/// Points and triangles of a figure of 1.75 m. They are laid out with the arms stretched out, along the grid, where rows of quads run around them;
/// then the arms are lowered, and the points spread on the surface that is asked for.
fn surface(figure: &Figure, asked: &Mannequin) -> (Vec<DVec3>, Vec<[u32; 3]>) {
    let cell = TALL / f64::from(asked.detail.max(1));
    let stretched = Figure::new(asked, 0.0);
    let [low, high] = stretched.bounds();
    let (wrist, shoulder) = (stretched.joints.wrist.x, stretched.joints.shoulder.y);
    let x = Lines { low: low.x, high: high.x, cell, fine: vec![[-high.x, -wrist], [wrist, high.x]] };
    let hands = [shoulder - 0.05, shoulder + 0.03];
    let y = Lines { low: low.y, high: high.y, cell, fine: vec![[low.y, 0.1], hands, [1.56, high.y]] };
    // Hands and feet are as wide as the trunk is deep.
    let z = Lines { low: low.z, high: high.z, cell: 0.65 * cell, fine: vec![] };
    let lines = [x, y, z].map(|lines| lines.places(FINE));
    let (mut points, quads) = surface_nets::net(&|p| stretched.field(p), lines);
    let lowered = Skeleton::new(&stretched).lowered(asked.arms);
    for p in &mut points {
        let shares = stretched.shares(*p);
        *p = shares.iter().map(|s| s.weight * lowered[s.bone as usize].transform_point3(*p)).sum();
    }
    surface_nets::spread(&|p| figure.field(p), cell, &mut points, &quads);
    let triangles = surface_nets::triangles(&points, &quads);
    (points, triangles)
}

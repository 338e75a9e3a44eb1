//! A belt: a band around a body and what it wears, whose ends are drawn together.

use crate::Fault;
use crate::build::body::section::{Section, middle, sections};
use crate::build::shapes::Blank;
use crate::scene::{Belt, Garment, Panel, PanelEdge, Seam};
use std::f64::consts::TAU;
use taffeta::math::{DVec3, trig};
use taffeta::model::{Form, Model, State};

/// How far it starts from what it goes around [m].
const CLEAR: f64 = 8e-3;
/// The share of its way around that a belt does not cover at the start at least [1].
const OPEN: f64 = 0.03;
/// Directions in which is looked how far it has to go around.
const DIRECTIONS: usize = 180;

/// The garment that a belt is: one panel whose ends are sewn together.
pub fn belted(garment: &Garment, belt: &Belt) -> Garment {
    let join = ["belt.left".into(), "belt.right".into()];
    Garment {
        panel: vec![belt.panel()],
        seam: vec![Seam { join, ..Seam::default() }],
        position: [0.0; 3],
        rotation: [0.0; 3],
        ..garment.clone()
    }
}

/// Lays a belt, cut flat, around the body and what it wears, as near as a tape but for [`CLEAR`], open in front. `key` is its place in the scene.
pub fn lay(blank: &mut Blank, belt: &Belt, model: &Model, state: &State, key: &str) -> Result<(), Fault> {
    let Some(mut tape) = tape(belt, model, state) else {
        let reason = "is the height of a belt that goes around nothing: no body of a mesh is there";
        let remedy = "choose a height at which a mannequin or a mesh is";
        return Err(Fault::new(format!("{key}.belt.height"), belt.height, reason, remedy));
    };
    let around = |tape: &[DVec3]| -> Vec<f64> {
        let mut way = vec![0.0];
        for k in 0..tape.len() {
            way.push(way[k] + tape[k].distance(tape[(k + 1) % tape.len()]));
        }
        way
    };
    // One that is longer than the tape starts further out.
    let wider = belt.length / ((1.0 - OPEN) * around(&tape)[tape.len()]);
    let middle = tape.iter().sum::<DVec3>() / tape.len() as f64;
    tape.iter_mut().for_each(|p| *p = middle + wider.max(1.0) * (*p - middle));
    let way = around(&tape);
    for p in &mut blank.start {
        // The tape begins in front and goes to the left of the body; the middle of a belt is at the back, its outside outside.
        let along = (0.5 * way[tape.len()] + p.x).clamp(0.0, way[tape.len()]);
        let k = way.partition_point(|w| *w <= along).clamp(1, tape.len()) - 1;
        let share = (along - way[k]) / (way[k + 1] - way[k]);
        let at = tape[k].lerp(tape[(k + 1) % tape.len()], share);
        *p = DVec3::new(at.x, belt.height - 0.5 * belt.width + p.y, at.z);
    }
    Ok(())
}

/// A tape around the body at the height of a belt, and around what it wears there: points against the clock seen from above, from the front on [m].
fn tape(belt: &Belt, model: &Model, state: &State) -> Option<Vec<DVec3>> {
    let levels = [-0.5, 0.0, 0.5].map(|k| DVec3::Y * (belt.height + k * belt.width));
    let cut = |x: &[DVec3], triangles: &[[u32; 3]]| -> Vec<Section> {
        levels.iter().flat_map(|at| sections(x, triangles, *at, DVec3::Y)).collect()
    };
    let body = model.colliders.iter().find_map(|collider| match &collider.form {
        Form::Mesh(mesh) => {
            let points = mesh.points(0.0, &collider.pose(0.0));
            let low = points.iter().copied().fold(DVec3::INFINITY, DVec3::min);
            let high = points.iter().copied().fold(DVec3::NEG_INFINITY, DVec3::max);
            let limbs = cut(&points, mesh.triangles());
            (!limbs.is_empty()).then_some((low.midpoint(high), limbs))
        }
        Form::Closed(_) => None,
    });
    let (axis, limbs) = body?;
    let flat = |p: DVec3| DVec3::new(p.x, 0.0, p.z);
    let far = |limb: &&Section| flat(middle(limb) - axis).length();
    // Arms are further out than the trunk.
    let trunk = limbs.iter().min_by(|a, b| far(a).total_cmp(&far(b)))?;
    let centre = flat(middle(trunk));
    let reach = trunk.as_flattened().iter().map(|p| flat(*p - centre).length()).fold(0.0, f64::max);
    let near = |section: &&Section| flat(middle(section) - centre).length() < reach;
    let cloth = cut(&state.positions, &model.triangles);
    let met: Vec<DVec3> =
        limbs.iter().chain(&cloth).filter(near).flatten().flatten().map(|p| flat(*p - centre)).collect();
    // The line that touches all of it from each direction; where two of them meet is a corner of the tape.
    let touching = |k: usize| {
        let angle = TAU * k as f64 / DIRECTIONS as f64;
        let out = DVec3::new(trig::sin(angle), 0.0, trig::cos(angle));
        (out, met.iter().map(|p| p.dot(out)).fold(0.0, f64::max) + CLEAR)
    };
    let corner = |k: usize| {
        let ((m, a), (n, b)) = (touching(k), touching(k + 1));
        let across = m.cross(n).y;
        centre + DVec3::new(m.z * b - n.z * a, 0.0, n.x * a - m.x * b) / across
    };
    Some((0..DIRECTIONS).map(corner).collect())
}

impl Belt {
    /// It laid flat.
    pub fn panel(&self) -> Panel {
        let (half, width) = (0.5 * self.length, self.width);
        let edge = |name: &str, to: [f64; 2]| PanelEdge { name: name.into(), to, ..PanelEdge::default() };
        let drawn = |name: &str, to: [f64; 2]| PanelEdge { elastic: self.elastic.clone(), ..edge(name, to) };
        Panel {
            name: "belt".into(),
            warp: 0.0,
            start: [-half, 0.0],
            edge: vec![
                drawn("lower", [half, 0.0]),
                edge("right", [half, width]),
                drawn("upper", [-half, width]),
                edge("left", [-half, 0.0]),
            ],
            ..Panel::default()
        }
    }
}

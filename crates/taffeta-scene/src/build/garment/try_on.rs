//! What has fine cells is tried on in coarse ones first: it is basted there, and let down by the engine until it rests. So fine cloth starts about where it will
//! rest, at a small part of what every frame of its own costs.

use super::Tailored;
use super::add::add_numbered;
use crate::build::shapes::Blank;
use crate::build::{empty_model, sliders};
use crate::scene::{Garment, Scene};
use taffeta::Simulation;
use taffeta::math::DVec3;
use taffeta::model::body_mesh::{BodyMesh, Moments, Pace};
use taffeta::model::{AirModel, Collider, Form, Method, Model, Motion, Params, Scales, State};

/// Length of cells that garments are tried on in, if their own are shorter than this share of it [m].
const COARSE: f64 = 0.025;
const FINE: f64 = 0.8;
/// A frame [s], and the most of them.
const FRAME: f64 = 1.0 / 30.0;
const FRAMES: u32 = 60;
/// How fast the air calms cloth [1/s]: what is half a metre long then hangs still soonest, without swinging.
const DAMPING: f64 = 9.0;
/// What is slower is at rest [m/s]; so many may be faster in a garment at rest [1].
const SLOW: f64 = 0.01;
const FASTER: f64 = 0.015;
/// How far cloth sinks on average if it falls off [m].
const FALLEN: f64 = 0.2;

/// The panels of a garment with fine cells in coarse ones, where they rest on bodies as these are at the start. In a scene that is weightless at first, where what
/// is basted intersects, and what would fall off, nothing is let down. None if its cells are coarse, or it cannot be cut of coarser ones.
pub fn try_on(scene: &Scene, garment: &Garment, key: &str, bodies: &[Collider]) -> Option<Vec<Blank>> {
    if garment.edge_length >= FINE * COARSE {
        return None;
    }
    let mut coarse = Garment { edge_length: COARSE, ..garment.clone() };
    coarse.pin.iter_mut().for_each(|pin| pin.keyframe.clear());
    let empty = empty_model(scene);
    let mut model = Model {
        method: Method::ImpulseStrips,
        step_time: FRAME,
        steps_per_frame: 1,
        substeps: None,
        max_iterations: None,
        budget: None,
        extensible: false,
        limit: None,
        air: AirModel { wind: DVec3::ZERO, gust: [0.0; 3], damping: DAMPING, ..empty.air },
        colliders: bodies.iter().map(at_start).collect(),
        ..empty
    };
    let mut state = State::default();
    let (mut tailored, numbers) = add_numbered(&mut model, &mut state, scene, &coarse, key).ok()?;
    sliders::add(&mut model);
    model.params = Params::of(&Scales::of(&model));
    let mut simulation = Simulation::new(model, state);
    let start = simulation.certificate();
    if scene.weightless == 0.0
        && start.cloth_cloth + start.cloth_body == 0
        && let Some(rested) = let_down(&mut simulation)
    {
        place(&mut tailored, &numbers, rested);
    }
    Some(tailored.blanks)
}

/// Steps until hardly anything moves; where particles are then. None if it falls off, or a step fails.
fn let_down(simulation: &mut Simulation) -> Option<&[DVec3]> {
    let height = |simulation: &Simulation| {
        let all = simulation.positions();
        all.iter().map(|x| x.y).sum::<f64>() / all.len() as f64
    };
    let start = height(simulation);
    for _ in 0..FRAMES {
        simulation.step_frame(&mut ()).ok()?;
        if height(simulation) < start - FALLEN {
            return None;
        }
        let all = simulation.velocities();
        let fast = all.iter().filter(|v| v.length() > SLOW).count();
        if (fast as f64) < FASTER * all.len() as f64 {
            break;
        }
    }
    Some(simulation.positions())
}

/// Lets panels start where their particles, which have these numbers, are.
fn place(tailored: &mut Tailored, numbers: &[u32], x: &[DVec3]) {
    let starts = tailored.blanks.iter_mut().flat_map(|blank| &mut blank.start);
    starts.zip(numbers).for_each(|(start, number)| *start = x[*number as usize]);
}

/// A body that stays as it is at the start.
fn at_start(collider: &Collider) -> Collider {
    let pose = collider.pose(0.0);
    let form = match &collider.form {
        Form::Mesh(mesh) if mesh.deforms() => {
            let points = mesh.points(0.0, &pose).iter().map(|p| pose.to_local(*p)).collect();
            let moments = Moments::Points(vec![points]);
            let still = BodyMesh::new(mesh.triangles().to_vec(), moments, Pace::default(), mesh.thickness());
            still.map_or_else(|_| collider.form.clone(), Form::Mesh)
        }
        form => form.clone(),
    };
    Collider { form, placed: pose, motion: Motion::default(), ..collider.clone() }
}

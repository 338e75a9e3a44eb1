//! From a scene to a model and its first state: the only place that gives out numbers to particles.

use super::collider::{Collider, Shape};
use super::elements::{self, Bends, Springs};
use super::motion::Motion;
use super::shapes::{self, Blank};
use super::state::State;
use super::topology::{MeshProblem, Topology};
use super::{AirModel, ClothPiece, Model, PinGroup};
use crate::math::random::Random;
use crate::math::{DVec3, Pose};
use crate::scene::{self, Cloth, Fabric, Fault, Mesh, Scene, Side};
use std::collections::BTreeMap;
use std::ops::Range;

/// The model and first state of a scene whose mesh files have been read, or everything that is wrong with it.
pub fn build(scene: &Scene, meshes: &BTreeMap<String, Mesh>) -> Result<(Model, State), Vec<Fault>> {
    let mut faults = scene.faults();
    if !faults.is_empty() {
        return Err(faults);
    }
    let mut model = empty_model(scene);
    let mut state = State::default();
    let mut random = Random::new(scene.seed);
    for (i, cloth) in scene.cloth.iter().enumerate() {
        let key = format!("cloth[{i}]");
        let Some(fabric) = scene.fabric(&cloth.fabric) else { continue };
        match cut(cloth, meshes, &key) {
            Ok((blank, topology)) => {
                add_cloth(&mut model, cloth, &key, fabric, &blank, &topology);
                add_start(&mut state, cloth, &blank, &mut random);
                let particles = model.particle_count() - blank.start.len()..model.particle_count();
                faults.extend(add_pins(&mut model, &state, cloth, &key, &topology, particles));
            }
            Err(problems) => faults.extend(problems),
        }
    }
    model.colliders = scene.collider.iter().enumerate().filter_map(|(i, c)| collider(c, i)).collect();
    if faults.is_empty() { Ok((model, state)) } else { Err(faults) }
}

fn empty_model(scene: &Scene) -> Model {
    let steps = scene.solver.steps_per_frame;
    Model {
        method: scene.solver.method,
        step_time: scene.frame_time / f64::from(steps),
        steps_per_frame: steps,
        substeps: scene.solver.substeps,
        tolerance: scene.solver.tolerance,
        gravity: DVec3::from(scene.gravity),
        air: AirModel {
            density: scene.air.density,
            drag: scene.air.drag,
            skin_friction: scene.air.skin_friction,
            wind: DVec3::from(scene.air.wind),
            damping: scene.air.damping,
        },
        rest_positions: Vec::new(),
        material: Vec::new(),
        mass: Vec::new(),
        inverse_mass: Vec::new(),
        triangles: Vec::new(),
        edges: Vec::new(),
        rest_lengths: Vec::new(),
        springs: Springs::default(),
        bends: Bends::default(),
        cloths: Vec::new(),
        pins: Vec::new(),
        colliders: Vec::new(),
    }
}

/// The shape of a cloth and its topology.
fn cut(cloth: &Cloth, meshes: &BTreeMap<String, Mesh>, key: &str) -> Result<(Blank, Topology), Vec<Fault>> {
    let blank = if let Some(sheet) = &cloth.sheet {
        shapes::sheet(sheet)
    } else if let Some(strip) = &cloth.strip {
        shapes::strip(strip)
    } else if let Some(disc) = &cloth.disc {
        shapes::disc(disc)
    } else if let Some(tube) = &cloth.tube {
        shapes::tube(tube)
    } else {
        mesh_from_file(cloth, meshes, key)?
    };
    match Topology::new(&blank.rest) {
        Ok(topology) => Ok((blank, topology)),
        Err(problems) => Err(mesh_faults(cloth, key, &problems)),
    }
}

fn mesh_from_file(cloth: &Cloth, meshes: &BTreeMap<String, Mesh>, key: &str) -> Result<Blank, Vec<Fault>> {
    let (file, scale) = cloth.mesh.as_ref().map_or(("", 1.0), |m| (m.file.as_str(), m.scale));
    let Some(mesh) = meshes.get(file) else {
        let fault = Fault::new(
            format!("{key}.mesh.file"),
            file,
            "the mesh was not handed in",
            "read it and pass it under this name",
        );
        return Err(vec![fault]);
    };
    let mut mesh = mesh.clone();
    mesh.positions.iter_mut().for_each(|p| *p *= scale);
    mesh.material.iter_mut().flatten().for_each(|c| *c *= scale);
    Ok(Blank::at_rest(mesh))
}

/// The first problems of a mesh by name, and how many there are.
fn mesh_faults(cloth: &Cloth, key: &str, problems: &[MeshProblem]) -> Vec<Fault> {
    const NAMED: usize = 20;
    let (key, file) = match &cloth.mesh {
        Some(mesh) => (format!("{key}.mesh.file"), mesh.file.as_str()),
        None => (key.to_string(), ""),
    };
    let remedy =
        "mend the mesh in a modelling program (merge by distance, delete degenerate and interior faces)";
    let fault = |reason: String| Fault::new(key.clone(), file, reason, remedy);
    let mut faults: Vec<Fault> = problems.iter().take(NAMED).map(|p| fault(p.to_string())).collect();
    if problems.len() > NAMED {
        faults.push(fault(format!("... and {} more such places", problems.len() - NAMED)));
    }
    faults
}

fn add_cloth(
    model: &mut Model,
    cloth: &Cloth,
    key: &str,
    fabric: Fabric,
    blank: &Blank,
    topology: &Topology,
) {
    let first = model.particle_count();
    let shift = |i: u32| i + first as u32;
    let (first_triangle, first_edge) = (model.triangles.len(), model.edges.len());

    let mut mass = elements::masses(topology, &blank.rest, &fabric);
    // A point of a mesh that no face uses has no mass; it stays where it is.
    model.inverse_mass.extend(mass.iter().map(|m| if *m > 0.0 { 1.0 / m } else { 0.0 }));
    model.mass.append(&mut mass);
    model.rest_positions.extend(&blank.rest.positions);
    let flat = || blank.rest.positions.iter().map(|p| [p.x, -p.z]);
    model.material.extend(if blank.rest.material.is_empty() {
        flat().collect()
    } else {
        blank.rest.material.clone()
    });
    model.triangles.extend(topology.triangles.iter().map(|t| t.map(shift)));
    model.edges.extend(topology.edges.iter().map(|e| e.map(shift)));

    let springs = elements::springs(topology, &blank.rest, &fabric);
    let structural = topology.edges.len();
    model.rest_lengths.extend(&springs.rest_length[..structural]);
    let longest_edge = springs.rest_length.iter().copied().fold(0.0, f64::max);
    model.springs.ends.extend(springs.ends.iter().map(|e| e.map(shift)));
    model.springs.rest_length.extend(springs.rest_length);
    model.springs.stiffness.extend(springs.stiffness);
    model.springs.damping.extend(springs.damping);

    let bends = elements::bends(topology, &blank.rest, &fabric);
    model.bends.points.extend(bends.points.iter().map(|p| p.map(shift)));
    model.bends.inverse_lengths.extend(bends.inverse_lengths);
    model.bends.stiffness.extend(bends.stiffness);
    model.bends.damping.extend(bends.damping);

    model.cloths.push(ClothPiece {
        name: if cloth.name.is_empty() { key.to_string() } else { cloth.name.clone() },
        fabric,
        particles: first..model.particle_count(),
        triangles: first_triangle..model.triangles.len(),
        edges: first_edge..model.edges.len(),
        longest_edge,
    });
}

fn add_start(state: &mut State, cloth: &Cloth, blank: &Blank, random: &mut Random) {
    let pose = Pose::from_degrees(DVec3::from(cloth.position), DVec3::from(cloth.rotation));
    let first = state.velocities.len();
    state.positions.extend(blank.start.iter().map(|p| pose.to_world(*p)));
    state.velocities.resize(state.positions.len(), DVec3::from(cloth.velocity));
    if let Some(kick) = &cloth.kick {
        for v in &mut state.velocities[first..] {
            if random.unit() < kick.share {
                v.y += random.between(-kick.speed, kick.speed);
            }
        }
    }
}

fn add_pins(
    model: &mut Model,
    state: &State,
    cloth: &Cloth,
    key: &str,
    topology: &Topology,
    particles: Range<usize>,
) -> Vec<Fault> {
    let mut faults = Vec::new();
    for (i, pin) in cloth.pin.iter().enumerate() {
        let mut pinned = cloth.pinned(pin);
        if cloth.mesh.is_some() && pin.sides.contains(&Side::Rim) {
            pinned.extend(&topology.boundary);
            pinned.sort_unstable();
            pinned.dedup();
        }
        // Numbers within a mesh are known only now that it has been read.
        if let Some(beyond) = pinned.iter().find(|v| **v as usize >= particles.len()) {
            let reason = format!("the mesh has only the particles 0 to {}", particles.len() - 1);
            let remedy = "name particles of this mesh, counted from 0";
            faults.push(Fault::new(format!("{key}.pin[{i}].vertices"), beyond, reason, remedy));
            continue;
        }
        pinned.iter_mut().for_each(|p| *p += particles.start as u32);
        pinned.iter().for_each(|p| model.inverse_mass[*p as usize] = 0.0);
        let start: Vec<DVec3> = pinned.iter().map(|p| state.positions[*p as usize]).collect();
        let centre = start.iter().sum::<DVec3>() / start.len().max(1) as f64;
        model.pins.push(PinGroup { particles: pinned, start, centre, motion: Motion::new(&pin.keyframe) });
    }
    faults
}

fn collider(asked: &scene::Collider, number: usize) -> Option<Collider> {
    let shape = if asked.plane.is_some() {
        Shape::Plane
    } else if let Some(s) = &asked.sphere {
        Shape::Sphere { radius: s.radius }
    } else if let Some(c) = &asked.capsule {
        Shape::Capsule { radius: c.radius, half_length: 0.5 * c.length }
    } else {
        Shape::Box { half_size: 0.5 * DVec3::from(asked.cuboid.as_ref()?.size) }
    };
    Some(Collider {
        name: if asked.name.is_empty() { format!("collider[{number}]") } else { asked.name.clone() },
        shape,
        placed: Pose::from_degrees(DVec3::from(asked.position), DVec3::from(asked.rotation)),
        motion: Motion::new(&asked.keyframe),
        friction: asked.friction,
    })
}

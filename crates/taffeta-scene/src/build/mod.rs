//! From a scene to a model and its first state: the only place that gives out numbers to particles.

mod body;
mod cut;
mod elements;
mod folds;
mod garment;
pub mod import;
mod lattice;
mod membranes;
mod parting;
mod plates;
pub mod shapes;
mod sliders;
pub mod stuffing;

pub use body::clip;
pub use body::files::{rigid_surface, surface};
pub use body::mannequin::{self, Measures};
pub use body::section;
pub use elements::{bias_stiffness, shear_stiffness};

use crate::scene::{
    self, Air, Body, BoxShape, CapsuleShape, Cloth, ClothModel, FillingKind, Mesh, Pin, Scene, Side,
    SphereShape,
};
use crate::{Fault, FaultyScene};
use cut::{Inside, cut, fill};
use garment::{add_garment, add_link};
use import::NO_PARTICLE;
use shapes::Blank;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;
use taffeta::Simulation;
use taffeta::math::random::Random;
use taffeta::math::{DVec3, Pose};
use taffeta::model::pins::{self, PinGroup};
use taffeta::model::rigid::{RigidBody, Solid};
use taffeta::model::topology::Topology;
use taffeta::model::{
    AirModel, Balloon, Bends, Buckles, ClothPiece, Collider, Fabric, Form, Membranes, Method, Model, Motion,
    Params, Plates, Scales, Shape, Springs, State, Stitches, StrainLimit, TornModels, Twists,
};
use taffeta::step::{Device, DeviceRefusal};

/// Density of a free body that has none given [kg/m³].
const WOOD: f64 = 500.0;

/// The model and first state of a scene whose mesh files have been read, or everything that is wrong with it.
pub fn build(scene: &Scene, meshes: &BTreeMap<String, Mesh>) -> Result<(Model, State), FaultyScene> {
    build_torn(scene, meshes, &[])
}

/// The same with cloth torn and pins come off as [`State::parted`] has it.
pub fn build_torn(
    scene: &Scene,
    meshes: &BTreeMap<String, Mesh>,
    parted: &[u64],
) -> Result<(Model, State), FaultyScene> {
    let faults = scene.faults();
    if !faults.is_empty() {
        return Err(FaultyScene { faults });
    }
    let (model, state, random) = (empty_model(scene), State::default(), Random::new(scene.seed));
    let mut work = Work { meshes, parted, model, state, random, faults };
    for (i, asked) in scene.collider.iter().enumerate() {
        match collider(asked, &format!("collider[{i}]"), meshes) {
            Ok(collider) => work.model.colliders.extend(collider),
            Err(fault) => work.faults.push(fault),
        }
    }
    for (i, cloth) in scene.cloth.iter().enumerate() {
        let Some(fabric) = scene.fabric(&cloth.fabric) else { continue };
        work.add_cloth(cloth, &format!("cloth[{i}]"), fabric);
    }
    let Work { mut model, mut state, mut faults, .. } = work;
    for (i, garment) in scene.garment.iter().enumerate() {
        let added = add_garment(&mut model, &mut state, scene, garment, &format!("garment[{i}]"));
        faults.extend(added.err().into_iter().flatten());
    }
    for (i, asked) in scene.body.iter().enumerate() {
        faults.extend(add_body(&mut model, &mut state, asked, &format!("body[{i}]"), meshes).err());
    }
    if !faults.is_empty() {
        return Err(FaultyScene { faults });
    }
    sliders::add(&mut model);
    model.params = Params::of(&Scales::of(&model));
    Ok((model, state))
}

/// The simulation of a scene whose mesh files have been read, or everything that is wrong with it. It computes on the CPU, and refuses a scene that asks for
/// another device.
pub fn simulation(scene: &Scene, meshes: &BTreeMap<String, Mesh>) -> Result<Simulation, FaultyScene> {
    simulation_on(scene, meshes, |_| {
        Err(DeviceRefusal {
            reason: "is not used here".into(),
            remedy: "leave it out, or compute with `taffeta run`".into(),
        })
    })
}

/// The same on the device that the scene asks for, which `open` opens by its name.
pub fn simulation_on(
    scene: &Scene,
    meshes: &BTreeMap<String, Mesh>,
    open: impl Fn(&str) -> Result<Arc<dyn Device>, DeviceRefusal>,
) -> Result<Simulation, FaultyScene> {
    let simulation = on_cpu(scene, meshes)?;
    let Some(name) = scene.solver.device.as_deref().filter(|name| *name != "cpu") else {
        return Ok(simulation);
    };
    open(name).and_then(|device| simulation.with_device(device)).map_err(
        |DeviceRefusal { reason, remedy }| FaultyScene {
            faults: vec![Fault::new("solver.device", format!("\"{name}\""), reason, remedy)],
        },
    )
}

fn on_cpu(scene: &Scene, meshes: &BTreeMap<String, Mesh>) -> Result<Simulation, FaultyScene> {
    let (model, state) = build(scene, meshes)?;
    let parts = !model.tearing.is_empty() || !model.clips.is_empty();
    let simulation = Simulation::new(model, state);
    let torn_models = || Arc::new(Authored { scene: scene.clone(), meshes: meshes.clone() });
    Ok(if parts { simulation.with_torn_models(torn_models()) } else { simulation })
}

/// A scene that is built again whenever something has parted.
#[derive(Debug)]
struct Authored {
    scene: Scene,
    meshes: BTreeMap<String, Mesh>,
}

impl TornModels for Authored {
    fn torn(&self, parted: &[u64]) -> Option<Model> {
        build_torn(&self.scene, &self.meshes, parted).ok().map(|(model, _)| model)
    }
}

/// A model that is being built, and what was found wrong on the way.
struct Work<'a> {
    meshes: &'a BTreeMap<String, Mesh>,
    parted: &'a [u64],
    model: Model,
    state: State,
    random: Random,
    faults: Vec<Fault>,
}

impl Work<'_> {
    /// Cuts a cloth and adds it with its start, what is in it and what holds it.
    fn add_cloth(&mut self, cloth: &Cloth, key: &str, fabric: Fabric) {
        let Self { meshes, parted, model, state, random, faults } = self;
        let cut = cut(cloth, meshes, key);
        let (inside, (mut blank, mut topology, particle_of)) =
            match cut.and_then(|mut cut| Ok((fill(cloth, &mut cut, key)?, cut))) {
                Ok(made) => made,
                Err(problems) => return faults.extend(problems),
            };
        let own = blank.start.len();
        if let Some(limit) = cloth.tear {
            faults.extend(parting::reserve(model, state, (&mut blank, &mut topology), limit, parted).err());
        }
        add_cloth(model, cloth, key, fabric, (&blank, &topology), inside);
        let particles = model.cloths.last().map_or(0..0, |piece| piece.particles.clone());
        let pressed = folds::press(model, particles, &cloth.fold, |p| p, &format!("{key}.fold"));
        faults.extend(pressed.err().into_iter().flatten());
        add_start(state, cloth, &blank, random);
        add_lines(model, state, cloth, &blank);
        faults.extend(add_filling(model, state, cloth, key, &topology).err());
        let first = model.particle_count() - blank.start.len();
        let placed = PlacedCloth { own: first..first + own, state, colliders: &model.colliders };
        match pinned(cloth, key, &topology, particle_of.as_deref(), &placed) {
            Ok(pinned) => pinned.into_iter().zip(&cloth.pin).for_each(|(particles, pin)| {
                let particles = particles.into_iter().map(|p| p + first as u32).collect();
                add_pin(model, state, pin, particles, parted);
            }),
            Err(problems) => faults.extend(problems),
        }
    }
}

pub(super) fn empty_model(scene: &Scene) -> Model {
    let steps = scene.solver.steps_per_frame;
    Model {
        method: scene.solver.method,
        step_time: scene.frame_time / f64::from(steps),
        steps_per_frame: steps,
        substeps: scene.solver.substeps,
        tolerance: scene.solver.tolerance,
        cloth_meets_cloth: scene.contact.cloth_cloth,
        max_iterations: scene.solver.max_iterations,
        budget: scene.solver.budget,
        extensible: scene.solver.extensible,
        direction: scene.solver.direction,
        velocities: scene.solver.velocities,
        step: scene.solver.step,
        newton: scene.solver.newton,
        order: scene.solver.order,
        limit: scene.solver.limit.clone().or_else(|| {
            // Cloth that is to tear has to stretch as far.
            let tears = scene.cloth.iter().any(|cloth| cloth.tear.is_some());
            (scene.solver.method == Method::Verlet && !tears).then(StrainLimit::default)
        }),
        params: Params::default(),
        gravity: DVec3::from(scene.gravity),
        weightless: scene.weightless,
        air: air_model(&scene.air, scene.seed),
        rest_positions: Vec::new(),
        material: Vec::new(),
        mass: Vec::new(),
        triangles: Vec::new(),
        edges: Vec::new(),
        rest_lengths: Vec::new(),
        springs: Springs::default(),
        bends: Bends::default(),
        twists: Twists::default(),
        membranes: Membranes::default(),
        plates: Plates::default(),
        stretches: Springs::default(),
        buckles: Buckles::default(),
        sliders: Vec::new(),
        links: Stitches::default(),
        balloons: Vec::new(),
        cloths: Vec::new(),
        pins: Vec::new(),
        colliders: Vec::new(),
        bodies: Vec::new(),
        tearing: Vec::new(),
        splits: Vec::new(),
        clips: Vec::new(),
    }
}

fn add_cloth(
    model: &mut Model,
    cloth: &Cloth,
    key: &str,
    fabric: Fabric,
    (blank, topology): (&Blank, &Topology),
    inside: Option<Inside>,
) {
    let first = model.particle_count();
    let shift = |i: u32| i + first as u32;
    let (first_triangle, first_edge) = (model.triangles.len(), model.edges.len());

    let (mut mass, springs) = match inside {
        Some(Inside { mass, springs }) => (mass, Some(springs)),
        None => (elements::masses(topology, &blank.rest, &fabric), None),
    };
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

    let lengths = |ends: &[[u32; 2]]| -> Vec<f64> {
        ends.iter().map(|e| e.map(|i| blank.rest.positions[i as usize])).map(|[a, b]| a.distance(b)).collect()
    };
    model.rest_lengths.extend(lengths(&topology.edges));
    let all = lengths(&topology.edges).into_iter().chain(lengths(&topology.diagonals));
    let longest_edge = all.fold(0.0, f64::max);
    match springs {
        Some(springs) => model.springs.append(springs, first as u32),
        None => add_elements(model, cloth, &fabric, blank, topology),
    }

    model.cloths.push(ClothPiece {
        name: if cloth.name.is_empty() { key.to_string() } else { cloth.name.clone() },
        fabric,
        particles: first..model.particle_count(),
        triangles: first_triangle..model.triangles.len(),
        edges: first_edge..model.edges.len(),
        longest_edge,
        let_out: 0.0,
    });
}

/// The elements of a piece of cloth whose particles are the last that the model has.
fn add_elements(model: &mut Model, cloth: &Cloth, fabric: &Fabric, blank: &Blank, topology: &Topology) {
    let first = (model.particle_count() - blank.start.len()) as u32;
    let rest = &blank.rest;
    match cloth.model {
        ClothModel::Springs => {
            model.springs.append(elements::springs(topology, rest, fabric), first);
            model.bends.append(elements::bends(topology, rest, fabric), first);
            model.twists.append(elements::twists(topology, rest, fabric), first);
        }
        ClothModel::Triangles => {
            model.membranes.append(membranes::membranes(topology, rest, fabric), first);
            model.plates.append(plates::plates(topology, rest, fabric), first);
        }
        ClothModel::ChoiKo => {
            let (stretches, buckles) = membranes::choi_ko(topology, rest, fabric);
            model.stretches.append(stretches, first);
            model.buckles.append(buckles, first);
        }
    }
}

/// What fills the piece of cloth that was added last; a fault if it is not closed.
fn add_filling(
    model: &mut Model,
    state: &State,
    cloth: &Cloth,
    key: &str,
    topology: &Topology,
) -> Result<(), Fault> {
    let (Some(filling), Some(piece)) = (&cloth.filling, model.cloths.last()) else { return Ok(()) };
    if let Some(open) = topology.boundary.first() {
        let reason = format!("the surface is open, at particle {open} among others");
        let remedy = "fill a `ball` or a closed mesh, or leave it out";
        return Err(Fault::new(format!("{key}.filling"), "", reason, remedy));
    }
    let triangles = piece.triangles.clone();
    let sixfold = |t: &[u32; 3]| {
        let [a, b, c] = t.map(|i| state.positions[i as usize] - state.positions[piece.particles.start]);
        a.dot(b.cross(c))
    };
    let volume = model.triangles[triangles.clone()].iter().map(sixfold).sum::<f64>() / 6.0;
    let sealed = (filling.kind == FillingKind::Gas).then_some(volume.abs());
    model.balloons.push(Balloon { triangles, pressure: filling.pressure, sealed });
    Ok(())
}

/// Sews what the lines of a mesh join, if the scene asks for it.
fn add_lines(model: &mut Model, state: &State, cloth: &Cloth, blank: &Blank) {
    let Some(duration) = cloth.sewing else { return };
    let first = (model.particle_count() - blank.start.len()) as u32;
    for line in &blank.rest.lines {
        add_link(model, state, line.map(|i| i + first), [0.0, duration, f64::INFINITY]);
    }
}

pub(super) fn add_start(state: &mut State, cloth: &Cloth, blank: &Blank, random: &mut Random) {
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

/// A cloth among the bodies, before anything moves.
struct PlacedCloth<'a> {
    /// Its particles but the spare ones.
    own: Range<usize>,
    state: &'a State,
    colliders: &'a [Collider],
}

impl PlacedCloth<'_> {
    /// Of a pin that reaches only so far, the particles that are near enough to its body.
    fn near(&self, pin: &Pin, named: Vec<u32>, key: &str) -> Result<Vec<u32>, Fault> {
        let body = self.colliders.iter().find(|collider| pin.on.as_ref() == Some(&collider.name));
        let (Some(within), Some(body)) = (pin.within, body) else { return Ok(named) };
        let all = &self.state.positions[self.own.clone()];
        let named = if pin.names_any() { named } else { (0..all.len() as u32).collect() };
        let starts: Vec<DVec3> = named.iter().map(|p| all[*p as usize]).collect();
        let distances = pins::distances(body, &starts);
        let near: Vec<u32> =
            named.iter().zip(&distances).filter(|(_, far)| **far <= within).map(|(p, _)| *p).collect();
        if near.is_empty() {
            let least = distances.iter().copied().fold(f64::INFINITY, f64::min);
            let reason =
                format!("no particle is so near to `{}`; the nearest is {least:.4} m away", body.name);
            return Err(Fault::new(
                format!("{key}.within"),
                within,
                reason,
                "place the cloth nearer, or reach further",
            ));
        }
        Ok(near)
    }
}

/// The particles of every pin, counted within the cloth. Those of a mesh are known only now that it has been read.
fn pinned(
    cloth: &Cloth,
    key: &str,
    topology: &Topology,
    particle_of: Option<&[u32]>,
    placed: &PlacedCloth,
) -> Result<Vec<Vec<u32>>, Vec<Fault>> {
    let (mut groups, mut faults) = (Vec::<Vec<u32>>::new(), Vec::new());
    for (i, pin) in cloth.pin.iter().enumerate() {
        let key = format!("{key}.pin[{i}]");
        let mut group = cloth.pinned(pin);
        if let Some(particle_of) = particle_of {
            group = particles_of_points(&group, particle_of, &key).unwrap_or_else(|fault| {
                faults.push(fault);
                Vec::new()
            });
            group.extend(topology.boundary.iter().filter(|_| pin.sides.contains(&Side::Rim)));
            group.sort_unstable();
            group.dedup();
        }
        group = placed.near(pin, group, &key).unwrap_or_else(|fault| {
            faults.push(fault);
            Vec::new()
        });
        let moves = |k: usize| cloth.pin[k].moves();
        let shares =
            |k: &usize| (moves(i) || moves(*k)) && groups[*k].iter().any(|p| group.binary_search(p).is_ok());
        if let Some(other) = (0..i).find(shares) {
            let reason = format!("a particle of `pin[{other}]` is pinned here too, and one of the two moves");
            faults.push(Fault::new(key, "", reason, "leave it to one of them, or let neither move"));
        }
        groups.push(group);
    }
    if faults.is_empty() { Ok(groups) } else { Err(faults) }
}

/// The particles that points of a file became.
fn particles_of_points(points: &[u32], particle_of: &[u32], key: &str) -> Result<Vec<u32>, Fault> {
    let particle = |point: &u32| {
        let refuse = |reason: String| {
            let remedy = "name points of this mesh that faces use, counted from 0 as in its file";
            Err(Fault::new(format!("{key}.vertices"), point, reason, remedy))
        };
        match particle_of.get(*point as usize) {
            Some(&NO_PARTICLE) => refuse("no face uses this point of the mesh".into()),
            Some(particle) => Ok(*particle),
            None => refuse(format!("the mesh has only the points 0 to {}", particle_of.len() - 1)),
        }
    };
    points.iter().map(particle).collect()
}

pub(super) fn add_pin(
    model: &mut Model,
    state: &mut State,
    pin: &Pin,
    mut particles: Vec<u32>,
    parted: &[u64],
) {
    parting::clip(model, state, pin, &mut particles, parted);
    let start: Vec<DVec3> = particles.iter().map(|p| state.positions[*p as usize]).collect();
    let body = model.colliders.iter().position(|collider| pin.on.as_ref() == Some(&collider.name));
    model.pins.push(match body {
        Some(number) => PinGroup::seated(particles, &start, (number, &model.colliders[number]), 0.0),
        None => PinGroup::moved(particles, start, Motion::new(&pin.keyframe)),
    });
}

/// The collider that is asked for; none where no shape is given.
fn collider(
    asked: &scene::Collider,
    key: &str,
    meshes: &BTreeMap<String, Mesh>,
) -> Result<Option<Collider>, Fault> {
    let form = if asked.plane.is_some() {
        Some(Form::Closed(Shape::Plane))
    } else if let Some(mesh) = &asked.mesh {
        Some(Form::Mesh(surface(mesh, meshes, key)?))
    } else if let Some(asked) = &asked.mannequin {
        Some(Form::Mesh(mannequin::mannequin(asked).map_err(|reason| {
            Fault::new(format!("{key}.mannequin"), "", reason, "give it the usual measures")
        })?))
    } else {
        closed_form(&asked.sphere, &asked.capsule, &asked.cuboid)
    };
    Ok(form.map(|form| Collider {
        name: if asked.name.is_empty() { key.to_string() } else { asked.name.clone() },
        form,
        placed: Pose::from_degrees(DVec3::from(asked.position), DVec3::from(asked.rotation)),
        motion: Motion::new(&asked.keyframe),
        friction: asked.friction,
        free: None,
    }))
}

fn closed_form(
    sphere: &Option<SphereShape>,
    capsule: &Option<CapsuleShape>,
    cuboid: &Option<BoxShape>,
) -> Option<Form> {
    let sphere = sphere.as_ref().map(|s| Shape::Sphere { radius: s.radius });
    let capsule =
        || capsule.as_ref().map(|c| Shape::Capsule { radius: c.radius, half_length: 0.5 * c.length });
    let cuboid = || cuboid.as_ref().map(|c| Shape::Box { half_size: 0.5 * DVec3::from(c.size) });
    sphere.or_else(capsule).or_else(cuboid).map(Form::Closed)
}

/// Adds the free body that is asked for: a collider and its four particles.
fn add_body(
    model: &mut Model,
    state: &mut State,
    asked: &Body,
    key: &str,
    meshes: &BTreeMap<String, Mesh>,
) -> Result<(), Fault> {
    let form = match &asked.mesh {
        Some(mesh) => Some(Form::Mesh(rigid_surface(mesh, meshes, key)?)),
        None => closed_form(&asked.sphere, &asked.capsule, &asked.cuboid),
    };
    let Some(form) = form else { return Ok(()) };
    let solid = Solid::of(&form).map_err(|problem| {
        let file = asked.mesh.as_ref().map_or("", |mesh| mesh.file.as_str());
        let reason = format!("cannot move freely: {problem}");
        Fault::new(format!("{key}.mesh.file"), file, reason, problem.remedy())
    })?;
    let mass = asked.mass.unwrap_or_else(|| asked.density.unwrap_or(WOOD) * solid.volume);
    let body = RigidBody::new(&solid, mass, model.colliders.len(), model.particle_count(), asked.restitution);
    let placed = Pose::from_degrees(DVec3::from(asked.position), DVec3::from(asked.rotation));
    let nodes = body.nodes_at(&placed);
    let centre = placed.to_world(solid.centre);
    model.rest_positions.extend(body.nodes_at(&Pose::IDENTITY));
    model.material.extend([[0.0; 2]; 4]);
    model.mass.extend([0.25 * mass; 4]);
    state.positions.extend(nodes);
    let (velocity, spin) = (DVec3::from(asked.velocity), DVec3::from(asked.spin));
    state.velocities.extend(nodes.map(|x| velocity + spin.cross(x - centre)));
    model.colliders.push(Collider {
        name: if asked.name.is_empty() { key.to_string() } else { asked.name.clone() },
        form,
        placed,
        motion: Motion::default(),
        friction: asked.friction,
        free: Some(model.bodies.len()),
    });
    model.bodies.push(body);
    Ok(())
}

/// The air of a scene whose random numbers start at `seed`.
pub fn air_model(air: &Air, seed: u64) -> AirModel {
    AirModel {
        density: air.density,
        drag: air.drag,
        skin_friction: air.skin_friction,
        wind: DVec3::from(air.wind),
        damping: air.damping,
        lift: air.lift,
        gust: [air.gust.speed, air.gust.frequency, air.gust.length],
        seed,
    }
}

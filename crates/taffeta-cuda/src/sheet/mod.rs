//! A model in the memory of a card: laid out, state in, forces, state out.

mod phases;

use crate::compile::Program;
use crate::device::{CudaDevice, failed};
use crate::error::CudaError;
use crate::launch::{Room, for_each, functions};
use crate::layout::{Address, Air, Found, Group, Pace, Sheet, Solid, Stitch, Told};
use crate::plan::{Lanes, Plan, StitchPlace};
use crate::touch::TouchOnCard;
use cudarc::driver::{
    CudaModule, CudaSlice, CudaStream, DevicePtr, DriverError, PinnedHostSlice, PushKernelArg,
};
use phases::{BUNDLE, Graphs};
use std::fmt;
use std::mem::{offset_of, size_of};
use std::sync::Arc;
use taffeta::math::DVec3;
use taffeta::model::{Environment, Model};
use taffeta::parallel;

/// Threads of a block where everyone is alone and large blocks would leave much of a card idle.
const SMALL_BLOCK: u32 = 64;

functions! {
    pull lone_bend bends shear lengths advance tally_up load load_tensions strain judge last_lengths store store_tensions air_on_triangles
    air_on_particles pull_stitches finish_stitches slacken give_up keep_ways
}

struct LoneOnCard {
    points: CudaSlice<[i32; 4]>,
    turns: CudaSlice<[f32; 4]>,
    count: i32,
}

/// Triangles that the air pushes.
pub struct AirOnCard {
    pub triangles: CudaSlice<[i32; 4]>,
    pub area_mass: CudaSlice<f32>,
    thirds: CudaSlice<[f32; 4]>,
    pub around_from: CudaSlice<i32>,
    pub around: CudaSlice<i32>,
    pub count: i32,
}

/// What a step starts from and ends with.
struct StateOnCard {
    /// Three numbers for every particle, then for every point of bodies [m].
    positions: CudaSlice<f64>,
    /// [m/s]
    velocities: CudaSlice<f64>,
    /// Of edges, then of diagonals [N/m].
    tensions: CudaSlice<f32>,
    touches: CudaSlice<u8>,
}

/// The same of particles alone, where a card writes it by itself.
struct StateFromCard {
    positions: PinnedHostSlice<f64>,
    velocities: PinnedHostSlice<f64>,
    tensions: PinnedHostSlice<f32>,
    touches: PinnedHostSlice<u8>,
}

impl StateOnCard {
    fn new(room: &Room, points: usize, edges: usize) -> Result<Self, DriverError> {
        let (positions, velocities) = (room.zeros(3 * points)?, room.zeros(3 * points)?);
        Ok(Self { positions, velocities, tensions: room.zeros(edges)?, touches: room.zeros(points)? })
    }
}

impl StateFromCard {
    fn new(room: &Room, particles: usize, edges: usize) -> Result<Self, DriverError> {
        let (positions, velocities) = (room.pinned(3 * particles)?, room.pinned(3 * particles)?);
        Ok(Self { positions, velocities, tensions: room.pinned(edges)?, touches: room.pinned(particles)? })
    }
}

/// A model in the memory of a card.
pub struct SheetOnCard {
    name: String,
    stream: Arc<CudaStream>,
    functions: Functions,
    sheet: Sheet,
    /// Where something may touch.
    touch: Option<TouchOnCard>,
    /// Particles; points of bodies follow them.
    particles: usize,
    /// Of a team, as the kernels were compiled for.
    threads: u32,
    hard: Vec<Group>,
    soft: Vec<Group>,
    lone: Vec<LoneOnCard>,
    bend_mobility: f32,
    air: Option<AirOnCard>,
    outside: CudaSlice<[f32; 4]>,
    pushed_from_outside: bool,
    /// A state as it came from the host, or as it is after a step.
    state: StateOnCard,
    came: StateFromCard,
    places: CudaSlice<i32>,
    pin_end: CudaSlice<f64>,
    pace: CudaSlice<Pace>,
    told: CudaSlice<Told>,
    /// Ways before last sweeps, where there are seams.
    kept_ways: CudaSlice<[f32; 4]>,
    _stitches: CudaSlice<Stitch>,
    tension: CudaSlice<f32>,
    last_tension: CudaSlice<f32>,
    /// Lists that only kernels use.
    _kept: Vec<Box<dyn Send + Sync>>,
    graphs: Option<Graphs>,
}

// SAFETY: graphs are not to be used by two threads at once, and all of their uses go through `&mut self`.
unsafe impl Send for SheetOnCard {}
// SAFETY: as above; nothing is done through a shared reference.
unsafe impl Sync for SheetOnCard {}

impl fmt::Debug for SheetOnCard {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "SheetOnCard({} particles on {})", self.sheet.particles, self.name)
    }
}

/// A group of lanes, laid out.
pub fn group(room: &mut Room, lanes: &Lanes) -> Result<Group, DriverError> {
    Ok(Group {
        particle: room.keep_filled(&lanes.particle)?,
        edge: room.keep_filled(&lanes.edge)?,
        bend: room.keep_filled(&lanes.bend)?,
        first: lanes.first as i32,
        lanes: lanes.count as i32,
    })
}

/// Stitches, each with where it stands among the edges of its group.
fn stitches(model: &Model, plan: &Plan, hard: &[Group]) -> Vec<Stitch> {
    let links = &model.links;
    let stitch = |(l, place): (usize, &StitchPlace)| Stitch {
        ends: links.ends[l].map(|i| i as i32),
        place: hard[place.group].first + place.position as i32,
        counts: 0,
        edge: hard[place.group].edge + (size_of::<[f32; 2]>() * place.position) as Address,
        start_length: links.start_length[l],
        stitch_length: links.stitch_length[l],
        begin: links.begin[l],
        duration: links.duration[l],
        end: links.end[l],
        give: place.give,
        goal: 0.0,
    };
    plan.stitches.iter().enumerate().map(stitch).collect()
}

/// Bytes that a model takes on a card, about.
fn needed(model: &Model, environment: &Environment, plan: &Plan) -> usize {
    let lanes: usize = plan.hard.iter().chain(&plan.soft).map(|lanes| lanes.particle.len()).sum();
    let air = if environment.air.density > 0.0 {
        36 * model.triangles.len() + 12 * 3 * model.triangles.len()
    } else {
        0
    };
    // Boxes, pairs, candidates and contacts of triangles; what contacts do to particles.
    let contact =
        plan.contact.as_ref().map_or(0, |contact| 800 * contact.triangles.len() + 96 * contact.object.len());
    let particles = plan.mass.len();
    // Places, ways, velocities, forces, state and masses of particles; lanes with edges, bends and tensions; edges around and their state.
    256 * particles + 36 * lanes + 8 * plan.around.len() + 40 * plan.places.len() + air + contact
}

impl SheetOnCard {
    /// Lays a model out on a card.
    pub fn new(
        device: &CudaDevice,
        model: &Model,
        environment: &Environment,
        plan: &Plan,
    ) -> Result<Self, CudaError> {
        let (needs, free) = (needed(model, environment, plan), device.free_memory()?);
        if needs > free {
            return Err(CudaError::Memory { name: device.name().into(), needs, free });
        }
        let (module, stream) = (
            device.kernels(Program::Phases { sewn: !plan.stitches.is_empty() }, plan.shape)?,
            device.stream()?,
        );
        let mut room = Room { stream, kept: Vec::new() };
        let laid = Self::lay(device.name(), &module, &mut room, (model, environment, plan));
        laid.map_err(failed(device.name(), "laying out the scene"))
    }

    fn lay(
        name: &str,
        module: &Arc<CudaModule>,
        room: &mut Room,
        (model, environment, plan): (&Model, &Environment, &Plan),
    ) -> Result<Self, DriverError> {
        let n = plan.mass.len();
        let hard = plan.hard.iter().map(|lanes| group(room, lanes)).collect::<Result<Vec<_>, _>>()?;
        let soft = plan.soft.iter().map(|lanes| group(room, lanes)).collect::<Result<Vec<_>, _>>()?;
        let lone = plan.lone.iter().map(|bends| {
            let (points, turns) = (room.filled(&bends.points)?, room.filled(&bends.turns)?);
            Ok(LoneOnCard { points, turns, count: bends.points.len() as i32 })
        });
        let lone = lone.collect::<Result<Vec<_>, DriverError>>()?;
        let air = if environment.air.density > 0.0 { Some(air(room, model, n)?) } else { None };
        let (tension, last_tension) = (room.zeros(plan.tensions)?, room.zeros(plan.tensions)?);
        let (pace, told, pin_end) = (room.zeros(1)?, room.zeros::<Told>(1)?, room.zeros(3 * plan.pins)?);
        let control = room.address(&told);
        let found = control + offset_of!(Told, found) as Address;
        let touch =
            plan.contact.as_ref().map(|contact| TouchOnCard::new(room, module, model, contact, found));
        let touch = touch.transpose()?;
        let stitches = room.filled(&stitches(model, plan, &hard))?;
        let ends: Vec<[i32; 2]> = model.edges.iter().map(|ends| ends.map(|i| i as i32)).collect();
        let parts = n.div_ceil(SMALL_BLOCK as usize);
        let x = room.zeros::<[f64; 4]>(n)?;
        let [r, v, held] = [room.zeros::<[f32; 4]>(n)?, room.zeros(n)?, room.zeros(n)?];
        let (mass, pin) = (room.filled(&plan.mass)?, room.filled(&plan.pin)?);
        let (around_from, around) = (room.filled(&plan.around_from)?, room.filled(&plan.around)?);
        let sums = room.zeros::<[f64; 2]>(BUNDLE as usize * parts)?;
        let (ends, rest) = (room.filled(&ends)?, room.filled(&model.rest_lengths)?);
        let sheet = Sheet {
            x: room.keep(x),
            r: room.keep(r),
            v: room.keep(v),
            tension: room.address(&tension),
            last_tension: room.address(&last_tension),
            mass: room.keep(mass),
            pin: room.keep(pin),
            pin_end: room.address(&pin_end),
            pin_start: 0,
            around_from: room.keep(around_from),
            around: room.keep(around),
            held: room.keep(held),
            sums: room.keep(sums),
            ends: room.keep(ends),
            rest: room.keep(rest),
            pace: room.address(&pace),
            control,
            found: if touch.is_some() { found } else { 0 },
            stitches: room.address(&stitches),
            particles: n as i32,
            pins: plan.pins as i32,
            edges: model.edges.len() as i32,
            stitch_count: plan.stitches.len() as i32,
        };
        Ok(Self {
            name: name.into(),
            functions: Functions::new(module)?,
            sheet,
            touch,
            particles: model.particle_count(),
            threads: plan.shape.threads as u32,
            hard,
            soft,
            lone,
            bend_mobility: model.params.impulse.bend_mobility as f32,
            air,
            outside: room.zeros(n)?,
            pushed_from_outside: false,
            state: StateOnCard::new(room, n, plan.places.len())?,
            came: StateFromCard::new(room, model.particle_count(), plan.places.len())?,
            kept_ways: room.zeros(if plan.stitches.is_empty() { 0 } else { n })?,
            _stitches: stitches,
            places: room.filled(&plan.places)?,
            pin_end,
            pace,
            told,
            tension,
            last_tension,
            _kept: std::mem::take(&mut room.kept),
            graphs: None,
            stream: room.stream.clone(),
        })
    }

    /// Whether there is air, or a push from outside.
    pub fn is_pushed(&self) -> bool {
        self.air.is_some() || self.pushed_from_outside
    }

    /// Takes up a state: positions [m], velocities [m/s], tensions [N/m] of edges and of diagonals, who touches.
    pub fn upload(
        &mut self,
        (positions, velocities): (&[DVec3], &[DVec3]),
        (tension, shear): (&[f64], &[f64]),
        touches: impl Iterator<Item = bool>,
    ) -> Result<(), CudaError> {
        let failed = failed(&self.name, "sending the state");
        let touches: Vec<u8> = touches.map(u8::from).collect();
        let tensions: Vec<f32> = tension.iter().chain(shear).map(|tension| *tension as f32).collect();
        let (stream, own) = (&self.stream, &mut self.state);
        let mut send = || -> Result<(), DriverError> {
            let (positions, velocities) = (numbers(positions), numbers(velocities));
            stream.memcpy_htod(positions, &mut own.positions.slice_mut(..positions.len()))?;
            stream.memcpy_htod(velocities, &mut own.velocities.slice_mut(..velocities.len()))?;
            stream.memcpy_htod(&tensions, &mut own.tensions.slice_mut(..tensions.len()))?;
            stream.memcpy_htod(&touches, &mut own.touches.slice_mut(..touches.len()))
        };
        send().map_err(failed)
    }

    /// Takes up what is around a state: points of bodies [m], and forces from outside [N].
    pub fn surround(&mut self, bodies: &[DVec3], forces: &[DVec3]) -> Result<(), CudaError> {
        let failed = failed(&self.name, "sending the bodies");
        if !bodies.is_empty() {
            let mut after = self.state.positions.slice_mut(3 * self.particles..);
            self.stream.memcpy_htod(numbers(bodies), &mut after).map_err(&failed)?;
        }
        self.pushed_from_outside = !forces.is_empty();
        if self.pushed_from_outside {
            let wide = forces.iter().map(|f| [f.x as f32, f.y as f32, f.z as f32, 0.0]);
            let wide: Vec<[f32; 4]> = wide.collect();
            self.stream.memcpy_htod(&wide, &mut self.outside.slice_mut(..wide.len())).map_err(&failed)?;
        }
        Ok(())
    }

    /// Forgets what was recorded with other addresses.
    fn forget_graphs(&mut self) {
        self.graphs = None;
    }

    /// Tells where solids are in every sub-step.
    pub fn place_solids(&mut self, solids: &[Solid]) -> Result<(), CudaError> {
        let failed = failed(&self.name, "sending the bodies");
        let Some(touch) = &mut self.touch else { return Ok(()) };
        if touch.place_solids(solids).map_err(failed)? {
            self.forget_graphs();
        }
        Ok(())
    }

    /// Tells where pins and points of bodies are at the end of every sub-step [m].
    pub fn lead_pins(&mut self, ends: &[DVec3]) -> Result<(), CudaError> {
        let failed = failed(&self.name, "sending the pins");
        let ends = numbers(ends);
        if self.pin_end.len() < ends.len() {
            self.forget_graphs();
            self.pin_end = self.stream.alloc_zeros(2 * ends.len()).map_err(&failed)?;
            self.sheet.pin_end = self.pin_end.device_ptr(&self.stream).0;
        }
        self.stream.memcpy_htod(ends, &mut self.pin_end.slice_mut(..ends.len())).map_err(failed)
    }

    /// Begins an attempt from the state that was sent.
    pub fn begin(&mut self, pace: &Pace) -> Result<(), CudaError> {
        self.make_graphs()?;
        let failed = failed(&self.name, "beginning a step");
        let mut begin = || -> Result<(), DriverError> {
            self.stream.memcpy_htod(&[*pace], &mut self.pace)?;
            self.stream.memcpy_htod(&[Told::new()], &mut self.told)?;
            let (sheet, functions) = (&self.sheet, &self.functions);
            let mut launch = self.stream.launch_builder(&functions.load);
            launch.arg(sheet).arg(&self.state.positions).arg(&self.state.velocities).arg(&self.state.touches);
            // SAFETY: the lists have three numbers, or one, for every particle.
            unsafe { launch.launch(for_each(sheet.particles)) }?;
            let count = self.places.len() as i32;
            let mut launch = self.stream.launch_builder(&functions.load_tensions);
            launch.arg(sheet).arg(&self.state.tensions).arg(&self.places).arg(&count);
            // SAFETY: both lists have as many numbers, and all places are within the tensions of the sheet.
            unsafe { launch.launch(for_each(count)) }?;
            self.measure(0, 0)
        };
        begin().map_err(failed)
    }

    /// Renews forces that are held.
    pub fn renew_forces(&mut self, air: &Air) -> Result<(), CudaError> {
        let failed = failed(&self.name, "launching the air");
        let none: Address = 0;
        let (sheet, functions) = (&self.sheet, &self.functions);
        let renew = || -> Result<(), DriverError> {
            if let Some(own) = &self.air {
                let mut launch = self.stream.launch_builder(&functions.air_on_triangles);
                launch.arg(sheet).arg(air).arg(&own.triangles).arg(&own.area_mass).arg(&own.thirds);
                launch.arg(&own.count);
                // SAFETY: triangles name particles of the sheet, and each has a place for its force.
                unsafe { launch.launch(for_each(own.count)) }?;
            }
            let mut launch = self.stream.launch_builder(&functions.air_on_particles);
            launch.arg(sheet);
            match self.pushed_from_outside {
                true => launch.arg(&self.outside),
                false => launch.arg(&none),
            };
            match &self.air {
                Some(own) => launch.arg(&own.around_from).arg(&own.around).arg(&own.thirds),
                None => launch.arg(&none).arg(&none).arg(&none),
            };
            // SAFETY: lists around particles name triangles that there are; none are read where there is no address.
            unsafe { launch.launch(for_each(sheet.particles)) }?;
            Ok(())
        };
        renew().map_err(failed)
    }

    /// Makes room for all that was found; whether there was too little.
    pub fn make_room(&mut self, found: &Found) -> Result<bool, CudaError> {
        let failed = failed(&self.name, "making room for contacts");
        let Some(touch) = &mut self.touch else { return Ok(false) };
        let grows = touch.make_room(found).map_err(failed)?;
        if grows {
            self.forget_graphs();
        }
        Ok(grows)
    }

    /// Hands the state back, and who touches.
    pub fn download(
        &mut self,
        (positions, velocities): (&mut [DVec3], &mut [DVec3]),
        (tension, shear): (&mut [f64], &mut [f64]),
        touches: &mut [u8],
    ) -> Result<(), CudaError> {
        let failed = failed(&self.name, "fetching the state");
        let (sheet, functions, own, came) = (&self.sheet, &self.functions, &mut self.state, &mut self.came);
        let mut fetch = || -> Result<(), DriverError> {
            let mut launch = self.stream.launch_builder(&functions.store);
            launch.arg(sheet).arg(&mut own.positions).arg(&mut own.velocities).arg(&mut own.touches);
            // SAFETY: the lists have three numbers, or one, for every point.
            unsafe { launch.launch(for_each(sheet.particles)) }?;
            let count = self.places.len() as i32;
            let mut launch = self.stream.launch_builder(&functions.store_tensions);
            launch.arg(sheet).arg(&mut own.tensions).arg(&self.places).arg(&count);
            // SAFETY: both lists have as many numbers, and all places are within the tensions of the sheet.
            unsafe { launch.launch(for_each(count)) }?;
            let numbers = 3 * self.particles;
            self.stream.memcpy_dtoh(&own.positions.slice(..numbers), &mut came.positions)?;
            self.stream.memcpy_dtoh(&own.velocities.slice(..numbers), &mut came.velocities)?;
            self.stream.memcpy_dtoh(&own.tensions, &mut came.tensions)?;
            self.stream.memcpy_dtoh(&own.touches.slice(..self.particles), &mut came.touches)?;
            self.stream.synchronize()?;
            let copied = |from: f64| from;
            take_over(came.positions.as_slice()?, numbers_mut(positions), copied);
            take_over(came.velocities.as_slice()?, numbers_mut(velocities), copied);
            let tensions = came.tensions.as_slice()?;
            let (hard, soft) = tensions.split_at(tension.len());
            take_over(hard, tension, f64::from);
            take_over(&soft[..shear.len()], shear, f64::from);
            touches.copy_from_slice(came.touches.as_slice()?);
            Ok(())
        };
        fetch().map_err(failed)
    }
}

/// Takes numbers over into another list, on all threads.
fn take_over<T: Copy + Sync>(from: &[T], to: &mut [f64], as_number: impl Fn(T) -> f64 + Sync) {
    const CHUNK: usize = 1 << 15;
    parallel::each_chunk(to, CHUNK, |c, to| {
        for (to, from) in to.iter_mut().zip(&from[c * CHUNK..]) {
            *to = as_number(*from);
        }
    });
}

/// Triangles of a model, and which of them are around every point.
pub fn air(room: &Room, model: &Model, points: usize) -> Result<AirOnCard, DriverError> {
    let triangles: Vec<[i32; 4]> =
        model.triangles.iter().map(|[a, b, c]| [*a as i32, *b as i32, *c as i32, 0]).collect();
    let mut area_mass = vec![0.0; triangles.len()];
    for cloth in &model.cloths {
        area_mass[cloth.triangles.clone()].fill((1e-3 * cloth.fabric.density) as f32);
    }
    let mut corners: Vec<(u32, i32)> =
        model.triangles.iter().zip(0..).flat_map(|(t, number)| t.map(|i| (i, number))).collect();
    corners.sort_unstable();
    let before = |i: usize| corners.partition_point(|(particle, _)| (*particle as usize) < i) as i32;
    let around_from: Vec<i32> = (0..=points).map(before).collect();
    let around: Vec<i32> = corners.iter().map(|(_, triangle)| *triangle).collect();
    Ok(AirOnCard {
        thirds: room.zeros(triangles.len())?,
        count: triangles.len() as i32,
        triangles: room.filled(&triangles)?,
        area_mass: room.filled(&area_mass)?,
        around_from: room.filled(&around_from)?,
        around: room.filled(&around)?,
    })
}

/// Vectors as one list of numbers.
pub fn numbers(vectors: &[DVec3]) -> &[f64] {
    // SAFETY: `DVec3` is `repr(C)` with three numbers, which fill it.
    unsafe { std::slice::from_raw_parts(vectors.as_ptr().cast(), 3 * vectors.len()) }
}

/// The same to write to.
pub fn numbers_mut(vectors: &mut [DVec3]) -> &mut [f64] {
    // SAFETY: as above.
    unsafe { std::slice::from_raw_parts_mut(vectors.as_mut_ptr().cast(), 3 * vectors.len()) }
}

//! A model in the memory of a card, and the launches of its kernels.

use crate::device::{CudaDevice, failed};
use crate::error::CudaError;
use crate::layout::{Address, Air, Control, Group, Pace, Sheet};
use crate::plan::{Lanes, Plan};
use cudarc::driver::sys::{CUgraphInstantiate_flags, CUstreamCaptureMode};
use cudarc::driver::{
    CudaFunction, CudaGraph, CudaSlice, CudaStream, DevicePtr, DeviceRepr, DriverError, LaunchConfig,
    PushKernelArg, ValidAsZeroBits,
};
use std::fmt;
use std::sync::Arc;
use taffeta::math::DVec3;
use taffeta::model::{Environment, Model};

/// Sub-steps that are launched at once, where there are as many.
pub const BUNDLE: u32 = 8;
/// Last sweeps that are launched at once; those after the last that is needed do nothing.
const SWEEPS: u32 = 4;
/// Threads of a block where everyone is alone.
const BLOCK: u32 = 256;
/// The same where few blocks would leave much of a card idle.
const SMALL_BLOCK: u32 = 64;
/// Blocks that measure strain at most.
const MEASURING: u32 = 264;

/// The kernels by name.
macro_rules! functions {
    ($($name:ident)*) => {
        struct Functions { $($name: CudaFunction,)* }

        impl Functions {
            fn new(module: &Arc<cudarc::driver::CudaModule>) -> Result<Self, DriverError> {
                Ok(Self { $($name: module.load_function(stringify!($name))?,)* })
            }
        }
    };
}

functions! {
    pull lone_bend shear lengths advance tally load load_tensions strain judge last_lengths store store_tensions air_on_triangles
    air_on_particles
}

/// Lanes of a group on the card.
struct GroupOnCard {
    group: Group,
    _particle: CudaSlice<i32>,
    _edge: CudaSlice<[f32; 2]>,
    _bend: CudaSlice<[f32; 4]>,
}

struct LoneOnCard {
    points: CudaSlice<[i32; 4]>,
    turns: CudaSlice<[f32; 4]>,
    count: i32,
}

/// Triangles that the air pushes.
struct AirOnCard {
    triangles: CudaSlice<[i32; 4]>,
    area_mass: CudaSlice<f32>,
    thirds: CudaSlice<[f32; 4]>,
    around_from: CudaSlice<i32>,
    around: CudaSlice<i32>,
    count: i32,
}

/// A model in the memory of a card.
pub struct SheetOnCard {
    name: String,
    stream: Arc<CudaStream>,
    functions: Functions,
    sheet: Sheet,
    /// Of a team, as the kernels were compiled for.
    threads: u32,
    hard: Vec<GroupOnCard>,
    soft: Vec<GroupOnCard>,
    lone: Vec<LoneOnCard>,
    bend_mobility: f32,
    air: Option<AirOnCard>,
    outside: CudaSlice<[f32; 4]>,
    pushed_from_outside: bool,
    positions: CudaSlice<f64>,
    velocities: CudaSlice<f64>,
    tensions: CudaSlice<f64>,
    touches: CudaSlice<u8>,
    places: CudaSlice<i32>,
    pin_end: CudaSlice<f64>,
    pace: CudaSlice<Pace>,
    control: CudaSlice<Control>,
    tension: CudaSlice<f32>,
    last_tension: CudaSlice<f32>,
    /// Lists that only kernels use.
    _kept: Vec<Box<dyn Send + Sync>>,
    /// A bundle of sub-steps, a single one, and some last sweeps.
    bundle: Option<CudaGraph>,
    single: Option<CudaGraph>,
    sweeps: Option<CudaGraph>,
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

/// Lists that are made on a stream, counted before they are.
struct Room {
    stream: Arc<CudaStream>,
    kept: Vec<Box<dyn Send + Sync>>,
}

impl Room {
    fn filled<T: DeviceRepr + Send + Sync + 'static>(&self, list: &[T]) -> Result<CudaSlice<T>, DriverError> {
        self.stream.clone_htod(list)
    }

    fn zeros<T: DeviceRepr + ValidAsZeroBits>(&self, length: usize) -> Result<CudaSlice<T>, DriverError> {
        // No list is empty, so that each has an address.
        self.stream.alloc_zeros(length.max(1))
    }

    fn address<T>(&self, list: &CudaSlice<T>) -> Address {
        list.device_ptr(&self.stream).0
    }

    /// Keeps a list that only kernels use, and says where it is.
    fn keep<T: Send + Sync + 'static>(&mut self, list: CudaSlice<T>) -> Address {
        let address = self.address(&list);
        self.kept.push(Box::new(list));
        address
    }

    fn group(&mut self, lanes: &Lanes) -> Result<GroupOnCard, DriverError> {
        let (particle, edge) = (self.filled(&lanes.particle)?, self.filled(&lanes.edge)?);
        let bend = if lanes.bend.is_empty() { self.zeros(1)? } else { self.filled(&lanes.bend)? };
        let group = Group {
            particle: self.address(&particle),
            edge: self.address(&edge),
            bend: if lanes.bend.is_empty() { 0 } else { self.address(&bend) },
            first: lanes.first as i32,
            lanes: lanes.count as i32,
        };
        Ok(GroupOnCard { group, _particle: particle, _edge: edge, _bend: bend })
    }
}

/// Bytes that a model takes on a card, about.
fn needed(model: &Model, environment: &Environment, plan: &Plan) -> usize {
    let lanes: usize = plan.hard.iter().chain(&plan.soft).map(|lanes| lanes.particle.len()).sum();
    let air = if environment.air.density > 0.0 {
        36 * model.triangles.len() + 12 * 3 * model.triangles.len()
    } else {
        0
    };
    let particles = model.particle_count();
    // Places, ways, velocities, forces, state and masses of particles; lanes with edges, bends and tensions; edges around and their state.
    256 * particles + 36 * lanes + 8 * plan.around.len() + 40 * plan.places.len() + air
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
        let (module, stream) = (device.kernels(plan.shape)?, device.stream()?);
        let functions = Functions::new(&module).map_err(failed(device.name(), "finding a kernel"))?;
        let mut room = Room { stream, kept: Vec::new() };
        let laid = Self::lay(device.name(), functions, &mut room, (model, environment, plan));
        laid.map_err(failed(device.name(), "laying out the scene"))
    }

    fn lay(
        name: &str,
        functions: Functions,
        room: &mut Room,
        (model, environment, plan): (&Model, &Environment, &Plan),
    ) -> Result<Self, DriverError> {
        let n = model.particle_count();
        let hard = plan.hard.iter().map(|lanes| room.group(lanes)).collect::<Result<Vec<_>, _>>()?;
        let soft = plan.soft.iter().map(|lanes| room.group(lanes)).collect::<Result<Vec<_>, _>>()?;
        let lone = plan.lone.iter().map(|bends| {
            let (points, turns) = (room.filled(&bends.points)?, room.filled(&bends.turns)?);
            Ok(LoneOnCard { points, turns, count: bends.points.len() as i32 })
        });
        let lone = lone.collect::<Result<Vec<_>, DriverError>>()?;
        let air = if environment.air.density > 0.0 { Some(air(room, model)?) } else { None };
        let (tension, last_tension) = (room.zeros(plan.tensions)?, room.zeros(plan.tensions)?);
        let (pace, control, pin_end) = (room.zeros(1)?, room.zeros(1)?, room.zeros(3 * plan.pins)?);
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
            around_from: room.keep(around_from),
            around: room.keep(around),
            held: room.keep(held),
            sums: room.keep(sums),
            ends: room.keep(ends),
            rest: room.keep(rest),
            pace: room.address(&pace),
            control: room.address(&control),
            particles: n as i32,
            pins: plan.pins as i32,
            edges: model.edges.len() as i32,
            room: 0,
        };
        Ok(Self {
            name: name.into(),
            functions,
            sheet,
            threads: plan.shape.threads as u32,
            hard,
            soft,
            lone,
            bend_mobility: model.params.impulse.bend_mobility as f32,
            air,
            outside: room.zeros(n)?,
            pushed_from_outside: false,
            positions: room.zeros(3 * n)?,
            velocities: room.zeros(3 * n)?,
            tensions: room.zeros(plan.places.len())?,
            touches: room.zeros(n)?,
            places: room.filled(&plan.places)?,
            pin_end,
            pace,
            control,
            tension,
            last_tension,
            _kept: std::mem::take(&mut room.kept),
            bundle: None,
            single: None,
            sweeps: None,
            stream: room.stream.clone(),
        })
    }

    /// Whether there is air, or a push from outside.
    pub fn is_pushed(&self) -> bool {
        self.air.is_some() || self.pushed_from_outside
    }

    /// Takes up a state: positions [m], velocities [m/s], tensions [N/m] of edges and of diagonals, who touches; and forces from outside [N].
    pub fn upload(
        &mut self,
        (positions, velocities): (&[DVec3], &[DVec3]),
        (tension, shear): (&[f64], &[f64]),
        touches: impl Iterator<Item = bool>,
        forces: &[DVec3],
    ) -> Result<(), CudaError> {
        let failed = failed(&self.name, "sending the state");
        let stream = &self.stream;
        let touches: Vec<u8> = touches.map(u8::from).collect();
        let mut send = || -> Result<(), DriverError> {
            stream.memcpy_htod(numbers(positions), &mut self.positions)?;
            stream.memcpy_htod(numbers(velocities), &mut self.velocities)?;
            stream.memcpy_htod(tension, &mut self.tensions.slice_mut(..tension.len()))?;
            if !shear.is_empty() {
                stream.memcpy_htod(shear, &mut self.tensions.slice_mut(tension.len()..))?;
            }
            stream.memcpy_htod(&touches, &mut self.touches)?;
            if !forces.is_empty() {
                let wide: Vec<[f32; 4]> =
                    forces.iter().map(|f| [f.x as f32, f.y as f32, f.z as f32, 0.0]).collect();
                stream.memcpy_htod(&wide, &mut self.outside.slice_mut(..wide.len()))?;
            }
            Ok(())
        };
        self.pushed_from_outside = !forces.is_empty();
        send().map_err(failed)
    }

    /// Tells where pins are at the end of every sub-step [m].
    pub fn lead_pins(&mut self, ends: &[DVec3]) -> Result<(), CudaError> {
        let failed = failed(&self.name, "sending the pins");
        let ends = numbers(ends);
        if self.pin_end.len() < ends.len() {
            // Graphs have the old address.
            (self.bundle, self.single, self.sweeps) = (None, None, None);
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
            self.stream.memcpy_htod(&[Control::new()], &mut self.control)?;
            let (sheet, functions) = (&self.sheet, &self.functions);
            let mut launch = self.stream.launch_builder(&functions.load);
            launch.arg(sheet).arg(&self.positions).arg(&self.velocities).arg(&self.touches);
            // SAFETY: the lists have three numbers, or one, for every particle.
            unsafe { launch.launch(for_each(sheet.particles)) }?;
            let count = self.places.len() as i32;
            let mut launch = self.stream.launch_builder(&functions.load_tensions);
            launch.arg(sheet).arg(&self.tensions).arg(&self.places).arg(&count);
            // SAFETY: both lists have as many numbers, and all places are within the tensions of the sheet.
            unsafe { launch.launch(for_each(count)) }?;
            self.measure(0, 0)
        };
        begin().map_err(failed)
    }

    /// Measures strain, and judges it at a stage.
    fn measure(&self, sweeping: i32, stage: i32) -> Result<(), DriverError> {
        let (sheet, functions) = (&self.sheet, &self.functions);
        let blocks = (sheet.edges as u32).div_ceil(BLOCK).clamp(1, MEASURING);
        let mut launch = self.stream.launch_builder(&functions.strain);
        launch.arg(sheet).arg(&sweeping);
        // SAFETY: it reads what the sheet has.
        unsafe { launch.launch(blocks_of(blocks, BLOCK)) }?;
        let mut launch = self.stream.launch_builder(&functions.judge);
        launch.arg(sheet).arg(&stage);
        // SAFETY: as above.
        unsafe { launch.launch(blocks_of(1, 1)) }?;
        Ok(())
    }

    /// Launches a kernel for every lane of a group.
    fn along(
        &self,
        function: &CudaFunction,
        group: &GroupOnCard,
        k: Option<&i32>,
    ) -> Result<(), DriverError> {
        let mut launch = self.stream.launch_builder(function);
        launch.arg(&self.sheet).arg(&group.group);
        if let Some(k) = k {
            launch.arg(k);
        }
        // SAFETY: one block for every lane, with as many threads as the kernels were compiled for.
        unsafe { launch.launch(blocks_of(group.group.lanes as u32, self.threads)) }?;
        Ok(())
    }

    /// All phases of `count` sub-steps.
    fn substeps(&self, count: u32) -> Result<(), DriverError> {
        let (sheet, functions) = (&self.sheet, &self.functions);
        let Some((first, others)) = self.hard.split_first() else { return Ok(()) };
        let parts = (sheet.particles as u32).div_ceil(SMALL_BLOCK);
        for k in 0..count as i32 {
            let mut launch = self.stream.launch_builder(&functions.pull);
            launch.arg(sheet).arg(&k);
            // SAFETY: sums have room for a bundle of parts.
            unsafe { launch.launch(blocks_of(parts, SMALL_BLOCK)) }?;
            for bends in &self.lone {
                let mut launch = self.stream.launch_builder(&functions.lone_bend);
                launch.arg(sheet).arg(&bends.points).arg(&bends.turns).arg(&self.bend_mobility);
                launch.arg(&bends.count);
                // SAFETY: bends name particles of the sheet.
                unsafe { launch.launch(for_each(bends.count)) }?;
            }
            for group in &self.soft {
                self.along(&functions.shear, group, None)?;
            }
            for group in others.iter().rev() {
                self.along(&functions.lengths, group, None)?;
            }
            self.along(&functions.advance, first, Some(&k))?;
        }
        let (parts, count) = (parts as i32, count as i32);
        let mut launch = self.stream.launch_builder(&functions.tally);
        launch.arg(sheet).arg(&parts).arg(&count);
        // SAFETY: sums have room for a bundle.
        unsafe { launch.launch(blocks_of(1, BLOCK)) }?;
        Ok(())
    }

    /// Some last sweeps.
    fn last_sweeps(&self) -> Result<(), DriverError> {
        for _ in 0..SWEEPS {
            for group in self.hard.iter().rev() {
                self.along(&self.functions.last_lengths, group, None)?;
            }
            self.measure(1, 2)?;
        }
        Ok(())
    }

    /// What is launched as one.
    fn recorded(
        &self,
        work: impl FnOnce(&Self) -> Result<(), DriverError>,
    ) -> Result<Option<CudaGraph>, DriverError> {
        self.stream.begin_capture(CUstreamCaptureMode::CU_STREAM_CAPTURE_MODE_THREAD_LOCAL)?;
        let launched = work(self);
        let graph = self.stream.end_capture(CUgraphInstantiate_flags(0));
        launched.and(graph)
    }

    fn make_graphs(&mut self) -> Result<(), CudaError> {
        if self.bundle.is_some() {
            return Ok(());
        }
        let failed = failed(&self.name, "recording the kernels");
        self.bundle = self.recorded(|sheet| sheet.substeps(BUNDLE)).map_err(&failed)?;
        self.single = self.recorded(|sheet| sheet.substeps(1)).map_err(&failed)?;
        self.sweeps = self.recorded(Self::last_sweeps).map_err(&failed)?;
        Ok(())
    }

    /// Takes so many sub-steps.
    pub fn go(&mut self, count: u32) -> Result<(), CudaError> {
        let failed = failed(&self.name, "launching sub-steps");
        let bundles = (0..count / BUNDLE).filter_map(|_| self.bundle.as_ref());
        let singles = (0..count % BUNDLE).filter_map(|_| self.single.as_ref());
        bundles.chain(singles).try_for_each(CudaGraph::launch).map_err(failed)
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

    /// What all sub-steps came to, and the strain at their end.
    pub fn conclude(&mut self) -> Result<Control, CudaError> {
        let failed = failed(&self.name, "taking sub-steps");
        self.measure(0, 1).map_err(&failed)?;
        self.told().map_err(failed)
    }

    fn told(&self) -> Result<Control, DriverError> {
        let mut told = [Control::new()];
        self.stream.memcpy_dtoh(&self.control, &mut told)?;
        self.stream.synchronize()?;
        Ok(told[0])
    }

    /// Sweeps until all is within the tolerance or nothing is gained.
    pub fn sweep(&mut self) -> Result<Control, CudaError> {
        let failed = failed(&self.name, "sweeping");
        let mut sweep = || -> Result<Control, DriverError> {
            self.stream.memcpy_dtod(&self.tension, &mut self.last_tension)?;
            loop {
                self.sweeps.iter().try_for_each(CudaGraph::launch)?;
                let told = self.told()?;
                if told.done != 0 {
                    return Ok(told);
                }
            }
        };
        sweep().map_err(failed)
    }

    /// Hands the state back.
    pub fn download(
        &mut self,
        (positions, velocities): (&mut [DVec3], &mut [DVec3]),
        (tension, shear): (&mut [f64], &mut [f64]),
    ) -> Result<(), CudaError> {
        let failed = failed(&self.name, "fetching the state");
        let (sheet, functions) = (&self.sheet, &self.functions);
        let mut fetch = || -> Result<(), DriverError> {
            let mut launch = self.stream.launch_builder(&functions.store);
            launch.arg(sheet).arg(&mut self.positions).arg(&mut self.velocities);
            // SAFETY: both lists have three numbers for every particle.
            unsafe { launch.launch(for_each(sheet.particles)) }?;
            let count = self.places.len() as i32;
            let mut launch = self.stream.launch_builder(&functions.store_tensions);
            launch.arg(sheet).arg(&mut self.tensions).arg(&self.places).arg(&count);
            // SAFETY: both lists have as many numbers, and all places are within the tensions of the sheet.
            unsafe { launch.launch(for_each(count)) }?;
            self.stream.memcpy_dtoh(&self.positions, numbers_mut(positions))?;
            self.stream.memcpy_dtoh(&self.velocities, numbers_mut(velocities))?;
            let hard = tension.len();
            self.stream.memcpy_dtoh(&self.tensions.slice(..hard), tension)?;
            if !shear.is_empty() {
                self.stream.memcpy_dtoh(&self.tensions.slice(hard..), shear)?;
            }
            self.stream.synchronize()
        };
        fetch().map_err(failed)
    }
}

fn air(room: &Room, model: &Model) -> Result<AirOnCard, DriverError> {
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
    let around_from: Vec<i32> = (0..=model.particle_count()).map(before).collect();
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

fn for_each(count: i32) -> LaunchConfig {
    blocks_of((count as u32).div_ceil(BLOCK).max(1), BLOCK)
}

fn blocks_of(blocks: u32, threads: u32) -> LaunchConfig {
    LaunchConfig { grid_dim: (blocks, 1, 1), block_dim: (threads, 1, 1), shared_mem_bytes: 0 }
}

/// Vectors as one list of numbers.
fn numbers(vectors: &[DVec3]) -> &[f64] {
    // SAFETY: `DVec3` is `repr(C)` with three numbers, which fill it.
    unsafe { std::slice::from_raw_parts(vectors.as_ptr().cast(), 3 * vectors.len()) }
}

fn numbers_mut(vectors: &mut [DVec3]) -> &mut [f64] {
    // SAFETY: as above.
    unsafe { std::slice::from_raw_parts_mut(vectors.as_mut_ptr().cast(), 3 * vectors.len()) }
}

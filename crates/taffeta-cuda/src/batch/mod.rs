//! Many members of one model that stay on a card: each has its state there, and is held by handles of its own.

pub mod layout;
mod lent;
mod plan;

pub use lent::{Lent, List, Number};
pub use plan::BatchPlan;

use crate::compile::{Blocks, Program};
use crate::device::{CudaDevice, failed};
use crate::error::CudaError;
use crate::launch::{Room, blocks_of, functions};
use crate::layout::{Group, Sheet};
use crate::plan::Lanes;
use crate::sheet::{air, group, numbers, numbers_mut};
use cudarc::driver::sys::CUfunction_attribute_enum;
use cudarc::driver::{CudaSlice, CudaStream, DevicePtr, DriverError, LaunchConfig, PushKernelArg};
use layout::{Alone, Member, Triangles};
use std::fmt;
use std::sync::Arc;
use taffeta::Simulation;
use taffeta::math::DVec3;
use taffeta::model::memory::ImpulseMemory;
use taffeta::model::{Memory, Model, State};
use taffeta::step::DeviceRefusal;

functions! { take_step certify }

/// What a member tells of its last step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MemberReport {
    /// The largest strain at the end of any frame since the last call that stepped, measured afterwards from positions in doubles [1].
    pub max_strain: f64,
    /// Whether that is within the tolerance, and all is a number.
    pub converged: bool,
    /// Whether a step came to what is no number: the member is where it was before.
    pub failed: bool,
    /// Sub-steps of the last step over all of its tries, and how many those were.
    pub substeps: u32,
    /// See `substeps`.
    pub tries: u32,
    /// Last sweeps of the last step.
    pub sweeps: u32,
}

/// Many members of one model on a card. Nothing comes back unless it is asked for.
///
/// All work goes to the default stream of the card, in the order of the calls: what other programs put there waits for it.
pub struct Batch {
    name: String,
    model: Arc<Model>,
    plan: BatchPlan,
    count: usize,
    stream: Arc<CudaStream>,
    functions: Functions,
    launch: LaunchConfig,
    batch: layout::Batch,
    positions: CudaSlice<f64>,
    velocities: CudaSlice<f64>,
    tensions: CudaSlice<f32>,
    members: CudaSlice<Member>,
    places: CudaSlice<f64>,
    held: CudaSlice<u8>,
    strains: CudaSlice<f64>,
    /// What all members start from, and its tensions at their places.
    start: State,
    _kept: Vec<Box<dyn Send + Sync>>,
}

impl fmt::Debug for Batch {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "Batch({} members on {})", self.count, self.name)
    }
}

impl Batch {
    /// `count` members that are where a simulation is, held by the pins of its scene. Others of the `handles` can be held too.
    pub fn new(
        device: &Arc<CudaDevice>,
        simulation: &Simulation,
        count: usize,
        handles: &[u32],
    ) -> Result<Self, DeviceRefusal> {
        let model = simulation.model().clone();
        let plan = BatchPlan::new(&model, simulation.environment(), handles)?;
        Ok(Self::on(device, model, simulation, plan, count)?)
    }

    fn on(
        device: &Arc<CudaDevice>,
        model: Arc<Model>,
        simulation: &Simulation,
        plan: BatchPlan,
        count: usize,
    ) -> Result<Self, CudaError> {
        let [most, all] = device.shared_memory()?;
        let blocks = plan.blocks(most, all);
        let near = plan.near();
        let work = plan.far(model.triangles.len()) + if blocks.shared { 0 } else { near };
        let each = work + 48 * plan.plan.mass.len() + 4 * plan.plan.tensions + 64;
        let (needs, free) = (count.saturating_mul(each), device.free_memory()?);
        if needs > free {
            return Err(CudaError::Memory { name: device.name().into(), needs, free });
        }
        let module = device.kernels(Program::Members(blocks), plan.plan.shape)?;
        let mut room = Room { stream: device.default_stream(), kept: Vec::new() };
        let functions = Functions::new(&module).map_err(failed(device.name(), "loading the kernels"))?;
        let (of, asked, space) = ((model, simulation), (plan, count), (blocks, work));
        let lay = Self::lay(device.name(), of, asked, space, (&mut room, functions));
        let mut batch = lay.map_err(failed(device.name(), "laying out the batch"))?;
        batch.reset(None)?;
        Ok(batch)
    }

    fn lay(
        name: &str,
        (model, simulation): (Arc<Model>, &Simulation),
        (plan, count): (BatchPlan, usize),
        (blocks, work_bytes): (Blocks, usize),
        (room, functions): (&mut Room, Functions),
    ) -> Result<Self, DriverError> {
        let lists = &plan.plan;
        let n = lists.mass.len();
        let groups = |room: &mut Room, lanes: &[Lanes]| -> Result<u64, DriverError> {
            let groups = lanes.iter().map(|lanes| group(room, lanes)).collect::<Result<Vec<Group>, _>>()?;
            room.keep_filled(&groups)
        };
        let (hard, soft) = (groups(room, &lists.hard)?, groups(room, &lists.soft)?);
        let alone = lists.lone.iter().map(|bends| {
            let (points, turns) = (room.keep_filled(&bends.points)?, room.keep_filled(&bends.turns)?);
            Ok(Alone { points, turns, count: bends.points.len() as i64 })
        });
        let alone = alone.collect::<Result<Vec<_>, DriverError>>()?;
        let alone_list = room.keep_filled(&alone)?;
        let air_on = if plan.pace.held != 0 {
            let of = air(room, &model, n)?;
            Triangles {
                corners: room.keep(of.triangles),
                area_mass: room.keep(of.area_mass),
                around_from: room.keep(of.around_from),
                around: room.keep(of.around),
                count: i64::from(of.count),
            }
        } else {
            Triangles { corners: 0, area_mass: 0, around_from: 0, around: 0, count: 0 }
        };
        let ends: Vec<[i32; 2]> = model.edges.iter().map(|ends| ends.map(|i| i as i32)).collect();
        let handles: Vec<i32> = plan.handles.iter().map(|i| *i as i32).collect();
        let (positions, velocities) = (room.zeros(3 * n * count)?, room.zeros(3 * n * count)?);
        let (tensions, members) = (room.zeros(lists.tensions * count)?, room.zeros(count)?);
        let (places, held) = (room.zeros(3 * handles.len() * count)?, room.zeros(handles.len() * count)?);
        let (strains, work) = (room.zeros(count)?, room.zeros::<u8>(work_bytes * count)?);
        let sheet = Sheet {
            mass: room.keep_filled(&lists.mass)?,
            pin: room.keep_filled(&lists.pin)?,
            around_from: room.keep_filled(&lists.around_from)?,
            around: room.keep_filled(&lists.around)?,
            ends: room.keep_filled(&ends)?,
            rest: room.keep_filled(&model.rest_lengths)?,
            particles: n as i32,
            pins: handles.len() as i32,
            edges: ends.len() as i32,
            ..Sheet::default()
        };
        let batch = layout::Batch {
            sheet,
            hard,
            soft,
            alone: alone_list,
            air_on,
            air: crate::step::air_at(&simulation.environment().air, 0.0, 0.0),
            rules: plan.rules,
            pace: plan.pace,
            positions: room.address(&positions),
            velocities: room.address(&velocities),
            tensions: room.address(&tensions),
            members: room.address(&members),
            places: room.address(&places),
            held: room.address(&held),
            work: room.keep(work),
            work_bytes: work_bytes as u64,
            handles: room.keep_filled(&handles)?,
            handle_count: handles.len() as i32,
            hard_groups: lists.hard.len() as i32,
            soft_groups: lists.soft.len() as i32,
            alone_groups: alone.len() as i32,
            tension_count: lists.tensions as i32,
            hard_tension_count: plan.hard_tensions() as i32,
            bend_mobility: model.params.impulse.bend_mobility as f32,
            room: 0,
        };
        let shared = if blocks.shared { plan.near() } else { 0 };
        if blocks.shared {
            let most = CUfunction_attribute_enum::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
            functions.take_step.set_attribute(most, shared as i32)?;
        }
        let launch = blocks_of(count as u32, blocks.threads as u32);
        let launch = LaunchConfig { shared_mem_bytes: shared as u32, ..launch };
        Ok(Self {
            name: name.into(),
            start: simulation.state().clone(),
            model,
            plan,
            count,
            stream: room.stream.clone(),
            functions,
            launch,
            batch,
            positions,
            velocities,
            tensions,
            members,
            places,
            held,
            strains,
            _kept: std::mem::take(&mut room.kept),
        })
    }

    /// How many members there are.
    pub fn count(&self) -> usize {
        self.count
    }

    /// Particles of each.
    pub fn particles(&self) -> usize {
        self.plan.plan.mass.len()
    }

    /// Particles that can be held: first those that the scene pins.
    pub fn handles(&self) -> &[u32] {
        &self.plan.handles
    }

    /// Steps all members by whole frames. What is held goes straight to its place, and is there at the end of the last of them. It returns once the work is sent.
    pub fn step_frames(&mut self, frames: u32) -> Result<(), CudaError> {
        let failed = failed(&self.name, "stepping a batch");
        let steps = frames.saturating_mul(self.model.steps_per_frame).min(i32::MAX as u32);
        let mut go = || -> Result<(), DriverError> {
            self.stream.memset_zeros(&mut self.strains)?;
            for step in 0..steps {
                let left = (steps - step) as i32;
                let mut launch = self.stream.launch_builder(&self.functions.take_step);
                launch.arg(&self.batch).arg(&left);
                // SAFETY: one block for each member, with as many threads and as much memory as the kernels were compiled for.
                unsafe { launch.launch(self.launch) }?;
                if (step + 1) % self.model.steps_per_frame == 0 {
                    self.certify()?;
                }
            }
            Ok(())
        };
        go().map_err(failed)
    }

    fn certify(&self) -> Result<(), DriverError> {
        let sheet = &self.batch.sheet;
        let mut launch = self.stream.launch_builder(&self.functions.certify);
        launch.arg(&sheet.ends).arg(&sheet.rest).arg(&sheet.edges).arg(&self.positions);
        launch.arg(&sheet.particles).arg(&self.strains);
        // SAFETY: one block for each member; edges name particles that there are.
        unsafe { launch.launch(LaunchConfig { shared_mem_bytes: 0, ..self.launch }) }?;
        Ok(())
    }

    /// Waits until all that was sent is done.
    pub fn wait(&self) -> Result<(), CudaError> {
        self.stream.synchronize().map_err(failed(&self.name, "stepping a batch"))
    }

    /// What every member tells of its last step.
    pub fn reports(&self) -> Result<Vec<MemberReport>, CudaError> {
        let fetch = || Ok((self.stream.clone_dtoh(&self.members)?, self.stream.clone_dtoh(&self.strains)?));
        let (members, strains) = fetch().map_err(failed(&self.name, "fetching reports"))?;
        let report = |(member, max_strain): (&Member, f64)| MemberReport {
            max_strain,
            converged: max_strain <= self.model.tolerance && member.failed == 0,
            failed: member.failed != 0,
            substeps: member.substeps as u32,
            tries: member.tries as u32,
            sweeps: member.sweeps as u32,
        };
        Ok(members.iter().zip(strains).map(report).collect())
    }

    /// The state of a member, as a simulation of the scene has it.
    pub fn state(&self, member: usize) -> Result<State, CudaError> {
        exists("member", member, self.count)?;
        let (n, places) = (self.particles(), self.plan.plan.tensions);
        let mut state = self.start.clone();
        let mut tensions = vec![0.0_f32; places];
        let mut own = [Member::default()];
        let mut fetch = || -> Result<(), DriverError> {
            let stream = &self.stream;
            let of = 3 * n * member..3 * n * (member + 1);
            stream.memcpy_dtoh(&self.positions.slice(of.clone()), numbers_mut(&mut state.positions))?;
            stream.memcpy_dtoh(&self.velocities.slice(of), numbers_mut(&mut state.velocities))?;
            stream.memcpy_dtoh(
                &self.tensions.slice(places * member..places * (member + 1)),
                &mut tensions[..],
            )?;
            stream.memcpy_dtoh(&self.members.slice(member..=member), &mut own[..])?;
            stream.synchronize()
        };
        fetch().map_err(failed(&self.name, "fetching a state"))?;
        let edges = self.model.edges.len();
        let tension = |place: &i32| f64::from(tensions[*place as usize]);
        let (hard, soft) = self.plan.plan.places.split_at(edges);
        state.step = own[0].step;
        state.time = own[0].step as f64 * self.model.step_time;
        state.memory = Memory::Impulse(ImpulseMemory {
            substeps: own[0].wanted,
            missed: own[0].missed != 0,
            tension: hard.iter().map(tension).collect(),
            shear: soft.iter().map(tension).collect(),
            share: vec![self.model.params.impulse.displacement_share; n],
        });
        Ok(state)
    }

    /// Puts members into a state of the scene, held by the pins of the scene alone: all of them, or those of a list.
    pub fn set_state(&mut self, state: &State, members: Option<&[usize]>) -> Result<(), CudaError> {
        let all: Vec<usize> = (0..self.count).collect();
        let Memory::Impulse(memory) = &state.memory else { return Err(CudaError::OtherState) };
        let same = [&state.positions, &state.velocities].iter().all(|list| list.len() == self.particles());
        if !same || state.len() != self.start.len() || !state.memory.is_like(&self.start.memory) {
            return Err(CudaError::OtherState);
        }
        members.into_iter().flatten().try_for_each(|member| exists("member", *member, self.count))?;
        let (n, places, handles) = (self.particles(), self.plan.plan.tensions, self.plan.handles.len());
        let mut tensions = vec![0.0_f32; places];
        for (place, tension) in self.plan.plan.places.iter().zip(memory.tension.iter().chain(&memory.shear)) {
            tensions[*place as usize] = *tension as f32;
        }
        let own = Member {
            wanted: memory.substeps,
            step: state.step,
            missed: memory.missed.into(),
            ..Member::default()
        };
        let ends: Vec<DVec3> = self.plan.handles.iter().map(|i| state.positions[*i as usize]).collect();
        let held: Vec<u8> = (0..handles).map(|number| u8::from(number < self.plan.pinned)).collect();
        let stream = self.stream.clone();
        let mut send = |member: usize| -> Result<(), DriverError> {
            let of = 3 * n * member..3 * n * (member + 1);
            stream.memcpy_htod(numbers(&state.positions), &mut self.positions.slice_mut(of.clone()))?;
            stream.memcpy_htod(numbers(&state.velocities), &mut self.velocities.slice_mut(of))?;
            let of = places * member..places * (member + 1);
            stream.memcpy_htod(&tensions[..], &mut self.tensions.slice_mut(of))?;
            stream.memcpy_htod(&[own], &mut self.members.slice_mut(member..=member))?;
            if handles > 0 {
                let of = handles * member..handles * (member + 1);
                stream.memcpy_htod(numbers(&ends), &mut self.places.slice_mut(3 * of.start..3 * of.end))?;
                stream.memcpy_htod(&held[..], &mut self.held.slice_mut(of))?;
            }
            Ok(())
        };
        let mut list = members.unwrap_or(&all).iter();
        list.try_for_each(|member| send(*member)).map_err(failed(&self.name, "sending a state"))
    }

    /// Puts members back to where the batch began: all of them, or those of a list.
    pub fn reset(&mut self, members: Option<&[usize]>) -> Result<(), CudaError> {
        let start = self.start.clone();
        self.set_state(&start, members)
    }

    /// Holds a handle of a member from now on: it is led to a place [m] in the next call that steps.
    pub fn hold(&mut self, member: usize, handle: usize, place: DVec3) -> Result<(), CudaError> {
        self.grip(member, handle, Some(place))
    }

    /// Lets go of a handle of a member.
    pub fn release(&mut self, member: usize, handle: usize) -> Result<(), CudaError> {
        self.grip(member, handle, None)
    }

    fn grip(&mut self, member: usize, handle: usize, place: Option<DVec3>) -> Result<(), CudaError> {
        exists("member", member, self.count)?;
        exists("handle", handle, self.plan.handles.len())?;
        let number = self.plan.handles.len() * member + handle;
        let mut send = || -> Result<(), DriverError> {
            if let Some(place) = place {
                let mut to = self.places.slice_mut(3 * number..3 * number + 3);
                self.stream.memcpy_htod(&place.to_array(), &mut to)?;
            }
            let held = [u8::from(place.is_some())];
            self.stream.memcpy_htod(&held, &mut self.held.slice_mut(number..=number))
        };
        send().map_err(failed(&self.name, "holding a member"))
    }

    /// A list of all members, where it is.
    pub fn lent(&self, list: List) -> Lent {
        let (particles, handles) = (self.particles(), self.plan.handles.len());
        let (address, shape, number) = match list {
            List::Positions => (self.batch.positions, vec![self.count, particles, 3], Number::Double),
            List::Velocities => (self.batch.velocities, vec![self.count, particles, 3], Number::Double),
            List::Places => (self.batch.places, vec![self.count, handles, 3], Number::Double),
            List::Held => (self.batch.held, vec![self.count, handles], Number::Byte),
            List::Strains => (self.strains.device_ptr(&self.stream).0, vec![self.count], Number::Double),
        };
        Lent { address, shape, number }
    }

    /// A list of all members, on the host.
    pub fn fetch(&self, list: List) -> Result<Vec<f64>, CudaError> {
        let length = self.lent(list).shape.iter().product();
        let fetch = || -> Result<Vec<f64>, DriverError> {
            let of = |from: &CudaSlice<f64>| {
                self.stream.clone_dtoh(from).map(|mut numbers| {
                    // No list on a card is empty.
                    numbers.truncate(length);
                    numbers
                })
            };
            match list {
                List::Positions => of(&self.positions),
                List::Velocities => of(&self.velocities),
                List::Places => of(&self.places),
                List::Strains => of(&self.strains),
                List::Held => {
                    let held = self.stream.clone_dtoh(&self.held)?;
                    Ok(held[..length].iter().map(|held| f64::from(*held)).collect())
                }
            }
        };
        fetch().map_err(failed(&self.name, "fetching a list"))
    }
}

/// Whether a batch has a member or a handle of this number.
fn exists(what: &'static str, number: usize, count: usize) -> Result<(), CudaError> {
    if number < count { Ok(()) } else { Err(CudaError::NoSuch { what, number, count }) }
}

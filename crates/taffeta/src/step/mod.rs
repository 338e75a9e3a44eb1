//! One step: check, move by the chosen method, check again, report. Only this folder sees all the others.

mod boundary;
pub mod device;
mod driver;
mod interaction;
mod methods;
mod observer;
mod pressing;
pub mod report;
mod rigid_bodies;
mod scratch;
mod solid_contact;
mod tearing;
mod untangle;

pub use device::{Device, DeviceMethod, DeviceRefusal, DeviceStep};
pub use interaction::{Hands, InteractionError};
pub use observer::Observer;
pub use report::{Energy, Leader, Shortfall, StepError, StepReport, momentum};

use crate::check::{self, Certificate};
pub use crate::collide::CcdStats;
use crate::collide::rigid::nearest::nearest;
use crate::math::DVec3;
use crate::model::state::StateMismatch;
use crate::model::{self, Environment, Form, Model, PosedShape, State, TornModels};
use crate::parallel;
use driver::StepContext;
use interaction::Grip;
use scratch::Scratch;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use tearing::Parting;
use untangle::Intersections;

/// No position may be further from the origin than this [m].
const FURTHEST: f64 = 1e6;

/// Parts in which a state is looked through for what is not finite.
const FINITE_PARTS: usize = 16;

/// Particles from which threads stay awake for a step.
const WORTH_A_TEAM: usize = 1000;

/// A running simulation: the model, the state, and the scratch of its method.
///
/// ```
/// use taffeta_scene::{Cloth, Scene, Sheet};
///
/// let sheet = Sheet { width: 1.0, height: 1.0, columns: 10, rows: 10, slack: 1.0 };
/// let scene = Scene { cloth: vec![Cloth { sheet: Some(sheet), ..Cloth::default() }], ..Scene::default() };
/// let mut simulation = taffeta_scene::simulation(&scene, &Default::default()).expect("the scene has no faults");
/// let report = simulation.step().expect("the step is finite");
/// assert!(report.converged && simulation.state().positions[0].y < 0.0);
/// ```
#[derive(Debug)]
pub struct Simulation {
    model: Arc<Model>,
    environment: Environment,
    state: State,
    /// Who is held in another way than the model has it, once anybody was.
    grip: Option<Grip>,
    /// Who tears or lets go, if anything can.
    parting: Option<Box<Parting>>,
    /// The step is taken here, so that a failed one leaves the state as it was.
    attempt: State,
    scratch: Scratch,
    /// That which was before somebody was held or let go: who takes hold again has it at once.
    scratch_before: Option<Box<Scratch>>,
    /// From particles that hands hold: the shortest ways to all others along edges [m].
    ways: BTreeMap<u32, Vec<f64>>,
    /// What takes the steps, if not the method itself.
    device: Option<Arc<dyn Device>>,
    /// What intersects.
    tangled: Intersections,
}

/// A clone goes on with the same bits.
impl Clone for Simulation {
    fn clone(&self) -> Self {
        let mut state = self.state.clone();
        Self {
            scratch: Scratch::new(&self.model, &self.environment, &mut state, self.device.as_ref()),
            scratch_before: None,
            ways: BTreeMap::new(),
            device: self.device.clone(),
            model: self.model.clone(),
            environment: self.environment.clone(),
            attempt: state.clone(),
            state,
            grip: self.grip.clone(),
            parting: self.parting.clone(),
            tangled: Intersections::default(),
        }
        .with_tangles()
    }
}

impl Simulation {
    /// Of a model and a state of it. A model that can tear also needs [`Simulation::with_torn_models`].
    pub fn new(model: impl Into<Arc<Model>>, mut state: State) -> Self {
        let model = model.into();
        let environment = Environment::new(&model);
        Self {
            scratch: Scratch::new(&model, &environment, &mut state, None),
            scratch_before: None,
            ways: BTreeMap::new(),
            device: None,
            attempt: state.clone(),
            model,
            environment,
            state,
            grip: None,
            parting: None,
            tangled: Intersections::default(),
        }
        .with_tangles()
    }

    /// Lets cloth tear and pins come off, as the model says, with `torn_models` to make the models that follow.
    pub fn with_torn_models(mut self, torn_models: Arc<dyn TornModels>) -> Self {
        self.parting = Parting::new(&self.model, torn_models);
        self
    }

    /// Lets a device take all steps from now on, or says why it cannot.
    pub fn with_device(mut self, device: Arc<dyn Device>) -> Result<Self, DeviceRefusal> {
        self.scratch.on_device = Some(Ok(device.prepare(&self.model, &self.environment)?));
        self.device = Some(device);
        Ok(self)
    }

    fn with_tangles(mut self) -> Self {
        self.tell_tangles();
        self
    }

    /// Moves on by one step. On an error the state stays the last good one.
    pub fn step(&mut self) -> Result<StepReport, StepError> {
        self.step_observed(&mut ())
    }

    /// The same, while somebody is told of its stages.
    pub fn step_observed(&mut self, observer: &mut dyn Observer) -> Result<StepReport, StepError> {
        // On a device only what is left to the host is worth it.
        let on_host = self.device.is_none() && self.is_worth_a_team();
        if on_host { parallel::together(|| self.take_step(observer)) } else { self.take_step(observer) }
    }

    /// Whether threads stay awake for a step. The matrices of other methods are parallel within what is parallel, which a team is not.
    fn is_worth_a_team(&self) -> bool {
        self.model.method.keeps_lengths() && self.model.particle_count() >= WORTH_A_TEAM
    }

    fn take_step(&mut self, observer: &mut dyn Observer) -> Result<StepReport, StepError> {
        self.scratch.pipeline.iter_mut().for_each(|pipeline| pipeline.begin_step());
        let weightless = self.state.time < self.model.weightless;
        let gravity = if weightless { DVec3::ZERO } else { self.environment.gravity };
        let tangled = self.scratch.pipeline.as_ref().is_some_and(|pipeline| pipeline.is_tangled());
        let on_device = match &mut self.scratch.on_device {
            Some(Err(refusal)) => return Err(StepError::Device { reason: refusal.to_string() }),
            // Devices know nothing of what intersects already.
            Some(Ok(method)) if !tangled => {
                let goes_on = std::mem::take(&mut self.scratch.as_device_left);
                let (model, environment) = (&*self.model, &self.environment);
                let step = DeviceStep { model, environment, gravity, goes_on };
                method.step(&step, &self.state, &mut self.attempt, observer)?
            }
            _ => None,
        };
        let took_device = on_device.is_some();
        let left_by_device = self.device.is_some() && self.is_worth_a_team();
        let mut report = match on_device {
            Some(report) => report,
            None => {
                self.attempt.copy_from(&self.state);
                let mut step = StepContext {
                    model: &self.model,
                    environment: &self.environment,
                    gravity,
                    boundary: &mut self.scratch.boundary,
                    pipeline: self.scratch.pipeline.as_deref_mut(),
                    disturbed: 0,
                    pressed: &mut self.scratch.pressed,
                    observer,
                    report: StepReport {
                        converged: true,
                        left_to_host: self.device.is_some().into(),
                        ..StepReport::default()
                    },
                };
                let (method, attempt) = (&mut *self.scratch.method, &mut self.attempt);
                let mut go = || driver::step(method, &mut step, attempt);
                if left_by_device {
                    parallel::together(go)?
                } else {
                    go()?
                }
                step.report
            }
        };
        self.environment.forces.clear();
        observer.enter("strain limit");
        self.limit_strain(&mut report);
        report.ccd += self.pull_apart();
        self.attempt.step += 1;
        self.attempt.time = self.attempt.step as f64 * self.model.step_time;
        report.ccd.pinched += self.led_into_solids() + self.led_into_meshes();
        if report.ccd.pinched > 0 {
            report.fall_short(Shortfall::Pinched { pairs: report.ccd.pinched });
        }
        self.check_finite()?;
        std::mem::swap(&mut self.state, &mut self.attempt);
        self.scratch.as_device_left = took_device && self.model.limit.is_none() && self.tangled.is_empty();
        if report.ccd.pinched > 0 || tangled {
            self.tell_tangles();
        }
        self.part(&mut report);
        observer.leave();
        Ok(report)
    }

    /// Moves on by one frame: all its steps, told as one. On an error the state stays the last good one.
    pub fn step_frame(&mut self, observer: &mut dyn Observer) -> Result<StepReport, StepError> {
        let mut frame = self.step_observed(observer)?;
        for _ in 1..self.model.steps_per_frame {
            frame.follow(&self.step_observed(observer)?);
        }
        Ok(frame)
    }

    /// Energies of the present state.
    pub fn energy(&self) -> Energy {
        Energy::of(&self.model, self.environment.gravity, &self.state)
    }

    /// Impulses by which bodies have pushed every particle of cloth along their normals in the last step, with what lies on it [N·s]. What CCD alone has kept
    /// apart is not counted. `None` where that is not known: a device that takes the steps does not tell, and in the systems of implicit methods cloth does not
    /// feel free bodies that lie on it.
    pub fn body_impulses(&self) -> Option<&[f64]> {
        let unfelt = self.model.method.is_implicit() && !self.model.bodies.is_empty();
        let known = self.device.is_none() && !unfelt;
        known.then_some(&self.scratch.pressed[..self.model.cloth_particle_count()])
    }

    /// Makes the scratch anew for another model.
    fn renew(&mut self) {
        self.scratch = Scratch::new(&self.model, &self.environment, &mut self.state, self.device.as_ref());
        self.scratch_before = None;
        self.ways.clear();
        self.tell_tangles();
    }

    /// Takes scratch for an environment that has changed: that of before if it was made for this one, or new.
    fn renew_for_environment(&mut self) {
        let Self { model, environment, state, device, .. } = self;
        let before = self.scratch_before.take().filter(|before| before.is_for(environment));
        let other =
            before.map_or_else(|| Scratch::new(model, environment, state, device.as_ref()), |before| *before);
        other.remember(state);
        let before = std::mem::replace(&mut self.scratch, other);
        // What a device has made room for is not kept twice.
        self.scratch_before = self.device.is_none().then(|| Box::new(before));
        self.tell_tangles();
    }

    /// Lets the contact pipeline know what intersects: nothing, unless the scene started so or led things pinched the cloth.
    fn tell_tangles(&mut self) {
        if let Some(pipeline) = &mut self.scratch.pipeline {
            self.tangled = Intersections::of(&self.model, &self.state);
            self.tangled.tell(pipeline);
            self.scratch.boundary.any_inside = self.tangled.any_in_solids();
        }
    }

    /// Shortens edges that are too long, as far as the scene asks for it, and lets the contact pipeline see to it that nothing passes through anything.
    fn limit_strain(&mut self, report: &mut StepReport) {
        let (Some(limit), Some(limiter)) = (&self.model.limit, &mut self.scratch.limiter) else { return };
        let State { positions, velocities, .. } = &mut self.attempt;
        let time = self.state.time + self.model.step_time;
        if let Some(pipeline) = &mut self.scratch.pipeline {
            pipeline.place(&self.model, [time; 2], |i| positions[i], |_| DVec3::ZERO);
        }
        if limiter.run(limit, positions, velocities).sweeps == 0 {
            return;
        }
        let settled = self.scratch.pipeline.as_mut().map_or(CcdStats::default(), |pipeline| {
            pipeline.end(|i| positions[i]);
            let settled = pipeline.resolve();
            positions.copy_from_slice(pipeline.ends());
            settled
        });
        // Impulses put right in the next step what sweeps have heaped up.
        let is_mended = self.model.method.keeps_lengths();
        if is_mended || !limiter.take_back_if_worse(limit, positions, velocities) {
            report.ccd += settled;
        }
        if let Some((ends, strain)) = limiter.too_long(limit, positions) {
            report.fall_short(Shortfall::Strain { ends, strain, tolerance: limit.strain });
        }
    }

    /// Particles that pins have led into a closed-form solid in this step, or solids onto them. Neither gives way, and CCD does not look at what nothing can change.
    fn led_into_solids(&self) -> u32 {
        let is_in = |state: &State, particle: u32, collider: usize| match &self.model.colliders[collider].form
        {
            Form::Closed(shape) => {
                let pose = self.model.pose(collider, &state.positions, state.time);
                nearest(&PosedShape { shape: *shape, pose }, state.positions[particle as usize], 0.0)
                    .is_some()
            }
            Form::Mesh(_) => false,
        };
        let led = self.environment.pins.iter().flat_map(|pin| &pin.particles);
        let with_solids = led.flat_map(|i| (0..self.model.colliders.len()).map(move |c| (*i, c)));
        with_solids.filter(|(i, c)| is_in(&self.attempt, *i, *c) && !is_in(&self.state, *i, *c)).count()
            as u32
    }

    /// Triangles of cloth with a corner that is held which a mesh has come to cut in this step. That corner goes through its faces unseen, as into solids.
    fn led_into_meshes(&self) -> u32 {
        let model = &self.model;
        let is_mesh = |c: &model::Collider| matches!(c.form, Form::Mesh(_));
        if self.environment.pins.is_empty() || !model.colliders.iter().any(is_mesh) {
            return 0;
        }
        let mut is_held = vec![false; model.particle_count()];
        self.environment.pins.iter().flat_map(|pin| &pin.particles).for_each(|i| is_held[*i as usize] = true);
        let has_held = |t: &&[u32; 3]| t.iter().any(|i| is_held[*i as usize]);
        let triangles: Vec<[u32; 3]> = model.triangles.iter().filter(has_held).copied().collect();
        let cut = |state: &State, collider: usize| -> BTreeSet<u32> {
            let cloth = check::Surface { positions: &state.positions, triangles: &triangles };
            let pose = model.pose(collider, &state.positions, state.time);
            check::against_form(cloth, &model.colliders[collider].form, &pose, state.time)
                .intersecting
                .into_iter()
                .collect()
        };
        let meshes = (0..model.colliders.len()).filter(|collider| is_mesh(&model.colliders[*collider]));
        let now = meshes
            .map(|collider| (collider, cut(&self.attempt, collider)))
            .filter(|(_, now)| !now.is_empty());
        now.map(|(collider, now)| now.difference(&cut(&self.state, collider)).count() as u32).sum()
    }

    /// Moves cloth that intersects apart, and out of bodies.
    fn pull_apart(&mut self) -> CcdStats {
        let Some(pipeline) = self.scratch.pipeline.as_mut().filter(|_| !self.tangled.is_empty()) else {
            return CcdStats::default();
        };
        let (time, positions) = (self.state.time + self.model.step_time, &mut self.attempt.positions);
        untangle::pull_apart((&self.model, &self.environment), pipeline, &self.tangled, time, positions)
    }

    /// All that is constant.
    pub fn model(&self) -> &Arc<Model> {
        &self.model
    }

    /// What acts from outside in the next step.
    pub fn environment(&self) -> &Environment {
        &self.environment
    }

    /// All that changes.
    pub fn state(&self) -> &State {
        &self.state
    }

    /// Goes to a state of this model that [`State::to_bytes`] has kept, such as one from a recording.
    pub fn restore(&mut self, bytes: &[u8]) -> Result<(), StateMismatch> {
        match self.state.parted_in(bytes).filter(|parted| *parted != self.state.parted) {
            None => self.state.read_bytes(bytes)?,
            Some(parted) => {
                let before = self.state.clone();
                self.take_parted(parted)?;
                if let Err(mismatch) = self.state.read_bytes(bytes) {
                    // A state that is refused changes nothing.
                    self.take_parted(before.parted.clone())?;
                    self.state = before;
                    return Err(mismatch);
                }
            }
        }
        self.scratch.as_device_left = false;
        self.tell_tangles();
        Ok(())
    }

    /// Strain and intersections of the present state, measured by code that is not the solver.
    pub fn certificate(&self) -> Certificate {
        check::certify(&self.model, &self.state)
    }

    fn check_finite(&self) -> Result<(), StepError> {
        let state = &self.attempt;
        let inside = |[x, y, z]: [f64; 3], most: f64| (x.abs() < most) & (y.abs() < most) & (z.abs() < most);
        let lost = |(x, v): (&DVec3, &DVec3)| {
            !(inside(x.to_array(), FURTHEST) & inside(v.to_array(), f64::INFINITY))
        };
        // Nearly always nobody is lost, and counting is quicker than a search.
        let mut counts = [0; FINITE_PARTS];
        let part = state.positions.len().div_ceil(FINITE_PARTS).max(1);
        let least = if part < WORTH_A_TEAM { FINITE_PARTS } else { 1 };
        parallel::each(&mut counts, least, |number, count| {
            let [positions, velocities] =
                [&state.positions, &state.velocities].map(|list| parallel::chunk(list, part, number));
            *count = positions.iter().zip(velocities).filter(|moving| lost(*moving)).count();
        });
        if counts == [0; FINITE_PARTS] {
            return Ok(());
        }
        match state.positions.iter().zip(&state.velocities).position(lost) {
            None => Ok(()),
            Some(i) => {
                let body = self.model.bodies.iter().find(|body| body.nodes.contains(&i));
                let body = body.map_or(("", 0), |b| (&*self.model.colliders[b.collider].name, b.nodes.start));
                let (cloth, first) = self.model.cloth_of(i).map_or(body, |c| (&c.name, c.particles.start));
                Err(StepError::NotFinite {
                    particle: i - first,
                    cloth: cloth.to_string(),
                    position: state.positions[i],
                    time: state.time,
                })
            }
        }
    }
}

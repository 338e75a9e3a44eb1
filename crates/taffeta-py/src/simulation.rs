//! A simulation in the hands of Python.

use crate::arrays::{Mirror, columns, points, vectors};
use crate::check::Certificate;
use crate::errors::{refused, stopped, unrecorded};
use crate::picture::{self, Stand};
use crate::scene::AskedScene;
use crate::work::{on_all_threads, until_cancelled};
use numpy::{PyArray1, PyArray2, PyArray3, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2, ToPyArray};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};
use taffeta::math::DVec3;
use taffeta::model::Model;
use taffeta::step::{Hands, StepError};
use taffeta_bench::FrameSteps;
use taffeta_cli::report::FrameReport;
use taffeta_io::clock::{StageClock, Watch};

/// What one step did, or the steps of a frame together.
#[pyclass(module = "taffeta", frozen, get_all)]
#[derive(Debug, Clone)]
pub struct StepReport {
    /// Sub-steps taken.
    substeps: u32,
    /// Iterations of the solver over all sub-steps.
    iterations: u32,
    /// Whether the step reached what its method promises.
    converged: bool,
    /// Why not, in words, where the method can tell.
    shortfall: Option<String>,
    /// What touches at the end: particles on colliders, and pairs of features.
    contacts: u32,
    /// The shortest sub-step taken [s].
    shortest_substep: f64,
    /// Particles that were split or came off their pins.
    parted: u32,
}

impl From<taffeta::step::StepReport> for StepReport {
    fn from(report: taffeta::step::StepReport) -> Self {
        Self {
            substeps: report.substeps,
            iterations: report.iterations,
            converged: report.converged,
            shortfall: report.shortfall.map(|why| why.to_string()),
            contacts: report.contacts,
            shortest_substep: report.shortest_substep,
            parted: report.parted,
        }
    }
}

#[pymethods]
impl StepReport {
    fn __repr__(&self) -> String {
        let ended = match (&self.shortfall, self.converged) {
            (_, true) => "converged".into(),
            (Some(why), false) => format!("NOT converged: {why}"),
            (None, false) => "NOT converged".to_string(),
        };
        let Self { substeps, iterations, contacts, .. } = self;
        format!("<StepReport: {substeps} sub-steps, {iterations} iterations, {contacts} contacts, {ended}>")
    }
}

/// A running simulation; `taffeta.Simulation` is this and what Python adds to it.
#[pyclass(module = "taffeta._taffeta", subclass, weakref)]
pub struct Simulation {
    /// What it was made of.
    pub asked: Arc<AskedScene>,
    /// The simulation itself.
    pub engine: taffeta::Simulation,
    /// What the last frame did, how long it took.
    pub steps: FrameSteps,
    hands: Hands,
    positions: Mirror,
    velocities: Mirror,
    surface: Option<Surface>,
}

impl Simulation {
    fn of(asked: Arc<AskedScene>, engine: taffeta::Simulation) -> Self {
        Self {
            asked,
            engine,
            steps: at_the_start(),
            hands: Hands::default(),
            positions: Mirror::default(),
            velocities: Mirror::default(),
            surface: None,
        }
    }

    /// Arrays that Python has show the present state.
    pub fn follow(&mut self, py: Python) -> PyResult<()> {
        let state = self.engine.state();
        self.positions.follow(py, &state.positions)?;
        self.velocities.follow(py, &state.velocities)
    }

    /// Moves on by one step, or by all those of a frame.
    fn advance(&mut self, py: Python, whole_frame: bool, cancel: Option<&Py<PyAny>>) -> PyResult<StepReport> {
        let engine = &mut self.engine;
        let taken = until_cancelled(py, cancel, |stop| {
            let mut stages = StageClock::default();
            let mut watch = Watch { stages: &mut stages, ended: &mut || stop.load(Ordering::Relaxed) };
            let begun = Instant::now();
            let taken =
                if whole_frame { engine.step_frame(&mut watch) } else { engine.step_observed(&mut watch) };
            taken.map(|report| FrameSteps { report, stages, wall: begun.elapsed(), cpu: None })
        });
        self.follow(py)?;
        let steps = taken?.map_err(|error: StepError| stopped(error))?;
        let report = steps.report.into();
        self.steps = steps;
        Ok(report)
    }

    /// The number of the present frame.
    pub fn frame_number(&self) -> u32 {
        let steps_per_frame = u64::from(self.engine.model().steps_per_frame);
        u32::try_from(self.engine.state().step / steps_per_frame).unwrap_or(u32::MAX)
    }

    /// Whether the present state is one that a frame ends with.
    pub fn at_frame(&self) -> bool {
        self.engine.state().step.is_multiple_of(u64::from(self.engine.model().steps_per_frame))
    }

    /// What is told of the present frame, certificate and all.
    pub fn told(&self, py: Python) -> PyResult<FrameReport> {
        let (engine, steps, frame) = (&self.engine, &self.steps, self.frame_number());
        on_all_threads(py, |_| FrameReport::new(engine, frame, steps, 0.0))
    }

    fn surface(&mut self, py: Python) -> &Surface {
        let model = self.engine.model();
        if self.surface.as_ref().is_some_and(|surface| !Arc::ptr_eq(&surface.model, model)) {
            self.surface = None;
        }
        self.surface.get_or_insert_with(|| Surface {
            model: model.clone(),
            triangles: read_only(columns(py, &model.triangles)),
            edges: read_only(columns(py, &model.edges)),
        })
    }
}

/// Triangles and edges of a model, which changes only where cloth tears.
struct Surface {
    model: Arc<Model>,
    triangles: Py<PyArray2<u32>>,
    edges: Py<PyArray2<u32>>,
}

fn read_only(array: Bound<PyArray2<u32>>) -> Py<PyArray2<u32>> {
    drop(array.readwrite().make_nonwriteable());
    array.unbind()
}

/// No steps were taken, so that nothing in them can have failed.
fn at_the_start() -> FrameSteps {
    let mut report = taffeta::step::StepReport::default();
    report.converged = true;
    FrameSteps { report, wall: Duration::ZERO, ..FrameSteps::default() }
}

#[pymethods]
impl Simulation {
    #[new]
    #[pyo3(signature = (scene, *, sets=Vec::new()))]
    fn new(scene: &Bound<PyAny>, sets: Vec<String>) -> PyResult<Self> {
        if let Ok(other) = scene.cast::<Self>() {
            let other = other.borrow();
            let clone = Self::of(other.asked.clone(), other.engine.clone());
            return Ok(Self { hands: other.hands.clone(), ..clone });
        }
        let asked = Arc::new(AskedScene::new(scene, &sets)?);
        let engine = asked.simulation(scene.py())?;
        Ok(Self::of(asked, engine))
    }

    /// Moves on by one step. On an error, and on Ctrl-C, the state stays the last good one.
    ///
    /// `cancel` is a `threading.Event`: once another thread sets it, the step ends between two sub-steps with `taffeta.Cancelled`.
    #[pyo3(signature = (*, cancel=None))]
    fn step(&mut self, py: Python, cancel: Option<Py<PyAny>>) -> PyResult<StepReport> {
        self.advance(py, false, cancel.as_ref())
    }

    /// Moves on by one frame: all its steps, told as one. `cancel` is that of `step`.
    #[pyo3(signature = (*, cancel=None))]
    fn step_frame(&mut self, py: Python, cancel: Option<Py<PyAny>>) -> PyResult<StepReport> {
        self.advance(py, true, cancel.as_ref())
    }

    /// Where all particles are [m], `(particles, 3)`, read-only: cloth by cloth, then four for every body that moves freely.
    ///
    /// It is the same array every time, and every step changes it in place: copy what is to be kept.
    #[getter]
    fn positions(&mut self, py: Python) -> PyResult<Py<PyArray2<f64>>> {
        self.positions.show(py, &self.engine.state().positions)
    }

    /// How fast all particles move [m/s], `(particles, 3)`, read-only, as `positions`.
    #[getter]
    fn velocities(&mut self, py: Python) -> PyResult<Py<PyArray2<f64>>> {
        self.velocities.show(py, &self.engine.state().velocities)
    }

    /// Particles of every triangle, `(triangles, 3)`, counter-clockwise seen from outside, read-only.
    #[getter]
    fn triangles(&mut self, py: Python) -> Py<PyArray2<u32>> {
        self.surface(py).triangles.clone_ref(py)
    }

    /// Particles of every structural edge, `(edges, 2)`, read-only: those whose strain is certified.
    #[getter]
    fn edges(&mut self, py: Python) -> Py<PyArray2<u32>> {
        self.surface(py).edges.clone_ref(py)
    }

    /// Lengths of structural edges at rest [m].
    #[getter]
    fn rest_lengths<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        self.engine.model().rest_lengths.to_pyarray(py)
    }

    /// Where every particle is when nothing pulls [m], `(particles, 3)`.
    #[getter]
    fn rest_positions<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray2<f64>> {
        vectors(py, &self.engine.model().rest_positions)
    }

    /// Mass of every particle [kg].
    #[getter]
    fn mass<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f64>> {
        self.engine.model().mass.to_pyarray(py)
    }

    /// Particles that are held: by pins of the scene and by `hold`.
    #[getter]
    fn held<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<u32>> {
        let pins = self.engine.environment().pins().iter();
        let mut held: Vec<u32> = pins.flat_map(|pin| pin.particles.iter().copied()).collect();
        held.sort_unstable();
        held.dedup();
        held.to_pyarray(py)
    }

    /// Name, first particle and the one behind its last, of every piece of cloth.
    #[getter]
    fn cloths(&self) -> Vec<(String, usize, usize)> {
        let piece = |piece: &taffeta::model::ClothPiece| {
            (piece.name.clone(), piece.particles.start, piece.particles.end)
        };
        self.engine.model().cloths.iter().map(piece).collect()
    }

    /// Names of what the cloth meets.
    #[getter]
    fn colliders(&self) -> Vec<String> {
        self.engine.model().colliders.iter().map(|collider| collider.name.clone()).collect()
    }

    /// Simulated time [s].
    #[getter]
    fn time(&self) -> f64 {
        self.engine.state().time
    }

    /// The present frame; 0 is the start.
    #[getter]
    fn frame(&self) -> u32 {
        self.frame_number()
    }

    /// Wall time of the engine in the last step or frame [s].
    #[getter]
    fn last_step_seconds(&self) -> f64 {
        self.steps.wall.as_secs_f64()
    }

    /// How many frames the scene asks for.
    #[getter]
    fn frames(&self) -> u32 {
        self.asked.loaded.scene.frames
    }

    /// Time from one frame to the next [s].
    #[getter]
    fn frame_time(&self) -> f64 {
        self.asked.loaded.scene.frame_time
    }

    /// Largest strain that a frame may have [1].
    #[getter]
    fn tolerance(&self) -> f64 {
        self.engine.model().tolerance
    }

    /// The name of the method.
    #[getter]
    fn method(&self) -> &'static str {
        self.engine.model().method.name()
    }

    /// The name of the scene.
    #[getter]
    fn name(&self) -> String {
        self.asked.loaded.name.clone()
    }

    /// What the readers of meshes had to say.
    #[getter]
    fn notes(&self) -> Vec<String> {
        self.asked.loaded.notes.clone()
    }

    /// The complete scene, as JSON.
    fn _scene_json(&self) -> String {
        self.asked.loaded.scene.to_json().to_string()
    }

    /// Fingerprint of every bit of the state, 16 hexadecimal digits: the same as the program tells.
    #[getter]
    fn state_hash(&self) -> String {
        format!("{:016x}", self.engine.state().hash())
    }

    /// Puts all particles elsewhere [m]. What then intersects comes apart slowly, as in a scene that starts so.
    fn set_positions(&mut self, py: Python, positions: PyReadonlyArray2<f64>) -> PyResult<()> {
        self.engine.set_positions(&points(&positions, "positions")?).map_err(refused)?;
        self.follow(py)
    }

    /// Gives all particles other velocities [m/s].
    fn set_velocities(&mut self, py: Python, velocities: PyReadonlyArray2<f64>) -> PyResult<()> {
        self.engine.set_velocities(&points(&velocities, "velocities")?).map_err(refused)?;
        self.follow(py)
    }

    /// Adds forces on all particles of cloth for the next step [N].
    fn add_forces(&mut self, forces: PyReadonlyArray2<f64>) -> PyResult<()> {
        self.engine.add_forces(&points(&forces, "forces")?).map_err(refused)
    }

    fn _hold(
        &mut self,
        particles: PyReadonlyArray1<i64>,
        places: PyReadonlyArray2<f64>,
        duration: f64,
    ) -> PyResult<()> {
        hold(&mut self.engine, &mut self.hands, &list(&particles)?, &points(&places, "places")?, duration)
    }

    fn _release(&mut self, particles: PyReadonlyArray1<i64>) -> PyResult<()> {
        for particle in list(&particles)? {
            self.engine.release(particle).map_err(refused)?;
            self.hands.held.remove(&particle);
            self.hands.freed.insert(particle);
        }
        Ok(())
    }

    /// Lets a collider that is led, by its number, take a particle along from now on.
    fn attach(&mut self, particle: u32, collider: usize) -> PyResult<()> {
        self.engine.attach(particle, collider).map_err(refused)
    }

    /// Changes gravity [m/s²].
    fn set_gravity(&mut self, gravity: [f64; 3]) -> PyResult<()> {
        let air = self.engine.environment().air;
        self.engine.set_surroundings(finite(gravity, "gravity")?, air);
        Ok(())
    }

    /// Changes the velocity of the air [m/s].
    fn set_wind(&mut self, wind: [f64; 3]) -> PyResult<()> {
        let (gravity, mut air) = (self.engine.environment().gravity, self.engine.environment().air);
        air.wind = finite(wind, "wind")?;
        self.engine.set_surroundings(gravity, air);
        Ok(())
    }

    /// Strain and intersections of the present state, measured by code that is not the solver.
    fn certificate(&self, py: Python) -> PyResult<Certificate> {
        let engine = &self.engine;
        let measured = on_all_threads(py, |_| engine.certificate())?;
        Ok(Certificate::new(measured, Some(engine.model().tolerance)))
    }

    fn _report(&self, py: Python) -> PyResult<String> {
        serde_json::to_string(&self.told(py)?).map_err(refused)
    }

    /// The present state as bytes, for `restore`.
    fn snapshot<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, &self.engine.snapshot())
    }

    /// Goes to a state of this scene that `snapshot` has kept.
    fn restore(&mut self, py: Python, snapshot: &[u8]) -> PyResult<()> {
        self.engine.restore(snapshot).map_err(refused)?;
        self.steps = at_the_start();
        self.follow(py)
    }

    /// What holds and blows, for pickling: held particles and their places, freed particles, gravity and wind.
    #[allow(clippy::type_complexity)]
    fn _grip(&self) -> (Vec<(u32, [f64; 3])>, Vec<u32>, [f64; 3], [f64; 3]) {
        let held = self.hands.held.iter().map(|(particle, place)| (*particle, place.to_array()));
        let environment = self.engine.environment();
        let (gravity, wind) = (environment.gravity.to_array(), environment.air.wind.to_array());
        (held.collect(), self.hands.freed.iter().copied().collect(), gravity, wind)
    }

    fn _take_grip(
        &mut self,
        held: Vec<(u32, [f64; 3])>,
        freed: Vec<u32>,
        gravity: [f64; 3],
        wind: [f64; 3],
    ) -> PyResult<()> {
        let held = held.into_iter().map(|(particle, place)| (particle, DVec3::from(place))).collect();
        self.hands = Hands { held, freed: freed.into_iter().collect() };
        if self.hands != Hands::default() {
            self.engine.set_hands(&self.hands, self.engine.model().step_time);
        }
        self.set_gravity(gravity)?;
        self.set_wind(wind)
    }

    /// Takes a picture, `(height, width, 3)` bytes; `camera` is where it stands and what it looks at [m], else all is seen.
    #[pyo3(signature = (width=640, height=360, camera=None))]
    fn render<'py>(
        &self,
        py: Python<'py>,
        width: u32,
        height: u32,
        camera: Option<Stand>,
    ) -> PyResult<Bound<'py, PyArray3<u8>>> {
        let engine = &self.engine;
        let picture = picture::picture(width, height, camera);
        let image = on_all_threads(py, |_| picture::taken(engine, picture))?.map_err(unrecorded)?;
        picture::array(py, image)
    }
}

/// Holds particles of a simulation from now on, and leads them to their places [m] within a `duration` [s].
pub fn hold(
    engine: &mut taffeta::Simulation,
    hands: &mut Hands,
    particles: &[u32],
    places: &[DVec3],
    duration: f64,
) -> PyResult<()> {
    let count = engine.model().cloth_particle_count();
    if places.len() != particles.len() {
        return Err(refused(format!(
            "{} places were given for {} particles; give one each",
            places.len(),
            particles.len()
        )));
    }
    if let Some(place) = places.iter().find(|place| !place.is_finite()) {
        return Err(refused(format!("the place {place} is not finite")));
    }
    if duration.is_nan() || duration <= 0.0 {
        return Err(refused(format!("duration = {duration}: nothing moves in no time; give more than 0 s")));
    }
    if let Some(particle) = particles.iter().find(|particle| **particle as usize >= count) {
        return Err(refused(taffeta::step::InteractionError::NoParticle { particle: *particle, count }));
    }
    if let ([particle], [place]) = (particles, places) {
        engine.hold(*particle, *place, duration).map_err(refused)?;
        hands.held.insert(*particle, *place);
        return Ok(());
    }
    hands.held.extend(particles.iter().copied().zip(places.iter().copied()));
    engine.set_hands(hands, duration);
    Ok(())
}

/// Numbers of particles.
pub fn list(particles: &PyReadonlyArray1<i64>) -> PyResult<Vec<u32>> {
    let number = |particle: &i64| {
        u32::try_from(*particle)
            .map_err(|_| refused(format!("there is no particle {particle}; they are counted from 0")))
    };
    particles.as_array().iter().map(number).collect()
}

fn finite(vector: [f64; 3], what: &str) -> PyResult<DVec3> {
    let vector = DVec3::from(vector);
    if vector.is_finite() { Ok(vector) } else { Err(refused(format!("{what} = {vector} is not finite"))) }
}

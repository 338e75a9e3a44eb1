//! One simulation of a live scene: the hands that lead its cloth, its frames, and what they tell.

use crate::certifier;
use crate::look;
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::sync::Arc;
use taffeta::Simulation;
use taffeta::check;
use taffeta::math::{DVec3, Pose};
use taffeta::model::{Model, PosedShape, Shape, State};
use taffeta::step::{Hands, StepError, StepReport};
use taffeta_io::clock::{StageClock, Watch};
use taffeta_scene::{Fault, Mesh, Scene};
use web_time::Instant;

/// A hand passes no more than this many diagonals of the cloth in a second [1/s]: what is torn along by a faster one takes many times the sub-steps.
const HAND_SPEED: f64 = 0.75;
/// In this time a hand that rests reaches its speed, and one that is near its place has most of the way behind it [s].
const HAND_EASE: f64 = 0.1;
/// A hand that is as near as this to its place is there [diagonals of the cloth].
const HAND_THERE: f64 = 1e-4;
/// Iterations of a step at most, where the scene does not say: whoever pulls at the cloth waits for it.
const BUDGET: u32 = 240;

/// One of the simulations.
pub(crate) struct Side {
    pub simulation: Simulation,
    pub judged: Arc<Model>,
    /// The steps of the present frame that are done, and what they told as one.
    steps: u32,
    told: StepReport,
    /// By which impulses bodies have pressed on particles in them [N·s]; empty where that is not told.
    impulses: Vec<f64>,
    stages: StageClock,
    /// What they took [s].
    wall: f64,
    pub report: Value,
    pub certificate: Value,
    /// Pressure of bodies on every particle of cloth, the mean of the last frame [kPa].
    pub pressure: Option<Vec<f32>>,
    /// How fast every hand moves [m/s].
    hand_velocities: BTreeMap<u32, DVec3>,
    /// A fingerprint of its start.
    start: u64,
}

impl Side {
    pub fn start(scene: &Scene, meshes: &BTreeMap<String, Mesh>) -> Result<Self, Vec<Fault>> {
        let mut scene = scene.clone();
        scene.solver.budget.get_or_insert(BUDGET);
        let simulation = taffeta_scene::simulation(&scene, meshes)?;
        let judged = certifier::for_the_check(simulation.model());
        let mut side = Self {
            simulation,
            judged,
            steps: 0,
            told: StepReport::default(),
            impulses: Vec::new(),
            stages: StageClock::default(),
            wall: 0.0,
            report: Value::Null,
            certificate: Value::Null,
            pressure: None,
            hand_velocities: BTreeMap::new(),
            start: 0,
        };
        side.start = side.start_hash();
        side.pressure = side.simulation.body_impulses().map(|impulses| vec![0.0; impulses.len()]);
        // Nothing was computed yet, and nothing has failed.
        side.told.converged = true;
        side.report = side.report(0.0);
        Ok(side)
    }

    /// A fingerprint of where everything starts, whatever the method remembers.
    fn start_hash(&self) -> u64 {
        let state = self.simulation.state();
        let (positions, velocities) = (state.positions.clone(), state.velocities.clone());
        State { positions, velocities, ..State::default() }.hash()
    }

    /// Goes on from where another simulation is, if it is of the same cloth with the same start.
    pub fn goes_on_from(&mut self, before: &Side) -> bool {
        let (old, new) = (before.simulation.model(), self.simulation.model());
        // Cloth that is torn has other triangles than at its start, but as many.
        let same_mesh = match old.splits.is_empty() {
            true => old.triangles == new.triangles && old.rest_lengths == new.rest_lengths,
            false => old.triangles.len() == new.triangles.len() && old.tearing.len() == new.tearing.len(),
        };
        let same = self.start == before.start && same_mesh;
        if same && self.simulation.take_over(&before.simulation).is_ok() {
            self.report = before.report.clone();
            return true;
        }
        false
    }

    /// Whether a ball there would be in the cloth [m].
    pub fn is_met_by(&self, centre: DVec3, radius: f64) -> bool {
        let (model, state) = (self.simulation.model(), self.simulation.state());
        let ball =
            PosedShape { shape: Shape::Sphere { radius }, pose: Pose { position: centre, ..Pose::IDENTITY } };
        !check::against_body(&state.positions, &model.triangles, &ball).intersecting.is_empty()
    }

    /// Leads what is held a frame's way towards its place, on a cloth of this size [m].
    pub fn lead(&mut self, hands: &Hands, size: f64, frame_time: f64) {
        let mut hands = hands.clone();
        self.hand_velocities.retain(|particle, _| hands.held.contains_key(particle));
        for (particle, place) in &mut hands.held {
            if let Some(now) = self.simulation.state().positions.get(*particle as usize) {
                let velocity = self.hand_velocities.entry(*particle).or_default();
                *place = followed(*now, *place, velocity, size, frame_time);
            }
        }
        self.simulation.set_hands(&hands, frame_time);
    }

    /// Moves on to the end of the frame.
    pub fn advance(&mut self, ended: &mut (dyn FnMut() -> bool + Send)) -> Result<(), StepError> {
        while self.steps < self.simulation.model().steps_per_frame {
            let begun = Instant::now();
            let mut watch = Watch { stages: &mut self.stages, ended: &mut *ended };
            let taken = self.simulation.step_observed(&mut watch);
            self.wall += begun.elapsed().as_secs_f64();
            let report = taken?;
            match self.steps {
                0 => self.told = report,
                _ => self.told.follow(&report),
            }
            let impulses = self.simulation.body_impulses().unwrap_or_default();
            self.impulses.resize(impulses.len(), 0.0);
            self.impulses.iter_mut().zip(impulses).for_each(|(sum, impulse)| *sum += impulse);
            self.steps += 1;
        }
        Ok(())
    }

    /// The frame is done; tells whether anything tore or came off in it.
    pub fn end_frame(&mut self, frame_time: f64) -> bool {
        self.report = self.report(frame_time);
        let model = self.simulation.model();
        let told = self.simulation.body_impulses().is_some();
        self.pressure = told.then(|| look::pressures(model, &self.impulses, frame_time));
        self.impulses.clear();
        let parted = self.told.parted > 0;
        if parted {
            self.judged = certifier::for_the_check(self.simulation.model());
        }
        (self.steps, self.stages, self.wall) = (0, StageClock::default(), 0.0);
        parted
    }

    /// What pages are told of the frame.
    fn report(&self, frame_time: f64) -> Value {
        let Self { told: report, stages, wall, .. } = self;
        let (model, state) = (self.simulation.model(), self.simulation.state());
        let strain = check::strain(&state.positions, &model.edges, &model.rest_lengths);
        let finite = |number: f64| number.is_finite().then_some(number);
        let stages: Map<String, Value> =
            stages.iter().map(|(name, seconds)| (name.into(), json!(1e3 * seconds))).collect();
        json!({
            "wall_ms": 1e3 * wall,
            "stage_ms": stages,
            "iterations": report.iterations,
            "substeps": report.substeps,
            "converged": report.converged,
            "shortfall": report.shortfall.map(|reason| reason.to_string()),
            "max_strain": finite(strain.max),
            "mean_strain": finite(strain.mean),
            "contacts": report.contacts,
            "energy_j": self.simulation.energy(),
            "realtime_factor": finite(frame_time / wall),
            "torn": model.splits,
            "state_hash": format!("{:016x}", state.hash()),
        })
    }
}

/// Where a hand at `now` that goes to `place` is a frame later [m]; its velocity changes on the way [m/s].
fn followed(now: DVec3, place: DVec3, velocity: &mut DVec3, size: f64, frame_time: f64) -> DVec3 {
    let (way, speed) = (place - now, HAND_SPEED * size);
    if way.length() <= HAND_THERE * size {
        *velocity = DVec3::ZERO;
        return place;
    }
    let wanted = (way / HAND_EASE.max(frame_time)).clamp_length_max(speed);
    *velocity += (wanted - *velocity).clamp_length_max(speed * frame_time / HAND_EASE);
    *velocity = velocity.clamp_length_max(speed);
    now + *velocity * frame_time
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hand_is_never_faster_than_its_bound_and_arrives() {
        let (size, place) = (1.4, DVec3::new(3.0, -4.0, 12.0));
        for frame_time in [1.0 / 120.0, 1.0 / 30.0, 0.2] {
            let (mut at, mut velocity, mut time) = (DVec3::ZERO, DVec3::ZERO, 0.0);
            while at != place {
                let next = followed(at, place, &mut velocity, size, frame_time);
                assert!(at.distance(next) <= HAND_SPEED * size * frame_time * (1.0 + 1e-9));
                assert!(at.distance(next) > 0.0, "it moves from the first frame on");
                assert!(next.distance(place) < at.distance(place), "and never past its place");
                at = next;
                time += frame_time;
                assert!(
                    time < 13.0 / (HAND_SPEED * size) + 2.0,
                    "13 m, and two seconds to start and to stop"
                );
            }
        }
    }
}

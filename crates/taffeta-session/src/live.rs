//! A scene that is simulated: one side, or two that run in step, and what is done to them by hand.

use crate::certifier::{Certifier, Exhibit};
use crate::edit::{self, EditError};
use crate::look::{self, Figure};
use crate::side::Side;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use taffeta::Simulation;
use taffeta::math::DVec3;
use taffeta::step::{Hands, StepError};
use taffeta_scene::{Collider, Fault, Keyframe, Mesh, Method, Scene, SphereShape};

/// How long a ball flies [s], and how often its parabola is sampled on the way.
const FLIGHT: f64 = 2.0;
const SAMPLES: u32 = 100;
/// Balls in the air at once; the oldest makes room.
const MOST_BALLS: usize = 4;
/// Particles that can be held at once.
const MOST_HELD: usize = 1000;

/// A scene under simulation.
pub struct Live {
    /// Its name.
    pub name: String,
    /// The scene with all changes, without what was done by hand.
    pub scene: Scene,
    /// Keys that were changed.
    pub changed: BTreeSet<String>,
    /// The second method.
    pub compare: Option<Method>,
    /// What hands hold and have freed.
    pub hands: Hands,
    /// Frames since the start.
    pub frame: u64,
    /// What is drawn.
    pub figure: Figure,
    meshes: BTreeMap<String, Mesh>,
    balls: Vec<Ball>,
    /// None while a frame is computed elsewhere.
    sides: Vec<Side>,
    /// Where the particles were before that [m].
    places: Vec<DVec3>,
}

/// A frame of all sides, to be computed on any thread.
pub struct Work {
    sides: Vec<Side>,
    hands: Hands,
    /// Size of the cloth [m].
    size: f64,
    frame_time: f64,
}

/// A ball in the air.
struct Ball {
    collider: Collider,
    lands: f64,
}

/// What a change to the scene led to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Change {
    /// The cloth goes on from where it is, nothing was built anew.
    Quick,
    /// The cloth goes on from where it is.
    GoesOn,
    /// The scene begins anew.
    Restarted,
}

impl Live {
    /// A scene at its start, or all that is wrong with it.
    pub fn open(name: String, scene: Scene, meshes: BTreeMap<String, Mesh>) -> Result<Self, Vec<Fault>> {
        let side = Side::start(&scene, &meshes)?;
        Ok(Self {
            name,
            figure: Figure::of(side.simulation.model(), vec![scene.solver.method.name().into()]),
            scene,
            changed: BTreeSet::new(),
            compare: None,
            hands: Hands::default(),
            frame: 0,
            meshes,
            balls: Vec::new(),
            sides: vec![side],
            places: Vec::new(),
        })
    }

    /// Simulated time [s].
    pub fn time(&self) -> f64 {
        self.sides.first().map_or(0.0, |side| side.simulation.state().time)
    }

    /// The first of the simulations.
    pub fn simulation(&self) -> Option<&Simulation> {
        self.sides.first().map(|side| &side.simulation)
    }

    /// What the first side's last frame reported.
    pub fn report(&self) -> Value {
        self.sides.first().map(|side| side.report.clone()).unwrap_or_default()
    }

    /// Whether a key only changes what surrounds the cloth, which needs no simulation to be at hand.
    pub fn is_quick(&self, key: &str, value: &Value) -> bool {
        edit::with(&self.scene, key, value).is_ok_and(|changed| self.only_surrounds(&changed))
    }

    fn only_surrounds(&self, changed: &Scene) -> bool {
        let air = changed.air.clone();
        *changed == Scene { air, gravity: changed.gravity, ..self.scene.clone() }
    }

    /// Sets a key of the scene.
    pub fn set(&mut self, key: &str, value: &Value) -> Result<Change, EditError> {
        let changed = edit::with(&self.scene, key, value)?;
        let quick = self.only_surrounds(&changed);
        let before = std::mem::replace(&mut self.scene, changed);
        let change = if quick {
            Change::Quick
        } else {
            self.rebuild().inspect_err(|_| self.scene = before).map_err(EditError::Faults)?
        };
        self.changed.insert(key.into());
        Ok(change)
    }

    /// Runs a second method from where the cloth is now, or no more.
    pub fn compare(&mut self, method: Option<Method>) -> Result<(), EditError> {
        if method.is_some() {
            edit::bounded(&self.scene, &self.meshes, 2)?;
        }
        let before = std::mem::replace(&mut self.compare, method);
        self.rebuild().inspect_err(|_| self.compare = before).map_err(EditError::Faults)?;
        Ok(())
    }

    /// Back to the start, hands off.
    pub fn reset(&mut self) -> Result<(), Vec<Fault>> {
        self.hands = Hands::default();
        self.balls.clear();
        self.sides.clear();
        self.rebuild().map(|_| ())
    }

    /// Throws a ball; it meets the cloth and is not slowed by it.
    pub fn throw(&mut self, from: DVec3, velocity: DVec3, radius: f64) -> Result<(), Vec<Fault>> {
        let (now, gravity) = (self.time(), DVec3::from(self.scene.gravity));
        let key = |k: u32| {
            let t = FLIGHT * f64::from(k) / f64::from(SAMPLES);
            let shift = (velocity * t + 0.5 * t * t * gravity).to_array();
            Keyframe { time: now + t, shift, turn: [0.0; 3], ease: Default::default() }
        };
        let collider = Collider {
            sphere: Some(SphereShape { radius }),
            position: from.to_array(),
            keyframe: (0..=SAMPLES).map(key).collect(),
            ..Collider::default()
        };
        if self.sides.iter().any(|side| side.is_met_by(from, radius)) {
            let remedy = "step back, or throw from further away";
            return Err(vec![Fault::new("ball", radius, "would start in the cloth", remedy)]);
        }
        if self.balls.len() >= MOST_BALLS {
            self.balls.remove(0);
        }
        self.balls.push(Ball { collider, lands: now + FLIGHT });
        self.rebuild().map(|_| ()).inspect_err(|_| drop(self.balls.pop()))
    }

    /// Leads a particle to a place, or holds it where it is. `false` where there is no such particle or too many are held.
    pub fn hold(&mut self, particle: u32, place: Option<DVec3>) -> bool {
        let places = self.sides.first().map_or(&self.places, |side| &side.simulation.state().positions);
        let Some(now) = places.get(particle as usize).copied() else { return false };
        let room = self.hands.held.len() < MOST_HELD || self.hands.held.contains_key(&particle);
        if room {
            self.hands.held.insert(particle, place.unwrap_or(now));
        }
        room
    }

    /// Lets a particle go. A pin of the scene comes loose.
    pub fn free(&mut self, particle: u32) {
        self.hands.held.remove(&particle);
        if self.figure.pinned.contains(&particle) {
            self.hands.freed.insert(particle);
        }
    }

    /// The next frame, to be computed; and whether the shape to be drawn has changed.
    pub fn next_frame(&mut self) -> (Work, bool) {
        let now = self.time();
        let in_the_air = self.balls.len();
        self.balls.retain(|ball| ball.lands > now);
        let landed = self.balls.len() < in_the_air;
        if landed {
            // Fewer bodies than a scene that had no faults with them.
            let _ = self.rebuild();
        }
        self.surround();
        if let Some(first) = self.sides.first() {
            self.places.clone_from(&first.simulation.state().positions);
        }
        let size = if self.hands.held.is_empty() { 0.0 } else { self.figure.size() };
        let (sides, hands) = (std::mem::take(&mut self.sides), self.hands.clone());
        (Work { sides, hands, size, frame_time: self.scene.frame_time }, landed)
    }

    /// Takes back what was computed, and tells whether the shape to be drawn has changed. A side that could not go on has kept its last good state, and what
    /// was done of a frame that was cancelled is not done again.
    pub fn take_back(&mut self, work: Work, outcome: Result<(), StepError>) -> Result<bool, StepError> {
        self.sides = work.sides;
        outcome?;
        let torn = self.sides.iter_mut().fold(false, |torn, side| torn | side.end_frame(work.frame_time));
        if torn {
            let methods = std::mem::take(&mut self.figure.methods);
            self.redraw(methods);
        }
        self.frame += 1;
        Ok(torn)
    }

    /// Hands the present states in to be certified.
    pub fn certify(&self, certifier: &mut Certifier, shape: u32) {
        for (number, side) in self.sides.iter().enumerate() {
            let (model, state) = (side.judged.clone(), side.simulation.state().clone());
            certifier.hand_in(Exhibit { shape, side: number, frame: self.frame, model, state });
        }
    }

    /// Takes in what was certified.
    pub fn certified(&mut self, side: usize, told: Value) {
        if let Some(side) = self.sides.get_mut(side) {
            side.certificate = told;
        }
    }

    /// The sides as they are shown.
    pub fn looks(&self) -> impl Iterator<Item = look::Side<'_>> {
        self.sides.iter().map(|side| {
            let (model, state) = (side.simulation.model(), side.simulation.state());
            look::Side {
                positions: &state.positions,
                velocities: &state.velocities,
                pressure: side.pressure.as_deref(),
                time: state.time,
                bodies: model.poses(state).collect(),
                report: side.report.clone(),
                certificate: side.certificate.clone(),
            }
        })
    }

    /// Lays the scene's air and gravity over running simulations.
    fn surround(&mut self) {
        let air = taffeta_scene::air_model(&self.scene.air, self.scene.seed);
        let gravity = DVec3::from(self.scene.gravity);
        self.sides.iter_mut().for_each(|side| side.simulation.set_surroundings(gravity, air));
    }

    /// What is drawn has changed.
    fn redraw(&mut self, methods: Vec<String>) {
        if let Some(first) = self.sides.first() {
            self.figure = Figure::of(first.simulation.model(), methods);
            self.figure.thrown = self.balls.len();
        }
    }

    /// Builds all sides anew from the scene as it is now. They go on from where they are, unless the start has changed.
    fn rebuild(&mut self) -> Result<Change, Vec<Fault>> {
        let methods: Vec<Method> =
            [Some(self.scene.solver.method), self.compare].into_iter().flatten().collect();
        let (mut sides, mut goes_on) = (Vec::new(), !self.sides.is_empty());
        for (number, method) in methods.iter().enumerate() {
            let mut scene = self.scene.clone();
            scene.solver.method = *method;
            scene.collider.extend(self.balls.iter().map(|ball| ball.collider.clone()));
            let mut side = Side::start(&scene, &self.meshes)?;
            if let Some(before) = self.sides.get(number).or(self.sides.first()) {
                goes_on &= side.goes_on_from(before);
            }
            sides.push(side);
        }
        if !goes_on {
            // One that went on is begun again as well: sides are in step.
            for (side, method) in sides.iter_mut().zip(&methods) {
                let mut scene = self.scene.clone();
                scene.solver.method = *method;
                *side = Side::start(&scene, &self.meshes)?;
            }
            (self.frame, self.hands) = (0, Hands::default());
            self.balls.clear();
        }
        self.sides = sides;
        let names = methods.iter().map(|method| method.name().into()).collect();
        self.redraw(names);
        Ok(if goes_on { Change::GoesOn } else { Change::Restarted })
    }
}

impl Work {
    /// Computes the frame, unless somebody asks for an end between two sub-steps.
    pub fn run(&mut self, mut ended: impl FnMut() -> bool + Send) -> Result<(), StepError> {
        for side in &mut self.sides {
            side.lead(&self.hands, self.size, self.frame_time);
            side.advance(&mut ended)?;
        }
        Ok(())
    }
}

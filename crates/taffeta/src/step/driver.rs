//! One step, whatever the method: sub-steps in windows of CCD, with the environment at both ends of each, tried again where the method asks for it.

use super::boundary::Boundary;
use super::methods::Integrator;
use super::observer::Observer;
use super::report::{StepError, StepReport};
use crate::collide::{CcdStats, ContactPipeline};
use crate::math::DVec3;
use crate::model::{Environment, Model, State};

/// A step that is taken again may cost so many times as much as before; what is left of its budget must be enough for it.
const AGAIN: u32 = 2;

/// Windows of a step that CCD has disturbed are so many times shorter, in sub-steps, when it is taken again: what was not foreseen is then found before it meets.
const SHORTER_WINDOWS: u32 = 4;
const MOST_SHORTER: u32 = 5;

/// What all parts of a step share.
pub struct StepContext<'a> {
    pub model: &'a Model,
    pub environment: &'a Environment,
    /// Acceleration of all that is free in this step [m/s²].
    pub gravity: DVec3,
    /// Bodies, pins and air in the sub-step under way.
    pub boundary: &'a mut Boundary,
    /// What keeps things apart, if anything can touch.
    pub pipeline: Option<&'a mut ContactPipeline>,
    /// How often CCD has disturbed the step so much that it is taken again.
    pub disturbed: u32,
    /// Impulses by which bodies have pushed every particle along their normals in this attempt [N·s].
    pub pressed: &'a mut [f64],
    pub observer: &'a mut dyn Observer,
    pub report: StepReport,
}

/// How the time that is left is cut: into `count` equal sub-steps of `h` [s].
#[derive(Debug, Clone, Copy)]
pub struct Plan {
    pub h: f64,
    pub count: u32,
    /// The method plans anew after a window, which has at most so many sub-steps; `None` if the plan holds to the end.
    pub renewed_after: Option<u32>,
}

/// A sub-step from `time` until another, of `h` [s]: number `k` of `count`.
#[derive(Debug, Clone, Copy)]
pub struct Substep {
    pub time: f64,
    pub until: f64,
    pub h: f64,
    pub k: u32,
    pub count: u32,
}

/// What a step came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// All is within tolerance.
    Good,
    /// The tolerance was missed.
    Missed,
    /// The motion cannot be trusted.
    Lost,
}

/// Moves `state` on by one step of the model.
pub fn step(method: &mut dyn Integrator, step: &mut StepContext, state: &mut State) -> Result<(), StepError> {
    step.report.shortest_substep = f64::INFINITY;
    method.begin(step, state)?;
    loop {
        let before = step.report.iterations;
        step.report = step.report.tried_again();
        step.pressed.fill(0.0);
        step.boundary.forces.sliders.load(state);
        method.load(step, state);
        let verdict = attempt(method, step, state.time)?;
        let taken = step.report.iterations - before;
        if verdict == Verdict::Good || step.iterations_left() < taken.saturating_mul(AGAIN) {
            break;
        }
        method.again();
    }
    let mut round = 0;
    while step.iterations_left() > 0 && method.fall_back(step, state, round) {
        prove_proposal(method, step, state.time);
        round += 1;
    }
    method.store(step, state);
    step.boundary.forces.sliders.store(state);
    step.report.contacts =
        method.touching() + step.pipeline.as_mut().map_or(0, |pipeline| pipeline.touching());
    Ok(())
}

/// Takes a step from a time [s] once more, as one window that ends where the method proposes.
fn prove_proposal(method: &mut dyn Integrator, step: &mut StepContext, time: f64) {
    let h = step.model.step_time;
    let whole = Substep { time, until: time + h, h, k: 0, count: 1 };
    step.begin_window(method, time, (0, 1), h);
    step.begin_substep(&whole);
    let window = method.settle(step);
    step.end_window(method, &window);
    method.mend_proposal(step, whole.until);
}

/// All sub-steps of a step that starts at a time [s].
fn attempt(method: &mut dyn Integrator, step: &mut StepContext, start: f64) -> Result<Verdict, StepError> {
    let (whole, mut done, mut verdict) = (step.model.step_time, 0.0, Verdict::Good);
    while done < whole {
        let time = start + done;
        let Plan { h, count, renewed_after } = method.plan(step, time, whole - done)?;
        step.report.shortest_substep = step.report.shortest_substep.min(h);
        let mut k = 0;
        loop {
            let most = renewed_after.map_or(count - k, |most| most.min(count));
            let until = k + step.begin_window(method, time, (k, most), h);
            for k in k..until {
                if step.observer.is_cancelled() {
                    return Err(StepError::Cancelled);
                }
                let [time, until] = [k, k + 1].map(|k| time + f64::from(k) * h);
                let substep = Substep { time, until, h, k, count };
                step.begin_substep(&substep);
                method.predict(step, &substep);
                method.solve(step, &substep)?;
                step.report.substeps += 1;
                if method.update(step, &substep) == Verdict::Lost && step.iterations_left() > 0 {
                    return Ok(Verdict::Lost);
                }
            }
            let window = Window { substeps: until - k, h, last: until == count };
            if window.last {
                verdict = method.finish(step, h);
            }
            step.end_window(method, &window);
            k = until;
            if k == count || renewed_after.is_some() {
                break;
            }
        }
        // The last sub-step ends exactly where the step ends.
        done = if k == count { whole } else { done + f64::from(k) * h };
    }
    Ok(verdict.max(method.mend(step, start + whole)))
}

/// A window of CCD: so many sub-steps of `h` [s], perhaps the last of what was planned.
#[derive(Debug, Clone, Copy)]
pub struct Window {
    pub substeps: u32,
    pub h: f64,
    pub last: bool,
}

impl StepContext<'_> {
    /// Iterations that the budget of the step still allows.
    pub fn iterations_left(&self) -> u32 {
        self.model.budget.map_or(u32::MAX, |budget| budget.saturating_sub(self.report.iterations))
    }

    /// Starts a window of at most so many sub-steps from number `k` on; returns how many it has. The sub-steps count from a time [s] on.
    fn begin_window(&mut self, method: &mut dyn Integrator, time: f64, (k, most): (u32, u32), h: f64) -> u32 {
        let Some(pipeline) = &mut self.pipeline else { return most };
        self.observer.enter("find contacts");
        let Boundary { positions, ways, .. } = &mut *self.boundary;
        method.motion(self.model, positions, ways);
        let (positions, ways) = (&positions[..], &ways[..]);
        let times = |substeps: u32| [k, k + substeps].map(|k| time + f64::from(k) * h);
        let moved = |substeps: u32| move |i: usize| f64::from(substeps) * ways[i];
        let shorter = SHORTER_WINDOWS.pow(self.disturbed.min(MOST_SHORTER));
        let usual = |pipeline: &mut ContactPipeline| pipeline.substeps(ways).min(most) / shorter;
        // What was a heap in the window before most likely is one still.
        let in_heap = |pipeline: &mut ContactPipeline| pipeline.substeps_in_heap(ways).unwrap_or(most);
        let beside_bodies = pipeline.substeps_beside_bodies().unwrap_or(most);
        let substeps = usual(pipeline).min(in_heap(pipeline)).min(beside_bodies).clamp(1, most);
        pipeline.begin(self.model, times(substeps), |i| positions[i], moved(substeps));
        let beside_bodies = pipeline.substeps_beside_bodies_now(substeps).unwrap_or(substeps);
        let fewer = Some(in_heap(pipeline).min(beside_bodies)).filter(|fewer| *fewer < substeps);
        if let Some(fewer) = fewer {
            pipeline.begin_shorter(self.model, times(fewer), |i| positions[i], moved(fewer));
        }
        let longer =
            if fewer.is_none() && self.disturbed == 0 { pipeline.substeps_if_free(ways) } else { None };
        let beside_bodies = pipeline.substeps_beside_bodies().unwrap_or(most);
        // Only to the end of the step: cloth that is too fast for that meets itself in ways that nobody has foreseen.
        if substeps < most && longer.is_some_and(|longer| longer.min(beside_bodies) >= most) {
            pipeline.end_later(self.model, times(most), |i| positions[i], moved(most));
            return most;
        }
        fewer.unwrap_or(substeps)
    }

    /// Moves bodies and pins on, and lets contacts start anew.
    fn begin_substep(&mut self, substep: &Substep) {
        self.observer.enter("environment");
        let Substep { time, until, h, .. } = *substep;
        self.boundary.advance(self.model, self.environment, time, h);
        if let Some(pipeline) = &mut self.pipeline {
            pipeline.begin_substep(self.model, [time, until]);
        }
    }

    /// Lets led bodies rest where they are, while an end is corrected.
    pub fn stop_bodies(&mut self) {
        self.boundary.stop();
        self.pipeline.iter_mut().for_each(|pipeline| pipeline.stop_bodies());
    }

    /// Proves the motion of a window: what would meet becomes a contact that the method answers with all else, and only what then still would is pushed
    /// apart or slowed down. The method goes on from where the motion could be proven.
    fn end_window(&mut self, method: &mut dyn Integrator, window: &Window) {
        if self.pipeline.is_none() {
            return;
        }
        self.observer.enter("ccd");
        let hits = self.prove(method, |pipeline, ends| pipeline.end(|i| ends[i]));
        let (mut left, mut learned, mut gains) = (hits, 0, true);
        while left > 0
            && learned < self.model.params.collision.learning_rounds
            && self.iterations_left() > 0
            && !self.observer.is_cancelled()
        {
            self.pipeline.iter_mut().for_each(|pipeline| pipeline.learn(self.model));
            if !method.answer_learned(self, window, gains) {
                break;
            }
            let before = left;
            left = self.prove(method, |pipeline, ends| pipeline.end_again(|i| ends[i]));
            gains = left < before;
            learned += 1;
        }
        let Some(pipeline) = &mut self.pipeline else { return };
        let settled = pipeline.resolve();
        self.report.ccd += CcdStats { hits: settled.hits.max(hits as u32), learned, ..settled };
        method.accept(self.model, pipeline.ends(), window);
    }

    /// How many pairs would meet on the way to where the method ends.
    fn prove(
        &mut self,
        method: &mut dyn Integrator,
        end: impl FnOnce(&mut ContactPipeline, &[DVec3]) -> usize,
    ) -> usize {
        let ends = &mut self.boundary.positions;
        method.ends(self.model, ends);
        self.pipeline.as_mut().map_or(0, |pipeline| end(pipeline, ends))
    }
}

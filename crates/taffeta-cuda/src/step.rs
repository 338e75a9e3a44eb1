//! A step of `impulse-strips` on a card: the engine's rules of pace, with sub-steps and sweeps launched in bundles.

use crate::error::CudaError;
use crate::layout::{Air, Control, Pace};
use crate::pace::Attempt;
use crate::plan::Plan;
use crate::sheet::SheetOnCard;
use taffeta::math::DVec3;
use taffeta::model::memory::ImpulseMemory;
use taffeta::model::{Memory, State};
use taffeta::step::device::{Reaches, SubstepController, Verdict};
use taffeta::step::{DeviceMethod, DeviceRefusal, DeviceStep, Observer, StepError, StepReport};

/// A step that is taken again may cost so many times as much as before; what is left of its budget must be enough for it.
const AGAIN: u32 = 2;

/// A model that a card steps.
#[derive(Debug)]
pub struct CudaMethod {
    plan: Plan,
    sheet: SheetOnCard,
    reaches: Reaches,
    /// Ends of all pins in every sub-step [m].
    ends: Vec<DVec3>,
}

impl CudaMethod {
    /// A model that is laid out on a card.
    pub fn new(plan: Plan, sheet: SheetOnCard) -> Self {
        Self { plan, sheet, reaches: Reaches::default(), ends: Vec::new() }
    }

    /// Whether pins will be further apart at the end of a step than the cloth between them is long. If they rest they are as they were, and that is known.
    fn are_pins_too_far(&mut self, step: &DeviceStep, state: &State, missed: bool) -> bool {
        lead(step, state.time, 1, step.model.step_time, &mut self.ends);
        let rest = self.places(step).all(|(i, end)| state.positions[i] == end);
        if self.plan.pins == 0 || (!missed && rest) {
            return false;
        }
        let (pin, ends) = (&self.plan.pin, &self.ends);
        let place = |i: usize| usize::try_from(pin[i]).map_or(state.positions[i], |number| ends[number]);
        self.reaches.too_far(step.model, step.environment, place).is_some()
    }

    /// Particles that are held, and where the first sub-step of those that were led last ends [m].
    fn places<'a>(&'a self, step: &'a DeviceStep) -> impl Iterator<Item = (usize, DVec3)> + 'a {
        let held = step.environment.pins().iter().flat_map(|pin| &pin.particles);
        held.zip(&self.ends).map(|(i, end)| (*i as usize, *end))
    }

    /// All sub-steps of a step, and its last sweeps unless it is lost.
    fn attempt(
        &mut self,
        step: &DeviceStep,
        state: &State,
        mut attempt: Attempt,
        observer: &mut dyn Observer,
    ) -> Result<Control, CudaError> {
        observer.enter("sub-steps");
        let h = step.model.step_time / f64::from(attempt.count);
        lead(step, state.time, attempt.count, h, &mut self.ends);
        let held: Vec<usize> =
            step.environment.pins().iter().flat_map(|pin| &pin.particles).map(|i| *i as usize).collect();
        let at_rest = |ends: &[DVec3]| ends.iter().zip(&held).all(|(end, i)| *end == state.positions[*i]);
        attempt.pins_move = !held.is_empty() && !self.ends.chunks(held.len()).all(at_rest);
        if attempt.pins_move {
            self.sheet.lead_pins(&self.ends)?;
        }
        self.sheet.begin(&Pace::new(step, &self.plan, &attempt))?;
        let every = if attempt.held {
            attempt.count.div_ceil(step.model.params.impulse.air_renewals)
        } else {
            attempt.count
        };
        let mut done = 0;
        while done < attempt.count {
            let next = every.min(attempt.count - done);
            if attempt.held {
                self.sheet.renew_forces(&air(step, state.time + f64::from(done) * h, f64::from(next) * h))?;
            }
            self.sheet.go(next)?;
            done += next;
        }
        let told = self.sheet.conclude()?;
        if told.lost != 0 || told.done != 0 {
            return Ok(told);
        }
        observer.enter("last sweeps");
        self.sheet.sweep()
    }

    /// Attempts until one is good or none is left; what the last came to, and the sub-steps that it took.
    fn settle(
        &mut self,
        step: &DeviceStep,
        state: &State,
        controller: &mut SubstepController,
        report: &mut StepReport,
        observer: &mut dyn Observer,
    ) -> Result<(Control, u32), StepError> {
        let budget = step.model.budget.unwrap_or(u32::MAX);
        loop {
            if observer.is_cancelled() {
                return Err(StepError::Cancelled);
            }
            let (before, count) = (report.iterations, controller.substeps());
            let left = budget.saturating_sub(before);
            let attempt = Attempt {
                count,
                slow: controller.slow(),
                may_be_lost: !controller.takes_what_is_lost() && left > count.saturating_mul(1 + AGAIN),
                pins_move: false,
                held: self.sheet.is_pushed(),
                most_sweeps: step.model.params.impulse.last_sweeps.min(left.saturating_sub(count)),
            };
            let told = self.attempt(step, state, attempt, observer).map_err(stopped)?;
            report.substeps += count;
            report.iterations += count + told.sweeps.max(0) as u32;
            let kept = told.error <= step.model.tolerance;
            let verdict = match told.lost != 0 {
                true => controller.judge_share(f64::INFINITY),
                false => {
                    controller.judge_share(told.worst);
                    controller.conclude(told.before, told.sweeps.max(0) as u32, [kept, true])
                }
            };
            report.converged = kept;
            let taken = report.iterations - before;
            if verdict == Verdict::Good
                || budget.saturating_sub(report.iterations) < taken.saturating_mul(AGAIN)
            {
                return Ok((told, count));
            }
            controller.again();
        }
    }
}

impl DeviceMethod for CudaMethod {
    fn step(
        &mut self,
        step: &DeviceStep,
        from: &State,
        to: &mut State,
        observer: &mut dyn Observer,
    ) -> Result<StepReport, StepError> {
        let Memory::Impulse(memory) = &from.memory else {
            return Err(stopped(DeviceRefusal {
                reason: "the state is not one of the impulse methods".into(),
                remedy: "begin the scene anew".into(),
            }));
        };
        let (model, params) = (step.model, &step.model.params.impulse);
        let mut controller = SubstepController::new(model, step.gravity, self.plan.shear_time, 1, memory);
        if self.are_pins_too_far(step, from, memory.missed) {
            controller.give_up();
        }
        observer.enter("upload");
        let moving = (&from.positions[..], &from.velocities[..]);
        let touches = memory.share.iter().map(|share| *share == 1.0);
        let tensions = (&memory.tension[..], &memory.shear[..]);
        self.sheet.upload(moving, tensions, touches, step.environment.forces()).map_err(stopped)?;
        let mut report = StepReport::default();
        let (told, count) = self.settle(step, from, &mut controller, &mut report, observer)?;
        observer.enter("download");
        let mut next = match std::mem::take(&mut to.memory) {
            Memory::Impulse(room) => room,
            _ => ImpulseMemory::default(),
        };
        (to.time, to.step) = (from.time, from.step);
        to.parted.clone_from(&from.parted);
        to.positions.resize(from.positions.len(), DVec3::ZERO);
        to.velocities.resize(from.velocities.len(), DVec3::ZERO);
        next.tension.resize(memory.tension.len(), 0.0);
        next.shear.resize(memory.shear.len(), 0.0);
        let moving = (&mut to.positions[..], &mut to.velocities[..]);
        self.sheet.download(moving, (&mut next.tension, &mut next.shear)).map_err(stopped)?;
        controller.remember(&mut next);
        // A whole share tells a contact; nothing touches here.
        next.share.clear();
        next.share.resize(memory.share.len(), if told.far != 0 { 0.0 } else { params.displacement_share });
        to.memory = Memory::Impulse(next);
        report.shortest_substep = model.step_time / f64::from(count);
        if !report.converged {
            report.shortfall = Some(self.reaches.shortfall(model, step.environment, &to.positions));
        }
        Ok(report)
    }
}

/// Where all pins are at the end of every one of `count` sub-steps of `h` [s] from `time` on [m].
fn lead(step: &DeviceStep, time: f64, count: u32, h: f64, ends: &mut Vec<DVec3>) {
    ends.clear();
    let colliders = &step.model.colliders;
    for k in 0..count {
        let until = time + f64::from(k) * h + h;
        for pin in step.environment.pins() {
            let led = pin.led(until, colliders);
            ends.extend((0..pin.particles.len()).map(|member| pin.place(member, &led, colliders)));
        }
    }
}

/// The air from `time` on, for a `duration` [s].
fn air(step: &DeviceStep, time: f64, duration: f64) -> Air {
    let air = &step.environment.air;
    Air {
        density: air.density,
        drag: air.drag,
        skin_friction: air.skin_friction,
        lift: air.lift,
        wind: air.wind.to_array(),
        gust: air.gust,
        seed: air.seed,
        time,
        duration,
    }
}

fn stopped(why: impl Into<DeviceRefusal>) -> StepError {
    StepError::Device { reason: why.into().to_string() }
}

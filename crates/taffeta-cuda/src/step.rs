//! A step of `impulse-strips` on a card: the engine's rules of pace, with sub-steps and sweeps launched in bundles.

use crate::contact_plan::ContactPlan;
use crate::error::CudaError;
use crate::layout::{Air, Control, Pace, Solid};
use crate::pace::Attempt;
use crate::plan::Plan;
use crate::sheet::SheetOnCard;
use crate::windows::{Came, Proof};
use taffeta::math::DVec3;
use taffeta::model::memory::ImpulseMemory;
use taffeta::model::{AirModel, Memory, State};
use taffeta::step::device::{Reaches, SubstepController, Verdict};
use taffeta::step::{CcdStats, DeviceMethod, DeviceRefusal, DeviceStep, Observer, StepError, StepReport};

/// A step that is taken again may cost so many times as much as before; what is left of its budget must be enough for it.
const AGAIN: u32 = 2;
/// A hand that is further than this from its place has given way before [m].
const AT_ITS_PLACE: f64 = 1e-6;

/// A model that a card steps.
#[derive(Debug)]
pub struct CudaMethod {
    pub(crate) plan: Plan,
    pub(crate) sheet: SheetOnCard,
    reaches: Reaches,
    /// Where points of bodies are at the start [m].
    bodies: Vec<DVec3>,
    /// Whether the card has the state after the last step that it took.
    has_last: bool,
    /// Ends of all pins and points of bodies in every sub-step [m], and solids in them.
    ends: Vec<DVec3>,
    solids: Vec<Solid>,
    touches: Vec<u8>,
}

impl CudaMethod {
    /// A model that is laid out on a card.
    pub fn new(plan: Plan, sheet: SheetOnCard) -> Self {
        let (bodies, ends, solids, touches) = Default::default();
        Self { plan, sheet, reaches: Reaches::default(), bodies, has_last: false, ends, solids, touches }
    }

    /// Where pins, points of bodies and solids are in every one of `count` sub-steps of `h` [s] from `time` on.
    fn lead(&mut self, step: &DeviceStep, time: f64, count: u32, h: f64) {
        self.ends.clear();
        self.solids.clear();
        let colliders = &step.model.colliders;
        for k in 0..count {
            let from = time + f64::from(k) * h;
            for pin in step.environment.pins() {
                let led = pin.led(from + h, colliders);
                self.ends.extend((0..pin.particles.len()).map(|member| pin.place(member, &led, colliders)));
            }
            if let Some(contact) = &self.plan.contact {
                contact.place_bodies(step.model, from + h, &mut self.ends);
                contact.place_solids(step.model, from, h, &mut self.solids);
            }
        }
    }

    /// Whether pins will be further apart at the end of a step than the cloth between them is long. If they rest they are as they were, and that is known.
    fn are_pins_too_far(&mut self, step: &DeviceStep, state: &State, missed: bool) -> bool {
        self.lead(step, state.time, 1, step.model.step_time);
        let mut places = held(step).zip(&self.ends);
        let rest = places.all(|(i, end)| state.positions[i] == *end);
        if self.plan.pins == 0 || (!missed && rest) {
            return false;
        }
        let (pin, ends) = (&self.plan.pin, &self.ends);
        let place = |i: usize| usize::try_from(pin[i]).map_or(state.positions[i], |number| ends[number]);
        self.reaches.too_far(step.model, step.environment, place).is_some()
    }

    /// Whether a hand leads a particle into a solid, or holds where it could not: on the host hands give way.
    fn do_hands_give_way(&self, step: &DeviceStep, state: &State) -> bool {
        let end = state.time + step.model.step_time;
        step.environment.pins().iter().filter(|pin| pin.yields).any(|pin| {
            let [before, after] = [state.time, end].map(|time| pin.led(time, &step.model.colliders));
            pin.particles.iter().enumerate().any(|(member, particle)| {
                let place = |led| pin.place(member, led, &step.model.colliders);
                let i = *particle as usize;
                let is_in = |contact: &ContactPlan| contact.is_in_solid(step.model, i, place(&after), end);
                state.positions[i].distance(place(&before)) > AT_ITS_PLACE
                    || self.plan.contact.as_ref().is_some_and(is_in)
            })
        })
    }

    /// Begins an attempt in sub-steps of `h` [s]: tells the card where all that is led will be.
    fn begin(
        &mut self,
        step: &DeviceStep,
        state: &State,
        attempt: &mut Attempt,
        h: f64,
    ) -> Result<(), CudaError> {
        self.lead(step, state.time, attempt.count, h);
        let led = held(step).map(|i| state.positions[i]).chain(self.bodies.iter().copied());
        let led: Vec<DVec3> = led.collect();
        attempt.pins_move = !led.is_empty() && !self.ends.chunks(led.len()).all(|ends| ends == led);
        if attempt.pins_move {
            self.sheet.lead_pins(&self.ends)?;
        }
        self.sheet.place_solids(&self.solids)?;
        self.sheet.begin(&Pace::new(step, &self.plan, attempt))
    }

    /// All sub-steps of a step, and its last sweeps unless it is lost.
    fn attempt(
        &mut self,
        step: &DeviceStep,
        state: &State,
        mut attempt: Attempt,
        ccd: &mut CcdStats,
        observer: &mut dyn Observer,
    ) -> Result<Came, CudaError> {
        observer.enter("sub-steps");
        let h = step.model.step_time / f64::from(attempt.count);
        self.begin(step, state, &mut attempt, h)?;
        let every = if attempt.held {
            attempt.count.div_ceil(step.model.params.impulse.air_renewals)
        } else {
            attempt.count
        };
        let (touches, mut done, mut window) = (self.plan.contact.is_some(), 0, 1);
        while done < attempt.count {
            let left = attempt.count - done;
            if attempt.held && done % every == 0 {
                let (held, from) = (every.min(left), state.time + f64::from(done) * h);
                self.sheet.renew_forces(&air_at(&step.environment.air, from, f64::from(held) * h))?;
            }
            let next = (every - done % every).min(left);
            if touches {
                done += self.sheet.go_window(window.min(next))?;
            } else {
                self.sheet.go(next)?;
                done += next;
            }
            if touches && done < attempt.count {
                match self.prove_window(step.model, ccd, observer)? {
                    Proof::Given(found) => {
                        window = self.window(step.model, &found).min(attempt.longest_window)
                    }
                    Proof::Lost(told) => return Ok(Came::Told(told)),
                    Proof::Open => return Ok(Came::Open),
                    Proof::NoRoom => return Ok(Came::NoRoom),
                }
                observer.enter("sub-steps");
            }
        }
        self.sheet.finish_stitches()?;
        let told = self.sheet.conclude()?;
        if told.lost != 0 {
            return Ok(Came::Told(told));
        }
        let told = if told.done != 0 { told } else { self.sweep(step.model, told, observer)? };
        if touches { self.prove_end(step.model, told, ccd, observer) } else { Ok(Came::Told(told)) }
    }

    /// Attempts until one is good or none is left; what the last came to, and the sub-steps that it took. `None` if the host has to take the step.
    fn settle(
        &mut self,
        step: &DeviceStep,
        state: &State,
        controller: &mut SubstepController,
        report: &mut StepReport,
        observer: &mut dyn Observer,
    ) -> Result<Option<(Control, u32)>, StepError> {
        let (mut longest_window, touches) = (u32::MAX, self.plan.contact.is_some());
        let sewn = !self.plan.stitches.is_empty();
        let budget = step.model.budget.unwrap_or(u32::MAX);
        loop {
            if observer.is_cancelled() {
                return Err(StepError::Cancelled);
            }
            let (before, count) = (report.iterations, controller.substeps());
            let left = budget.saturating_sub(before);
            let attempt = Attempt {
                time: state.time,
                count,
                slow: controller.slow(),
                may_be_lost: !controller.takes_what_is_lost() && left > count.saturating_mul(1 + AGAIN),
                pins_move: false,
                held: self.sheet.is_pushed(),
                most_sweeps: step.model.params.impulse.last_sweeps.min(left.saturating_sub(count)),
                longest_window,
            };
            report.ccd = CcdStats::default();
            let came = self.attempt(step, state, attempt, &mut report.ccd, observer).map_err(stopped)?;
            report.substeps += count;
            let told = match came {
                Came::Told(told) => told,
                Came::NoRoom => continue,
                Came::Open if longest_window == 1 => return Ok(None),
                Came::Open => {
                    // In shorter windows more is foreseen.
                    longest_window = 1;
                    continue;
                }
            };
            report.iterations += count + told.sweeps.max(0) as u32;
            let kept = told.error <= step.model.tolerance;
            let closed = !sewn || told.opening <= step.model.params.impulse.seam_tolerance;
            let sweeps = if sewn { told.for_lengths } else { told.sweeps.max(0) } as u32;
            let verdict = match told.lost != 0 {
                true => controller.judge_share(f64::INFINITY),
                false => {
                    controller.judge_share(told.worst);
                    controller.conclude(told.before, sweeps, [kept, closed])
                }
            };
            report.converged = kept && closed;
            let taken = report.iterations - before;
            if verdict == Verdict::Good
                || budget.saturating_sub(report.iterations) < taken.saturating_mul(AGAIN)
            {
                return Ok((report.converged || !(touches || sewn)).then_some((told, count)));
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
    ) -> Result<Option<StepReport>, StepError> {
        let Memory::Impulse(memory) = &from.memory else {
            return Err(stopped(DeviceRefusal {
                reason: "the state is not one of the impulse methods".into(),
                remedy: "begin the scene anew".into(),
            }));
        };
        if self.do_hands_give_way(step, from) {
            return Ok(None);
        }
        let (model, params) = (step.model, &step.model.params.impulse);
        let mut controller = SubstepController::new(model, step.gravity, self.plan.shear_time, 1, memory);
        if self.are_pins_too_far(step, from, memory.missed) {
            controller.give_up();
        }
        observer.enter("upload");
        self.bodies.clear();
        if let Some(contact) = &self.plan.contact {
            contact.place_bodies(model, from.time, &mut self.bodies);
        }
        if !(step.goes_on && self.has_last) {
            let touches = memory.share.iter().map(|share| *share == 1.0);
            let tensions = (&memory.tension[..], &memory.shear[..]);
            self.sheet.upload((&from.positions, &from.velocities), tensions, touches).map_err(stopped)?;
        }
        self.sheet.surround(&self.bodies, step.environment.forces()).map_err(stopped)?;
        self.has_last = false;
        let mut report = StepReport::default();
        let settled = self.settle(step, from, &mut controller, &mut report, observer)?;
        let hands = step.environment.pins().iter().any(|pin| pin.yields);
        let Some((told, count)) = settled.filter(|_| report.converged || !hands) else { return Ok(None) };
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
        self.touches.resize(from.positions.len(), 0);
        let tensions = (&mut next.tension[..], &mut next.shear[..]);
        self.sheet.download(moving, tensions, &mut self.touches).map_err(stopped)?;
        // What began beyond repair starts the next step without a touch.
        self.has_last = told.far == 0;
        controller.remember(&mut next);
        // A whole share tells a contact, unless all particles had it.
        let share = |touches: &u8| match *touches {
            _ if told.far != 0 => 0.0,
            0 => params.displacement_share,
            _ => 1.0,
        };
        next.share.clear();
        next.share.extend(self.touches.iter().map(share));
        report.contacts = self.touches.iter().map(|touches| u32::from(*touches)).sum();
        to.memory = Memory::Impulse(next);
        report.shortest_substep = model.step_time / f64::from(count);
        if !report.converged {
            report.shortfall = Some(self.reaches.shortfall(model, step.environment, &to.positions));
        }
        Ok(Some(report))
    }
}

/// Particles that pins hold, in their order.
fn held<'a>(step: &'a DeviceStep) -> impl Iterator<Item = usize> + 'a {
    step.environment.pins().iter().flat_map(|pin| &pin.particles).map(|i| *i as usize)
}

/// The air from `time` on, for a `duration` [s].
pub fn air_at(air: &AirModel, time: f64, duration: f64) -> Air {
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

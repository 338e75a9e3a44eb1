//! How a step is cut, as the device is told: the numbers of the engine's sub-steps.

use crate::layout::{MOST_BEND_ROUNDS, Pace};
use crate::plan::Plan;
use taffeta::step::DeviceStep;

/// Share of a moment that rounds may leave wrong [1].
pub const MOMENT_ERROR: f64 = 0.03;

/// What the host knows of an attempt.
#[derive(Debug, Clone, Copy)]
pub struct Attempt {
    /// When the step begins [s].
    pub time: f64,
    /// Sub-steps.
    pub count: u32,
    /// Twice the kinetic energy that does not count [J].
    pub slow: f64,
    /// Whether a share of added mass that is too large ends it.
    pub may_be_lost: bool,
    /// Whether pins move.
    pub pins_move: bool,
    /// Whether forces are held over sub-steps.
    pub held: bool,
    /// Last sweeps at most.
    pub most_sweeps: u32,
    /// Sub-steps of a window of contact at most.
    pub longest_window: u32,
}

impl Pace {
    /// Of an attempt.
    pub fn new(step: &DeviceStep, plan: &Plan, attempt: &Attempt) -> Self {
        let (model, params) = (step.model, &step.model.params.impulse);
        let h = model.step_time / f64::from(attempt.count);
        let air = &step.environment.air;
        let rate = h * air.damping;
        let mut pace = Self {
            h,
            tolerance: model.tolerance,
            infeasible: params.infeasible_strain,
            slow: attempt.slow,
            lost: if attempt.may_be_lost { params.added_mass_lost } else { f64::INFINITY },
            radius: params.spectral_radius,
            time: attempt.time,
            closing_time: params.stitch_closing_time,
            closing_speed: params.stitch_closing_speed,
            seam_tolerance: params.seam_tolerance,
            squared: (h * h) as f32,
            inverse: (1.0 / h) as f32,
            share: params.displacement_share as f32,
            kept: params.warm_start as f32,
            left: params.error_left(h, model.tolerance) as f32,
            slower: (1.0 / (1.0 + rate)) as f32,
            give: (params.last_give * model.tolerance) as f32,
            gravity: step.gravity.to_array().map(|g| g as f32),
            wind: air.wind.to_array().map(|wind| (h * rate * wind) as f32),
            count: attempt.count as i32,
            pins_move: attempt.pins_move.into(),
            held: attempt.held.into(),
            bend_rounds: 0,
            most_sweeps: attempt.most_sweeps.min(i32::MAX as u32) as i32,
            stalled_sweeps: params.stalled_sweeps as i32,
            relaxed_sweeps: params.relaxed_sweeps as i32,
            bend_shares: [[0.0; 2]; MOST_BEND_ROUNDS],
        };
        pace.choose_bend_rounds(h, plan.stiffest);
        pace
    }

    /// Chebyshev's polynomials for moments. Scaled by its diagonal the system has eigenvalues from 1 / (1 + z) to (1 + 3 z) / (1 + z), where z is how much
    /// stiffer bends are than inertia: no more than three of them turn about one particle. Forces displace by all of h² f / m at most.
    fn choose_bend_rounds(&mut self, h: f64, [stiffness, damping]: [f64; 2]) {
        let z = h * h * stiffness + h * damping;
        let (least, most) = (1.0 / (1.0 + z), (1.0 + 3.0 * z) / (1.0 + z));
        let (middle, half) = (0.5 * (most + least), (0.5 * (most - least)).max(1e-6));
        let wanted = (1.0 / MOMENT_ERROR).acosh() / (middle / half).acosh();
        self.bend_rounds = (wanted.ceil() as i32).clamp(1, MOST_BEND_ROUNDS as i32);
        let mut ratio = half / middle;
        self.bend_shares[0] = [0.0, (1.0 / middle) as f32];
        for shares in &mut self.bend_shares[1..self.bend_rounds as usize] {
            let next = 1.0 / (2.0 * middle / half - ratio);
            *shares = [(next * ratio) as f32, (2.0 * next / half) as f32];
            ratio = next;
        }
    }
}

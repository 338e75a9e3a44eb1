//! The scales of a scene: how its times and lengths compare with those for which the methods were tuned ([`super::params`]).

use super::{ClothPiece, Model};

/// What the tuned numbers were tuned for: the time of a frame [s], the thickness of cloth [m], its extent [m].
const FRAME_TIME: f64 = 1.0 / 30.0;
const THICKNESS: f64 = 0.5e-3;
const SIZE: f64 = 1.0;
/// And the largest root mean square of the distances of a free body from its middle along an axis, that of a cube with sides of 0.2 m [m].
const ARM: f64 = 0.057_735_026_918_962_58;
/// A scene is followed frame by frame, or by this share of √(size / gravity) of its smallest cloth where that is shorter [1].
const SWING: f64 = 0.3;
/// Where there is no cloth, bodies tell lengths: how many thicknesses and which share of the size the largest of them reaches [1].
const ARM_IN_THICKNESSES: f64 = 200.0;
const ARM_IN_SIZE: f64 = 0.1;

/// Times and lengths of a scene over those for which numbers were tuned [1].
///
/// They are ratios: a scene whose metres, kilograms and seconds are other ones has numbers that differ by these units and nothing else.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scales {
    time: f64,
    thickness: f64,
    size: f64,
    bodies: f64,
}

impl Scales {
    /// Those of a model that is complete but for its parameters.
    pub fn of(model: &Model) -> Self {
        let frame = model.step_time * f64::from(model.steps_per_frame);
        let sizes = || model.cloths.iter().map(|cloth| cloth.size(model));
        let swing = SWING * (sizes().fold(f64::INFINITY, f64::min) / model.gravity.length()).sqrt();
        let (mut thickness, mut size) = (0.0_f64, sizes().map(|size| size * size).sum::<f64>().sqrt());
        for cloth in &model.cloths {
            thickness = thickness.max(1e-3 * cloth.fabric.thickness);
        }
        let arm = model.bodies.iter().map(|body| body.arms.max_element()).fold(0.0, f64::max);
        if size == 0.0 {
            (thickness, size) = (arm / ARM_IN_THICKNESSES, arm / ARM_IN_SIZE);
        }
        let time = frame.min(swing) / FRAME_TIME;
        Self { time, thickness: thickness / THICKNESS, size: size / SIZE, bodies: arm / ARM }
    }

    /// Of times.
    pub fn time(&self) -> f64 {
        self.time
    }

    /// Of lengths that go with the thickness of cloth.
    pub fn thickness(&self) -> f64 {
        self.thickness
    }

    /// Of lengths that go with its extent.
    pub fn size(&self) -> f64 {
        self.size
    }

    /// Of lengths that go with the extent of the largest free body.
    pub fn bodies(&self) -> f64 {
        self.bodies
    }

    /// Of speeds that go with the thickness of cloth.
    pub fn slow_speed(&self) -> f64 {
        self.thickness / self.time
    }

    /// Of speeds that go with the extent of cloth.
    pub fn speed(&self) -> f64 {
        self.size / self.time
    }

    /// Of accelerations.
    pub fn acceleration(&self) -> f64 {
        self.size / (self.time * self.time)
    }
}

impl ClothPiece {
    /// Side of a square of its area [m].
    pub fn size(&self, model: &Model) -> f64 {
        (self.mass(model) / (1e-3 * self.fabric.density)).sqrt()
    }

    /// Its mass [kg].
    pub fn mass(&self, model: &Model) -> f64 {
        model.mass[self.particles.clone()].iter().sum()
    }
}

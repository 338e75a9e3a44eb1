//! What presses on cloth: impulses of bodies along their normals, summed over the sub-steps of a step. Over area and time that is pressure.

use super::driver::StepContext;
use crate::parallel;

/// Particles that a thread looks at in a row, at least.
const PARTICLES: usize = 1024;

/// Adds impulses by which closed-form solids have pushed particles in a sub-step of `h` [s, N·s]. What lies on a particle and was stopped there without moving it
/// presses through it.
pub fn add_of_solids(step: &mut StepContext, h: f64, impulses: impl Iterator<Item = (usize, f64)>) {
    let loads = step.pipeline.as_ref().map_or(&[][..], |pipeline| pipeline.loads());
    impulses.for_each(|(i, impulse)| add(&mut step.pressed[i], impulse, loads.get(i), h));
}

/// The same with the impulse on every particle, on all threads.
pub fn add_of_solids_on_all(step: &mut StepContext, h: f64, impulse: impl Fn(usize) -> f64 + Sync) {
    let loads = step.pipeline.as_ref().map_or(&[][..], |pipeline| pipeline.loads());
    parallel::each(step.pressed, PARTICLES, |i, pressed| add(pressed, impulse(i), loads.get(i), h));
}

#[inline]
fn add(pressed: &mut f64, impulse: f64, load: Option<&f64>, h: f64) {
    if impulse > 0.0 {
        *pressed += impulse + load.map_or(0.0, |load| load / h);
    }
}

/// Adds those of features of bodies. A particle moves `lighter` times as far in the sub-step as its mass tells [1].
pub fn add_of_features(step: &mut StepContext, h: f64, lighter: impl Fn(usize) -> f64) {
    if let Some(pipeline) = &mut step.pipeline {
        pipeline.pushes_of_bodies(|i, push| step.pressed[i] += push / (h * lighter(i)));
    }
}

//! What presses on cloth: impulses of bodies along their normals, summed over the sub-steps of a step. Over area and time that is pressure.

use super::driver::StepContext;

/// Adds impulses by which closed-form solids have pushed particles in a sub-step of `h` [s, N·s]. What lies on a particle and was stopped there without moving it
/// presses through it.
pub fn add_of_solids(step: &mut StepContext, h: f64, impulses: impl Iterator<Item = (usize, f64)>) {
    let loads = step.pipeline.as_ref().map_or(&[][..], |pipeline| pipeline.loads());
    for (i, impulse) in impulses.filter(|(_, impulse)| *impulse > 0.0) {
        step.pressed[i] += impulse + loads.get(i).map_or(0.0, |load| load / h);
    }
}

/// Adds those of features of bodies. A particle moves `lighter` times as far in the sub-step as its mass tells [1].
pub fn add_of_features(step: &mut StepContext, h: f64, lighter: impl Fn(usize) -> f64) {
    if let Some(pipeline) = &mut step.pipeline {
        pipeline.pushes_of_bodies(|i, push| step.pressed[i] += push / (h * lighter(i)));
    }
}

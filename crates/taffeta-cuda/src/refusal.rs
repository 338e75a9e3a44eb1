//! What the device cannot do yet, told before a run: which key is in the way, and what to do.

use taffeta::model::{Direction, Method, Model, Velocities};
use taffeta::step::DeviceRefusal;

/// Triangles that may touch at most: the tree over them has so many levels.
const MOST_TRIANGLES: usize = 1 << 21;

/// What is in the way of a model, if anything is.
pub fn refused(model: &Model) -> Option<DeviceRefusal> {
    let method = model.method.name();
    let with_keys = [
        (
            model.method != Method::ImpulseStrips,
            format!("solver.method = \"{method}\""),
            "ask for impulse-strips",
        ),
        (
            model.twists.stiffness.iter().any(|k| *k > 0.0),
            "a fabric with bending_twist".into(),
            "set it to 0",
        ),
        (
            !model.sliders.is_empty(),
            "folds, or a fabric with bending_hysteresis, shear_hysteresis or tensile_resilience".into(),
            "leave folds out, set both to 0 and the last to 100",
        ),
        (!model.bodies.is_empty(), "a [[body]] that moves freely".into(), "leave it out"),
        (!model.balloons.is_empty(), "a closed cloth with something inside".into(), "leave the filling out"),
        (
            model.max_iterations.is_some(),
            "solver.max_iterations".into(),
            "leave it out, or set solver.budget",
        ),
        (model.extensible, "solver.extensible".into(), "leave it out"),
        (model.direction == Direction::Start, "solver.direction = \"start\"".into(), "leave it out"),
        (
            model.velocities == Velocities::Corrected,
            "solver.velocities = \"corrected\"".into(),
            "leave it out",
        ),
    ];
    if model.touches() && model.triangles.len() > MOST_TRIANGLES {
        return Some(DeviceRefusal {
            reason: format!("contact of more than {MOST_TRIANGLES} triangles does not run on a CUDA device"),
            remedy: "make the cells of the cloth larger, or leave solver.device out".into(),
        });
    }
    let (_, key, remedy) = with_keys.into_iter().find(|(found, ..)| *found)?;
    Some(DeviceRefusal {
        reason: format!("{key} does not run on a CUDA device yet"),
        remedy: format!("{remedy}, or leave solver.device out"),
    })
}

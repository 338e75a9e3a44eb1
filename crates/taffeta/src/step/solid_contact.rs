//! Particles against closed-form solids between the sweeps of an iteration (P2 §3.5; Bender & Schmitt 2006).

use crate::collide::rigid::nearest::Vicinity;
use crate::collide::{ContactParams, MovingBody};
use crate::math::Vec4;
use crate::step::boundary::Boundary;

/// Pushes ends `q` of particles of a cloth out of all solids and holds them below the friction limit; returns how many touch. `x` is where particles were. Only
/// those are looked at for which `is_asked(k, grip)`, and `load(k)` is how far what lies on them would move them [m]. What `slips` is held no longer.
///
/// Both corrections are kept over the sweeps of a sub-step: the push in the fourth number of `grip`, at least 0, and the tangential correction in the others, at
/// most friction times the push and the load. What rests under the friction limit therefore does not creep.
pub fn touch(
    boundary: &Boundary,
    cloth: usize,
    x: &[Vec4],
    (q, grip): (&mut [Vec4], &mut [Vec4]),
    is_asked: impl Fn(usize, &Vec4) -> bool,
    load: impl Fn(usize) -> f64,
    slips: bool,
) -> u32 {
    let mut touching = 0;
    // Solid by solid: what is the same for all particles is worked out once.
    for (solid, params) in boundary.bodies.iter().zip(boundary.params(cloth)) {
        let near = Vicinity::of(&solid.after, params.distance);
        for (k, ((x, q), grip)) in x.iter().zip(&mut *q).zip(&mut *grip).enumerate() {
            if near.has(q.xyz()) && is_asked(k, grip) {
                touching += u32::from(touch_one(solid, params, *x, q, grip, load(k), slips));
            }
        }
    }
    touching
}

/// One particle and one solid; whether they touch.
fn touch_one(
    solid: &MovingBody,
    params: &ContactParams,
    x: Vec4,
    q: &mut Vec4,
    grip: &mut Vec4,
    load: f64,
    slips: bool,
) -> bool {
    let end = q.xyz();
    let Some(contact) = solid.contact(end, params.distance) else { return false };
    let (normal, push) = (contact.normal, params.distance - contact.gap);
    let total = grip.0[3] + push;
    let slip = end - (x.xyz() + contact.after - contact.before);
    let slip = slip - slip.dot(normal) * normal;
    let wanted = grip.xyz() - slip;
    let wanted = wanted - wanted.dot(normal) * normal;
    let (length, limit) = (wanted.length(), params.friction * (total + load));
    let held = match () {
        () if slips => grip.xyz(),
        () if length > limit => wanted * (limit / length),
        () => wanted,
    };
    let moved = end + push * normal + (held - grip.xyz());
    *q = Vec4([moved.x, moved.y, moved.z, q.0[3]]);
    *grip = Vec4([held.x, held.y, held.z, total]);
    true
}

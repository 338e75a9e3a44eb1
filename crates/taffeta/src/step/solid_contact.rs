//! A particle against closed-form solids between the sweeps of an iteration (P2 §3.5; Bender & Schmitt 2006).

use crate::math::Vec4;
use crate::step::boundary::Boundary;

/// Pushes `q` of a particle of a cloth out of all solids and holds it below the friction limit; returns how many it touches. `x` is where the particle was.
///
/// Both corrections are kept over the sweeps of a sub-step: the push in the fourth number of `grip`, at least 0, and the tangential correction in the others, at
/// most friction times the push and the `load` of what lies on it, as far as that would move it [m]. What rests under the friction limit therefore does not creep.
pub fn touch(boundary: &Boundary, cloth: usize, x: Vec4, q: &mut Vec4, grip: &mut Vec4, load: f64) -> u32 {
    let mut touching = 0;
    for (solid, params) in boundary.bodies.iter().zip(boundary.params(cloth)) {
        let end = q.xyz();
        let Some(contact) = solid.contact(end, params.distance) else { continue };
        let (normal, push) = (contact.normal, params.distance - contact.gap);
        let total = grip.0[3] + push;
        let slip = end - (x.xyz() + contact.after - contact.before);
        let slip = slip - slip.dot(normal) * normal;
        let wanted = grip.xyz() - slip;
        let wanted = wanted - wanted.dot(normal) * normal;
        let (length, limit) = (wanted.length(), params.friction * (total + load));
        let held = if length > limit { wanted * (limit / length) } else { wanted };
        let moved = end + push * normal + (held - grip.xyz());
        *q = Vec4([moved.x, moved.y, moved.z, q.0[3]]);
        *grip = Vec4([held.x, held.y, held.z, total]);
        touching += 1;
    }
    touching
}

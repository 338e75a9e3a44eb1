//! A particle against a closed-form solid inside the iteration of impulses (P2 §3.5; Bender & Schmitt 2006).

use crate::collide::rigid::nearest::nearest;
use crate::collide::{ContactParams, MovingBody};
use crate::math::Vec4;

/// Pushes `q` out of the body and holds it below the friction limit; returns whether they touch. `x` is where the particle was.
///
/// Both corrections are kept over the sweeps of a sub-step: the push in the fourth number of `grip`, at least 0, and the tangential correction in the others, at
/// most friction times the push. What rests under the friction limit therefore does not creep.
pub fn touch(x: Vec4, q: &mut Vec4, grip: &mut Vec4, body: &MovingBody, meeting: &ContactParams) -> bool {
    let end = q.xyz();
    let Some(near) = nearest(&body.after, end, meeting.distance) else { return false };
    let push = meeting.distance - near.gap;
    let total = grip.0[3] + push;
    // The point of the body that the particle is at now, before the sub-step.
    let local = body.after.pose.to_local(end);
    let carried = x.xyz() + body.after.pose.to_world(local) - body.before.pose.to_world(local);
    let slip = end - carried;
    let slip = slip - slip.dot(near.normal) * near.normal;
    let wanted = grip.xyz() - slip;
    let wanted = wanted - wanted.dot(near.normal) * near.normal;
    let (length, limit) = (wanted.length(), meeting.friction * total);
    let held = if length > limit { wanted * (limit / length) } else { wanted };
    let moved = end + push * near.normal + (held - grip.xyz());
    *q = Vec4([moved.x, moved.y, moved.z, q.0[3]]);
    *grip = Vec4([held.x, held.y, held.z, total]);
    true
}

//! What touches: particles against closed-form solids, answered by correcting velocity and position (P5 §5) with Coulomb friction.

pub mod nearest;
pub mod surface;

use crate::math::DVec3;
use crate::model::{ClothPiece, Model, PosedShape, Shape};
use nearest::{Nearest, nearest};

/// A collider during one sub-step.
#[derive(Debug, Clone, Copy)]
pub struct MovingBody {
    /// Where it is at the start.
    pub before: PosedShape,
    /// Where it is at the end.
    pub after: PosedShape,
}

/// How one piece of cloth meets one collider.
#[derive(Debug, Clone, Copy)]
pub struct Meeting {
    /// The distance that particles keep from the solid [m].
    pub distance: f64,
    /// Coulomb friction [1].
    pub friction: f64,
}

/// All meetings of a model: `[cloth][collider]`.
pub fn meetings(model: &Model) -> Vec<Vec<Meeting>> {
    let meeting = |cloth: &ClothPiece, collider: &crate::model::Collider| Meeting {
        distance: 0.5e-3 * cloth.fabric.thickness + clearance(&collider.shape, cloth.longest_edge),
        friction: collider.friction.map_or(cloth.fabric.friction, |f| (f * cloth.fabric.friction).sqrt()),
    };
    model.cloths.iter().map(|cloth| model.colliders.iter().map(|c| meeting(cloth, c)).collect()).collect()
}

/// How much further out corners must stay so that a flat triangle between them clears a round solid [m].
///
/// A triangle with edges up to L lies in a circle of radius ρ <= L/√3; if its corners are r + c from the centre, all of it is at least
/// √((r + c)² - ρ²) away, which is r for c = √(r² + ρ²) - r. Edges may stretch by a twentieth on top.
fn clearance(shape: &Shape, longest_edge: f64) -> f64 {
    match *shape {
        Shape::Sphere { radius } | Shape::Capsule { radius, .. } => {
            let rho2 = (1.05 * longest_edge).powi(2) / 3.0;
            rho2 / ((radius * radius + rho2).sqrt() + radius)
        }
        Shape::Plane | Shape::Box { .. } => 0.0,
    }
}

/// Moves a particle from `x` with velocity `v` for the time `h`, past one body; returns whether they touched.
///
/// The normal part of the approach is taken away, the tangential one reduced by at most friction times that; what rests under the friction
/// limit therefore does not creep. `moved` is where the particle would be, and is corrected.
pub fn answer(
    x: DVec3,
    v: &mut DVec3,
    moved: &mut DVec3,
    h: f64,
    body: &MovingBody,
    meeting: &Meeting,
) -> bool {
    let Some(near) = nearest(&body.after, *moved, meeting.distance) else {
        return false;
    };
    touch(near, x, v, moved, h, body, meeting);
    true
}

/// The contact itself; far fewer particles come here than are asked.
#[inline(never)]
fn touch(
    near: Nearest,
    x: DVec3,
    v: &mut DVec3,
    moved: &mut DVec3,
    h: f64,
    body: &MovingBody,
    meeting: &Meeting,
) {
    let local = body.after.pose.to_local(*moved);
    let surface = (body.after.pose.to_world(local) - body.before.pose.to_world(local)) / h;
    let relative = *v - surface;
    let approach = relative.dot(near.normal);
    let sliding = relative - approach * near.normal;
    let speed = sliding.length();
    let limit = meeting.friction * (-approach).max(0.0);
    let kept = if speed > limit { 1.0 - limit / speed } else { 0.0 };
    *v = surface + kept * sliding + approach.max(0.0) * near.normal;
    *moved = x + h * *v;
    // What is still too deep is lifted out without a velocity: a body may start inside the distance.
    if let Some(deep) = nearest(&body.after, *moved, meeting.distance) {
        *moved += (meeting.distance - deep.gap) * deep.normal;
    }
}

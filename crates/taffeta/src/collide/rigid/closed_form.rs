//! Particles against closed-form solids, answered by correcting velocity and position (P5 §5) with Coulomb friction.

use super::nearest::{Nearest, nearest};
use crate::math::DVec3;
use crate::model::{ClothPiece, Collider, Form, Model, PosedShape, Shape};

/// Corners of cloth may keep out of a solid by so many times its thickness for the sake of the triangles between them.
const FURTHEST: f64 = 2.0;

/// A collider during one sub-step.
#[derive(Debug, Clone, Copy)]
pub struct MovingBody {
    /// Where it is at the start.
    pub before: PosedShape,
    /// Where it is at the end.
    pub after: PosedShape,
}

/// The closed-form solids of a model during a sub-step of `h` [s] from `time` [s].
pub fn bodies(model: &Model, time: f64, h: f64) -> impl Iterator<Item = MovingBody> {
    model
        .colliders
        .iter()
        .filter_map(move |c| Some(MovingBody { before: c.at(time)?, after: c.at(time + h)? }))
}

/// A point that is near a solid at the end of a sub-step.
#[derive(Debug, Clone, Copy)]
pub struct SolidContact {
    /// Unit vector out of the solid.
    pub normal: DVec3,
    /// Signed distance [m].
    pub gap: f64,
    /// Where the point of the solid that is there now was at the start, and where it is [m].
    pub before: DVec3,
    /// See `before`.
    pub after: DVec3,
}

impl MovingBody {
    /// How it meets a point that is nearer than `within` to it at the end [m].
    #[inline]
    pub fn contact(&self, point: DVec3, within: f64) -> Option<SolidContact> {
        nearest(&self.after, point, within).map(|near| self.at(near, point))
    }

    /// Far fewer points come here than are asked.
    #[inline(never)]
    fn at(&self, near: Nearest, point: DVec3) -> SolidContact {
        let local = self.after.pose.to_local(point);
        let (before, after) = (self.before.pose.to_world(local), self.after.pose.to_world(local));
        SolidContact { normal: near.normal, gap: near.gap, before, after }
    }
}

/// How one piece of cloth meets one collider.
#[derive(Debug, Clone, Copy)]
pub struct ContactParams {
    /// The distance that particles keep from the solid [m].
    pub distance: f64,
    /// What is nearer than this at the start of a sub-step comes out slowly [m]; where no cloth lies in a solid nothing does, lest what presses on cloth push it in.
    pub inside: f64,
    /// Coulomb friction [1].
    pub friction: f64,
}

impl ContactParams {
    /// Whether particles meet the collider on their own. What is met by features is nowhere near them.
    pub fn meets_particles(&self) -> bool {
        self.distance > f64::NEG_INFINITY
    }

    /// The distance that a particle keeps at the end of a sub-step, at the start of which it is at `from`: if that is inside it comes out slowly, by `parting`, lest
    /// all of its depth be a leap [m].
    pub fn kept(&self, body: &MovingBody, from: DVec3, parting: f64) -> f64 {
        nearest(&body.before, from, self.inside).map_or(self.distance, |near| self.distance.min(near.gap + parting))
    }
}

/// Which solids corners of cloth keep out of on their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Corners {
    /// All, with the clearance of the triangles between them, however far.
    OfAll,
    /// Those that triangles then clear; others are met by whole features.
    OfSmooth,
}

/// Contact parameters of a model with closed-form solids: `[cloth][solid]`, solids as in [`bodies`].
pub fn contact_params(model: &Model, corners: Corners) -> Vec<Vec<ContactParams>> {
    let distance = |cloth: &ClothPiece, shape: &Shape| {
        let out = 0.5e-3 * cloth.fabric.thickness + clearance(shape, cloth);
        if corners == Corners::OfAll || is_smooth(shape, cloth) { out } else { f64::NEG_INFINITY }
    };
    let meeting = |cloth: &ClothPiece, shape: &Shape, friction: Option<f64>| ContactParams {
        distance: distance(cloth, shape),
        inside: f64::NEG_INFINITY,
        friction: friction.map_or(cloth.fabric.friction, |f| (f * cloth.fabric.friction).sqrt()),
    };
    let with_all = |cloth: &ClothPiece| {
        let with = |c: &Collider| match &c.form {
            Form::Closed(shape) if c.free.is_none() => Some(meeting(cloth, shape, c.friction)),
            _ => None,
        };
        model.colliders.iter().filter_map(with).collect()
    };
    model.cloths.iter().map(with_all).collect()
}

/// How much further out corners of a cloth must stay so that flat triangles between them clear a round solid [m].
///
/// A triangle with edges up to L lies in a circle of radius ρ <= L/√3; if its corners are r + c from the centre, all of it is at least
/// √((r + c)² - ρ²) away, which is r for c = √(r² + ρ²) - r. Edges may stretch by a twentieth on top.
fn clearance(shape: &Shape, cloth: &ClothPiece) -> f64 {
    match *shape {
        Shape::Sphere { radius } | Shape::Capsule { radius, .. } => {
            let rho2 = (1.05 * cloth.longest_edge).powi(2) / 3.0;
            rho2 / ((radius * radius + rho2).sqrt() + radius)
        }
        Shape::Plane | Shape::Box { .. } => 0.0,
    }
}

/// Whether all of a cloth keeps out of a solid if its corners do, without standing off too far.
pub fn is_smooth(shape: &Shape, cloth: &ClothPiece) -> bool {
    !matches!(shape, Shape::Box { .. }) && clearance(shape, cloth) <= FURTHEST * 1e-3 * cloth.fabric.thickness
}

/// Moves a particle from `x` with velocity `v` for the time `h`, past one body; returns the speed that this took from it along the normal, if they touched [m/s].
///
/// The normal part of the approach is taken away, the tangential one reduced by at most friction times that; what rests under the friction
/// limit therefore does not creep. `moved` is where the particle would be, and is corrected; `parting` how far what starts inside the body comes out [m].
pub fn resolve_contact(
    x: DVec3,
    [v, moved]: [&mut DVec3; 2],
    (h, parting): (f64, f64),
    body: &MovingBody,
    meeting: &ContactParams,
) -> Option<f64> {
    let contact = body.contact(*moved, meeting.distance)?;
    let surface = (contact.after - contact.before) / h;
    let relative = *v - surface;
    let approach = relative.dot(contact.normal);
    let sliding = relative - approach * contact.normal;
    let speed = sliding.length();
    let taken = (-approach).max(0.0);
    let limit = meeting.friction * taken;
    let kept = if speed > limit { 1.0 - limit / speed } else { 0.0 };
    *v = surface + kept * sliding + approach.max(0.0) * contact.normal;
    *moved = x + h * *v;
    // What is still too deep is lifted out without a velocity: a body may start inside the distance.
    if let Some(deep) = nearest(&body.after, *moved, meeting.distance) {
        let kept = meeting.kept(body, x, parting);
        *moved += (kept - deep.gap).max(0.0) * deep.normal;
    }
    Some(taken)
}

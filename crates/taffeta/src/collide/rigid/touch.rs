//! Particles against one closed-form solid between the sweeps of an iteration (P2 §3.5; Bender & Schmitt 2006), eight at a time.
//!
//! Corrections are kept over the sweeps of a sub-step: the push in the fourth number of `grip`, at least 0, and the tangential correction in the others, at most
//! friction times the push and the load. What rests under the friction limit therefore does not creep.

use super::closed_form::{ContactParams, MovingBody};
use crate::math::lanes::{InstructionSet, LANES, Lanes, Wide, Wide3, by_instruction_set};
use crate::math::{DVec3, Vec4};
use crate::model::Shape;

/// The particles of one cloth that are asked, side by side.
#[derive(Debug, Clone, Copy)]
pub struct Asked<'a> {
    /// Where they were at the start of the sub-step [m].
    pub x: &'a [Vec4],
    /// One over their masses [1/kg]; what has none does not move.
    pub inverse_mass: &'a [f64],
    /// What weighs on each and has not pushed it [kg·m]; empty if nothing does.
    pub loads: &'a [f64],
    /// Whether only those are asked that touch something.
    pub touching: bool,
    /// Whether what is held is held no further.
    pub slips: bool,
    /// How far what starts inside a solid comes out of it [m].
    pub parting: f64,
}

impl Asked<'_> {
    fn has(&self, k: usize, grip: &Vec4) -> bool {
        self.inverse_mass[k] > 0.0 && (!self.touching || grip.0[3] > 0.0)
    }

    /// How far what lies on a particle would move it [m].
    fn load(&self, k: usize) -> f64 {
        self.loads.get(k).map_or(0.0, |load| load * self.inverse_mass[k])
    }
}

/// Pushes ends `q` of particles out of a solid and holds them below the friction limit; returns how many touch. The same bits on every instruction set.
///
/// # Panics
/// If the lists differ in length.
pub fn touch(
    set: InstructionSet,
    solid: &MovingBody,
    params: &ContactParams,
    asked: Asked,
    (q, grip): (&mut [Vec4], &mut [Vec4]),
) -> u32 {
    let lengths = [asked.x.len(), grip.len(), asked.inverse_mass.len()];
    assert!(lengths == [q.len(); 3] && (asked.loads.is_empty() || asked.loads.len() == q.len()));
    match Round::of(solid, params) {
        Some(round) => touch_lanes(set, &round, asked, q, grip),
        None => touch_one_by_one(solid, params, asked, (q, grip)),
    }
}

/// The slow twin of [`touch`], for any solid.
pub fn touch_one_by_one(
    solid: &MovingBody,
    params: &ContactParams,
    asked: Asked,
    (q, grip): (&mut [Vec4], &mut [Vec4]),
) -> u32 {
    let mut touching = 0;
    for (k, (q, grip)) in q.iter_mut().zip(grip).enumerate() {
        if asked.has(k, grip) {
            touching += u32::from(touch_one(solid, params, (asked, k), (q, grip)));
        }
    }
    touching
}

/// One particle; whether it touches.
fn touch_one(
    solid: &MovingBody,
    params: &ContactParams,
    (asked, k): (Asked, usize),
    (q, grip): (&mut Vec4, &mut Vec4),
) -> bool {
    let (start, end) = (asked.x[k].xyz(), q.xyz());
    let Some(contact) = solid.contact(end, params.distance) else { return false };
    let kept = if contact.gap < params.inside { params.kept(solid, start, asked.parting) } else { params.distance };
    let (normal, push) = (contact.normal, kept - contact.gap);
    if push <= 0.0 {
        return false;
    }
    let total = grip.0[3] + push;
    let slip = end - (start + (contact.after - contact.before));
    let slip = slip - slip.dot(normal) * normal;
    let wanted = grip.xyz() - slip;
    let wanted = wanted - wanted.dot(normal) * normal;
    let (length, limit) = (wanted.length(), params.friction * (total + asked.load(k)));
    let held = match () {
        () if asked.slips => grip.xyz(),
        () if length > limit => wanted * (limit / length),
        () => wanted,
    };
    let moved = end + push * normal + (held - grip.xyz());
    *q = Vec4([moved.x, moved.y, moved.z, q.0[3]]);
    *grip = Vec4([held.x, held.y, held.z, total]);
    true
}

/// A half-space, or all that is within a radius of a segment, during a sub-step.
#[derive(Debug, Clone, Copy)]
pub struct Round {
    /// The middle of the segment, or a point of the plane, at the end [m].
    pub origin: DVec3,
    /// The direction of the segment, or the normal of the plane.
    pub axis: DVec3,
    /// Half the length of the segment [m]; `None` for a plane.
    pub half_length: Option<f64>,
    /// The radius [m]; 0 for a plane.
    pub radius: f64,
    /// The distance that particles keep [m].
    pub distance: f64,
    /// What is nearer than this at the start comes out slowly [m].
    pub inside: f64,
    /// Coulomb friction [1].
    pub friction: f64,
    /// What is at r from the origin has moved by `shift` + Σ `turn`ᵢ rᵢ in the sub-step [m].
    pub shift: DVec3,
    /// See `shift` [1].
    pub turn: [DVec3; 3],
}

impl Round {
    /// Of a solid that is one.
    pub fn of(solid: &MovingBody, params: &ContactParams) -> Option<Self> {
        let (half_length, radius) = match solid.after.shape {
            Shape::Plane => (None, 0.0),
            Shape::Sphere { radius } => (Some(0.0), radius),
            Shape::Capsule { radius, half_length } => (Some(half_length), radius),
            Shape::Box { .. } => return None,
        };
        let [before, after] = [solid.before.pose, solid.after.pose];
        // Nothing turns without roundings unless it rests.
        let turn = before.rotation * after.rotation.conjugate();
        let turned = |axis: DVec3| axis - turn * axis;
        let turn =
            if before.rotation == after.rotation { [DVec3::ZERO; 3] } else { DVec3::AXES.map(turned) };
        Some(Self {
            origin: after.position,
            axis: after.rotation * DVec3::Y,
            half_length,
            radius,
            distance: params.distance,
            inside: params.inside,
            friction: params.friction,
            shift: after.position - before.position,
            turn,
        })
    }

    /// What leads out to points that lie as told from its origin when its axis is this, not of unit length but for a plane; its square, and their gaps [m].
    #[inline(always)]
    fn gap<W: Wide>(&self, axis: DVec3, from_origin: Wide3<W>) -> (Wide3<W>, W, W) {
        let axis = vector::<W>(axis);
        match self.half_length {
            None => (axis, axis.dot(axis), from_origin.dot(axis)),
            Some(half) => {
                let along = from_origin.dot(axis).max(W::splat(-half)).min(W::splat(half));
                let out = from_origin - axis.scaled(along);
                let square = out.dot(out);
                (out, square, square.sqrt() - W::splat(self.radius))
            }
        }
    }
}

by_instruction_set! {
    fn touch_lanes = touch_wide(solid: &Round, asked: Asked<'_>, q: &mut [Vec4], grip: &mut [Vec4]) -> u32
}

// Closures and iterators over lanes would not be compiled for the instruction set, so everything below is a function that is inlined.

#[inline(always)]
fn touch_wide<W: Wide>(solid: &Round, asked: Asked, q: &mut [Vec4], grip: &mut [Vec4]) -> u32 {
    // Whoever calls has compared the lengths of all lists.
    let (mut touching, count) = (0, q.len());
    for first in (0..count).step_by(LANES) {
        let (mut at, mut is_asked, mut load) = ([0; LANES], Lanes::ZERO, Lanes::ZERO);
        // Of all of them most often none is near: that is seen before anybody is asked.
        if !asked.touching && first + LANES <= count && !is_near::<W>(solid, first, q) {
            continue;
        }
        let mut any = false;
        for l in 0..LANES.min(count - first) {
            let ask = asked.has(first + l, &grip[first + l]);
            is_asked.0[l] = f64::from(u8::from(ask));
            any |= ask;
        }
        if !any {
            continue;
        }
        // Lanes without a particle repeat the first, which asks for itself.
        for (l, (at, load)) in at.iter_mut().zip(&mut load.0).enumerate() {
            let k = if first + l < count { first + l } else { first };
            (*at, *load) = (k as u32, asked.load(k));
        }
        let of_first = is_asked.0[0];
        is_asked.0.iter_mut().skip(count - first).for_each(|ask| *ask = of_first);
        let touched = touch_eight::<W>(solid, &at, [&W::load(&is_asked), &W::load(&load)], asked, q, grip);
        for l in 0..LANES.min(count - first) {
            touching += u32::from(touched.0[l] > 0.0);
        }
    }
    touching
}

/// Whether one of the eight particles from number `first` on is nearer to a solid than it is to be.
#[inline(always)]
fn is_near<W: Wide>(solid: &Round, first: usize, q: &[Vec4]) -> bool {
    let mut at = [0; LANES];
    for (l, at) in at.iter_mut().enumerate() {
        *at = (first + l) as u32;
    }
    assert!(first + LANES <= q.len());
    // SAFETY: all places were checked above.
    let [x, y, z, _] = unsafe { W::gather(q.as_ptr(), &at) };
    let (.., gap) = solid.gap(solid.axis, Wide3([x, y, z]) - vector(solid.origin));
    let mut pushes = Lanes::ZERO;
    (W::splat(solid.distance) - gap).store(&mut pushes);
    // As a push is told below: what is not a number is none.
    pushes.0.iter().any(|push| *push > 0.0)
}

/// Eight particles; above 0 where they touch.
#[inline(always)]
fn touch_eight<W: Wide>(
    solid: &Round,
    at: &[u32; LANES],
    [is_asked, load]: [&W; 2],
    Asked { x, slips, parting, .. }: Asked,
    q: &mut [Vec4],
    grip: &mut [Vec4],
) -> Lanes {
    assert!(at.iter().all(|k| (*k as usize) < x.len().min(q.len()).min(grip.len())));
    let (zero, one) = (W::splat(0.0), W::splat(1.0));
    // SAFETY: all places were checked above.
    let [end_x, end_y, end_z, weight] = unsafe { W::gather(q.as_ptr(), at) };
    let end = Wide3([end_x, end_y, end_z]);
    let from_origin = end - vector(solid.origin);
    let (out, square, gap) = solid.gap(solid.axis, from_origin);
    // What is not asked is far away.
    let mut push = (W::splat(solid.distance) - gap).where_less(zero, *is_asked, zero);
    let mut pushes = Lanes::ZERO;
    push.store(&mut pushes);
    if !pushes.0.iter().any(|push| *push > 0.0) {
        return Lanes::ZERO;
    }
    let normal = match solid.half_length {
        None => out,
        Some(_) => {
            // At the very centre every way out is as short; up is as good as any.
            let inverse = square.max(W::splat(f64::MIN_POSITIVE)).sqrt().inverse();
            let Wide3([a, b, c]) = out.scaled(inverse);
            Wide3([a, b.where_less(zero, square, one), c])
        }
    };
    // SAFETY: as above.
    let ([x, y, z, _], [grip_x, grip_y, grip_z, pushed]) =
        unsafe { (W::gather(x.as_ptr(), at), W::gather(grip.as_ptr(), at)) };
    let (start, gripped) = (Wide3([x, y, z]), Wide3([grip_x, grip_y, grip_z]));
    if pushes.0.iter().any(|push| *push > solid.distance - solid.inside) {
        let [a, b, c] = solid.turn;
        let axis = solid.axis - (solid.axis.x * a + solid.axis.y * b + solid.axis.z * c);
        let (_, _, began) = solid.gap::<W>(axis, start - vector(solid.origin - solid.shift));
        let slowly = (began + W::splat(parting) - gap).max(zero).min(push);
        let inside = W::splat(solid.inside);
        push = slowly.where_less(gap, inside, push).where_less(began, inside, push);
        push.store(&mut pushes);
    }
    let [a, b, c] = solid.turn;
    let Wide3([r, s, t]) = from_origin;
    let turned = vector::<W>(a).scaled(r) + vector::<W>(b).scaled(s) + vector::<W>(c).scaled(t);
    let slip = end - (start + (vector(solid.shift) + turned));
    let slip = slip - normal.scaled(slip.dot(normal));
    let wanted = gripped - slip;
    let wanted = wanted - normal.scaled(wanted.dot(normal));
    let total = pushed + push;
    let (length, limit) = (wanted.dot(wanted).sqrt(), W::splat(solid.friction) * (total + *load));
    let share = (limit * length.max(W::splat(f64::MIN_POSITIVE)).inverse()).where_less(limit, length, one);
    let held = if slips { gripped } else { wanted.scaled(share) };
    let moved = end + normal.scaled(push) + (held - gripped);
    let (Wide3([a, b, c]), Wide3([u, v, w])) = (moved, held);
    let q_out = [
        a.where_less(zero, push, end_x),
        b.where_less(zero, push, end_y),
        c.where_less(zero, push, end_z),
        weight,
    ];
    let grip_out = [
        u.where_less(zero, push, grip_x),
        v.where_less(zero, push, grip_y),
        w.where_less(zero, push, grip_z),
        total.where_less(zero, push, pushed),
    ];
    // SAFETY: all places were checked above, and both lists are lent to this function alone.
    unsafe {
        W::scatter(q.as_mut_ptr(), at, q_out);
        W::scatter(grip.as_mut_ptr(), at, grip_out);
    }
    pushes
}

#[inline(always)]
fn vector<W: Wide>(v: DVec3) -> Wide3<W> {
    Wide3([W::splat(v.x), W::splat(v.y), W::splat(v.z)])
}

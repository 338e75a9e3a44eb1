//! Pushes at the end of a window: pairs that were not shown apart are parted, and what is below a plane is lifted.

use super::check::Hit;
use super::distance::{PairKind, closest};
use super::window::{CcdWindow, plane, plane_at_both_ends};
use crate::collide::broad_phase::candidates::Pair;
use crate::collide::contact::projection::give;
use crate::collide::rigid::free::Lie;
use crate::collide::rigid::nearest::{Nearest, nearest};
use crate::math::DVec3;
use std::ops::Range;

/// Parts every hit at the end along the direction that it has just before it meets.
pub fn push(window: &mut CcdWindow, pairs: &[Pair], hits: &[Hit]) {
    for hit in hits {
        let pair = &pairs[hit.pair as usize];
        let points = pair.points.map(|p| p as usize);
        let near = closest(pair.kind, &points.map(|p| window.start[p].lerp(window.end[p], hit.time)));
        let length = near.vector.length();
        if length <= 0.0 {
            continue;
        }
        let normal = near.vector / length;
        let sum = |of: &dyn Fn(usize) -> f64| (0..4).map(of).sum::<f64>();
        let gap = sum(&|k| near.weights[k] * normal.dot(window.end[points[k]]));
        let features = if pair.kind == PairKind::PointTriangle { [0..1, 1..4] } else { [0..2, 2..4] };
        let bodies = features.map(|of| Pushed::of(window, pair, of, &near.weights));
        let of_bodies = bodies.iter().flatten().map(|body| normal.dot(body.lie.give(body.arm) * normal));
        let inverse = points.map(|p| window.inverse_mass[p]);
        let both = give(near.weights.into_iter().zip(inverse)) + of_bodies.sum::<f64>();
        let depth = window.kept(pair).parted() - gap;
        if both > 0.0 && depth > 0.0 {
            for (k, p) in points.into_iter().enumerate().filter(|(_, p)| window.inverse_mass[*p] > 0.0) {
                window.end[p] += depth * near.weights[k] * window.inverse_mass[p] / both * normal;
                window.changed[p] = true;
            }
            for body in bodies.iter().flatten() {
                body.push(window, depth / both * normal);
            }
        }
    }
}

/// A free body that a push meets.
struct Pushed {
    number: usize,
    lie: Lie,
    /// From its centre of mass to the place of contact [m].
    arm: DVec3,
    sign: f64,
}

impl Pushed {
    /// The body that a feature of a pair belongs to, if it is a free one.
    fn of(window: &CcdWindow, pair: &Pair, of: Range<usize>, weights: &[f64; 4]) -> Option<Self> {
        let number = window.free.of_point(&window.surface, pair.points[of.start])?;
        let (body, end) = (window.free.get(number), &window.end);
        let (lie, sign) = (body.lie(&body.nodes(end)), if of.start == 0 { 1.0 } else { -1.0 });
        let at = of.map(|k| sign * weights[k] * end[pair.points[k] as usize]).sum::<DVec3>();
        Some(Self { number, arm: at - lie.centre, lie, sign })
    }

    /// Moves it as an impulse [kg·m] on the first feature does.
    fn push(&self, window: &mut CcdWindow, impulse: DVec3) {
        let CcdWindow { free, end, changed, .. } = window;
        let free = free.get(self.number);
        let ways = self.lie.moves(self.arm, self.sign * impulse);
        end[free.body.nodes.clone()].iter_mut().zip(ways).for_each(|(end, way)| *end += way);
        free.keep_rigid(end);
        changed[free.points.clone()].fill(true);
    }
}

/// Lifts what ends in a half-space out of it.
pub fn lift(window: &mut CcdWindow) {
    lift_particles(window);
    lift_bodies(window);
}

fn lift_particles(window: &mut CcdWindow) {
    for k in 0..window.planes.len() {
        let object = window.planes[k];
        let Some([before, after]) = plane_at_both_ends(&window.poses, object) else { continue };
        for p in 0..window.cloth_particles {
            if window.inverse_mass[p] <= 0.0 {
                continue;
            }
            let floor = window.kept_by([window.object_of(p as u32), object]).floor;
            let CcdWindow { start, end, changed, parting, any_inside, .. } = &mut *window;
            let Some(near) = nearest(&after, end[p], floor) else { continue };
            let slowly = |began: Nearest| floor.min(began.gap + *parting);
            let began = if *any_inside { nearest(&before, start[p], 0.0) } else { None };
            let floor = began.map_or(floor, slowly);
            if near.gap < floor {
                end[p] += (floor - near.gap) * near.normal;
                changed[p] = true;
            }
        }
    }
}

fn lift_bodies(window: &mut CcdWindow) {
    let CcdWindow { surface, free, end, changed, planes, poses, .. } = window;
    for (free, object) in free.iter().flat_map(|free| planes.iter().map(move |plane| (free, *plane))) {
        let Some(after) = plane(poses, object) else { continue };
        let floor = surface.between(free.object, object).floor;
        let deepest =
            |most: f64, x: &DVec3| nearest(&after, *x, floor).map_or(most, |near| most.max(floor - near.gap));
        let depth = end[free.points.clone()].iter().fold(0.0, deepest);
        if depth > 0.0 {
            let out = depth * (after.pose.rotation * DVec3::Y);
            end[free.body.nodes.clone()].iter_mut().for_each(|end| *end += out);
            free.place(end);
            changed[free.points.clone()].fill(true);
        }
    }
}

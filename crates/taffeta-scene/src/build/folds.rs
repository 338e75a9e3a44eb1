//! Folds pressed into cloth: at which turn bends, twists and plates rest that a line crosses.
//!
//! A fold of the angle θ that is small lifts what lies left of its line by θ times the distance. What an element measures of that is its share of the fold: all of
//! it goes to the bends on the line, or to those on both sides by their distances, and its direction to the line counts as in any cylinder. A larger fold turns
//! unit vectors by 2 sin(θ/2).

use crate::Fault;
use crate::scene::Fold;
use std::ops::Range;
use taffeta::math::{DVec2, trig};
use taffeta::model::Model;

/// Shares of a fold, and of the length of its line, that count as none [1].
const NONE: f64 = 1e-9;

/// Width of a fold at 45 degrees to warp and weft, over that of a cell [1]. Along either it is as sharp as cells allow. Aslant a sharp one would go up and down with
/// the cells that it passes, where cloth cannot bend without stretching.
const WIDE: f64 = 3.0;

/// A fold laid on the fabric.
struct Line {
    from: DVec2,
    /// Its direction, and its length [m].
    along: DVec2,
    length: f64,
    /// [rad]
    angle: f64,
    stiffness: f64,
}

impl Line {
    /// How far left of the line, or 0 where it is right of it, on cells of this size [m]. Between them is an arc.
    fn height(&self, p: DVec2, cell: f64) -> f64 {
        let far = self.along.perp_dot(p - self.from);
        let width = (WIDE * cell * (2.0 * self.along.x * self.along.y).abs()).max(f64::MIN_POSITIVE);
        let into = (far + 0.5 * width).clamp(0.0, width);
        0.5 * into * into / width + (far - 0.5 * width).max(0.0)
    }

    /// Whether what is in the middle of `points` is beside the line, not beyond its ends.
    fn is_beside(&self, points: impl ExactSizeIterator<Item = DVec2>) -> bool {
        let middle = points.len() as f64;
        let middle = points.sum::<DVec2>() / middle;
        let far = (middle - self.from).dot(self.along);
        far >= -NONE * self.length && far <= (1.0 + NONE) * self.length
    }

    /// Of a share of the fold, in what turns unit vectors [1].
    fn turned(&self, share: f64) -> f64 {
        2.0 * trig::sin(0.5 * share * self.angle)
    }

    /// How many times as stiff an element with that share is.
    fn stiffer(&self, share: f64) -> f64 {
        1.0 + (self.stiffness - 1.0) * share.min(1.0)
    }
}

/// Presses `folds` into a piece of cloth of these particles; `place` takes their coordinates to the fabric. `key` is where they stand in the scene.
pub(super) fn press(
    model: &mut Model,
    particles: Range<usize>,
    folds: &[Fold],
    place: impl Fn([f64; 2]) -> [f64; 2],
    key: &str,
) -> Result<(), Vec<Fault>> {
    let mut faults = Vec::new();
    for (k, fold) in folds.iter().enumerate() {
        let [from, to] = [fold.from, fold.to].map(|p| DVec2::from(place(p)));
        let line = Line {
            from,
            along: (to - from).normalize_or_zero(),
            length: from.distance(to),
            angle: fold.angle.to_radians(),
            stiffness: fold.stiffness,
        };
        let crossed = bends(model, &particles, &line) + plates(model, &particles, &line);
        twists(model, &particles, &line);
        if crossed == 0 {
            let reason = "passes no cloth";
            let remedy = "lay it across the cloth, further than a cell from its sides";
            faults.push(Fault::new(format!("{key}[{k}]"), "", reason, remedy));
        }
    }
    if faults.is_empty() { Ok(()) } else { Err(faults) }
}

fn own<const N: usize>(points: &[[u32; N]], particles: &Range<usize>) -> Vec<usize> {
    (0..points.len()).filter(|e| particles.contains(&(points[*e][0] as usize))).collect()
}

/// Returns how many bends the line crosses.
fn bends(model: &mut Model, particles: &Range<usize>, line: &Line) -> usize {
    let mut crossed = 0;
    for b in own(&model.bends.points, particles) {
        let [p, q, r] = model.bends.points[b].map(|i| DVec2::from(model.material[i as usize]));
        let [before, after] = model.bends.inverse_lengths[b];
        let [p_up, q_up, r_up] = [p, q, r].map(|at| line.height(at, 2.0 / (before + after)));
        let turn = (r_up - q_up) * after - (q_up - p_up) * before;
        let across = line.along.perp_dot((r - p).normalize_or_zero()).abs();
        if turn <= NONE * across || across <= NONE || !line.is_beside([q].into_iter()) {
            continue;
        }
        let share = turn / across;
        let bends = &mut model.bends;
        bends.rest[b] += across * line.turned(share);
        bends.stiffness[b] *= line.stiffer(share);
        bends.damping[b] *= line.stiffer(share);
        crossed += 1;
    }
    crossed
}

/// Returns how many plates the line bends. A fold on a column of particles bends the triangles on both sides of it, each by half.
fn plates(model: &mut Model, particles: &Range<usize>, line: &Line) -> usize {
    let (at, mut crossed) = (|i: &u32| DVec2::from(model.material[*i as usize]), 0);
    for p in own(&model.membranes.points, particles) {
        let patch = model.plates.patch(p);
        let [a, b, c] = model.membranes.material[p].map(DVec2::from);
        let cell = (b - a).perp_dot(c - a).abs().sqrt();
        let mut curvatures = [0.0; 3];
        for (i, weights) in patch.points.iter().zip(patch.weights) {
            let height = line.height(at(i), cell);
            curvatures.iter_mut().zip(weights).for_each(|(sum, w)| *sum += w * height);
        }
        let share = 2.0 * cell * (curvatures[0] + curvatures[1]).abs();
        if share <= NONE || !line.is_beside(model.membranes.points[p].iter().map(at)) {
            continue;
        }
        let turned = line.turned(share.min(1.0)) / share.min(1.0);
        let plates = &mut model.plates;
        plates.rest[p].iter_mut().zip(curvatures).for_each(|(rest, c)| *rest += c * turned);
        let more = line.stiffer(share);
        plates.stiffness[p].iter_mut().chain(&mut plates.damping[p]).for_each(|k| *k *= more);
        crossed += 1;
    }
    crossed
}

fn twists(model: &mut Model, particles: &Range<usize>, line: &Line) {
    for t in own(&model.twists.points, particles) {
        let corners = model.twists.points[t].map(|i| DVec2::from(model.material[i as usize]));
        let cell = corners[0].distance(corners[2]) * std::f64::consts::FRAC_1_SQRT_2;
        let heights = corners.map(|p| line.height(p, cell));
        let gap: f64 = heights.iter().zip(model.twists.weights(t)).map(|(height, w)| w * height).sum();
        if line.is_beside(corners.into_iter()) {
            model.twists.rest[t] += gap * line.turned(1.0);
        }
    }
}

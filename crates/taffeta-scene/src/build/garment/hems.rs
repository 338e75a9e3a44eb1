//! Hems and allowances: cloth that lies double along an edge is twice as heavy and twice as stiff there.

use crate::build::shapes::Blank;
use crate::scene::Panel;
use crate::scene::outline::{Curve, edges};
use taffeta::math::{DVec2, trig};
use taffeta::model::Model;

/// Rows of places in a triangle that tell how much of it lies double: 36 places.
const ROWS: u32 = 8;

/// How many elements a model has of each kind.
pub struct Counts {
    triangles: usize,
    particles: usize,
    springs: usize,
    bends: usize,
    membranes: usize,
    twists: usize,
    plates: usize,
    stretches: usize,
    buckles: usize,
}

impl Counts {
    /// Those of a model.
    pub fn of(model: &Model) -> Self {
        Self {
            triangles: model.triangles.len(),
            particles: model.particle_count(),
            springs: model.springs.ends.len(),
            bends: model.bends.points.len(),
            membranes: model.membranes.points.len(),
            twists: model.twists.points.len(),
            plates: model.plates.ends.len(),
            stretches: model.stretches.ends.len(),
            buckles: model.buckles.ends.len(),
        }
    }
}

/// Doubles the panel that was added last, `first` being all before it, where it has hems.
///
/// A triangle weighs as much more as its share that lies double; an element is as much stiffer as its particles, on average, are heavier.
pub fn double(model: &mut Model, first: &Counts, panel: &Panel, blank: &Blank) {
    let hems: Vec<(f64, Curve)> = panel
        .edge
        .iter()
        .zip(edges(panel))
        .filter(|(edge, _)| edge.hem > 0.0)
        .map(|(edge, curve)| (edge.hem, curve))
        .collect();
    if hems.is_empty() {
        return;
    }
    let angle = panel.warp.to_radians();
    let warp = DVec2::new(trig::cos(angle), trig::sin(angle));
    let drawn = |[u, v]: [f64; 2]| warp * u + warp.perp() * v;
    let lies_double = |p: DVec2| hems.iter().any(|(width, curve)| curve.nearest(p).1 <= *width);
    let single = model.mass[first.particles..].to_vec();
    for corners in &model.triangles[first.triangles..] {
        let [a, b, c] = corners.map(|i| drawn(blank.rest.material[i as usize - first.particles]));
        let share = places().filter(|[r, s, t]| lies_double(a * *r + b * *s + c * *t)).count() as f64
            / places().count() as f64;
        let area = 0.5 * (b - a).perp_dot(c - a).abs();
        let density = model.cloths.last().map_or(0.0, |piece| 1e-3 * piece.fabric.density);
        corners.iter().for_each(|i| model.mass[*i as usize] += share * density * area / 3.0);
    }
    let thicker: Vec<f64> =
        model.mass[first.particles..].iter().zip(&single).map(|(mass, single)| mass / single).collect();
    let times = |points: &[u32]| {
        points.iter().map(|i| thicker[*i as usize - first.particles]).sum::<f64>() / points.len() as f64
    };
    let springs = |springs: &mut taffeta::model::Springs, from: usize| {
        for k in from..springs.ends.len() {
            let times = times(&springs.ends[k]);
            springs.stiffness[k] *= times;
            springs.damping[k] *= times;
        }
    };
    springs(&mut model.springs, first.springs);
    springs(&mut model.stretches, first.stretches);
    for k in first.bends..model.bends.points.len() {
        let times = times(&model.bends.points[k]);
        model.bends.stiffness[k] *= times;
        model.bends.damping[k] *= times;
    }
    for k in first.membranes..model.membranes.points.len() {
        let times = times(&model.membranes.points[k]);
        model.membranes.stiffness[k].iter_mut().for_each(|stiffness| *stiffness *= times);
    }
    for k in first.twists..model.twists.points.len() {
        let times = times(&model.twists.points[k]);
        model.twists.stiffness[k] *= times;
        model.twists.damping[k] *= times;
    }
    let patches: Vec<f64> =
        model.plates.patches().skip(first.plates).map(|patch| times(patch.points)).collect();
    for (stiffness, times) in model.plates.stiffness[first.plates..].iter_mut().zip(patches) {
        stiffness.iter_mut().for_each(|stiffness| *stiffness *= times);
    }
    for k in first.buckles..model.buckles.ends.len() {
        let times = times(&model.buckles.ends[k]);
        model.buckles.bending[k] *= times;
        model.buckles.ramp[k] *= times;
    }
}

/// Shares of the corners of a triangle at the middles of equal parts of it.
fn places() -> impl Iterator<Item = [f64; 3]> {
    let part = 1.0 / f64::from(ROWS);
    (0..ROWS).flat_map(move |i| {
        (0..ROWS - i).map(move |j| {
            let (r, s) = ((f64::from(i) + 1.0 / 3.0) * part, (f64::from(j) + 1.0 / 3.0) * part);
            [r, s, 1.0 - r - s]
        })
    })
}

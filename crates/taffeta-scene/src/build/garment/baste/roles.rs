//! What panels are: sleeves, legs of trousers, and the topmost, which are held up.

use super::super::Tailored;
use super::field::DistanceField;
use super::limbs::Limb;
use super::{join, root};
use crate::build::shapes::Blank;
use taffeta::math::DVec3;

/// Tops within this of the highest are as high [m].
const LEVEL: f64 = 0.04;
/// How far above and below a place the trunk is looked at, and how far beyond its sides panels may be held up [m].
const AROUND: f64 = 0.15;
const BESIDE: f64 = 0.05;
/// How far from an arm the middle of a sleeve's panel may be [m].
const SLEEVE: f64 = 0.12;
/// How far the two sides of a seam may be apart at the start, seen from the front, if its panels are where they are worn [m].
const MATCHED: f64 = 0.04;

/// Who is part of a sleeve, and what does not sink below which height [m]: the tops of panels that reach as high as any that are where they are worn, and edges up
/// there that are held up.
pub fn roles(tailored: &Tailored, field: Option<&DistanceField>) -> (Vec<bool>, Vec<f64>) {
    let blanks = &tailored.blanks;
    let at_trunk = |x: &DVec3| field.is_none_or(|field| field.is_at_trunk(*x, AROUND, BESIDE));
    let tops = tops(tailored, &at_trunk);
    let highest = tops.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let (mut sleeve, mut floor) = (Vec::new(), Vec::new());
    for ((blank, top), held_up) in blanks.iter().zip(&tops).zip(&tailored.held_up) {
        let middle = blank.start.iter().sum::<DVec3>() / blank.start.len() as f64;
        let arm = is_upright(blank) && field.is_some_and(|field| field.is_at_arm(middle, SLEEVE));
        sleeve.extend(blank.start.iter().map(|_| arm));
        let is_held = |(i, x): (u32, &DVec3)| {
            let is_worn = at_trunk(x) || held_up.binary_search(&i).is_ok();
            !arm && top.min(x.y) > highest - LEVEL && is_worn
        };
        let held = |(i, x)| if is_held((i, x)) { x.y } else { f64::NEG_INFINITY };
        floor.extend((0..).zip(&blank.start).map(held));
    }
    (sleeve, floor)
}

/// The limb of every particle, arms first: that of a sleeve, or that of a leg of trousers.
pub fn limb_of_each(
    tailored: &Tailored,
    groups: &[usize],
    sleeve: &[bool],
    field: &DistanceField,
) -> Vec<Option<u8>> {
    let starts: Vec<DVec3> = tailored.blanks.iter().flat_map(|blank| blank.start.iter().copied()).collect();
    let mut legs = vec![None; groups.len()];
    // Trousers may be cut lower than a body.
    let mut below = field.crotch;
    while below > field.ankle && legs.iter().all(Option::is_none) {
        let is_low = |i: usize| starts[i].y < below && !sleeve[i];
        legs = trousers(tailored, groups, &starts, &is_low, field);
        below -= LEVEL;
    }
    let mut limbs = Vec::new();
    let mut first = 0;
    for blank in &tailored.blanks {
        let own = first..first + blank.start.len();
        let middle = blank.start.iter().sum::<DVec3>() / blank.start.len() as f64;
        let limb = if sleeve[first] {
            nearest_limb(&field.arms, middle)
        } else {
            own.clone().find_map(|i| legs[i]).map(|leg| field.arms.len() + leg)
        };
        limbs.extend(own.clone().map(|_| limb.map(|limb| limb as u8)));
        first = own.end;
    }
    limbs
}

/// The leg of every particle that is part of a leg of trousers: all that is low and sewn together to a tube, in front of one leg and behind it, and not of the
/// other.
fn trousers(
    tailored: &Tailored,
    groups: &[usize],
    starts: &[DVec3],
    is_low: &dyn Fn(usize) -> bool,
    field: &DistanceField,
) -> Vec<Option<usize>> {
    let mut least: Vec<usize> = (0..groups.iter().max().map_or(0, |last| last + 1)).collect();
    let low = low_triangles(tailored, groups, is_low);
    for [a, b, c] in &low {
        join(&mut least, *a, *b);
        join(&mut least, *b, *c);
    }
    let holes = characteristics(&low, &mut least);
    let mut is_part = vec![false; least.len()];
    low.iter().flatten().for_each(|group| is_part[*group] = true);
    // How many of each component are at which leg, behind it and in front of it.
    let mut counts = vec![[[0_u32; 2]; 2]; least.len()];
    for (i, p) in starts.iter().enumerate().filter(|(i, _)| is_low(*i) && is_part[groups[*i]]) {
        if let Some(leg) = nearest_limb(&field.legs, *p) {
            counts[root(&mut least, groups[i])][leg][usize::from(p.z > field.legs[leg].axis(*p).z)] += 1;
        }
    }
    let is_tube = |[behind, before]: [u32; 2], other: [u32; 2]| {
        5 * behind.min(before) > behind + before && 10 * (other[0] + other[1]) < behind + before
    };
    let leg = |i: usize| {
        let component = root(&mut least, groups[i]);
        let [one, other] = counts[component];
        let found = [is_tube(one, other), is_tube(other, one)].iter().position(|is| *is);
        // A flap of a skirt, sewn on one side, is a disc: it has no hole.
        found.filter(|_| is_low(i) && holes[component] <= 0)
    };
    (0..groups.len()).map(leg).collect()
}

/// Triangles whose corners are all low, by groups; those that sewing leaves whole.
fn low_triangles(tailored: &Tailored, groups: &[usize], is_low: &dyn Fn(usize) -> bool) -> Vec<[usize; 3]> {
    let mut low = Vec::new();
    for (blank, first) in tailored.blanks.iter().zip(tailored.firsts()) {
        let at = blank.rest.triangles.iter().map(|t| t.map(|i| (first + i) as usize));
        let whole = |[a, b, c]: &[usize; 3]| a != b && b != c && c != a;
        low.extend(at.filter(|t| t.iter().all(|i| is_low(*i))).map(|t| t.map(|i| groups[i])).filter(whole));
    }
    low
}

/// Euler's characteristic of every component, by its least number: corners less edges and triangles; 1 for a disc, 0 for a tube.
fn characteristics(triangles: &[[usize; 3]], least: &mut [usize]) -> Vec<i64> {
    let mut corners: Vec<usize> = triangles.iter().flatten().copied().collect();
    let edge = |a: usize, b: usize| [a.min(b), a.max(b)];
    let mut edges: Vec<[usize; 2]> =
        triangles.iter().flat_map(|[a, b, c]| [edge(*a, *b), edge(*b, *c), edge(*c, *a)]).collect();
    corners.sort_unstable();
    corners.dedup();
    edges.sort_unstable();
    edges.dedup();
    let mut sums = vec![0; least.len()];
    corners.iter().for_each(|a| sums[root(least, *a)] += 1);
    edges.iter().for_each(|[a, _]| sums[root(least, *a)] -= 1);
    triangles.iter().for_each(|[a, ..]| sums[root(least, *a)] += 1);
    sums
}

/// The limb that is nearest as seen from the front.
fn nearest_limb(limbs: &[Limb], p: DVec3) -> Option<usize> {
    let far = |limb: &Limb| (limb.axis(p) - p).dot(limb.across[0]).abs();
    (0..limbs.len()).min_by(|a, b| far(&limbs[*a]).total_cmp(&far(&limbs[*b])))
}

/// Whether a panel looks to the front or to the back.
fn is_upright(panel: &Blank) -> bool {
    let doubled = |t: &[u32; 3]| {
        let [a, b, c] = t.map(|i| panel.start[i as usize]);
        (b - a).cross(c - a)
    };
    let area = 0.5 * panel.rest.triangles.iter().map(doubled).sum::<DVec3>();
    area.z.abs() > 0.7 * area.length()
}

/// How high every panel reaches that is where it is worn [m]: so far as it is sewn to one on the other side of the body at the same place, seen from the front.
/// What is beside the trunk is not there: sides of a wide skirt may stand out as high as its waist.
///
/// So far as it is held up, too.
fn tops(tailored: &Tailored, at_trunk: &dyn Fn(&DVec3) -> bool) -> Vec<f64> {
    let held_up = tailored.blanks.iter().zip(&tailored.held_up);
    let top = |(blank, held): (&Blank, &Vec<u32>)| {
        held.iter().map(|i| blank.start[*i as usize].y).fold(f64::NEG_INFINITY, f64::max)
    };
    let mut tops: Vec<f64> = held_up.map(top).collect();
    for pair in &tailored.stitches {
        let [a, b] = pair.map(|(panel, i)| tailored.blanks[panel].start[i as usize]);
        let matched = (a - b).truncate().length() < MATCHED && a.z * b.z < 0.0;
        if matched && pair[0].0 != pair[1].0 && at_trunk(&a) && at_trunk(&b) {
            for (panel, i) in pair {
                tops[*panel] = tops[*panel].max(tailored.blanks[*panel].start[*i as usize].y);
            }
        }
    }
    tops
}

#[cfg(test)]
mod tests {
    use super::super::join;
    use super::characteristics;

    /// A strip of quads around `quads` corners below and as many above; closed to a tube or left open as a flap.
    fn band(quads: usize, closed: bool) -> Vec<[usize; 3]> {
        let corner = |k: usize, row: usize| 2 * (if closed { k % quads } else { k }) + row;
        (0..quads)
            .flat_map(|k| {
                let [a, b, c, d] = [corner(k, 0), corner(k + 1, 0), corner(k + 1, 1), corner(k, 1)];
                [[a, b, c], [a, c, d]]
            })
            .collect()
    }

    #[test]
    fn a_tube_has_a_hole_and_a_flap_has_none() {
        for (closed, expected) in [(true, 0), (false, 1)] {
            let triangles = band(5, closed);
            let mut least: Vec<usize> = (0..12).collect();
            for [a, b, c] in &triangles {
                join(&mut least, *a, *b);
                join(&mut least, *b, *c);
            }
            assert_eq!(characteristics(&triangles, &mut least)[0], expected, "closed: {closed}");
        }
    }
}

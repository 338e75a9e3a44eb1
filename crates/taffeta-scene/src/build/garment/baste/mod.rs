//! Basting: before anything else the panels are sewn together around slim bodies, free to pass through one another. Then the bodies grow to their size, and
//! what intersects is pulled apart. Positions alone are moved; what comes of it is a start with closed seams.

mod cloth;
mod field;
mod limbs;
mod near;
mod transfer;

use super::clear::clear;
use super::{Member, Tailored, tailor};
use crate::build::shapes::Blank;
use crate::scene::Garment;
use cloth::{BastedCloth, Stage};
use field::DistanceField;
use limbs::Limb;
use taffeta::math::DVec3;
use taffeta::model::Collider;
use transfer::transfer;

/// Length of cells that garments are basted with [m]; finer ones take over from these.
const COARSE: f64 = 0.025;
/// Steps in which seams close, in which the closed garment hangs, in which the body grows, in which lengths are put right, and the most in which what still
/// intersects is pulled apart: with lengths, then without regard for them. And how often the last three come in turn at most.
const DRAWN: u32 = 150;
const HUNG: u32 = 150;
const GROWN: u32 = 100;
const RELAXED: u32 = 100;
const PARTED: u32 = 100;
const PARTED_ALONE: u32 = 30;
const FINISHED: u32 = 3;
/// How much of its girth a slim body lacks [1].
const SLIM: f64 = 0.75;
/// How far a step moves cloth that lies around a slim body outwards, and lets it fall [m].
const PUFF: f64 = 5e-5;
const FALL: f64 = 1e-4;
/// How far cloth keeps from the body in the end [m].
const MARGIN: f64 = 1e-3;
/// Tops within this of the highest are as high [m].
const LEVEL: f64 = 0.04;
/// How far from an arm the middle of a sleeve's panel may be [m].
const SLEEVE: f64 = 0.12;
/// Share of the way to the axis of its limb that a tube is moved in a step [1].
const THREADED: f64 = 0.3;
/// How far the two sides of a seam may be apart at the start, seen from the front, if its panels are where they are worn [m].
const MATCHED: f64 = 0.04;
/// How far sewn particles start apart [m]: about as far as a stitch is long.
pub const STITCH: f64 = 0.3e-3;

/// Bastes a garment; its panels start where that leaves them, sewn particles `apart` [m]. `key` is its place in the scene. Returns the number of every particle's
/// group, panel after panel; all that are sewn to one another are one group.
pub fn baste(
    garment: &Garment,
    key: &str,
    colliders: &[Collider],
    tailored: &mut Tailored,
    apart: f64,
) -> Vec<u32> {
    let field = DistanceField::new(colliders);
    let field = field.as_ref();
    let coarse = Garment { edge_length: COARSE, ..garment.clone() };
    match tailor(&coarse, key).ok().filter(|_| garment.edge_length < 0.8 * COARSE) {
        Some(mut first) => {
            clear(&mut first.blanks, colliders);
            let whole = wear(&mut first, COARSE, field);
            let groups = groups(&first);
            part(&mut first, &groups, &whole, 0.0);
            transfer(&first.blanks, &mut tailored.blanks);
        }
        None => {
            let whole = wear(tailored, garment.edge_length, field);
            let groups = groups(tailored);
            part(tailored, &groups, &whole, 0.0);
        }
    }
    let groups = groups(tailored);
    let whole = finish(tailored, &groups, garment.edge_length, field);
    part(tailored, &groups, &whole, apart);
    groups.iter().map(|g| *g as u32).collect()
}

/// What all stages have in common, for cells of this length [m].
fn free(cell: f64) -> Stage {
    Stage {
        slim: SLIM,
        margin: 0.3 * cell,
        open: 0.0,
        puff: PUFF,
        fall: 0.0,
        held: true,
        limbs: false,
        shear: 0.5,
        bend: 0.1,
        spread: 0.5,
        apart: 0.0,
        keeps: 0.95,
        sweeps: 5,
        lift: 0.02 * cell,
        pull: 0.1 * cell,
        rounds: 0,
    }
}

/// Draws the panels of a garment together and lets the body grow in it; where its sewn particles are then [m].
fn wear(tailored: &mut Tailored, cell: f64, field: Option<&DistanceField>) -> Vec<DVec3> {
    let free = free(cell);
    let groups = groups(tailored);
    let one_by_one: Vec<usize> = (0..groups.len()).collect();
    let mut loose = BastedCloth::new(tailored, &one_by_one, &groups, cell);
    let sleeve;
    (sleeve, loose.floor) = roles(tailored, field);
    let limbs: Vec<&Limb> = field.iter().flat_map(|field| field.arms.iter().chain(&field.legs)).collect();
    if let Some(field) = field {
        loose.limb = tubes(tailored, &groups, &sleeve, field);
    }
    loose.thread(&limbs, 1.0);
    for step in 1..=DRAWN {
        let s = f64::from(step) / f64::from(DRAWN);
        let drawn = Stage { open: 1.0 - s * s * (3.0 - 2.0 * s), ..free };
        loose.step(&drawn, field);
        loose.thread(&limbs, THREADED);
    }
    set_starts(&mut tailored.blanks, &loose.x);
    let mut sewn = BastedCloth::new(tailored, &groups, &groups, cell);
    for (i, g) in groups.iter().enumerate() {
        sewn.limb[*g] = sewn.limb[*g].or(loose.limb[i]);
        sewn.floor[*g] = sewn.floor[*g].max(loose.floor[i]);
    }
    let apart = 0.6 * cell;
    for step in 0..HUNG {
        // What passes through other cloth in the first third is let be.
        sewn.step(&Stage { fall: FALL, apart, rounds: u32::from(step > HUNG / 3), ..free }, field);
    }
    for step in 1..=GROWN {
        let s = f64::from(step) / f64::from(GROWN);
        let (slim, margin) = (SLIM * (1.0 - s), free.margin + s * (MARGIN - free.margin));
        let grows = Stage {
            slim,
            margin,
            puff: 0.0,
            fall: 0.2 * FALL,
            limbs: true,
            apart,
            rounds: 2,
            keeps: 0.8,
            ..free
        };
        sewn.step(&grows, field);
    }
    sewn.x
}

/// Puts lengths right, and apart what still intersects; where sewn particles are then [m]. What does not come apart with its lengths kept does so without; what is
/// stuck even so is made smooth, and its lengths are put right once more.
fn finish(tailored: &Tailored, groups: &[usize], cell: f64, field: Option<&DistanceField>) -> Vec<DVec3> {
    let mut sewn = BastedCloth::new(tailored, groups, groups, cell);
    let worn = Stage {
        slim: 0.0,
        margin: MARGIN,
        puff: 0.0,
        held: false,
        limbs: true,
        shear: 0.05,
        bend: 0.05,
        spread: 1.0,
        apart: 0.3 * cell,
        sweeps: 10,
        pull: 0.04 * cell,
        ..free(cell)
    };
    let relax = |sewn: &mut BastedCloth| {
        (0..RELAXED)
            .for_each(|step| sewn.step(&Stage { rounds: 3 * u32::from(step % 4 == 0), ..worn }, field));
    };
    let parted = Stage { rounds: 3, keeps: 0.5, sweeps: 2, ..worn };
    let alone = Stage { rounds: 3, keeps: 0.0, sweeps: 0, lift: 0.0, ..worn };
    relax(&mut sewn);
    for _ in 0..FINISHED {
        let is_parted = (0..PARTED).any(|_| sewn.part(&parted, field, false));
        if is_parted || (0..PARTED_ALONE).any(|_| sewn.part(&alone, field, false)) {
            break;
        }
        let _ = (0..PARTED_ALONE).any(|_| sewn.part(&alone, field, true));
        relax(&mut sewn);
    }
    sewn.x
}

/// Who is part of a sleeve, and what does not sink below which height [m]: the tops of panels that reach as high as any that are where they are worn.
fn roles(tailored: &Tailored, field: Option<&DistanceField>) -> (Vec<bool>, Vec<f64>) {
    let blanks = &tailored.blanks;
    let tops = tops(tailored);
    let highest = tops.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let (mut sleeve, mut floor) = (Vec::new(), Vec::new());
    for (blank, top) in blanks.iter().zip(&tops) {
        let middle = blank.start.iter().sum::<DVec3>() / blank.start.len() as f64;
        let arm = is_upright(blank) && field.is_some_and(|field| field.is_at_arm(middle, SLEEVE));
        sleeve.extend(blank.start.iter().map(|_| arm));
        let held = |x: &DVec3| if !arm && top.min(x.y) > highest - LEVEL { x.y } else { f64::NEG_INFINITY };
        floor.extend(blank.start.iter().map(held));
    }
    (sleeve, floor)
}

/// The limb of every particle, arms first: that of a sleeve, or that of a leg of trousers.
fn tubes(tailored: &Tailored, groups: &[usize], sleeve: &[bool], field: &DistanceField) -> Vec<Option<u8>> {
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

fn set_starts(blanks: &mut [Blank], x: &[DVec3]) {
    let mut first = 0;
    for blank in blanks {
        let count = blank.start.len();
        blank.start.copy_from_slice(&x[first..first + count]);
        first += count;
    }
}

/// Lets panels start where their sewn particles are, each drawn back into its own panel until they are `apart` [m].
fn part(tailored: &mut Tailored, groups: &[usize], x: &[DVec3], apart: f64) {
    let mut shares = vec![0_u32; x.len()];
    groups.iter().for_each(|g| shares[*g] += 1);
    let mut first = 0;
    for blank in &mut tailored.blanks {
        let own = &groups[first..first + blank.start.len()];
        let mut middle = vec![(DVec3::ZERO, 0.0); own.len()];
        for t in &blank.rest.triangles {
            for i in t {
                for k in t.iter().filter(|k| *k != i) {
                    middle[*i as usize].0 += x[own[*k as usize]];
                    middle[*i as usize].1 += 1.0;
                }
            }
        }
        for ((start, g), (sum, n)) in blank.start.iter_mut().zip(own).zip(middle) {
            *start = x[*g];
            if shares[*g] > 1 {
                *start += 0.5 * apart * (sum / n - x[*g]).normalize_or_zero();
            }
        }
        first += blank.start.len();
    }
}

/// The least number of all that a number was joined with.
fn root(least: &mut [usize], mut i: usize) -> usize {
    while least[i] != i {
        least[i] = least[least[i]];
        i = least[i];
    }
    i
}

fn join(least: &mut [usize], a: usize, b: usize) {
    let [a, b] = [root(least, a), root(least, b)];
    least[a.max(b)] = a.min(b);
}

/// The number of every particle's group; all that are sewn to one another are one group.
fn groups(tailored: &Tailored) -> Vec<usize> {
    let (firsts, count) = (tailored.firsts(), tailored.particle_count() as usize);
    let mut least: Vec<usize> = (0..count).collect();
    let particle = |(panel, i): Member| (firsts[panel] + i) as usize;
    for pair in &tailored.stitches {
        let [a, b] = pair.map(particle);
        join(&mut least, a, b);
    }
    let mut numbers = vec![usize::MAX; count];
    let mut next = 0;
    (0..count)
        .map(|i| {
            let r = root(&mut least, i);
            if numbers[r] == usize::MAX {
                numbers[r] = next;
                next += 1;
            }
            numbers[r]
        })
        .collect()
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
fn tops(tailored: &Tailored) -> Vec<f64> {
    let mut tops = vec![f64::NEG_INFINITY; tailored.blanks.len()];
    for pair in &tailored.stitches {
        let [a, b] = pair.map(|(panel, i)| tailored.blanks[panel].start[i as usize]);
        if (a - b).truncate().length() < MATCHED && pair[0].0 != pair[1].0 && a.z * b.z < 0.0 {
            for (panel, i) in pair {
                tops[*panel] = tops[*panel].max(tailored.blanks[*panel].start[*i as usize].y);
            }
        }
    }
    tops
}

#[cfg(test)]
mod tests {
    use super::{characteristics, join};

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

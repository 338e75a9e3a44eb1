//! Basting: before anything else the panels are sewn together around slim bodies, free to pass through one another. Then the bodies grow to their size, and
//! what intersects is pulled apart. Positions alone are moved; what comes of it is a start with closed seams.

mod cloth;
mod field;
mod limbs;
mod near;
mod roles;
mod transfer;
mod tubes;

use super::{Member, Tailored};
use crate::build::shapes::Blank;
use crate::scene::Garment;
use cloth::{BastedCloth, Stage};
use field::DistanceField;
use limbs::Limb;
use roles::{limb_of_each, roles};
use taffeta::math::DVec3;
use taffeta::model::Collider;
use transfer::transfer;

/// Steps in which seams close, and then those of sleeves that are set in; in which the closed garment hangs, and the most if a wide skirt is still on its way down
/// through the arms; in which the body grows, in which lengths are put right, and the most in which what still intersects is pulled apart: with lengths, then
/// without regard for them. And how often the last three come in turn at most.
const DRAWN: u32 = 150;
const HUNG: u32 = 150;
const HUNG_MOST: u32 = 900;
const GROWN: u32 = 100;
const RELAXED: u32 = 100;
const PARTED: u32 = 100;
const PARTED_ALONE: u32 = 30;
const FINISHED: u32 = 3;
/// Steps in which lengths are put right of what was tried on in coarse cells: it has them but for what goes from cell to cell, and more would only move it from where
/// it rests. And where these are too few.
const TOUCHED_UP: [u32; 2] = [10, 40];
/// How much of its girth a slim body lacks [1].
const SLIM: f64 = 0.75;
/// How far a step moves cloth that lies around a slim body outwards, and lets it fall [m].
const PUFF: f64 = 5e-5;
const FALL: f64 = 1e-4;
/// How far cloth keeps from the body in the end [m].
const MARGIN: f64 = 1e-3;
/// How far within a sleeve that is set in the axis of its arm is kept, unless it is narrower [m]; and the share of the way there that a tube is moved in a step [1].
const ROOM: f64 = 0.04;
const THREADED: f64 = 0.3;
/// Share of what an edge is too long by that an answer mends where a garment cannot have its lengths: all of it would leave the last ones of a ring with what the
/// others do not take [1].
const EVEN: f64 = 0.2;
/// Strain from which on another way is tried, even if that can be let out [1].
const TIGHT: f64 = 0.6;
/// Strain of a basted garment that needs no letting out [1].
const TAUT: f64 = 0.02;
/// How far sewn particles start apart [m]: about as far as a stitch is long.
pub const STITCH: f64 = 0.3e-3;

/// Bastes a garment; its panels start where that leaves them, sewn particles `apart` [m]. `coarse` are its panels in coarser cells if it was tried on in these: the
/// fine ones take over from them. Returns the number of every particle's group, panel after panel; all that are sewn to one another are one group.
pub fn baste(
    garment: &Garment,
    colliders: &[Collider],
    tailored: &mut Tailored,
    coarse: Option<Vec<Blank>>,
    apart: f64,
) -> Vec<u32> {
    let field = DistanceField::new(colliders);
    let field = field.as_ref();
    let groups = groups(tailored);
    let mut limbs = vec![None; groups.len()];
    if let Some(field) = field {
        let (sleeve, _) = roles(tailored, Some(field));
        for (g, limb) in groups.iter().zip(limb_of_each(tailored, &groups, &sleeve, field)) {
            limbs[*g] = limbs[*g].or(limb);
        }
    }
    let finish = |blanks: Vec<Blank>, steps: u32| {
        finish(&Tailored { blanks, ..tailored.clone() }, (&groups, &limbs), garment, field, steps)
    };
    let attempt = |k: usize| match &coarse {
        Some(coarse) => {
            let mut blanks = tailored.blanks.clone();
            transfer(coarse, &mut blanks);
            finish(blanks, TOUCHED_UP[k])
        }
        None => {
            let way = [Way::SetIn, Way::AtOnce][k];
            finish(wear(tailored, garment.edge_length, way, field), RELAXED)
        }
    };
    let first = attempt(0);
    let second = (first.beyond > 0.0).then(|| attempt(1));
    let best = second.filter(|second| second.beyond < first.beyond).unwrap_or(first);
    part(&mut tailored.blanks, &groups, &best.x, apart);
    groups.iter().map(|g| *g as u32).collect()
}

/// How panels are drawn together. What fails in one way may do in another.
#[derive(Clone, Copy, PartialEq)]
enum Way {
    /// Sleeves are tubes from the start, and are set in when all else is closed: armholes are then beside them.
    SetIn,
    /// All seams close at once, and limbs are kept in the middle of their tubes.
    AtOnce,
}

/// A garment that is basted.
struct Basted {
    /// Where sewn particles are [m].
    x: Vec<DVec3>,
    /// The largest strain, if that is more than can be let out, else 0; infinite if something intersects [1].
    beyond: f64,
}

/// What all stages have in common, for cells of this length [m].
fn free(cell: f64) -> Stage {
    Stage {
        slim: SLIM,
        margin: 0.3 * cell,
        open: 0.0,
        shorten: 1.0,
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

/// Draws the panels of a garment together around slim bodies.
fn draw(
    tailored: &Tailored,
    groups: &[usize],
    cell: f64,
    way: Way,
    field: Option<&DistanceField>,
) -> BastedCloth {
    let one_by_one: Vec<usize> = (0..groups.len()).collect();
    let mut loose = BastedCloth::new(tailored, &one_by_one, groups, cell);
    let sleeve;
    (sleeve, loose.floor) = roles(tailored, field);
    let limbs: Vec<&Limb> = field.iter().flat_map(|field| field.arms.iter().chain(&field.legs)).collect();
    if let Some(field) = field {
        loose.limb = limb_of_each(tailored, groups, &sleeve, field);
    }
    loose.draw_up(&limbs, groups);
    let draw = |loose: &mut BastedCloth, room: f64| {
        for step in 1..=DRAWN {
            let s = f64::from(step) / f64::from(DRAWN);
            loose.step(&Stage { open: 1.0 - s * s * (3.0 - 2.0 * s), ..free(cell) }, field);
            loose.thread(&limbs, room, THREADED);
        }
    };
    if way == Way::AtOnce {
        loose.thread(&limbs, f64::INFINITY, 1.0);
        draw(&mut loose, f64::INFINITY);
        return loose;
    }
    for (blank, first) in tailored.blanks.iter().zip(tailored.firsts()) {
        let own = first as usize..first as usize + blank.start.len();
        if let Some(limb) = loose.limb[own.start].filter(|_| sleeve[own.start]) {
            loose.wrap(own, limbs[usize::from(limb)]);
        }
    }
    loose.thread(&limbs, ROOM, 1.0);
    for sleeves_wait in [true, false] {
        loose.begin_seams(|[a, b]| sleeves_wait && sleeve[a] != sleeve[b]);
        draw(&mut loose, ROOM);
    }
    loose
}

/// Draws the panels of a garment together and lets the body grow in it; where they are then.
fn wear(tailored: &Tailored, cell: f64, way: Way, field: Option<&DistanceField>) -> Vec<Blank> {
    let free = free(cell);
    let groups = groups(tailored);
    let loose = draw(tailored, &groups, cell, way, field);
    let mut drawn = tailored.clone();
    set_starts(&mut drawn.blanks, &loose.x);
    let mut sewn = BastedCloth::new(&drawn, &groups, &groups, cell);
    sewn.ends = loose.ends.clone();
    for (i, g) in groups.iter().enumerate() {
        sewn.limb[*g] = sewn.limb[*g].or(loose.limb[i]);
        sewn.floor[*g] = sewn.floor[*g].max(loose.floor[i]);
    }
    let apart = 0.6 * cell;
    let is_caught = |sewn: &BastedCloth| field.is_some_and(|field| sewn.is_in_arms(field, free.margin));
    for step in 0..HUNG_MOST {
        if step >= HUNG && !is_caught(&sewn) {
            break;
        }
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
    part(&mut drawn.blanks, &groups, &sewn.x, 0.0);
    drawn.blanks
}

/// Puts lengths right, and apart what still intersects. What does not come apart with its lengths kept does so without, in the end
/// made smooth. From there lengths are put right as far as nothing comes to intersect again. Lengths are put right in so many `steps` each time.
fn finish(
    tailored: &Tailored,
    (groups, limbs): (&[usize], &[Option<u8>]),
    garment: &Garment,
    field: Option<&DistanceField>,
    steps: u32,
) -> Basted {
    let cell = garment.edge_length;
    let mut sewn = BastedCloth::new(tailored, groups, groups, cell);
    sewn.limb.copy_from_slice(&limbs[..sewn.x.len()]);
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
        (0..steps).for_each(|step| sewn.step(&Stage { rounds: 3 * u32::from(step % 4 == 0), ..worn }, field));
    };
    let parted = Stage { rounds: 3, keeps: 0.5, sweeps: 2, ..worn };
    let alone = Stage { rounds: 3, keeps: 0.0, sweeps: 0, lift: 0.0, ..worn };
    for _ in 0..FINISHED {
        relax(&mut sewn);
        let is_clean = (0..PARTED).any(|_| sewn.part(&parted, field, false))
            || (0..PARTED_ALONE).any(|_| sewn.part(&alone, field, false))
            || (0..PARTED_ALONE).any(|_| sewn.part(&alone, field, true));
        if is_clean {
            (0..steps).for_each(|_| sewn.guarded_step(&worn, field));
            let most = garment.let_out.max(TAUT);
            let before = (sewn.strain(), sewn.x.clone());
            if before.0 > most {
                (0..steps).for_each(|_| sewn.guarded_step(&Stage { shorten: EVEN, ..worn }, field));
                if sewn.strain() > before.0 {
                    sewn.x = before.1;
                }
            }
            let strain = sewn.strain();
            let beyond = if strain <= most.min(TIGHT) { 0.0 } else { strain };
            return Basted { x: sewn.x, beyond };
        }
    }
    // What does not come apart at least has its lengths.
    relax(&mut sewn);
    Basted { x: sewn.x, beyond: f64::INFINITY }
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
fn part(blanks: &mut [Blank], groups: &[usize], x: &[DVec3], apart: f64) {
    let mut shares = vec![0_u32; x.len()];
    groups.iter().for_each(|g| shares[*g] += 1);
    let mut first = 0;
    for blank in blanks {
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

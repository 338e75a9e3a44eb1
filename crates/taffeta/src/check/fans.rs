//! Around which particles triangles certainly share no more than their common particles.
//!
//! Most triangles whose boxes overlap are neighbours in smooth cloth: a dozen for every triangle, but only half a particle. So all triangles around a particle
//! are told apart at once.
//!
//! **Claim.** Let the triangles at a particle form a ring in which each begins where the one before it ends, and let a direction see all of them go round the
//! particle counter-clockwise, once in all. Then any two of them share their common particles and what is between these, and nothing else.
//!
//! **Proof.** Seen along the direction no triangle is edge-on, and together they cover every other direction around the particle once, so they are neither over
//! one another nor do they touch but along common edges. Points that triangles share in space they share in this view, and what a triangle has on an edge in
//! the view it has on that edge in space. ∎

use super::tree::Face;
use crate::math::DVec3;
use crate::parallel;

/// The most triangles around a particle that are looked at.
const MOST: usize = 12;
/// Particles that a thread looks at in a row, at least.
const TASK: usize = 512;

/// For every particle whether the claim is certain for the triangles around it.
pub(super) fn smooth_fans(points: &[DVec3], faces: &[Face]) -> Vec<bool> {
    // For every particle and triangle around it the two other particles, in the order in which the triangle names them.
    let mut from = vec![0_u32; points.len() + 1];
    faces.iter().flat_map(|face| face.corners).for_each(|c| from[c as usize + 1] += 1);
    let mut sum = 0;
    // Each begins where those before it end; it is moved on as its places are filled.
    from[1..].iter_mut().for_each(|count| sum += std::mem::replace(count, sum));
    let mut links = vec![[0_u32; 2]; sum as usize];
    for Face { corners: [a, b, c], .. } in faces {
        for (centre, link) in [(a, [*b, *c]), (b, [*c, *a]), (c, [*a, *b])] {
            let next = &mut from[*centre as usize + 1];
            links[*next as usize] = link;
            *next += 1;
        }
    }
    let mut smooth = vec![false; points.len()];
    parallel::each(&mut smooth, TASK, |k, smooth| {
        *smooth = is_smooth(points, points[k], &links[from[k] as usize..from[k + 1] as usize]);
    });
    smooth
}

/// Whether the claim is certain for the triangles between a centre and `links`, or for more: a row of triangles is closed through a place opposite to them.
fn is_smooth(points: &[DVec3], centre: DVec3, links: &[[u32; 2]]) -> bool {
    let count = links.len();
    if !(1..=MOST).contains(&count) {
        return false;
    }
    let mut ring = [[0_u32; 2]; MOST];
    ring[..count].copy_from_slice(links);
    let ring = &mut ring[..count];
    if !is_row(ring) {
        // It may be one that begins elsewhere.
        let Some(first) = (0..count).find(|&k| ring.iter().all(|link| link[1] != ring[k][0])) else {
            return false;
        };
        ring.swap(0, first);
        if !is_row(ring) {
            return false;
        }
    }
    let (first, last) = (ring[0][0], ring[count - 1][1]);
    let mut spokes = [DVec3::ZERO; MOST + 3];
    spokes.iter_mut().zip(ring.iter()).for_each(|(spoke, link)| *spoke = points[link[0] as usize] - centre);
    let end = if last == first { count } else { count + 2 };
    if last != first {
        spokes[count] = points[last as usize] - centre;
        spokes[count + 1] = -spokes[..=count].iter().sum::<DVec3>();
    }
    spokes[end] = spokes[0];
    goes_round_once(&spokes[..=end])
}

/// Whether links can be put in a row after the first, in which each begins where the one before it ends; they are then.
fn is_row(links: &mut [[u32; 2]]) -> bool {
    (1..links.len()).all(|k| match (k..links.len()).find(|&j| links[j][0] == links[k - 1][1]) {
        Some(next) => {
            links.swap(k, next);
            true
        }
        None => false,
    })
}

/// Whether a direction certainly sees spokes, of which the last is the first, turn counter-clockwise from each to the next, once in all.
///
/// Any direction will do. One that is across it is so exactly, and every turn begins behind that and ends before it once. On which side a spoke is that is
/// nearly between them is not certain; but it would be there if it were moved by four units of the largest coordinate. That changes a turn, seen along the
/// direction, by less than thirty of the units in which the doubt counts, and rounding by less than ten: turns that are larger stay as they are while it moves.
fn goes_round_once(spokes: &[DVec3]) -> bool {
    let mut turns = [DVec3::ZERO; MOST + 2];
    let turns = &mut turns[..spokes.len() - 1];
    turns.iter_mut().zip(spokes.windows(2)).for_each(|(turn, pair)| *turn = pair[0].cross(pair[1]));
    let direction: DVec3 = turns.iter().sum();
    let reach = spokes.iter().fold(DVec3::ZERO, |reach, spoke| reach.max(spoke.abs())).max_element();
    let size = direction.abs().element_sum();
    let doubt = 64.0 * f64::EPSILON * (reach * reach * size) + f64::MIN_POSITIVE;
    let is_clear = turns.iter().all(|turn| {
        let along = turn.dot(direction);
        along > doubt && along.is_finite()
    });
    if !is_clear {
        return false;
    }
    let [x, y, z] = direction.to_array();
    let across = match direction.abs().max_position() {
        0 => DVec3::new(-y, x, 0.0),
        1 => DVec3::new(0.0, -z, y),
        _ => DVec3::new(z, 0.0, -x),
    };
    let is_behind = |spoke: &DVec3| across.dot(*spoke) < 0.0;
    spokes.windows(2).filter(|pair| is_behind(&pair[0]) && !is_behind(&pair[1])).count() == 1
}

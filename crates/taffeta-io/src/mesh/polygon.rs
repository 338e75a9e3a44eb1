//! Faces of any number of corners, split into triangles by ear clipping where they have more than four.

use std::collections::VecDeque;

use robust::{Coord, orient2d};
use taffeta::math::DVec3;

use super::Place;

/// Most corners of one face; bounds the memory of the splitting.
const MOST_CORNERS: usize = 1 << 16;
/// Most corners times corners that are not convex; bounds the time of the splitting to milliseconds a face.
const MOST_WORK: usize = 1_000_000;

/// The faces of a file as they come; those of more than four corners wait until all points are known.
#[derive(Default)]
pub(super) struct Faces {
    triangles: Vec<[u32; 3]>,
    quads: Vec<[u32; 4]>,
    corners: Vec<u32>,
    polygons: Vec<Polygon>,
}

/// A run of `Faces::corners`, from the end of the run before.
struct Polygon {
    end: usize,
    place: Place,
}

/// A face that would take too long to split.
pub(super) struct Intricate {
    pub place: Place,
    pub corners: usize,
    pub blockers: usize,
}

/// Triangles, quads and, if faces were split, a note.
pub(super) type Split = (Vec<[u32; 3]>, Vec<[u32; 4]>, Option<String>);

impl Faces {
    /// Adds a face of three or more corners; `place` says where in the file it stands.
    pub fn push(&mut self, corners: &[u32], place: Place) {
        match *corners {
            [a, b, c] => self.triangles.push([a, b, c]),
            [a, b, c, d] => self.quads.push([a, b, c, d]),
            _ => {
                self.corners.extend_from_slice(corners);
                self.polygons.push(Polygon { end: self.corners.len(), place });
            }
        }
    }

    /// Every corner of every face.
    pub fn indices(&self) -> impl Iterator<Item = u32> {
        let small = self.triangles.as_flattened().iter().chain(self.quads.as_flattened());
        small.chain(&self.corners).copied()
    }

    /// Splits the faces of more than four corners; every corner must be an index of `points`.
    pub fn finish(mut self, points: &[DVec3]) -> Result<Split, Intricate> {
        let (mut start, mut crossing) = (0, 0);
        for &Polygon { end, place } in &self.polygons {
            let corners = &self.corners[start..end];
            let refuse = |blockers| Intricate { place, corners: corners.len(), blockers };
            if corners.len() > MOST_CORNERS {
                return Err(refuse(0));
            }
            let flat = flatten(corners, points);
            let simple =
                clip_ears(&flat, |ear| self.triangles.push(ear.map(|k| corners[k]))).map_err(refuse)?;
            crossing += usize::from(!simple);
            start = end;
        }
        let note = match (self.polygons.len(), crossing) {
            (0, _) => None,
            (n, 0) => Some(format!("faces of more than four corners, split into triangles: {n}")),
            (n, bad) => Some(format!(
                "faces of more than four corners, split into triangles: {n}; \
                 of these cross themselves or have no area, so that their triangles may overlap: {bad}"
            )),
        };
        Ok((self.triangles, self.quads, note))
    }
}

/// The corners seen along the axis that their plane faces most, counter-clockwise.
///
/// To drop a coordinate rounds nothing, so that corners on a straight line stay on one.
fn flatten(corners: &[u32], points: &[DVec3]) -> Vec<Coord<f64>> {
    let corner = |k: usize| points[corners[k % corners.len()] as usize];
    let origin = corner(0);
    let normal: DVec3 = (0..corners.len()).map(|k| (corner(k) - origin).cross(corner(k + 1) - origin)).sum();
    let size = normal.abs();
    let axis = if size.x > size.y && size.x > size.z {
        0
    } else if size.y > size.z {
        1
    } else {
        2
    };
    let (mut u, mut v) = ((axis + 1) % 3, (axis + 2) % 3);
    if normal[axis] < 0.0 {
        (u, v) = (v, u);
    }
    (0..corners.len()).map(|k| Coord { x: corner(k)[u], y: corner(k)[v] }).collect()
}

/// Hands out the triangles of a polygon; false if it crosses itself, the number of blockers if it is too intricate.
///
/// Cutting an ear never turns another corner into one except the two beside it, so each cut calls for two new tests.
/// A waiting corner whose neighbour was cut goes to the end of the queue: cuts go around instead of making a fan.
fn clip_ears(flat: &[Coord<f64>], mut triangle: impl FnMut([usize; 3])) -> Result<bool, usize> {
    const CUT: usize = usize::MAX;
    let n = flat.len();
    let turn = |a: usize, b: usize, c: usize| orient2d(flat[a], flat[b], flat[c]);
    let mut next: Vec<usize> = (0..n).map(|k| (k + 1) % n).collect();
    let mut previous: Vec<usize> = (0..n).map(|k| (k + n - 1) % n).collect();
    // Only corners that are not convex can lie in the way of a cut.
    let mut blockers: Vec<usize> = (0..n).collect();
    blockers.retain(|&k| turn(previous[k], k, next[k]) <= 0.0);
    if n * blockers.len() > MOST_WORK {
        return Err(blockers.len());
    }
    let mut stamps: Vec<usize> = (0..n).collect();
    let mut queue: VecDeque<[usize; 2]> = (0..n).map(|k| [k, k]).collect();
    let (mut clock, mut left) = (n, n);
    while left > 3
        && let Some([tip, stamp]) = queue.pop_front()
    {
        let (a, c) = (previous[tip], next[tip]);
        let mut waiting = blockers.iter().filter(|k| stamps[**k] != CUT);
        if stamps[tip] != stamp || turn(a, tip, c) <= 0.0 || waiting.any(|&k| covers(flat, [a, tip, c], k)) {
            continue;
        }
        triangle([a, tip, c]);
        (next[a], previous[c], stamps[tip]) = (c, a, CUT);
        left -= 1;
        for neighbour in [a, c] {
            stamps[neighbour] = clock;
            queue.push_back([neighbour, clock]);
            clock += 1;
        }
    }
    // A simple polygon leaves one triangle; what else is left has no right answer and becomes a fan.
    let first = (0..n).find(|k| stamps[*k] != CUT).unwrap_or(0);
    let (mut b, mut simple) = (next[first], left == 3);
    while next[b] != first {
        simple &= turn(first, b, next[b]) > 0.0;
        triangle([first, b, next[b]]);
        b = next[b];
    }
    Ok(simple)
}

/// Whether a triangle holds corner `k` inside or on its border, unless `k` stands at one of its own corners.
fn covers(flat: &[Coord<f64>], [a, b, c]: [usize; 3], k: usize) -> bool {
    let [a, b, c, p] = [flat[a], flat[b], flat[c], flat[k]];
    // Most points are far away; the box tells so at a fraction of the cost.
    let near = p.x >= a.x.min(b.x).min(c.x)
        && p.x <= a.x.max(b.x).max(c.x)
        && p.y >= a.y.min(b.y).min(c.y)
        && p.y <= a.y.max(b.y).max(c.y);
    // A hole joined to the outline by a bridge puts two corners at one place; neither blocks the other.
    let own = p == a || p == b || p == c;
    near && !own && orient2d(a, b, p) >= 0.0 && orient2d(b, c, p) >= 0.0 && orient2d(c, a, p) >= 0.0
}

//! Neighbours that cannot meet: a certificate for the triangles around a point (`docs/contact.md`, Neighbours).
//!
//! Around every point the triangles are laid out in a plane as a convex polygon. If the motion maps that polygon to space so that
//! a projection of it is strictly monotone at both ends of a step, no two points of it come nearer than a share of their distance in the plane.

use super::curvature_culler::CurvatureCuller;
use super::triangle_axis::TriangleMotion;
use crate::collide::surface::CollisionSurface;
use crate::math::lanes::{InstructionSet, LANES, Lanes, Wide, Wide3, by_instruction_set};
use crate::math::{DVec3, Vec4, trig};
use crate::parallel;

/// All points of cloth whose triangles form one fan.
#[derive(Debug, Clone)]
pub struct OneRingCuller {
    groups: Vec<RingGroup>,
    /// Per point: whether the triangles around it are certified.
    certified: Vec<bool>,
    /// Points of cloth whose triangles are not.
    uncertified: Vec<u32>,
    /// Points of cloth that have no fan.
    ragged: Vec<u32>,
    set: InstructionSet,
}

/// Eight stars with the same number of spokes.
#[derive(Debug, Clone)]
struct RingGroup {
    /// Whether the triangles go all the way round.
    closed: bool,
    centres: [u32; LANES],
    /// Where every spoke ends.
    ends: Vec<[u32; LANES]>,
    /// Where it ends in the plane: x and y.
    plane: Vec<[Lanes; 2]>,
    /// Least distance that features without a common point have in the plane.
    apart: Lanes,
    /// The distance that their cloth keeps from itself [m].
    keep: Lanes,
    /// Smallest of all that must be positive.
    least: Lanes,
}

/// One point and the triangles around it, laid out.
#[derive(Debug, Clone)]
struct Star {
    centre: u32,
    closed: bool,
    ends: Vec<u32>,
    plane: Vec<[f64; 2]>,
    apart: f64,
    keep: f64,
}

/// Part of the mean stretch that monotony must exceed: far more than all rounding.
const MARGIN: f64 = 1e-3;
/// Spokes longer than so many times the mean stretch are not judged: rounding would matter.
const LONGEST: f64 = 1e4;
/// Squares of spokes longer than this could overflow further on [m²].
const LARGEST: f64 = 1e130;
/// Groups that a thread judges at a time, at least.
const GROUPS: usize = 16;
/// Angles of a fan beyond these are slivers [rad].
const ANGLES: std::ops::RangeInclusive<f64> = 0.05..=3.0;

impl OneRingCuller {
    /// Lays out all fans of the cloths of a surface.
    pub fn new(surface: &CollisionSurface) -> Self {
        let mut stars = Vec::new();
        let mut ragged = Vec::new();
        for object in surface.objects.iter().filter(|o| o.body.is_none()) {
            let mut around = vec![Vec::new(); object.points.len()];
            for t in &surface.triangles[object.triangles.clone()] {
                for k in 0..3 {
                    let local = t[k] as usize - object.points.start;
                    around[local].push([t[(k + 1) % 3], t[(k + 2) % 3]]);
                }
            }
            for (centre, wedges) in
                object.points.clone().zip(&around).filter(|(_, wedges)| !wedges.is_empty())
            {
                match Star::new(centre as u32, wedges, &surface.rest, object.self_distance) {
                    Some(star) => stars.push(star),
                    None => ragged.push(centre as u32),
                }
            }
        }
        let points =
            |star: &Star| star.ends.iter().chain([&star.centre]).all(|p| (*p as usize) < surface.points);
        assert!(stars.iter().all(points), "triangles name points of the surface");
        stars.sort_by_key(|star| (star.ends.len(), star.closed, star.centre));
        let alike = |a: &Star, b: &Star| (a.ends.len(), a.closed) == (b.ends.len(), b.closed);
        let groups = stars.chunk_by(alike).flat_map(|run| run.chunks(LANES)).map(RingGroup::new).collect();
        Self {
            groups,
            certified: vec![false; surface.points],
            uncertified: Vec::new(),
            ragged,
            set: InstructionSet::available()[0],
        }
    }

    /// The same on another instruction set that the processor has.
    pub fn with_instructions(self, set: InstructionSet) -> Self {
        Self { set, ..self }
    }

    /// Judges all stars for a motion in which nothing may come within the pad of the distance it keeps; those in flat patches are certified.
    ///
    /// # Panics
    /// If there is no place for every point.
    pub fn judge(&mut self, motion: TriangleMotion, patches: &CurvatureCuller) {
        let (TriangleMotion { points: [from, to], pad }, set) = (motion, self.set);
        assert!([from.len(), to.len()] == [self.certified.len(); 2], "a place for every point");
        parallel::each(&mut self.groups, GROUPS, |_, group| {
            let is_flat = group.centres.map(|centre| patches.is_flat_around(centre));
            if is_flat != [true; LANES] {
                judge_group(set, group, from, to, pad);
            }
            group.least.0.iter_mut().zip(is_flat).filter(|(_, is_flat)| *is_flat).for_each(|(least, _)| *least = 1.0);
        });
        self.uncertified.clear();
        self.uncertified.extend(&self.ragged);
        for group in &self.groups {
            for (centre, least) in group.centres.iter().zip(&group.least.0) {
                let good = *least > 0.0;
                self.certified[*centre as usize] = good;
                // Unused lanes repeat the star before them.
                if !good && self.uncertified.last() != Some(centre) {
                    self.uncertified.push(*centre);
                }
            }
        }
    }

    /// Whether the triangles around a point cannot come near one another.
    #[inline]
    pub fn certified(&self, point: u32) -> bool {
        self.certified[point as usize]
    }

    /// All points of cloth around which they may.
    pub fn uncertified(&self) -> &[u32] {
        &self.uncertified
    }
}

impl RingGroup {
    fn new(stars: &[Star]) -> Self {
        let lane = |l: usize| &stars[l.min(stars.len() - 1)];
        let lanes = |of: &dyn Fn(&Star) -> f64| Lanes(std::array::from_fn(|l| of(lane(l))));
        let spokes = 0..stars[0].ends.len();
        Self {
            closed: stars[0].closed,
            centres: std::array::from_fn(|l| lane(l).centre),
            ends: spokes.clone().map(|i| std::array::from_fn(|l| lane(l).ends[i])).collect(),
            plane: spokes.map(|i| [lanes(&|s| s.plane[i][0]), lanes(&|s| s.plane[i][1])]).collect(),
            apart: lanes(&|s| s.apart),
            keep: lanes(&|s| s.keep),
            least: Lanes::ZERO,
        }
    }
}

by_instruction_set! {
    fn judge_group = judge_lanes(group: &mut RingGroup, from: &[Vec4], to: &[Vec4], pad: f64)
}

/// Most spokes that are judged.
const SPOKES: usize = 16;

/// Those numbers of spokes that are frequent are known to the compiler: spokes then need not be kept in memory, nor that be cleared.
#[inline(always)]
fn judge_lanes<W: Wide>(group: &mut RingGroup, from: &[Vec4], to: &[Vec4], pad: f64) {
    match group.ends.len() {
        4 => judge_all::<W, 4>(group, from, to, pad, 4),
        5 => judge_all::<W, 5>(group, from, to, pad, 5),
        6 => judge_all::<W, 6>(group, from, to, pad, 6),
        7 => judge_all::<W, 7>(group, from, to, pad, 7),
        8 => judge_all::<W, 8>(group, from, to, pad, 8),
        count => judge_all::<W, SPOKES>(group, from, to, pad, count.min(SPOKES)),
    }
}

/// The condition of `docs/contact.md` for eight stars: F̄ is the mean deformation gradient, yᵢ = F̄ eᵢ, and for every triangle and both ends
/// the form Q - μ E must be positive, with Qᵢⱼ = (yᵢ·sⱼ + yⱼ·sᵢ) / 2 and Eᵢⱼ = eᵢ·eⱼ.
#[inline(always)]
fn judge_all<W: Wide, const N: usize>(group: &mut RingGroup, from: &[Vec4], to: &[Vec4], pad: f64, count: usize) {
    let zero = W::splat(0.0);
    let at = |points: &[Vec4], places: &[u32; LANES]| {
        // SAFETY: `OneRingCuller::new` has checked that stars name points of the surface, and `judge` that there is a position for each.
        let [x, y, z, _] = unsafe { W::gather(points.as_ptr(), places) };
        Wide3([x, y, z])
    };
    let (centre0, centre1) = (at(from, &group.centres), at(to, &group.centres));
    let mut s = [[Wide3::<W>::zero(); 2]; N];
    let [mut cxx, mut cxy, mut cyy] = [zero; 3];
    let [mut bx, mut by] = [Wide3::<W>::zero(); 2];
    let mut longest = zero;
    for (i, s) in s.iter_mut().enumerate().take(count) {
        let [x, y] = [W::load(&group.plane[i][0]), W::load(&group.plane[i][1])];
        *s = [at(from, &group.ends[i]) - centre0, at(to, &group.ends[i]) - centre1];
        (cxx, cxy, cyy) = (cxx + x * x, cxy + x * y, cyy + y * y);
        let both = s[0] + s[1];
        (bx, by) = (bx + both.scaled(x), by + both.scaled(y));
        longest = longest.max(s[0].dot(s[0])).max(s[1].dot(s[1]));
    }
    // F̄ = (Σ s eᵀ) (Σ e eᵀ)⁻¹: columns f and g.
    let inverse = (cxx * cyy - cxy * cxy).inverse();
    let (ixx, ixy, iyy) = (cyy * inverse, zero - cxy * inverse, cxx * inverse);
    let (f, g) = (bx.scaled(ixx) + by.scaled(ixy), bx.scaled(ixy) + by.scaled(iyy));
    // An upper bound of the largest eigenvalue of F̄ᵀ F̄.
    let fg = f.dot(g);
    let stretch = f.dot(f).max(g.dot(g)) + fg.max(zero - fg);
    let share = (W::load(&group.keep) + W::splat(pad)) * W::load(&group.apart).inverse();
    let mu = share * stretch.sqrt() * W::splat(1.0 + 1e-6) + stretch * W::splat(MARGIN);
    let mut least = W::splat(f64::INFINITY);
    // The spoke before, and the first: in the plane, as F̄ has it, and the form of it alone at both ends.
    let (mut before, mut first) = (([zero; 2], Wide3::<W>::zero(), [zero; 2]), ([zero; 2], Wide3::<W>::zero(), [zero; 2]));
    for i in 0..count {
        let e = [W::load(&group.plane[i][0]), W::load(&group.plane[i][1])];
        let y = f.scaled(e[0]) + g.scaled(e[1]);
        let ee = mu * (e[0] * e[0] + e[1] * e[1]);
        let own = [y.dot(s[i][0]) - ee, y.dot(s[i][1]) - ee];
        least = least.min(own[0]).min(own[1]);
        let spoke = (e, y, own);
        if i > 0 {
            least = least.min(least_between(mu, (before, s[i - 1]), (spoke, s[i])));
        } else {
            first = spoke;
        }
        before = spoke;
    }
    if group.closed {
        least = least.min(least_between(mu, (before, s[count - 1]), (first, s[0])));
    }
    // Last, and in this order, so that what overflows or is not a number is never certified.
    let bound = W::splat(LARGEST).min(W::splat(LONGEST * LONGEST) * stretch);
    least.min(bound - longest).store(&mut group.least);
}

/// A spoke in the plane, as the mean gradient has it, and the form of it alone at both ends; and where it is at both.
type Spoke<W> = (([W; 2], Wide3<W>, [W; 2]), [Wide3<W>; 2]);

/// The lesser determinant of the form over two spokes at both ends.
#[inline(always)]
fn least_between<W: Wide>(mu: W, ((e, y, own), s): Spoke<W>, ((next_e, next_y, next_own), next_s): Spoke<W>) -> W {
    let ee = mu * (e[0] * next_e[0] + e[1] * next_e[1]);
    let half = W::splat(0.5);
    let mixed = [half * (y.dot(next_s[0]) + next_y.dot(s[0])) - ee, half * (y.dot(next_s[1]) + next_y.dot(s[1])) - ee];
    (own[0] * next_own[0] - mixed[0] * mixed[0]).min(own[1] * next_own[1] - mixed[1] * mixed[1])
}

impl Star {
    /// Lays out the triangles `[centre, a, b]` around a point, if they form one fan without slivers.
    fn new(centre: u32, wedges: &[[u32; 2]], rest: &[DVec3], keep: f64) -> Option<Self> {
        let (ends, closed) = fan(centre, wedges)?;
        let spokes: Vec<DVec3> = ends.iter().map(|p| rest[*p as usize] - rest[centre as usize]).collect();
        let lengths: Vec<f64> = spokes.iter().map(|s| s.length()).collect();
        let mean = lengths.iter().sum::<f64>() / lengths.len() as f64;
        let angle = |i: usize| {
            let j = (i + 1) % spokes.len();
            trig::acos((spokes[i].dot(spokes[j]) / (lengths[i] * lengths[j])).clamp(-1.0, 1.0))
        };
        let mut angles: Vec<f64> = (0..wedges.len()).map(angle).collect();
        let (total, pi) = (angles.iter().sum::<f64>(), std::f64::consts::PI);
        // All the way round, or a corner that is convex for certain.
        let scale = if closed { 2.0 * pi / total } else { (0.95 * pi / total).min(1.0) };
        angles.iter_mut().for_each(|a| *a *= scale);
        if !angles.iter().all(|a| ANGLES.contains(a)) || lengths.iter().any(|l| *l < 0.01 * mean) {
            return None;
        }
        // As at rest if that is convex, else nearer to a circle, which is.
        let plane = [0.98, 0.7, 0.4, 0.0].iter().find_map(|shape| {
            let mut turned = 0.0;
            let points: Vec<[f64; 2]> = (0..ends.len())
                .map(|i| {
                    let radius = 1.0 + shape * (lengths[i] / mean - 1.0);
                    let place = [radius * trig::cos(turned), radius * trig::sin(turned)];
                    turned += angles.get(i).copied().unwrap_or(0.0);
                    place
                })
                .collect();
            is_convex(&points, closed).then_some(points)
        })?;
        let apart = (1.0 - 1e-6) * distance_apart(&plane, closed);
        Some(Self { centre, closed, ends, plane, apart, keep })
    }
}

/// The ends of spokes in the order in which triangles follow one another, and whether the last meets the first.
fn fan(centre: u32, wedges: &[[u32; 2]]) -> Option<(Vec<u32>, bool)> {
    let after = |p: u32| wedges.iter().find(|w| w[0] == p).map(|w| w[1]);
    let has_before = |p: u32| wedges.iter().any(|w| w[1] == p);
    let start = wedges.iter().map(|w| w[0]).find(|p| !has_before(*p)).or(wedges.first().map(|w| w[0]))?;
    let mut ends = vec![start];
    let mut last = start;
    while let Some(next) = after(last).filter(|next| *next != start) {
        if ends.contains(&next) || next == centre {
            return None;
        }
        ends.push(next);
        last = next;
    }
    let closed = after(last) == Some(start);
    let triangles = if closed { ends.len() } else { ends.len() - 1 };
    let whole = triangles == wedges.len() && ends.len() <= SPOKES && (!closed || ends.len() > 2);
    (whole && !ends.contains(&centre)).then_some((ends, closed))
}

/// Whether a polygon around (or from) the origin turns left at every point between two others, clearly.
fn is_convex(points: &[[f64; 2]], closed: bool) -> bool {
    let n = points.len();
    let corner = |i: usize| [points[i % n], points[(i + 1) % n], points[(i + 2) % n]];
    (0..if closed { n } else { n.saturating_sub(2) }).map(corner).all(|[a, b, c]| {
        let (p, q) = ([b[0] - a[0], b[1] - a[1]], [c[0] - b[0], c[1] - b[1]]);
        p[0] * q[1] - p[1] * q[0] > 1e-4
    })
}

/// The least distance of two features of a fan that have no point in common, in the plane.
fn distance_apart(points: &[[f64; 2]], closed: bool) -> f64 {
    let n = points.len();
    let origin = (n, [0.0; 2]);
    let end = |i: usize| (i % n, points[i % n]);
    let spokes = (0..n).map(|i| [origin, end(i)]);
    let edges: Vec<_> =
        spokes.chain((0..if closed { n } else { n - 1 }).map(|i| [end(i), end(i + 1)])).collect();
    // They never cross, so an end of one is nearest; that also serves points and triangles.
    let mut least = f64::INFINITY;
    for [a, b] in &edges {
        for (name, place) in (0..n).map(end).chain([origin]) {
            if name != a.0 && name != b.0 {
                least = least.min(from_segment(place, a.1, b.1));
            }
        }
    }
    least
}

fn from_segment(p: [f64; 2], a: [f64; 2], b: [f64; 2]) -> f64 {
    let (d, r) = ([b[0] - a[0], b[1] - a[1]], [p[0] - a[0], p[1] - a[1]]);
    let t = ((r[0] * d[0] + r[1] * d[1]) / (d[0] * d[0] + d[1] * d[1])).clamp(0.0, 1.0);
    let (x, y) = (r[0] - t * d[0], r[1] - t * d[1]);
    (x * x + y * y).sqrt()
}

//! The signed distance to the bodies on a grid: what basting keeps cloth out of, at any girth.

use super::limbs::Limb;
use taffeta::check::{Surface, intersections_between};
use taffeta::math::DVec3;
use taffeta::model::{Collider, Form};

/// Distance of the points of the grid [m]; there are no finer shapes that cloth is hung on.
const GRAIN: f64 = 0.01;
/// How far the grid reaches beyond the bodies [m].
const BEYOND: f64 = 0.05;
/// Points of the grid above the lowest within which all stands on the ground.
const FEET: usize = 10;
/// A place is on the way to the axis of a limb where the body gets deeper by more than this per way [1]; along the axis it hardly does.
const UPHILL: f64 = 0.6;

/// A way out that leads less away from the axis of an arm is that of a finger [1].
const SIDEWAYS: f64 = 0.5;

/// What of a body is nearest.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Part {
    /// With legs.
    Trunk,
    Arm,
    Foot,
}

/// How a place lies to the bodies.
#[derive(Debug, Clone, Copy)]
pub struct Depth {
    /// Distance to the surface, below 0 inside [m].
    pub distance: f64,
    /// The way out.
    pub out: DVec3,
    pub part: Part,
}

/// Distance and girth at the points of a grid around all bodies.
pub struct DistanceField {
    low: DVec3,
    size: [usize; 3],
    distance: Vec<f64>,
    girth: Vec<f64>,
    arm: Vec<bool>,
    /// Height of ankles, and that up to which legs are apart [m].
    pub ankle: f64,
    pub crotch: f64,
    /// Both arms, then both legs, those at less x first; what is not there is left out.
    pub arms: Vec<Limb>,
    pub legs: Vec<Limb>,
    /// From where to where the trunk reaches sideways, with legs, at every height of the grid [m].
    trunk: Vec<[f64; 2]>,
    points: Vec<DVec3>,
    triangles: Vec<[u32; 3]>,
}

impl DistanceField {
    /// The field of all bodies that are meshes, as they are at the start; none without any.
    pub fn new(colliders: &[Collider]) -> Option<Self> {
        let (mut points, mut triangles): (Vec<DVec3>, Vec<[u32; 3]>) = Default::default();
        for collider in colliders {
            let Form::Mesh(mesh) = &collider.form else { continue };
            let first = points.len() as u32;
            points.extend(mesh.points(0.0, &collider.pose(0.0)));
            triangles.extend(mesh.triangles().iter().map(|t| t.map(|i| i + first)));
        }
        if triangles.is_empty() {
            return None;
        }
        // No point of the grid lies on an axis of symmetry, where edges of meshes do.
        let low = points.iter().copied().fold(DVec3::INFINITY, DVec3::min) - BEYOND - 0.371e-3;
        let high = points.iter().copied().fold(DVec3::NEG_INFINITY, DVec3::max) + BEYOND;
        let size = ((high - low) / GRAIN).ceil().to_array().map(|n| n as usize + 1);
        let count = size.iter().product();
        let (distance, girth) = (vec![f64::INFINITY; count], vec![0.0; count]);
        let ankle = points.iter().map(|p| p.y).fold(f64::INFINITY, f64::min) + FEET as f64 * GRAIN;
        let mut field = Self {
            low,
            size,
            distance,
            girth,
            arm: vec![false; count],
            ankle,
            crotch: ankle,
            arms: Vec::new(),
            legs: Vec::new(),
            trunk: Vec::new(),
            points,
            triangles,
        };
        let closest = field.closest();
        let inside = field.inside();
        for (v, (closest, inside)) in closest.iter().zip(&inside).enumerate() {
            let far = closest.distance(field.place(v));
            field.distance[v] = if *inside { -far } else { far };
        }
        field.find_arms();
        field.find_limbs();
        field.measure(&closest);
        Some(field)
    }

    fn coordinates(&self, v: usize) -> [usize; 3] {
        let [x, y, _] = self.size;
        [v % x, v / x % y, v / (x * y)]
    }

    fn index(&self, [i, j, k]: [usize; 3]) -> usize {
        (k * self.size[1] + j) * self.size[0] + i
    }

    fn place(&self, v: usize) -> DVec3 {
        self.low + GRAIN * DVec3::from(self.coordinates(v).map(|c| c as f64))
    }

    /// Neighbours of a point of the grid, all 26 of them that there are.
    fn around(&self, v: usize) -> impl Iterator<Item = usize> + '_ {
        let c = self.coordinates(v);
        (0..27).filter(|n| *n != 13).filter_map(move |n| {
            let step = [n % 3, n / 3 % 3, n / 9];
            let mut to = c;
            for a in 0..3 {
                to[a] = (c[a] + step[a]).checked_sub(1).filter(|t| *t < self.size[a])?;
            }
            Some(self.index(to))
        })
    }

    /// The nearest point of the surface for every point of the grid: exact beside the surface, handed on from neighbour to neighbour elsewhere.
    fn closest(&self) -> Vec<DVec3> {
        let mut closest = vec![DVec3::INFINITY; self.distance.len()];
        let nearer = |closest: &mut Vec<DVec3>, v: usize, p: DVec3| {
            let at = self.place(v);
            if p.distance_squared(at) < closest[v].distance_squared(at) || closest[v].x == f64::INFINITY {
                closest[v] = p;
            }
        };
        for corners in &self.triangles {
            let t = corners.map(|i| self.points[i as usize]);
            let low = (t[0].min(t[1]).min(t[2]) - self.low) / GRAIN - 1.5;
            let high = (t[0].max(t[1]).max(t[2]) - self.low) / GRAIN + 1.5;
            let [low, high] = [low.ceil(), high.floor()].map(|c| c.to_array().map(|c| c as usize));
            for k in low[2]..=high[2] {
                for j in low[1]..=high[1] {
                    for i in low[0]..=high[0] {
                        let v = self.index([i, j, k]);
                        nearer(&mut closest, v, nearest(self.place(v), &t));
                    }
                }
            }
        }
        let [x, y, z] = self.size;
        for sweep in 0..4 {
            for n in 0..closest.len() {
                let v = if sweep % 2 == 0 { n } else { closest.len() - 1 - n };
                let c = self.coordinates(v);
                for (a, (stride, size)) in [(1, x), (x, y), (x * y, z)].into_iter().enumerate() {
                    let from = if sweep % 2 == 0 {
                        (c[a] > 0).then(|| v - stride)
                    } else {
                        (c[a] + 1 < size).then(|| v + stride)
                    };
                    if let Some(from) = from.filter(|from| closest[*from].x != f64::INFINITY) {
                        let p = closest[from];
                        nearer(&mut closest, v, p);
                    }
                }
            }
        }
        closest
    }

    /// Which points of the grid are inside: those that rays along two of the axes at least have entered more often than left. Surfaces may cross
    /// themselves.
    fn inside(&self) -> Vec<bool> {
        let mut votes = vec![0_u8; self.distance.len()];
        for a in 0..3 {
            let [b, c] = [(a + 1) % 3, (a + 2) % 3];
            let mut columns: Vec<Vec<(f64, i32)>> = vec![Vec::new(); self.size[b] * self.size[c]];
            for corners in &self.triangles {
                let t = corners.map(|i| ((self.points[i as usize] - self.low) / GRAIN).to_array());
                let bound = |d: usize, pick: fn(f64, f64) -> f64| pick(pick(t[0][d], t[1][d]), t[2][d]);
                let cross = |p: [f64; 2], q: [f64; 3], r: [f64; 3]| {
                    (q[b] - p[0]) * (r[c] - p[1]) - (q[c] - p[1]) * (r[b] - p[0])
                };
                for j in bound(b, f64::min).ceil() as usize..=bound(b, f64::max).floor() as usize {
                    for k in bound(c, f64::min).ceil() as usize..=bound(c, f64::max).floor() as usize {
                        let p = [j as f64, k as f64];
                        let [u, v, w] = [cross(p, t[1], t[2]), cross(p, t[2], t[0]), cross(p, t[0], t[1])];
                        let all = u + v + w;
                        if all != 0.0 && [u, v, w].iter().all(|side| side * all >= 0.0) {
                            let height = (u * t[0][a] + v * t[1][a] + w * t[2][a]) / all;
                            // A triangle that looks along the ray is where it leaves.
                            columns[j * self.size[c] + k].push((height, if all > 0.0 { -1 } else { 1 }));
                        }
                    }
                }
            }
            for (n, column) in columns.iter_mut().enumerate() {
                column.sort_by(|p, q| p.0.total_cmp(&q.0));
                let (mut passed, mut entered) = (0, 0);
                for i in 0..self.size[a] {
                    while passed < column.len() && column[passed].0 < i as f64 {
                        entered += column[passed].1;
                        passed += 1;
                    }
                    let mut at = [0; 3];
                    (at[a], at[b], at[c]) = (i, n / self.size[c], n % self.size[c]);
                    votes[self.index(at)] += u8::from(entered > 0);
                }
            }
        }
        votes.iter().map(|votes| *votes >= 2).collect()
    }

    /// Marks what hangs beside the trunk: from the ground upwards, all that does not stand on what is below.
    fn find_arms(&mut self) {
        let [x, y, z] = self.size;
        let mut lowest = None;
        for j in 0..y {
            let mut seen = vec![false; x * z];
            for begin in 0..x * z {
                let inside = |c: usize| self.distance[self.index([c % x, j, c / x])] < 0.0;
                if seen[begin] || !inside(begin) {
                    continue;
                }
                let lowest = *lowest.get_or_insert(j);
                let (mut component, mut open, mut stands) = (Vec::new(), vec![begin], j < lowest + FEET);
                seen[begin] = true;
                while let Some(c) = open.pop() {
                    component.push(c);
                    let below = self.index([c % x, j.max(1) - 1, c / x]);
                    stands |= j > 0 && self.distance[below] < 0.0 && !self.arm[below];
                    for to in [c.wrapping_sub(1), c + 1, c.wrapping_sub(x), c + x] {
                        if to < x * z && !seen[to] && inside(to) {
                            seen[to] = true;
                            open.push(to);
                        }
                    }
                }
                if !stands {
                    for c in component {
                        let v = self.index([c % x, j, c / x]);
                        self.arm[v] = true;
                    }
                }
            }
        }
    }

    /// Finds the axes of arms and legs.
    fn find_limbs(&mut self) {
        let inner = || (0..self.distance.len()).filter(|v| self.distance[*v] < 0.0);
        let (sum, count) = inner().fold((0.0, 0.0), |(sum, n), v| (sum + self.place(v).x, n + 1.0));
        let middle = sum / count;
        // Legs are apart up to where the body is closed between them.
        let between = |v: &usize| {
            let p = self.place(*v);
            !self.arm[*v] && (p.x - middle).abs() < GRAIN && p.y > self.ankle
        };
        let crotch = inner().filter(between).map(|v| self.place(v).y).fold(f64::INFINITY, f64::min);
        let limb = |side: f64, towards: DVec3, is_part: &dyn Fn(usize) -> bool| {
            let own = inner().filter(|v| is_part(*v)).map(|v| self.place(v));
            let points: Vec<DVec3> = own.filter(|p| (p.x - middle) * side > 0.0).collect();
            Limb::new(&points, GRAIN, towards)
        };
        let arm = |side: f64| limb(side, DVec3::new(side, -0.5, 0.0), &|v| self.arm[v]);
        let leg = |side: f64| {
            let is_leg = |v: usize| !self.arm[v] && self.place(v).y < crotch && self.place(v).y > self.ankle;
            limb(side, DVec3::NEG_Y, &is_leg)
        };
        let arms = [-1.0, 1.0].into_iter().filter_map(arm).collect();
        let legs = [-1.0, 1.0].into_iter().filter_map(leg).collect();
        let mut trunk = vec![[f64::INFINITY, f64::NEG_INFINITY]; self.size[1]];
        for v in inner().filter(|v| !self.arm[*v]) {
            let (x, [low, high]) = (self.place(v).x, &mut trunk[self.coordinates(v)[1]]);
            (*low, *high) = (low.min(x), high.max(x));
        }
        (self.arms, self.legs, self.crotch, self.trunk) = (arms, legs, crotch, trunk);
    }

    /// Whether a place is in front of the trunk or behind it, not beside it: no further to the side than the trunk reaches within `around` of that height, and
    /// `beyond` [m].
    pub fn is_at_trunk(&self, p: DVec3, around: f64, beyond: f64) -> bool {
        let row = |y: f64| (((y - self.low.y) / GRAIN).max(0.0) as usize).min(self.trunk.len());
        let rows = &self.trunk[row(p.y - around)..row(p.y + around)];
        let low = rows.iter().map(|[low, _]| *low).fold(f64::INFINITY, f64::min);
        let high = rows.iter().map(|[_, high]| *high).fold(f64::NEG_INFINITY, f64::max);
        (low - beyond..=high + beyond).contains(&p.x)
    }

    /// Whether a place is nearer to an arm than to the trunk, seen from the front, and no further from it than `reach` [m].
    pub fn is_at_arm(&self, p: DVec3, reach: f64) -> bool {
        let mut nearest = (reach * reach, false);
        for v in (0..self.distance.len()).filter(|v| self.distance[*v] < 0.0) {
            let way = self.place(v) - p;
            let far = way.x * way.x + way.y * way.y;
            if far < nearest.0 {
                nearest = (far, self.arm[v]);
            }
        }
        nearest.1
    }

    /// Fills in the girth: inside that of the place uphill, on an axis the depth; outside that of the nearest surface.
    fn measure(&mut self, closest: &[DVec3]) {
        let mut inner: Vec<usize> = (0..closest.len()).filter(|v| self.distance[*v] < 0.0).collect();
        inner.sort_by(|v, w| self.distance[*v].total_cmp(&self.distance[*w]));
        for v in inner {
            let slope =
                |u: &usize| (self.distance[v] - self.distance[*u]) / self.place(v).distance(self.place(*u));
            let uphill = self.around(v).max_by(|u, w| slope(u).total_cmp(&slope(w)));
            self.girth[v] = match uphill.filter(|u| slope(u) > UPHILL) {
                Some(u) => self.girth[u],
                None => -self.distance[v],
            };
        }
        for (v, nearest) in closest.iter().enumerate() {
            if self.distance[v] >= 0.0 {
                let within = *nearest + 1.5 * GRAIN * (*nearest - self.place(v)).normalize_or_zero();
                let c = ((within - self.low) / GRAIN).round().to_array().map(|c| c as usize);
                let at = self.index(c);
                self.girth[v] = if self.distance[at] < 0.0 { self.girth[at] } else { 0.0 };
                self.arm[v] = self.arm[at];
            }
        }
    }

    /// Triangles of cloth that intersect a body.
    pub fn pierced(&self, positions: &[DVec3], triangles: &[[u32; 3]]) -> Vec<u32> {
        let body = Surface { positions: &self.points, triangles: &self.triangles };
        let mut pierced: Vec<u32> = intersections_between(Surface { positions, triangles }, body)
            .iter()
            .map(|[cloth, _]| *cloth)
            .collect();
        pierced.dedup();
        pierced
    }

    /// The cell of the grid that a place is in: the first of its points, and the shares of the way to the others; none beyond the grid.
    fn cell(&self, x: DVec3) -> Option<([usize; 3], DVec3)> {
        let g = (x - self.low) / GRAIN;
        let last = DVec3::from(self.size.map(|n| (n - 1) as f64));
        if !(g.cmpge(DVec3::ZERO) & g.cmplt(last)).all() {
            return None;
        }
        let cell = g.to_array().map(|c| c as usize);
        Some((cell, g - DVec3::from(cell.map(|c| c as f64))))
    }

    /// Values at the eight points of a cell, x first, then y.
    fn corners(&self, values: &[f64], cell: [usize; 3]) -> [f64; 8] {
        let v = self.index(cell);
        let [up, back] = [self.size[0], self.size[0] * self.size[1]];
        let [a, b, c, d] = [v, v + up, v + back, v + up + back].map(|w| [values[w], values[w + 1]]);
        [a[0], a[1], b[0], b[1], c[0], c[1], d[0], d[1]]
    }

    /// Distance to the surface, below 0 inside; infinite far from the bodies [m].
    pub fn distance(&self, x: DVec3) -> f64 {
        self.cell(x).map_or(f64::INFINITY, |(cell, f)| between(&self.corners(&self.distance, cell), f))
    }

    /// How a place lies to bodies that lack the share `slim` of their girth, if it is nearer to them than `margin` [m].
    pub fn nearer(&self, x: DVec3, slim: f64, margin: f64) -> Option<Depth> {
        let (cell, f) = self.cell(x)?;
        let corners = self.corners(&self.distance, cell);
        let mut distance = between(&corners, f);
        if slim > 0.0 {
            distance += slim * between(&self.corners(&self.girth, cell), f);
        }
        if distance >= margin {
            return None;
        }
        let nearest: [usize; 3] = std::array::from_fn(|a| cell[a] + usize::from(f[a] > 0.5));
        let part = match () {
            () if self.arm[self.index(nearest)] => Part::Arm,
            () if x.y < self.ankle => Part::Foot,
            () => Part::Trunk,
        };
        Some(Depth { distance, out: slope(&corners, f).normalize_or_zero(), part })
    }

    /// A limb by its place among arms and legs.
    pub fn limb(&self, number: u8) -> &Limb {
        let number = usize::from(number);
        self.arms.get(number).unwrap_or_else(|| &self.legs[number - self.arms.len()])
    }

    /// The way out of the bodies for cloth around this limb, by its place among arms and legs; none far from them.
    pub fn out(&self, x: DVec3, limb: Option<u8>) -> Option<DVec3> {
        let (cell, f) = self.cell(x)?;
        Some(self.around_arm(x, slope(&self.corners(&self.distance, cell), f).normalize_or_zero(), limb))
    }

    /// The way out for cloth around this limb: away from the axis of an arm where the nearest surface is another way. Else fingers would part a sleeve.
    pub fn around_arm(&self, x: DVec3, out: DVec3, limb: Option<u8>) -> DVec3 {
        let arm = limb.and_then(|limb| self.arms.get(usize::from(limb)));
        let away = arm.map_or(out, |arm| (x - arm.axis(x)).normalize_or(out));
        if away.dot(out) < SIDEWAYS { away } else { out }
    }
}

/// The value between the corners of a cell, at these shares of the way along it.
fn between(c: &[f64; 8], f: DVec3) -> f64 {
    let along = |a: f64, b: f64, share: f64| a + share * (b - a);
    let front = along(along(c[0], c[1], f.x), along(c[2], c[3], f.x), f.y);
    let back = along(along(c[4], c[5], f.x), along(c[6], c[7], f.x), f.y);
    along(front, back, f.z)
}

/// The slope of [`between`], per cell.
fn slope(c: &[f64; 8], f: DVec3) -> DVec3 {
    let plane = |[a, b, c, d]: [f64; 4], u: f64, v: f64| {
        (1.0 - v) * ((1.0 - u) * a + u * b) + v * ((1.0 - u) * c + u * d)
    };
    DVec3::new(
        plane([c[1] - c[0], c[3] - c[2], c[5] - c[4], c[7] - c[6]], f.y, f.z),
        plane([c[2] - c[0], c[3] - c[1], c[6] - c[4], c[7] - c[5]], f.x, f.z),
        plane([c[4] - c[0], c[5] - c[1], c[6] - c[2], c[7] - c[3]], f.x, f.y),
    )
}

/// The point of a triangle that is nearest (Ericson 2005, §5.1.5).
fn nearest(p: DVec3, [a, b, c]: &[DVec3; 3]) -> DVec3 {
    let (ab, ac, ap) = (*b - *a, *c - *a, p - *a);
    let (d1, d2) = (ab.dot(ap), ac.dot(ap));
    if d1 <= 0.0 && d2 <= 0.0 {
        return *a;
    }
    let bp = p - *b;
    let (d3, d4) = (ab.dot(bp), ac.dot(bp));
    if d3 >= 0.0 && d4 <= d3 {
        return *b;
    }
    let vc = d1 * d4 - d3 * d2;
    if vc <= 0.0 && d1 >= 0.0 && d3 <= 0.0 {
        return *a + d1 / (d1 - d3) * ab;
    }
    let cp = p - *c;
    let (d5, d6) = (ab.dot(cp), ac.dot(cp));
    if d6 >= 0.0 && d5 <= d6 {
        return *c;
    }
    let vb = d5 * d2 - d1 * d6;
    if vb <= 0.0 && d2 >= 0.0 && d6 <= 0.0 {
        return *a + d2 / (d2 - d6) * ac;
    }
    let va = d3 * d6 - d5 * d4;
    if va <= 0.0 && d4 >= d3 && d5 >= d6 {
        return *b + (d4 - d3) / ((d4 - d3) + (d5 - d6)) * (*c - *b);
    }
    let all = 1.0 / (va + vb + vc);
    *a + vb * all * ab + vc * all * ac
}

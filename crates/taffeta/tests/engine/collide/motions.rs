//! Surfaces, motions and boxes to look for pairs in.
#![allow(dead_code)] // every test file uses its own part

use taffeta::collide::broad_phase::boxes::Bounds;
use taffeta::collide::surface::{CollisionSurface, Object};
use taffeta::math::random::Random;
use taffeta::math::{DVec3, trig};

/// A surface, which points are movable, and where they go from and to.
pub struct Motion {
    pub surface: CollisionSurface,
    pub movable: Vec<bool>,
    pub from: Vec<DVec3>,
    pub to: Vec<DVec3>,
}

/// Gathers objects one after another.
#[derive(Default)]
pub struct Parts {
    pub points: Vec<DVec3>,
    pub triangles: Vec<[u32; 3]>,
    pub objects: Vec<Object>,
}

impl Parts {
    pub fn add(&mut self, points: &[DVec3], triangles: &[[u32; 3]], radius: f64, body: Option<usize>) {
        let (p, t) = (self.points.len(), self.triangles.len());
        self.points.extend(points);
        self.triangles.extend(triangles.iter().map(|t| t.map(|i| i + p as u32)));
        self.objects.push(Object {
            points: p..self.points.len(),
            triangles: t..self.triangles.len(),
            radius,
            self_distance: if body.is_some() { 0.0 } else { 1.5 * radius },
            friction: None,
            body,
        });
    }

    /// A motion from where the parts stand; bodies and every `pinned`th point are not movable.
    pub fn moved(self, to: Vec<DVec3>, pinned: usize) -> Motion {
        let cloths = self.objects.iter().filter(|o| o.body.is_none());
        let particles = cloths.map(|o| o.points.end).max().unwrap_or(0);
        let movable = (0..self.points.len()).map(|p| p < particles && p % pinned != 0).collect();
        let from = self.points.clone();
        let surface = CollisionSurface::of_parts(particles, self.points, self.triangles, self.objects);
        Motion { surface, movable, from, to }
    }
}

/// A square sheet of `n` by `n` points with sides of 1 m; diagonals alternate.
pub fn sheet(n: u32) -> (Vec<DVec3>, Vec<[u32; 3]>) {
    let at = |i: u32| f64::from(i) / f64::from(n - 1);
    let points = (0..n * n).map(|k| DVec3::new(at(k % n), 0.0, at(k / n))).collect();
    let quad = |k: u32| {
        let (i, j) = (k % (n - 1), k / (n - 1));
        let a = j * n + i;
        let (b, c, d) = (a + 1, a + n, a + n + 1);
        if (i + j) % 2 == 0 { [[a, c, d], [a, d, b]] } else { [[a, c, b], [b, c, d]] }
    };
    (points, (0..(n - 1) * (n - 1)).flat_map(quad).collect())
}

pub fn random_vector(random: &mut Random, size: f64) -> DVec3 {
    DVec3::from_array([(); 3].map(|_| random.between(-size, size)))
}

/// Two crumpled sheets and four bodies, all moving.
pub fn crowd(seed: u64) -> Motion {
    let mut random = Random::new(seed);
    let mut parts = Parts::default();
    for (n, radius) in [(9, 0.01), (6, 0.02)] {
        let (points, triangles) = sheet(n);
        let rough = [0.002, 0.02, 0.2][random.below(3)];
        let shift = random_vector(&mut random, 0.3);
        let points: Vec<_> = points.iter().map(|p| *p + shift + random_vector(&mut random, rough)).collect();
        parts.add(&points, &triangles, radius, None);
    }
    let place = |random: &mut Random| DVec3::new(0.5, 0.0, 0.5) + random_vector(random, 0.5);
    parts.add(&[place(&mut random)], &[[0; 3]], 0.2, Some(0));
    parts.add(&[place(&mut random), place(&mut random)], &[[0, 1, 1]], 0.1, Some(1));
    let corners = [(); 4].map(|_| place(&mut random));
    parts.add(&corners, &[[0, 1, 2], [0, 3, 1], [1, 3, 2], [2, 3, 0]], 0.0, Some(2));
    let speed = [0.0, 0.01, 0.1, 1.0][random.below(4)];
    let together = random_vector(&mut random, 1.0);
    let to = parts.points.iter().map(|p| *p + together + random_vector(&mut random, speed)).collect();
    parts.moved(to, [1_000_000, 7, 2][random.below(3)])
}

/// A sheet that sways over a ball, at moments that go round.
pub fn swaying() -> (Motion, Vec<Vec<DVec3>>) {
    let (points, triangles) = sheet(20);
    let mut parts = Parts::default();
    parts.add(&points, &triangles, 0.004, None);
    parts.add(&[DVec3::new(0.5, -0.31, 0.5)], &[[0; 3]], 0.3, Some(0));
    let motion = parts.moved(points, 1_000_000);
    let sway = |step: usize| -> Vec<DVec3> {
        let far = 0.02 * trig::sin(0.1 * (step % 63) as f64);
        motion.from.iter().map(|p| *p + far * DVec3::new(0.0, trig::sin(20.0 * p.x), p.z)).collect()
    };
    let moments = (0..64).map(sway).collect();
    (motion, moments)
}

/// The published mesh `name`, if it is there.
pub fn published(name: &str) -> Option<(Vec<DVec3>, Vec<[u32; 3]>)> {
    let path = testing::reference_data(&format!("collision-meshes/{name}"))?;
    let text = std::fs::read_to_string(path).unwrap();
    let lines = |kind: &'static str| text.lines().filter_map(move |line| line.strip_prefix(kind));
    let three = |line: &str| -> Vec<f64> {
        line.split_whitespace().map(|word| word.split('/').next().unwrap().parse().unwrap()).collect()
    };
    let points = lines("v ").map(|l| DVec3::from_slice(&three(l))).collect();
    let triangles = lines("f ").map(|l| [0, 1, 2].map(|k| three(l)[k] as u32 - 1)).collect();
    Some((points, triangles))
}

/// Balls that wander about; a box belongs to each.
pub struct Swarm {
    pub centres: Vec<DVec3>,
    pub radii: Vec<f64>,
    random: Random,
}

impl Swarm {
    pub fn new(count: usize, seed: u64) -> Self {
        let mut random = Random::new(seed);
        let centres = (0..count).map(|_| random_vector(&mut random, 1.0)).collect();
        let radii = (0..count).map(|_| random.between(0.0, 0.25)).collect();
        Self { centres, radii, random }
    }

    pub fn wander(&mut self, far: f64) {
        // Some stay where they are.
        for k in 0..self.centres.len() {
            if self.random.below(4) > 0 {
                self.centres[k] += random_vector(&mut self.random, far);
            }
        }
    }

    pub fn boxes(&self) -> Vec<Bounds> {
        self.centres.iter().zip(&self.radii).map(|(c, r)| Bounds::around(*c, *c, *r)).collect()
    }
}

/// What a tree tells, sorted, smaller number first in pairs within.
pub fn within(walk: impl FnOnce(&mut dyn FnMut(u32, u32))) -> Vec<[u32; 2]> {
    let mut pairs = Vec::new();
    walk(&mut |i, j| pairs.push([i.min(j), i.max(j)]));
    pairs.sort_unstable();
    pairs
}

/// The boxes of `a` and `b` that meet and are `good`, by trying all.
pub fn brute(a: &[Bounds], b: &[Bounds], good: impl Fn(usize, usize) -> bool) -> Vec<[u32; 2]> {
    let all = (0..a.len()).flat_map(|i| (0..b.len()).map(move |j| (i, j)));
    all.filter(|(i, j)| good(*i, *j) && a[*i].meets(&b[*j])).map(|(i, j)| [i as u32, j as u32]).collect()
}

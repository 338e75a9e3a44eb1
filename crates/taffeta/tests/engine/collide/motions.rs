//! Surfaces and motions to look for pairs in.
#![allow(dead_code)] // every test file uses its own part

use taffeta::collide::surface::{CollisionSurface, Object};
use taffeta::math::DVec3;
use taffeta::math::random::Random;

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

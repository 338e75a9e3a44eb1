//! A sheet that falls, rolls up, twists and wrinkles by formula: motion for detection, of any size, without a solver.

use taffeta::collide::surface::{CollisionSurface, Object};
use taffeta::math::{DVec3, trig};

/// A square sheet of 1 m.
pub struct MovingSheet {
    /// Points, edges and triangles.
    pub surface: CollisionSurface,
    /// Length of the sides of quads [m].
    pub edge: f64,
}

/// Time from step to step [s], and when the sheet is first looked at [s].
pub const STEP: f64 = 1.0 / 600.0;
pub const START: f64 = 0.5;
/// Thickness of the cloth [m], but never more than a quarter of an edge.
const THICKNESS: f64 = 1e-3;

impl MovingSheet {
    /// About so many triangles.
    pub fn new(triangles: usize) -> Self {
        let n = (((triangles / 2) as f64).sqrt() as u32).clamp(1, 4000) + 1;
        let edge = 1.0 / f64::from(n - 1);
        let place = |k: u32| DVec3::new(edge * f64::from(k % n) - 0.5, 0.0, edge * f64::from(k / n) - 0.5);
        let quad = |k: u32| {
            let (i, j) = (k % (n - 1), k / (n - 1));
            let a = j * n + i;
            let (b, c, d) = (a + 1, a + n, a + n + 1);
            // Diagonals alternate, as in the sheets of scenes.
            if (i + j) % 2 == 0 { [[a, c, d], [a, d, b]] } else { [[a, c, b], [b, c, d]] }
        };
        let rest: Vec<DVec3> = (0..n * n).map(place).collect();
        let triangles: Vec<[u32; 3]> = (0..(n - 1) * (n - 1)).flat_map(quad).collect();
        let thickness = THICKNESS.min(0.25 * edge);
        let sheet = Object {
            points: 0..rest.len(),
            triangles: 0..triangles.len(),
            radius: 0.5 * thickness,
            self_distance: thickness,
            friction: None,
            body: None,
        };
        Self { surface: CollisionSurface::of_parts(rest.len(), rest, triangles, vec![sheet]), edge }
    }

    /// Where its points are at a time [s]; it falls for about a second.
    pub fn at(&self, time: f64, out: &mut Vec<DVec3>) {
        let (roll, twist, fall) = (0.5 + 4.5 * time, 2.5 * time, 4.9 * time * time);
        out.clear();
        out.extend(self.surface.rest.iter().map(|p| {
            let wrinkle = 0.01 * trig::sin(40.0 * p.x + 20.0 * p.z + 5.0 * time);
            let radius = 1.0 / roll - wrinkle;
            let (x, y) = (radius * trig::sin(roll * p.x), 1.0 / roll - radius * trig::cos(roll * p.x));
            let (s, c) = (trig::sin(twist * p.z), trig::cos(twist * p.z));
            DVec3::new(c * x - s * y, s * x + c * y - fall, p.z)
        }));
    }
}

//! Cloth made by numbers: sheets, strips, discs, tubes.

use crate::scene::{Ball, Disc, Mesh, Sheet, Strip, Tube};
use std::f64::consts::TAU;
use taffeta::math::{DVec3, trig};

/// A shape at rest, and where its particles start.
#[derive(Clone)]
pub struct Blank {
    /// The surface at rest, u along x, v along -z.
    pub rest: Mesh,
    /// Where the particles start, before the cloth is placed [m].
    pub start: Vec<DVec3>,
}

impl Blank {
    /// A surface that starts as it is.
    pub fn at_rest(rest: Mesh) -> Self {
        Self { start: rest.positions.clone(), rest }
    }
}

/// A rectangle; with `slack` below 1 its rows start as arcs that sag.
pub fn sheet(sheet: &Sheet) -> Blank {
    let (columns, rows) = (sheet.columns, sheet.rows);
    let rest = grid(columns, rows, sheet.width, sheet.height, false);
    let mut start = rest.positions.clone();
    if sheet.slack < 1.0 {
        let arc = sagging_arc(columns as usize - 1, sheet.width, sheet.slack);
        for (i, p) in start.iter_mut().enumerate() {
            let (x, y) = arc[i % columns as usize];
            *p = DVec3::new(x, y, p.z);
        }
    }
    Blank { rest, start }
}

/// A narrow rectangle of nearly square cells.
pub fn strip(strip: &Strip) -> Blank {
    let rows = strip.cells_across() as u32 + 1;
    Blank::at_rest(grid(strip.segments + 1, rows, strip.length, strip.width, false))
}

/// An open tube along y; its material is the sheet it was rolled from.
pub fn tube(tube: &Tube) -> Blank {
    let around = tube.segments;
    // Chords of equal length; the sheet's width is their sum, so that every edge is at rest.
    let chord = 2.0 * tube.radius * trig::sin(0.5 * TAU / f64::from(around));
    let mut rest = grid(around, tube.rows, chord * f64::from(around - 1), tube.length, true);
    let rows_apart = tube.length / f64::from(tube.rows - 1);
    rest.positions = (0..tube.rows * around)
        .map(|i| {
            let angle = TAU * f64::from(i % around) / f64::from(around);
            let y = f64::from(i / around) * rows_apart - 0.5 * tube.length;
            DVec3::new(tube.radius * trig::sin(angle), y, tube.radius * trig::cos(angle))
        })
        .collect();
    Blank::at_rest(rest)
}

/// A disc whose k-th ring has 6 k particles, so that all triangles are nearly equilateral.
pub fn disc(disc: &Disc) -> Blank {
    let first_of = |ring: u32| if ring == 0 { 0 } else { 1 + 3 * ring * (ring - 1) };
    let mut mesh = Mesh { positions: vec![DVec3::ZERO], ..Mesh::default() };
    for ring in 1..=disc.rings {
        let radius = disc.radius * f64::from(ring) / f64::from(disc.rings);
        mesh.positions.extend((0..6 * ring).map(|i| {
            let angle = TAU * f64::from(i) / f64::from(6 * ring);
            DVec3::new(radius * trig::cos(angle), 0.0, -radius * trig::sin(angle))
        }));
        let outer = |i: u32| first_of(ring) + i % (6 * ring);
        let inner = |i: u32| first_of(ring - 1) + if ring == 1 { 0 } else { i % (6 * (ring - 1)) };
        for sector in 0..6 {
            for i in 0..ring {
                let (o, n) = (sector * ring + i, sector * (ring - 1) + i);
                mesh.triangles.push([inner(n), outer(o), outer(o + 1)]);
                if i + 1 < ring {
                    mesh.triangles.push([inner(n), outer(o + 1), inner(n + 1)]);
                }
            }
        }
    }
    mesh.material = mesh.positions.iter().map(|p| [p.x, -p.z]).collect();
    Blank::at_rest(mesh)
}

/// A ball: an octahedron whose faces are cut into small triangles and blown up. Ring k from a pole has 4 k particles.
pub fn ball(ball: &Ball) -> Blank {
    let rings = ball.rings;
    let size = |ring: u32| ring.min(2 * rings - ring);
    let count = |ring: u32| (4 * size(ring)).max(1);
    let first_of = |ring: u32| (0..ring).map(count).sum::<u32>();
    let mut mesh = Mesh::default();
    for ring in 0..=2 * rings {
        let (k, y) = (size(ring), f64::from(rings) - f64::from(ring));
        for i in 0..count(ring) {
            // Along the sides of a square: towards +z, then +x and so on, seen from above against the clock.
            let corners = [(1.0, 0.0), (0.0, -1.0), (-1.0, 0.0), (0.0, 1.0), (1.0, 0.0)];
            // A pole is a square without sides.
            let (side, along) = (i / k.max(1), f64::from(i % k.max(1)));
            let ((x0, z0), (x1, z1)) = (corners[side as usize], corners[side as usize + 1]);
            let (back, far) = (f64::from(k) - along, along);
            let p = DVec3::new(x0 * back + x1 * far, y, z0 * back + z1 * far);
            mesh.positions.push(p * (ball.radius / p.length()));
        }
    }
    for ring in 0..2 * rings {
        // Towards the equator rings grow, behind it they shrink: the same triangles, turned over.
        let grows = ring < rings;
        let (small, large) = if grows { (ring, ring + 1) } else { (ring + 1, ring) };
        let (few, many) = (size(small), size(large));
        let (inner, outer) = (first_of(small), first_of(large));
        let inner = |i: u32| inner + i % count(small);
        let outer = |i: u32| outer + i % count(large);
        let mut push = |[a, b, c]: [u32; 3]| mesh.triangles.push(if grows { [a, b, c] } else { [a, c, b] });
        for side in 0..4 {
            for i in 0..many {
                let (n, o) = (side * few + i, side * many + i);
                push([inner(n), outer(o), outer(o + 1)]);
                if i + 1 < many {
                    push([inner(n), outer(o + 1), inner(n + 1)]);
                }
            }
        }
    }
    Blank::at_rest(mesh)
}

/// Quads over rows and columns, centred, in the plane y = 0.
fn grid(columns: u32, rows: u32, width: f64, height: f64, closed: bool) -> Mesh {
    let (du, dv) = (width / f64::from(columns - 1), height / f64::from(rows - 1));
    let mut mesh = Mesh::default();
    for r in 0..rows {
        for c in 0..columns {
            let (u, v) = (f64::from(c) * du, f64::from(r) * dv);
            mesh.positions.push(DVec3::new(u - 0.5 * width, 0.0, 0.5 * height - v));
            mesh.material.push([u, v]);
        }
    }
    let across = if closed { columns } else { columns - 1 };
    for r in 0..rows - 1 {
        for c in 0..across {
            let (a, b) = (r * columns + c, r * columns + (c + 1) % columns);
            mesh.quads.push([a, b, b + columns, a + columns]);
        }
    }
    mesh
}

/// Points (x, y) of a polygon of equal segments on a circle that sags between ends `slack * width` apart.
fn sagging_arc(segments: usize, width: f64, slack: f64) -> Vec<(f64, f64)> {
    let n = segments as f64;
    let d = width / n;
    // The chord over n segments that each turn by a is d sin(n a / 2) / sin(a / 2); it falls as a grows to TAU / n.
    let chord = |a: f64| d * trig::sin(0.5 * n * a) / trig::sin(0.5 * a);
    let (mut low, mut high) = (1e-9, TAU / n);
    for _ in 0..200 {
        let middle = 0.5 * (low + high);
        if chord(middle) > slack * width { low = middle } else { high = middle }
    }
    let turn = 0.5 * (low + high);
    let mut points = vec![(-0.5 * slack * width, 0.0)];
    for i in 0..segments {
        let heading = (i as f64 - 0.5 * (n - 1.0)) * turn;
        let (x, y) = points[i];
        points.push((x + d * trig::cos(heading), y + d * trig::sin(heading)));
    }
    points
}

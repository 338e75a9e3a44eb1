//! Panels that start in one another or in a body are moved until they are clear.

use crate::build::shapes::Blank;
use taffeta::check::{Surface, against_mesh};
use taffeta::math::DVec3;
use taffeta::model::{Collider, Form};

/// How far panels keep from one another and from bodies at the start [m].
const GAP: f64 = 3e-3;
/// How far a panel moves at a time [m].
const STEP: f64 = 5e-3;
/// The most such moves; what is not clear by then stays as it is, and the certificate of the start tells it.
const MOVES: u32 = 200;

/// Moves panels apart along the line between their middles, and out of bodies to the side that they look to.
pub fn clear(panels: &mut [Blank], colliders: &[Collider]) {
    let bodies: Vec<(Vec<DVec3>, &[[u32; 3]])> = colliders.iter().filter_map(points_at_start).collect();
    let mut moved = vec![true; panels.len()];
    for _ in 0..MOVES {
        let mut moves = vec![DVec3::ZERO; panels.len()];
        let ranges: Vec<[DVec3; 2]> = panels.iter().map(|panel| bounds(&panel.start)).collect();
        let surfaces: Vec<Surface> = panels.iter().map(surface).collect();
        for a in 0..panels.len() {
            for b in (0..a).filter(|b| (moved[a] || moved[*b]) && near(&ranges[a], &ranges[*b])) {
                if against_mesh(surfaces[a], surfaces[b]).min_gap < GAP {
                    let way = (middle(&panels[a]) - middle(&panels[b])).normalize_or(facing(&panels[a]));
                    moves[a] += STEP * way;
                    moves[b] -= STEP * way;
                }
            }
            for (points, triangles) in
                bodies.iter().filter(|(points, _)| moved[a] && near(&ranges[a], &bounds(points)))
            {
                if against_mesh(surfaces[a], Surface { positions: points, triangles }).min_gap < GAP {
                    moves[a] += STEP * facing(&panels[a]);
                }
            }
        }
        moved = moves.iter().map(|way| *way != DVec3::ZERO).collect();
        if !moved.contains(&true) {
            return;
        }
        for (panel, way) in panels.iter_mut().zip(&moves) {
            panel.start.iter_mut().for_each(|p| *p += *way);
        }
    }
}

fn points_at_start(collider: &Collider) -> Option<(Vec<DVec3>, &[[u32; 3]])> {
    match &collider.form {
        Form::Mesh(mesh) => Some((mesh.points(0.0, &collider.pose(0.0)), mesh.triangles())),
        Form::Closed(_) => None,
    }
}

fn surface(panel: &Blank) -> Surface<'_> {
    Surface { positions: &panel.start, triangles: &panel.rest.triangles }
}

fn bounds(points: &[DVec3]) -> [DVec3; 2] {
    let low = points.iter().copied().fold(DVec3::INFINITY, DVec3::min);
    [low, points.iter().copied().fold(DVec3::NEG_INFINITY, DVec3::max)]
}

fn near([a, b]: &[DVec3; 2], [c, d]: &[DVec3; 2]) -> bool {
    (*a - GAP).cmple(*d).all() && (*c - GAP).cmple(*b).all()
}

fn middle(panel: &Blank) -> DVec3 {
    panel.start.iter().sum::<DVec3>() / panel.start.len() as f64
}

/// The side that a panel looks to, on average.
fn facing(panel: &Blank) -> DVec3 {
    let normal = |corners: &[u32; 3]| {
        let [a, b, c] = corners.map(|i| panel.start[i as usize]);
        (b - a).cross(c - a)
    };
    panel.rest.triangles.iter().map(normal).sum::<DVec3>().normalize_or_zero()
}

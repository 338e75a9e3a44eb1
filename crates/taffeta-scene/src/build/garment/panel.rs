//! One panel: its outline sampled, filled with a grid along warp and weft, triangulated, and placed where it starts.

use crate::build::shapes::Blank;
use crate::scene::outline::{Outline, Run};
use crate::scene::{Garment, Mesh, Panel};
use spade::handles::FixedVertexHandle;
use spade::{ConstrainedDelaunayTriangulation, Point2, Triangulation};
use taffeta::math::{DVec2, DVec3, Pose, trig};

type Drawing = ConstrainedDelaunayTriangulation<Point2<f64>>;

/// Points of the grid keep this far from the outline, as a share of its cells: no edge gets much shorter than the others.
const CLEAR: f64 = 0.6;
/// Smaller coordinates are 0, for the triangulation cannot tell them from it [m].
const NOTHING: f64 = 1e-12;

/// Particles along an edge where it is sewn, station by station; the two sides of a dart are one station with two particles.
pub type Stations = Vec<[u32; 2]>;

/// A panel cut out.
pub struct PanelCut {
    /// The panel at rest, and where it starts.
    pub blank: Blank,
    /// The stations of every edge.
    pub edges: Vec<Stations>,
    /// Particles on both sides of darts that are sewn together.
    pub darts: Vec<[u32; 2]>,
}

/// Why a panel cannot be cut at the length that is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("its outline crosses itself when it is drawn with edges of the length asked for")]
pub struct TooCoarse;

/// Cuts a panel into cells of this length [m]; its edge `e` has `pieces[e]` pieces.
pub fn cut(
    garment: &Garment,
    panel: &Panel,
    outline: &Outline,
    pieces: &[u32],
    cell: f64,
) -> Result<PanelCut, TooCoarse> {
    let mut points = Vec::new();
    let (edges, darts) = walk(panel, outline, pieces, cell, &mut points);
    let border = points.len();
    fill(panel, cell, &mut points);
    let triangles = triangulate(&points, border)?;
    let angle = panel.warp.to_radians();
    let warp = DVec2::new(trig::cos(angle), trig::sin(angle));
    let material: Vec<[f64; 2]> = points.iter().map(|p| [p.dot(warp), warp.perp_dot(*p)]).collect();
    let positions = material.iter().map(|[u, v]| DVec3::new(*u, 0.0, -v)).collect();
    let rest = Mesh { positions, triangles, material, ..Mesh::default() };
    Ok(PanelCut { blank: Blank { rest, start: start(garment, panel, &points) }, edges, darts })
}

/// Samples the outline into `points`; returns the stations of every edge and the pairs of all darts.
fn walk(
    panel: &Panel,
    outline: &Outline,
    pieces: &[u32],
    edge_length: f64,
    points: &mut Vec<DVec2>,
) -> (Vec<Stations>, Vec<[u32; 2]>) {
    let mut edges = vec![Stations::new(); panel.edge.len()];
    let mut sides: Vec<[Vec<u32>; 2]> = vec![[Vec::new(), Vec::new()]; panel.dart.len()];
    for (k, (run, curve)) in outline.runs.iter().enumerate() {
        let count = match run {
            Run::Edge(edge) => share(outline, *edge, k, pieces[*edge]),
            Run::In(_) | Run::Out(_) => (curve.length() / edge_length).round().max(1.0) as u32,
        };
        let first = points.len() as u32;
        points.extend(
            curve.samples(count).map(|p| DVec2::select(p.abs().cmplt(DVec2::splat(NOTHING)), DVec2::ZERO, p)),
        );
        let particles = first..=first + count;
        match run {
            Run::Edge(edge) => {
                let stations = &mut edges[*edge];
                // Behind a dart the first station is the last one before it.
                if let Some(last) = stations.last_mut() {
                    last[1] = first;
                }
                let skip = usize::from(!stations.is_empty());
                stations.extend(particles.skip(skip).map(|p| [p; 2]));
            }
            Run::In(dart) => sides[*dart][0] = particles.collect(),
            Run::Out(dart) => sides[*dart][1] = particles.rev().collect(),
        }
    }
    // The outline ends where it starts.
    let count = points.len() as u32;
    let around = |pair: &mut [u32; 2]| *pair = pair.map(|p| p % count);
    edges.iter_mut().flatten().for_each(around);
    let darts = sides.iter().flat_map(|[a, b]| a.iter().zip(b).map(|(p, q)| [*p, *q]));
    (edges, darts.filter(|[p, q]| p != q).collect())
}

/// How many of an edge's pieces belong to run `k`: by its share of the length, and at least one.
fn share(outline: &Outline, edge: usize, k: usize, pieces: u32) -> u32 {
    let runs: Vec<usize> =
        (0..outline.runs.len()).filter(|r| outline.runs[*r].0 == Run::Edge(edge)).collect();
    let all = outline.sewn_length(edge);
    let (mut far, mut given) = (0.0, 0);
    for (place, r) in runs.iter().enumerate() {
        far += outline.runs[*r].1.length();
        if pieces == 0 {
            return 0;
        }
        let left = (runs.len() - 1 - place) as u32;
        let until = ((far / all * f64::from(pieces)).round() as u32).clamp(given + 1, pieces - left);
        if *r == k {
            return until - given;
        }
        given = until;
    }
    1
}

/// Adds the points of a grid along warp and weft that lie inside and clear of the outline, which are the points so far.
///
/// The grid fits the panel's size, so that a rectangle along the warp gets square cells throughout.
fn fill(panel: &Panel, edge_length: f64, points: &mut Vec<DVec2>) {
    let angle = panel.warp.to_radians();
    // Warps along the axes of the drawing are exactly so.
    let exact = |c: f64| if (c - c.round()).abs() < 1e-15 { c.round() } else { c };
    let warp = DVec2::new(exact(trig::cos(angle)), exact(trig::sin(angle)));
    let turned = |p: &DVec2| DVec2::new(p.dot(warp), warp.perp_dot(*p));
    let low = points.iter().map(turned).fold(DVec2::INFINITY, DVec2::min);
    let size = points.iter().map(turned).fold(DVec2::NEG_INFINITY, DVec2::max) - low;
    let cells = (size / edge_length).round().max(DVec2::ONE);
    let step = size / cells;
    let outline = points.clone();
    let clear = CLEAR * step.min_element().min(edge_length);
    for i in 1..cells.x as u32 {
        for j in 1..cells.y as u32 {
            let at = low + step * DVec2::new(f64::from(i), f64::from(j));
            let p = warp * at.x + warp.perp() * at.y;
            if is_inside(&outline, p) && is_clear(&outline, p, clear) {
                points.push(p);
            }
        }
    }
}

fn sides(outline: &[DVec2]) -> impl Iterator<Item = [DVec2; 2]> {
    (0..outline.len()).map(|k| [outline[k], outline[(k + 1) % outline.len()]])
}

/// Whether a ray to the right leaves an outline through an odd number of sides.
fn is_inside(outline: &[DVec2], p: DVec2) -> bool {
    let leaves = |[a, b]: &[DVec2; 2]| {
        (a.y > p.y) != (b.y > p.y) && p.x < a.x + (p.y - a.y) / (b.y - a.y) * (b.x - a.x)
    };
    sides(outline).filter(leaves).count() % 2 == 1
}

fn is_clear(outline: &[DVec2], p: DVec2, distance: f64) -> bool {
    sides(outline).all(|[a, b]| {
        let (along, to) = (b - a, p - a);
        let share = (to.dot(along) / along.length_squared()).clamp(0.0, 1.0);
        (to - share * along).length_squared() >= distance * distance
    })
}

/// The triangles inside the outline, which are the first `border` points.
fn triangulate(points: &[DVec2], border: usize) -> Result<Vec<[u32; 3]>, TooCoarse> {
    let corners = points.iter().map(|p| Point2::new(p.x, p.y)).collect();
    let sides = (0..border).map(|k| [k, (k + 1) % border]).collect();
    let mut crossing = false;
    let cdt = Drawing::try_bulk_load_cdt(corners, sides, |_| crossing = true).map_err(|_| TooCoarse)?;
    if crossing || cdt.num_vertices() != points.len() {
        return Err(TooCoarse);
    }
    Ok(inner_faces(&cdt, border))
}

/// The faces to the left of the border, and all that are reached from them without crossing it.
fn inner_faces(cdt: &Drawing, border: usize) -> Vec<[u32; 3]> {
    let corner = |k: usize| FixedVertexHandle::from_index(k % border);
    let mut inside = vec![false; cdt.num_all_faces()];
    let mut open: Vec<_> = (0..border)
        .filter_map(|k| cdt.get_edge_from_neighbors(corner(k), corner(k + 1))?.face().as_inner())
        .collect();
    while let Some(face) = open.pop() {
        if !std::mem::replace(&mut inside[face.index()], true) {
            let inner = face.adjacent_edges().into_iter().filter(|edge| !edge.is_constraint_edge());
            open.extend(inner.filter_map(|edge| edge.rev().face().as_inner()));
        }
    }
    let found = cdt.inner_faces().filter(|face| inside[face.index()]);
    found.map(|face| face.vertices().map(|v| v.index() as u32)).collect()
}

/// Where the points of a panel start [m].
fn start(garment: &Garment, panel: &Panel, points: &[DVec2]) -> Vec<DVec3> {
    let pose = |position: [f64; 3], rotation: [f64; 3]| Pose::from_degrees(position.into(), rotation.into());
    let [position, rotation] = garment.placed(panel);
    let (own, whole) = (pose(position, rotation), pose(garment.position, garment.rotation));
    let shaped = |p: &DVec2| match &panel.wrap {
        Some(wrap) => {
            let angle = wrap.angle.to_radians() + p.x / wrap.radius;
            DVec3::new(wrap.radius * trig::sin(angle), p.y, wrap.radius * trig::cos(angle))
        }
        None => DVec3::new(p.x, p.y, 0.0),
    };
    points.iter().map(|p| whole.to_world(own.to_world(shaped(p)))).collect()
}

//! Cloth that intersects is moved apart after a step: slowly, under the contact pipeline, and by bending alone. What passes freely is what intersects already.

use crate::check::{self, Surface};
use crate::collide::ccd::distance::PairKind;
use crate::collide::contact::through::{Crossing, Mesh, through};
use crate::collide::contact::untangle::{ways_apart, ways_out};
use crate::collide::surface;
use crate::collide::{CcdStats, ContactPipeline};
use crate::math::DVec3;
use crate::model::{Environment, Form, Model, PosedShape, State};

/// Shares of the whole way that are tried, one after the other.
const SHARES: [f64; 4] = [1.0, 0.5, 0.25, 0.125];
/// Sweeps over the edges that bring them back within their bounds.
const SWEEPS: usize = 20;
/// Share of the room between its bounds that a sweep aims at for an edge: what is left of an error is then still within them [1].
const AIMED_AT: f64 = 0.8;

/// What intersects.
#[derive(Debug, Default)]
pub struct Intersections {
    /// Pairs of triangles of cloth.
    cloth: Vec<[u32; 2]>,
    /// Of closed-form solids, as numbers of colliders, the triangles of cloth that cut into them.
    solids: Vec<(usize, Vec<u32>)>,
    /// Of bodies with faces, pairs of a triangle of cloth and one of the body; and what has gone through them.
    meshes: Vec<(usize, Vec<[u32; 2]>)>,
    through: Vec<(usize, Crossing)>,
}

impl Intersections {
    /// Of a state.
    pub fn of(model: &Model, state: &State) -> Self {
        let cloth = Surface { positions: &state.positions, triangles: &model.triangles };
        let mut found = Self::default();
        if model.cloth_meets_cloth {
            found.cloth = check::self_intersections(cloth.positions, cloth.triangles);
        }
        for (number, (collider, pose)) in model.colliders.iter().zip(model.poses(state)).enumerate() {
            let cut = match surface::faces(&collider.form, state.time, &pose) {
                None => Vec::new(),
                Some((points, triangles)) => {
                    let body = Surface { positions: &points, triangles: &triangles };
                    let pairs = check::intersections_between(cloth, body);
                    let [cloth, body] =
                        [cloth, body].map(|of| Mesh { points: of.positions, triangles: of.triangles });
                    // Out of solids particles are led by contacts of their own.
                    let is_solid = matches!(collider.form, Form::Closed(_));
                    let back = |(_, kind): &Crossing| !is_solid || *kind == PairKind::EdgeEdge;
                    let crossings = if is_led_back(model, state.time) {
                        through(cloth, body, &pairs)
                    } else {
                        Vec::new()
                    };
                    found.through.extend(crossings.into_iter().filter(back).map(|of| (number, of)));
                    pairs
                }
            };
            if let Form::Closed(shape) = &collider.form {
                let solid = PosedShape { shape: *shape, pose };
                let inside = check::against_body(cloth.positions, cloth.triangles, &solid).intersecting;
                found.solids.extend((!inside.is_empty()).then_some((number, inside)));
            }
            found.meshes.extend((!cut.is_empty()).then_some((number, cut)));
        }
        found
    }

    /// Lets the pipeline know: what intersects does not block one another.
    pub fn tell(&self, pipeline: &mut ContactPipeline) {
        let in_solids = self.solids.iter().flat_map(|(_, inside)| inside).copied();
        let in_meshes = self.meshes.iter().flat_map(|(_, pairs)| pairs).map(|[t, _]| *t);
        pipeline.tangle(&self.cloth, in_solids.chain(in_meshes), self.through.iter().copied());
    }

    /// Whether nothing does.
    pub fn is_empty(&self) -> bool {
        self.cloth.is_empty() && self.solids.is_empty() && self.meshes.is_empty()
    }

    /// How many pairs of triangles of cloth do.
    pub fn of_cloth(&self) -> usize {
        self.cloth.len()
    }

    /// Whether cloth lies in a closed-form solid.
    pub fn any_in_solids(&self) -> bool {
        !self.solids.is_empty()
    }

    /// Which way every point has to go at a time [s]: 1 for as far as it may, `most` [m].
    fn ways(&self, model: &Model, time: f64, positions: &[DVec3], most: f64) -> Vec<DVec3> {
        let mut ways = vec![DVec3::ZERO; positions.len()];
        ways_apart(positions, &model.triangles, &self.cloth, &mut ways);
        for (number, inside) in &self.solids {
            if let Form::Closed(shape) = model.colliders[*number].form {
                let solid = PosedShape { shape, pose: model.pose(*number, positions, time) };
                ways_out(positions, &model.triangles, (&solid, inside), most, &mut ways);
            }
        }
        // What is caught would tremble for ever.
        let led_back = if is_led_back(model, time) { &self.meshes[..] } else { &[] };
        for (number, pairs) in led_back {
            let (form, pose) = (&model.colliders[*number].form, model.pose(*number, positions, time));
            if let Some((points, triangles)) = surface::faces(form, time, &pose) {
                // Cloth and body as one list of points and one of triangles; the body does not give way.
                let (n, first) = (positions.len(), model.triangles.len() as u32);
                let points: Vec<DVec3> = positions.iter().chain(&points).copied().collect();
                let of_body = triangles.iter().map(|t| t.map(|p| p + n as u32));
                let triangles: Vec<[u32; 3]> = model.triangles.iter().copied().chain(of_body).collect();
                let pairs: Vec<[u32; 2]> = pairs.iter().map(|[t, u]| [*t, first + u]).collect();
                ways.resize(points.len(), DVec3::ZERO);
                ways_apart(&points, &triangles, &pairs, &mut ways);
                ways.truncate(n);
            }
        }
        ways
    }
}

/// Whether what has gone through a surface is led back at a time [s].
fn is_led_back(model: &Model, time: f64) -> bool {
    time < model.params.collision.leading_back
}

/// Moves the particles of triangles that intersect the way that takes them apart, as far as no edge is strained beyond its tolerance or more than it is already.
/// Positions are those at the end of a step, at a time [s].
pub fn pull_apart(
    (model, environment): (&Model, &Environment),
    pipeline: &mut ContactPipeline,
    found: &Intersections,
    time: f64,
    positions: &mut [DVec3],
) -> CcdStats {
    let most = model.params.collision.untangling_speed * model.step_time;
    let ways = found.ways(model, time, positions, most);
    let edges = BoundedEdges::new(model, positions);
    for share in SHARES {
        let way = |(way, w): (&DVec3, &f64)| {
            if *w > 0.0 { (most * *way).clamp_length_max(most) } else { DVec3::ZERO }
        };
        let moved = positions.iter().zip(ways.iter().zip(&environment.inverse_mass).map(way));
        let mut ends: Vec<DVec3> = moved.map(|(x, way)| *x + share * way).collect();
        edges.keep(&environment.inverse_mass, &mut ends);
        pipeline.place(model, [time; 2], |i| positions[i], |_| DVec3::ZERO);
        pipeline.end(|i| ends[i]);
        let settled = pipeline.resolve();
        if settled.pinched == 0 && edges.are_kept(pipeline.ends()) {
            positions.copy_from_slice(pipeline.ends());
            return settled;
        }
    }
    CcdStats::default()
}

/// Structural edges, and how long each may be.
struct BoundedEdges<'a> {
    ends: &'a [[u32; 2]],
    /// The least and the largest length [m].
    lengths: Vec<[f64; 2]>,
}

impl<'a> BoundedEdges<'a> {
    /// An edge may be as long as the tolerance allows, or as it is.
    fn new(model: &'a Model, positions: &[DVec3]) -> Self {
        let bounds = |(ends, rest): (&[u32; 2], &f64)| {
            let length = length(ends, positions);
            [length.min(rest * (1.0 - model.tolerance)), length.max(rest * (1.0 + model.tolerance))]
        };
        Self {
            ends: &model.edges,
            lengths: model.edges.iter().zip(&model.rest_lengths).map(bounds).collect(),
        }
    }

    /// Brings edges back within their bounds, one after the other.
    fn keep(&self, inverse_mass: &[f64], x: &mut [DVec3]) {
        for _ in 0..SWEEPS {
            let mut any = false;
            for (ends @ [a, b], [least, largest]) in self.ends.iter().zip(&self.lengths) {
                let (length, room) = (length(ends, x), 0.5 * (1.0 - AIMED_AT) * (largest - least));
                let [a, b] = [*a as usize, *b as usize];
                let (excess, give) =
                    (length - length.clamp(least + room, largest - room), inverse_mass[a] + inverse_mass[b]);
                if excess != 0.0 && give > 0.0 && length > 0.0 {
                    let way = (x[b] - x[a]) * (excess / (length * give));
                    x[a] += inverse_mass[a] * way;
                    x[b] -= inverse_mass[b] * way;
                    any = true;
                }
            }
            if !any {
                break;
            }
        }
    }

    fn are_kept(&self, x: &[DVec3]) -> bool {
        let is_kept =
            |(ends, [least, largest]): (&[u32; 2], &[f64; 2])| (*least..=*largest).contains(&length(ends, x));
        self.ends.iter().zip(&self.lengths).all(is_kept)
    }
}

fn length([a, b]: &[u32; 2], x: &[DVec3]) -> f64 {
    x[*a as usize].distance(x[*b as usize])
}

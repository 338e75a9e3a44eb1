//! Cloth that intersects is moved apart after a step: slowly, under the contact pipeline, and by bending alone. What passes freely is what intersects already.

use crate::collide::contact::untangle::ways_apart;
use crate::collide::{CcdStats, ContactPipeline};
use crate::math::DVec3;
use crate::model::{Environment, Model};

/// Shares of the whole way that are tried, one after the other.
const SHARES: [f64; 4] = [1.0, 0.5, 0.25, 0.125];
/// Sweeps over the edges that bring them back within their bounds.
const SWEEPS: usize = 20;
/// Share of the room between its bounds that a sweep aims at for an edge: what is left of an error is then still within them [1].
const AIMED_AT: f64 = 0.8;

/// Moves the particles of triangles that intersect, `tangled` in pairs, the way that takes them apart, as far as no edge is strained beyond its tolerance or more than
/// it is already. Positions are those at the end of a step, at a time [s].
pub fn pull_apart(
    (model, environment): (&Model, &Environment),
    pipeline: &mut ContactPipeline,
    tangled: &[[u32; 2]],
    time: f64,
    positions: &mut [DVec3],
) -> CcdStats {
    let mut ways = vec![DVec3::ZERO; positions.len()];
    ways_apart(positions, &model.triangles, tangled, &mut ways);
    let most = model.params.collision.untangling_speed * model.step_time;
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

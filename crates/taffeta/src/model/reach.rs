//! How far particles of a cloth can be apart: as far as its edges lead.

use super::{Model, topology::Topology};
use crate::math::DVec3;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Projections onto balls at most; a place between few of them needs a handful.
const MOST_PROJECTIONS: usize = 64;

/// The shortest way from a particle to every other, along edges [m] (Dijkstra).
pub fn shortest_ways(model: &Model, from: u32) -> Vec<f64> {
    let (starts, neighbours) = Topology::neighbours(&model.edges, model.particle_count());
    let mut way = vec![f64::INFINITY; model.particle_count()];
    way[from as usize] = 0.0;
    // Lengths are positive: their bits are in the order of the numbers.
    let mut open = BinaryHeap::from([Reverse((0u64, from))]);
    while let Some(Reverse((bits, i))) = open.pop() {
        let so_far = f64::from_bits(bits);
        if so_far > way[i as usize] {
            continue;
        }
        for &j in &neighbours[starts[i as usize] as usize..starts[i as usize + 1] as usize] {
            let edge = model.edges.binary_search(&[i.min(j), i.max(j)]);
            let length = so_far + edge.map_or(f64::INFINITY, |e| model.rest_lengths[e]);
            if length < way[j as usize] {
                way[j as usize] = length;
                open.push(Reverse((length.to_bits(), j)));
            }
        }
    }
    way
}

/// The place near another [m] that is in all balls, each with its centre and radius [m]; nearly, where the balls leave little room.
pub fn within(mut place: DVec3, balls: impl Iterator<Item = (DVec3, f64)> + Clone) -> DVec3 {
    let excess = |place: DVec3, (centre, radius): (DVec3, f64)| place.distance(centre) / radius;
    for _ in 0..MOST_PROJECTIONS {
        let worst = balls.clone().max_by(|a, b| excess(place, *a).total_cmp(&excess(place, *b)));
        let Some((centre, radius)) = worst.filter(|ball| excess(place, *ball) > 1.0) else { break };
        place = centre + (place - centre).clamp_length_max(radius);
    }
    place
}

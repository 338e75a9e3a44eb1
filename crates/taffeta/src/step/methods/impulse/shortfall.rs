//! Why lengths could not be kept: pins that are too far apart, or the worst edge.

use crate::check;
use crate::math::DVec3;
use crate::model::reach::shortest_ways;
use crate::model::{Environment, Model};
use crate::step::report::Shortfall;

/// Pins from which ways are measured at most, spread over all of them.
const MOST_PINS: usize = 32;

/// The shortest ways between pins along edges, measured once.
#[derive(Debug, Default)]
pub struct Reaches {
    /// Two pinned particles and the way between them [m].
    list: Option<Vec<([u32; 2], f64)>>,
}

impl Reaches {
    /// What keeps the state from its tolerance.
    pub fn shortfall(&mut self, model: &Model, environment: &Environment, positions: &[DVec3]) -> Shortfall {
        if let Some(pins) = self.too_far(model, environment, |i| positions[i]) {
            return pins;
        }
        let strain = check::strain(positions, &model.edges, &model.rest_lengths);
        let ends = strain.worst_edge.map_or([0; 2], |e| model.edges[e]);
        Shortfall::Strain { ends, strain: strain.max, tolerance: model.tolerance }
    }

    /// Pins that are too far apart with particles at these places [m], if any are.
    pub fn too_far(
        &mut self,
        model: &Model,
        environment: &Environment,
        place: impl Fn(usize) -> DVec3,
    ) -> Option<Shortfall> {
        let distance = |[a, b]: [u32; 2]| place(a as usize).distance(place(b as usize));
        let ways = self.list.get_or_insert_with(|| ways(model, environment));
        let excess = |(ends, reach): &([u32; 2], f64)| distance(*ends) / reach;
        let firm = |i: u32| environment.pins.iter().all(|pin| !pin.yields || !pin.particles.contains(&i));
        let ways = ways.iter().filter(|(ends, _)| ends.iter().all(|i| firm(*i)));
        let worst = ways.max_by(|a, b| excess(a).total_cmp(&excess(b)));
        let &(ends, reach) = worst.filter(|way| excess(way) > 1.0 + model.tolerance)?;
        Some(Shortfall::Pins { ends, distance: distance(ends), reach })
    }
}

fn ways(model: &Model, environment: &Environment) -> Vec<([u32; 2], f64)> {
    let pinned: Vec<u32> = environment.pins.iter().flat_map(|pin| pin.particles.iter().copied()).collect();
    let mut list = Vec::new();
    for &from in pinned.iter().step_by(pinned.len().div_ceil(MOST_PINS).max(1)) {
        let way = shortest_ways(model, from);
        let reached = pinned.iter().filter(|to| **to != from && way[**to as usize].is_finite());
        list.extend(reached.map(|&to| ([from, to], way[to as usize])));
    }
    list
}

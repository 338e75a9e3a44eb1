//! What the impulse methods make of a model: hard and soft edges, their strips, and how stiff they are.

use crate::model::{ClothPiece, Model, topology};
use crate::solve::parts;
use crate::solve::strips::{Link, NO_TENSION, Strips};

/// Hard edges stretch by the whole tolerance under a force of this many times the weight of their cloth (at 9.81 m/s²). Much less and
/// tolerances are missed, much more and the tension of straight strips between pins runs away. Such a strip sags to carry its load: the force in it
/// grows with the root of one over its strain, which counts below the second number.
const LOAD: f64 = 90.0;
const SAGS: f64 = 1e-4;

/// Hard edges: all structural ones.
pub fn hard(model: &Model) -> Strips {
    let n = model.particle_count();
    let straights = topology::straight_pairs(&model.edges, &model.rest_positions);
    let groups = parts::cut(&model.edges, &straights, n);
    let weights: Vec<f64> =
        model.cloths.iter().map(|c| 9.81 * model.mass[c.particles.clone()].iter().sum::<f64>()).collect();
    let link = |edge: u32| {
        let [a, b] = model.edges[edge as usize];
        let rest = model.rest_lengths[edge as usize];
        let cloth = model.cloths.iter().position(|c| c.particles.contains(&(a as usize)));
        let load = LOAD * (SAGS / model.tolerance).sqrt().max(1.0);
        let stiffness = load * cloth.map_or(1.0, |c| weights[c]) / model.tolerance;
        Link { rest, compliance: if moves(model, [a, b]) { rest.powi(3) / stiffness } else { NO_TENSION } }
    };
    Strips::new(&groups, link, model.edges.len(), n, 0)
}

/// Soft edges: diagonals of quads. Their ends, and their strips with tensions after those of `hard`.
pub fn soft(model: &Model, hard: &Strips) -> (Vec<[u32; 2]>, Strips) {
    let n = model.particle_count();
    let springs = diagonals(model);
    let ends: Vec<[u32; 2]> = springs.iter().map(|s| sorted(model, *s)).collect();
    let groups = parts::cut(&ends, &topology::straight_pairs(&ends, &model.rest_positions), n);
    let link = |edge: u32| {
        let spring = springs[edge as usize];
        let stiffness = model.springs.stiffness[spring];
        let pulls = moves(model, model.springs.ends[spring]) && stiffness > 0.0;
        Link {
            rest: model.springs.rest_length[spring],
            compliance: if pulls { 1.0 / stiffness } else { NO_TENSION },
        }
    };
    let strips = Strips::new(&groups, link, ends.len(), n + hard.idle, hard.rows);
    (ends, strips)
}

/// √(m / k) of particles and their diagonals, on average over the cloth where it is shortest [s].
pub fn shear_time(model: &Model) -> f64 {
    let mut stiffness = vec![0.0; model.particle_count()];
    for spring in diagonals(model) {
        let share = 0.25 * model.springs.stiffness[spring];
        model.springs.ends[spring].iter().for_each(|i| stiffness[*i as usize] += share);
    }
    let mean = |cloth: &ClothPiece| {
        let all = cloth.particles.clone().map(|i| stiffness[i] * model.inverse_mass[i]).sum::<f64>();
        all / cloth.particles.len() as f64
    };
    1.0 / model.cloths.iter().map(mean).fold(0.0, f64::max).sqrt()
}

/// Springs that are no structural edges, in the order of their ends; of several between the same ends the first.
fn diagonals(model: &Model) -> Vec<usize> {
    let mut springs: Vec<usize> = (0..model.springs.ends.len())
        .filter(|s| model.edges.binary_search(&sorted(model, *s)).is_err())
        .collect();
    springs.sort_by_key(|s| sorted(model, *s));
    springs.dedup_by_key(|s| sorted(model, *s));
    springs
}

fn sorted(model: &Model, spring: usize) -> [u32; 2] {
    let [a, b] = model.springs.ends[spring];
    [a.min(b), a.max(b)]
}

fn moves(model: &Model, ends: [u32; 2]) -> bool {
    ends.iter().any(|i| model.inverse_mass[*i as usize] > 0.0)
}

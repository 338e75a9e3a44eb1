//! The order in which edges or particles are eliminated, and where their factor has numbers (analysis for `ldl.rs`, once per mesh).
//!
//! Two edges are coupled if they share a particle that moves. Particles are halved across their longest extent, again and again: edges inside one half
//! share nothing with those inside the other, so the edges across the cut are eliminated last (nested dissection, George 1973). Of particles, those of
//! one half that are coupled to the other are.

use crate::math::DVec3;

/// Particles that are not halved any more.
const FEW: usize = 3;

/// Numbers of edges in the order of their elimination.
pub fn order(edges: &[[u32; 2]], positions: &[DVec3]) -> Vec<u32> {
    let mut particles: Vec<u32> = (0..positions.len() as u32).collect();
    let mut order = Vec::with_capacity(edges.len());
    let (mut right, all) = (vec![false; positions.len()], (0..edges.len() as u32).collect());
    halve(&mut particles, all, &mut right, edges, positions, &mut order);
    order
}

fn halve(
    particles: &mut [u32],
    inside: Vec<u32>,
    is_right: &mut [bool],
    edges: &[[u32; 2]],
    x: &[DVec3],
    order: &mut Vec<u32>,
) {
    if particles.len() <= FEW || inside.len() < 2 {
        return order.extend(inside);
    }
    let [left_particles, right_particles] = cut(particles, x, is_right);
    let (mut left, mut right, mut across) = (Vec::new(), Vec::new(), Vec::new());
    for edge in inside {
        match edges[edge as usize].map(|i| is_right[i as usize]) {
            [false, false] => left.push(edge),
            [true, true] => right.push(edge),
            _ => across.push(edge),
        }
    }
    halve(left_particles, left, is_right, edges, x, order);
    halve(right_particles, right, is_right, edges, x, order);
    order.extend(across);
}

/// Particles in the order of their elimination; `coupled` has those that each is coupled to.
pub fn order_of_particles(coupled: &[Vec<u32>], positions: &[DVec3]) -> Vec<u32> {
    let mut particles: Vec<u32> = (0..positions.len() as u32).collect();
    let mut order = Vec::with_capacity(particles.len());
    separate(&mut particles, &mut vec![false; positions.len()], coupled, positions, &mut order);
    order
}

fn separate(
    particles: &mut [u32],
    is_right: &mut [bool],
    coupled: &[Vec<u32>],
    x: &[DVec3],
    order: &mut Vec<u32>,
) {
    if particles.len() <= FEW {
        return order.extend_from_slice(particles);
    }
    let [left, right] = cut(particles, x, is_right);
    let (between, mut left): (Vec<u32>, Vec<u32>) =
        left.iter().partition(|i| coupled[**i as usize].iter().any(|j| is_right[*j as usize]));
    right.iter().for_each(|i| is_right[*i as usize] = false);
    separate(&mut left, is_right, coupled, x, order);
    separate(right, is_right, coupled, x, order);
    order.extend(between);
}

/// Halves particles across their longest extent, and marks which are in the second half.
fn cut<'a>(particles: &'a mut [u32], x: &[DVec3], is_right: &mut [bool]) -> [&'a mut [u32]; 2] {
    let at = |i: u32| x[i as usize];
    let (low, high) = particles
        .iter()
        .fold((DVec3::INFINITY, DVec3::NEG_INFINITY), |(low, high), i| (low.min(at(*i)), high.max(at(*i))));
    let extent = (high - low).to_array();
    let axis = (0..3).fold(0, |best, k| if extent[k] > extent[best] { k } else { best });
    let key = |i: u32| at(i).to_array()[axis];
    particles.sort_unstable_by(|a, b| key(*a).total_cmp(&key(*b)).then(a.cmp(b)));
    let (left, right) = particles.split_at_mut(particles.len() / 2);
    left.iter().for_each(|i| is_right[*i as usize] = false);
    right.iter().for_each(|i| is_right[*i as usize] = true);
    [left, right]
}

/// Where the factor L of a symmetric matrix has numbers below its diagonal.
#[derive(Debug, Clone, Default)]
pub struct FactorPattern {
    /// Where the columns of every row start in `columns`.
    pub starts: Vec<usize>,
    /// Columns of every row, ascending.
    pub columns: Vec<u32>,
    /// Where every column starts among the numbers, which are stored column by column.
    pub column_starts: Vec<usize>,
    /// The row of every number.
    pub rows: Vec<u32>,
}

impl FactorPattern {
    /// From the columns of every row of the matrix, below the diagonal (Liu's elimination tree).
    pub fn new(size: usize, coupled: impl Fn(usize) -> Vec<u32>) -> Self {
        const NONE: u32 = u32::MAX;
        let (mut parent, mut seen) = (vec![NONE; size], vec![NONE; size]);
        let mut pattern = FactorPattern { starts: vec![0], ..FactorPattern::default() };
        let mut counts = vec![0usize; size + 1];
        for k in 0..size {
            let first = pattern.columns.len();
            seen[k] = k as u32;
            for mut i in coupled(k) {
                while seen[i as usize] != k as u32 {
                    seen[i as usize] = k as u32;
                    pattern.columns.push(i);
                    counts[i as usize + 1] += 1;
                    if parent[i as usize] == NONE {
                        parent[i as usize] = k as u32;
                    }
                    i = parent[i as usize];
                }
            }
            pattern.columns[first..].sort_unstable();
            pattern.starts.push(pattern.columns.len());
        }
        for k in 0..size {
            counts[k + 1] += counts[k];
        }
        let mut next = counts.clone();
        pattern.rows = vec![0; pattern.columns.len()];
        for k in 0..size {
            for c in &pattern.columns[pattern.starts[k]..pattern.starts[k + 1]] {
                pattern.rows[next[*c as usize]] = k as u32;
                next[*c as usize] += 1;
            }
        }
        pattern.column_starts = counts;
        pattern
    }
}

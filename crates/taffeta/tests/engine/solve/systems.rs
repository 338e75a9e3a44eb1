//! Systems to be solved: of sheets of cotton, and the dense twin of a block matrix.

use taffeta::forces::spring;
use taffeta::math::{DMat3, DVec3, Vec4, random::Random};
use taffeta::model::Model;
use taffeta::solve::sparse::matrix::{BlockMatrix, Elements, Pattern};
use taffeta_scene::build;
use taffeta_scene::{Cloth, Scene, Sheet};

/// A dense symmetric matrix over the components of particles: the slow twin.
pub struct Dense {
    pub size: usize,
    pub numbers: Vec<f64>,
}

impl Dense {
    pub fn zero(particles: usize) -> Self {
        let size = 3 * particles;
        Self { size, numbers: vec![0.0; size * size] }
    }

    pub fn add(&mut self, i: usize, j: usize, block: DMat3) {
        for (r, c) in (0..3).flat_map(|r| (0..3).map(move |c| (r, c))) {
            self.numbers[(3 * i + r) * self.size + 3 * j + c] += block.col(c)[r];
        }
    }

    pub fn multiply(&self, x: &[f64]) -> Vec<f64> {
        self.numbers.chunks(self.size).map(|row| row.iter().zip(x).map(|(a, x)| a * x).sum()).collect()
    }

    /// The rows and columns of particles that are not pinned, and b less what pinned ones take of it.
    pub fn reduced(&self, pinned: &[bool], b: &[f64], x: &[f64]) -> (Dense, Vec<f64>) {
        let free: Vec<usize> = (0..self.size).filter(|k| !pinned[k / 3]).collect();
        let held: Vec<f64> =
            x.iter().enumerate().map(|(k, x)| if pinned[k / 3] { *x } else { 0.0 }).collect();
        let taken = self.multiply(&held);
        let numbers = free.iter().flat_map(|r| free.iter().map(move |c| self.numbers[r * self.size + c]));
        let dense = Dense { size: free.len(), numbers: numbers.collect() };
        (dense, free.iter().map(|&k| b[k] - taken[k]).collect())
    }

    /// Solves by Cholesky's factors.
    pub fn solve(mut self, mut b: Vec<f64>) -> Vec<f64> {
        let n = self.size;
        for i in 0..n {
            let (before, row) = self.numbers.split_at_mut(i * n);
            for j in 0..i {
                let other = &before[j * n..j * n + n];
                let sum: f64 = row[..j].iter().zip(other).map(|(a, b)| a * b).sum();
                row[j] = (row[j] - sum) / other[j];
            }
            let pivot = row[i] - row[..i].iter().map(|a| a * a).sum::<f64>();
            assert!(pivot > 0.0, "the twin needs a positive definite matrix, pivot {pivot} in row {i}");
            row[i] = pivot.sqrt();
            let sum: f64 = row[..i].iter().zip(&b).map(|(a, b)| a * b).sum();
            b[i] = (b[i] - sum) / row[i];
        }
        for i in (0..n).rev() {
            b[i] /= self.numbers[i * n + i];
            let (row, x) = (&self.numbers[i * n..i * n + i], b[i]);
            row.iter().zip(&mut b).for_each(|(a, b)| *b -= a * x);
        }
        b
    }
}

pub fn flat(vectors: &[Vec4]) -> Vec<f64> {
    vectors.iter().flat_map(|v| [v.0[0], v.0[1], v.0[2]]).collect()
}

pub fn bits(vectors: &[Vec4]) -> Vec<[u64; 4]> {
    vectors.iter().map(|v| v.0.map(f64::to_bits)).collect()
}

pub fn random_vector(random: &mut Random) -> DVec3 {
    DVec3::from_array(std::array::from_fn(|_| random.between(-1.0, 1.0)))
}

pub fn random_vectors(count: usize, random: &mut Random) -> Vec<Vec4> {
    (0..count).map(|_| random_vector(random).into()).collect()
}

pub fn norm(numbers: impl Iterator<Item = f64>) -> f64 {
    numbers.map(|a| a * a).sum::<f64>().sqrt()
}

/// A sheet of n by n particles of cotton, somewhat crumpled.
pub fn sheet(n: u32) -> (Model, Vec<DVec3>) {
    let sheet = Sheet { width: 1.0, height: 1.0, columns: n, rows: n, slack: 1.0 };
    let scene = Scene { cloth: vec![Cloth { sheet: Some(sheet), ..Cloth::default() }], ..Scene::default() };
    let (model, state) = build(&scene, &Default::default()).unwrap();
    let mut random = Random::new(7);
    let edge = 1.0 / f64::from(n - 1);
    let shaken = state.positions.iter().map(|x| *x + 0.1 * edge * random_vector(&mut random)).collect();
    (model, shaken)
}

/// k (n nᵀ + ...) of a spring, without the part that makes it indefinite when it is short.
pub fn spring_block(model: &Model, x: &[DVec3], s: usize) -> DMat3 {
    let [a, b] = model.springs.ends[s].map(|i| x[i as usize]);
    let (d, rest) = (b - a, model.springs.rest_length[s]);
    let d = d * (rest / d.length()).max(1.0);
    spring::derivative(d, rest, model.springs.stiffness[s])
}

/// Coefficients of the particles of a bend: block (i, j) is k cᵢ cⱼ times the unit matrix.
pub fn bend_block(model: &Model, b: usize, i: usize, j: usize) -> DMat3 {
    let [ia, ic] = model.bends.inverse_lengths[b];
    let c = [-ia, ia + ic, -ic];
    DMat3::IDENTITY * (model.bends.stiffness[b] * c[i] * c[j])
}

pub fn empty_matrix(model: &Model) -> BlockMatrix {
    let pairs = model.springs.ends.iter().map(|e| &e[..]);
    let triples = model.bends.points.iter().map(|e| &e[..]);
    BlockMatrix::new(Pattern::new(model.particle_count(), pairs.chain(triples)).unwrap())
}

/// M + h² K of springs and bends.
pub fn cloth_matrix(model: &Model, x: &[DVec3], h: f64) -> BlockMatrix {
    let mut matrix = empty_matrix(model);
    let springs = Elements::new(matrix.pattern(), &model.springs.ends).unwrap();
    let bends = Elements::new(matrix.pattern(), &model.bends.points).unwrap();
    matrix.set_diagonal(&model.mass);
    matrix.add(&springs, |s, sink| {
        let block = h * h * spring_block(model, x, s);
        sink.add(0, 0, block);
        sink.add(1, 1, block);
        sink.add(0, 1, -block);
    });
    matrix.add(&bends, |b, sink| {
        for (i, j) in [(0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)] {
            sink.add(i, j, h * h * bend_block(model, b, i, j));
        }
    });
    matrix
}

/// The same, one element after the other.
pub fn dense_cloth_matrix(model: &Model, x: &[DVec3], h: f64) -> Dense {
    let mut dense = Dense::zero(model.particle_count());
    for (i, m) in model.mass.iter().enumerate() {
        dense.add(i, i, DMat3::IDENTITY * *m);
    }
    for (s, ends) in model.springs.ends.iter().enumerate() {
        let [a, b] = ends.map(|i| i as usize);
        let block = h * h * spring_block(model, x, s);
        dense.add(a, a, block);
        dense.add(b, b, block);
        dense.add(a, b, -block);
        dense.add(b, a, -block);
    }
    for (b, points) in model.bends.points.iter().enumerate() {
        for (i, j) in (0..3).flat_map(|i| (0..3).map(move |j| (i, j))) {
            dense.add(points[i] as usize, points[j] as usize, h * h * bend_block(model, b, i, j));
        }
    }
    dense
}

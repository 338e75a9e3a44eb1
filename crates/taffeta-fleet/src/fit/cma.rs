//! CMA-ES: a search that needs no derivatives and learns the shape of the valley from the steps that went well.
//!
//! N. Hansen, The CMA Evolution Strategy: A Tutorial, arXiv:1604.00772, with its default numbers (table 1). Seeded: the same seed gives
//! the same search.

use taffeta::math::random::Random;

/// A search under way.
pub struct Cma {
    /// Where the search stands.
    pub mean: Vec<f64>,
    /// The length of its steps.
    pub sigma: f64,
    covariance: Vec<Vec<f64>>,
    path_sigma: Vec<f64>,
    path_c: Vec<f64>,
    weights: Vec<f64>,
    generation: u32,
    random: Random,
}

impl Cma {
    /// Starts at `mean` with steps of `sigma`.
    pub fn new(mean: Vec<f64>, sigma: f64, seed: u64) -> Self {
        let n = mean.len();
        let best = (4 + (3.0 * libm::log(n as f64)) as usize) / 2;
        let weights: Vec<f64> =
            (1..=best).map(|i| libm::log(best as f64 + 0.5) - libm::log(i as f64)).collect();
        let sum: f64 = weights.iter().sum();
        let identity = (0..n).map(|i| (0..n).map(|j| f64::from(u8::from(i == j))).collect()).collect();
        Self {
            covariance: identity,
            path_sigma: vec![0.0; n],
            path_c: vec![0.0; n],
            weights: weights.iter().map(|w| w / sum).collect(),
            generation: 0,
            random: Random::new(seed),
            mean,
            sigma,
        }
    }

    /// The next points to try.
    pub fn ask(&mut self) -> Vec<Vec<f64>> {
        let n = self.mean.len();
        let (values, vectors) = eigen(&self.covariance);
        let count = 4 + (3.0 * libm::log(n as f64)) as usize;
        let mut point = || {
            let z: Vec<f64> =
                values.iter().map(|value| value.max(0.0).sqrt() * normal(&mut self.random)).collect();
            let along = |i: usize| (0..n).map(|k| vectors[i][k] * z[k]).sum::<f64>();
            (0..n).map(|i| self.mean[i] + self.sigma * along(i)).collect()
        };
        (0..count).map(|_| point()).collect()
    }

    /// Learns from the points and what they cost.
    pub fn tell(&mut self, points: &[Vec<f64>], costs: &[f64]) {
        let n = self.mean.len();
        let dimension = n as f64;
        let mut order: Vec<usize> = (0..points.len()).collect();
        order.sort_by(|a, b| costs[*a].total_cmp(&costs[*b]));
        let mu_eff = 1.0 / self.weights.iter().map(|w| w * w).sum::<f64>();
        let c_sigma = (mu_eff + 2.0) / (dimension + mu_eff + 5.0);
        let damping = 1.0 + 2.0 * (((mu_eff - 1.0) / (dimension + 1.0)).sqrt() - 1.0).max(0.0) + c_sigma;
        let c_c = (4.0 + mu_eff / dimension) / (dimension + 4.0 + 2.0 * mu_eff / dimension);
        let c_1 = 2.0 / ((dimension + 1.3).powi(2) + mu_eff);
        let c_mu =
            (1.0 - c_1).min(2.0 * (mu_eff - 2.0 + 1.0 / mu_eff) / ((dimension + 2.0).powi(2) + mu_eff));
        let expected =
            dimension.sqrt() * (1.0 - 1.0 / (4.0 * dimension) + 1.0 / (21.0 * dimension * dimension));
        let steps: Vec<Vec<f64>> = order
            .iter()
            .take(self.weights.len())
            .map(|k| (0..n).map(|i| (points[*k][i] - self.mean[i]) / self.sigma).collect())
            .collect();
        let along: Vec<f64> =
            (0..n).map(|i| self.weights.iter().zip(&steps).map(|(w, y)| w * y[i]).sum()).collect();
        for (mean, y) in self.mean.iter_mut().zip(&along) {
            *mean += self.sigma * y;
        }
        let (values, vectors) = eigen(&self.covariance);
        // C^(-1/2) times the step.
        let turned: Vec<f64> = (0..n)
            .map(|k| (0..n).map(|i| vectors[i][k] * along[i]).sum::<f64>() / values[k].max(1e-30).sqrt())
            .collect();
        let white = |i: usize| (0..n).map(|k| vectors[i][k] * turned[k]).sum::<f64>();
        for (i, path) in self.path_sigma.iter_mut().enumerate() {
            *path = (1.0 - c_sigma) * *path + (c_sigma * (2.0 - c_sigma) * mu_eff).sqrt() * white(i);
        }
        let length = self.path_sigma.iter().map(|p| p * p).sum::<f64>().sqrt();
        self.generation += 1;
        let settled = (1.0 - (1.0 - c_sigma).powf(2.0 * f64::from(self.generation))).sqrt();
        let moves = length / settled < (1.4 + 2.0 / (dimension + 1.0)) * expected;
        let fresh = if moves { (c_c * (2.0 - c_c) * mu_eff).sqrt() } else { 0.0 };
        for (path, y) in self.path_c.iter_mut().zip(&along) {
            *path = (1.0 - c_c) * *path + fresh * y;
        }
        let lost = if moves { 0.0 } else { c_1 * c_c * (2.0 - c_c) };
        for i in 0..n {
            for j in 0..n {
                let rank_mu: f64 = self.weights.iter().zip(&steps).map(|(w, y)| w * y[i] * y[j]).sum();
                let kept = (1.0 - c_1 - c_mu + lost) * self.covariance[i][j];
                self.covariance[i][j] = kept + c_1 * self.path_c[i] * self.path_c[j] + c_mu * rank_mu;
            }
        }
        self.sigma *= libm::exp(c_sigma / damping * (length / expected - 1.0));
    }
}

/// A normal number: Box and Muller 1958.
fn normal(random: &mut Random) -> f64 {
    let radius = (-2.0 * libm::log(1.0 - random.unit())).sqrt();
    radius * libm::cos(std::f64::consts::TAU * random.unit())
}

/// Eigenvalues and, in columns, eigenvectors of a symmetric matrix: Jacobi's rotations.
pub fn eigen(matrix: &[Vec<f64>]) -> (Vec<f64>, Vec<Vec<f64>>) {
    let n = matrix.len();
    let mut a = matrix.to_vec();
    let mut v: Vec<Vec<f64>> =
        (0..n).map(|i| (0..n).map(|j| f64::from(u8::from(i == j))).collect()).collect();
    for _ in 0..50 {
        for p in 0..n {
            for q in p + 1..n {
                if a[p][q].abs() < 1e-300 {
                    continue;
                }
                let theta = 0.5 * libm::atan2(2.0 * a[p][q], a[q][q] - a[p][p]);
                let (c, s) = (libm::cos(theta), libm::sin(theta));
                let turn = |row: &mut Vec<f64>| {
                    (row[p], row[q]) = (c * row[p] - s * row[q], s * row[p] + c * row[q])
                };
                a.iter_mut().for_each(turn);
                v.iter_mut().for_each(turn);
                let (above, from_q) = a.split_at_mut(q);
                for (x, y) in above[p].iter_mut().zip(&mut from_q[0]) {
                    (*x, *y) = (c * *x - s * *y, s * *x + c * *y);
                }
            }
        }
    }
    ((0..n).map(|i| a[i][i]).collect(), v)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(cost: impl Fn(&[f64]) -> f64, start: &[f64], generations: usize) -> f64 {
        let mut search = Cma::new(start.to_vec(), 0.5, 7);
        for _ in 0..generations {
            let points = search.ask();
            let costs: Vec<f64> = points.iter().map(|point| cost(point)).collect();
            search.tell(&points, &costs);
        }
        cost(&search.mean)
    }

    #[test]
    fn known_valleys_are_gone_down() {
        let sphere = |x: &[f64]| x.iter().map(|x| x * x).sum::<f64>();
        let ellipse =
            |x: &[f64]| x.iter().enumerate().map(|(i, x)| 1e3_f64.powi(i as i32) * x * x).sum::<f64>();
        let rosenbrock = |x: &[f64]| 100.0 * (x[1] - x[0] * x[0]).powi(2) + (1.0 - x[0]).powi(2);
        assert!(found(sphere, &[3.0], 100) < 1e-12);
        assert!(found(sphere, &[1.0, -2.0, 3.0, 0.5], 150) < 1e-12);
        assert!(found(ellipse, &[1.0, 1.0, 1.0], 250) < 1e-10);
        assert!(found(rosenbrock, &[-1.0, 1.0], 250) < 1e-10);
    }

    #[test]
    fn eigenvalues_are_those_of_the_textbook() {
        let (mut values, _) = eigen(&[vec![2.0, 1.0], vec![1.0, 2.0]]);
        values.sort_by(f64::total_cmp);
        assert!((values[0] - 1.0).abs() < 1e-12 && (values[1] - 3.0).abs() < 1e-12);
    }
}

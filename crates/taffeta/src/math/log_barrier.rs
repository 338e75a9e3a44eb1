//! The logarithmic barrier of IPC (Li et al. 2020, eq. 6), as a function of how much of its reach is used up.

/// b(t) = -t² ln(1 - t), its first and its second derivative: all 0 up to t = 0, twice continuously differentiable there, infinite from t = 1 on.
///
/// With t = 1 - d/d̂ it is IPC's -(d - d̂)² ln(d/d̂) over d̂².
pub fn log_barrier(t: f64) -> [f64; 3] {
    if t <= 0.0 {
        return [0.0; 3];
    }
    if t.is_nan() || t >= 1.0 {
        return [f64::INFINITY; 3];
    }
    let (log, ratio) = (libm::log1p(-t), t / (1.0 - t));
    [-t * t * log, t * (ratio - 2.0 * log), ratio * (4.0 + ratio) - 2.0 * log]
}

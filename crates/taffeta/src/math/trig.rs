//! Sine, cosine and friends from a pure-Rust library: the platform's own differ in the last bit.

/// Sine of `x` [rad].
pub fn sin(x: f64) -> f64 {
    libm::sin(x)
}

/// Cosine of `x` [rad].
pub fn cos(x: f64) -> f64 {
    libm::cos(x)
}

/// Arc cosine [rad].
pub fn acos(x: f64) -> f64 {
    libm::acos(x)
}

/// The angle of (x, y) from the x axis [rad].
pub fn atan2(y: f64, x: f64) -> f64 {
    libm::atan2(y, x)
}

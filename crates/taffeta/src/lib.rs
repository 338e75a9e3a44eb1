//! Taffeta: cloth simulation in which every frame carries a certificate.

pub mod check;
pub mod math;
pub mod model;
pub mod scene;

//! What P1 and P2 publish of the hanging sheet, all on a Core 2 Quad of 2.4 GHz with steps of 1/30 s.

use taffeta_scene::Method;

/// A published figure.
#[derive(Debug, Clone, Copy)]
pub struct Cell {
    /// The method that comes nearest.
    pub method: Method,
    /// Particles along a side.
    pub grid: u32,
    /// Tolerance of the strain [1].
    pub tolerance: f64,
    /// Iterations in a step at most.
    pub max_iterations: Option<u32>,
    /// The paper, and simulated time over wall time.
    pub published: &'static str,
}

const fn cell(method: Method, grid: u32, tolerance: f64, published: &'static str) -> Cell {
    Cell { method, grid, tolerance, max_iterations: None, published }
}

const fn capped(method: Method, grid: u32, tolerance: f64, published: &'static str) -> Cell {
    Cell { method, grid, tolerance, max_iterations: Some(5), published }
}

/// All of them. P1 had four cores; neither paper gives the length of an edge, the mass or the stiffness of springs.
pub const CELLS: &[Cell] = &[
    cell(Method::ImpulseStrips, 10, 1e-4, "P1 6"),
    cell(Method::ImpulseStrips, 30, 1e-2, "P1 > 1"),
    cell(Method::ImpulseStrips, 30, 1e-3, "P1 > 1"),
    cell(Method::ImpulseStrips, 50, 1e-4, "P1 1/6"),
    capped(Method::ImpulseStrips, 30, 1e-3, "P1 3.7"),
    capped(Method::ImpulseStrips, 50, 1e-3, "P1 1"),
    cell(Method::ImpulseStrips, 41, 1e-1, "P1 fig.4"),
    cell(Method::ImpulseStrips, 41, 1e-2, "P1 fig.4"),
    cell(Method::ImpulseStrips, 41, 1e-3, "P1 fig.4"),
    cell(Method::ImpulseStrips, 41, 1e-4, "P1 fig.4"),
    cell(Method::ImpulseIterative, 10, 1e-4, "P2 3"),
    cell(Method::ImpulseIterative, 30, 1e-4, "P2 > 1"),
    cell(Method::ImpulseIterative, 50, 1e-2, "P2 ~ 1"),
    cell(Method::ImpulseIterative, 50, 1e-4, "P2 1/6"),
    capped(Method::ImpulseIterative, 50, 1e-2, "P2 2.3"),
    cell(Method::ImpulseIterative, 40, 1e-2, "P2 fig.4"),
    cell(Method::ImpulseIterative, 40, 1e-4, "P2 fig.4"),
    cell(Method::ImpulseDirect, 10, 1e-6, "P2 4"),
    cell(Method::ImpulseDirect, 20, 1e-6, "P2 1/4"),
];

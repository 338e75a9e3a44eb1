//! What holds: lengths kept by impulses along strips of edges (P1, P2), and linear systems of implicit cloth: symmetric matrices of 3×3
//! blocks, conjugate gradients, what makes them converge fast.

pub mod coloring;
pub mod limit;
pub mod pcg;
pub mod preconditioner;
pub mod sparse;
pub mod strips;

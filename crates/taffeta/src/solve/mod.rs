//! What holds: lengths of edges, kept by impulses (P1, P2).

pub mod parts;
pub mod pull;
pub mod strips;

//! Kinds of feature pairs.

/// What meets what.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// Points `[p; a b c]`: a point and a triangle.
    PointTriangle,
    /// Points `[a b; c d]`: two edges.
    EdgeEdge,
}

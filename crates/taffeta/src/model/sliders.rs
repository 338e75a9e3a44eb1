//! What cloth remembers: which elements rest bent or have internal friction, how stiff that is and how much it holds.

/// Which deformation e of which element a slider resists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Slides {
    /// The turn of a bend along the normal of the cloth [1].
    Bend(u32),
    /// The curvature of a plate along the warp (0) or the weft (1) or twice its twist (2), along the normal of its triangle [1/m].
    Plate(u32, u8),
    /// Twice the gap between the diagonals of a quad, along the normal of the cloth [m].
    Twist(u32),
    /// The lengthening of a spring [m].
    Spring(u32),
    /// The strain of a membrane along the warp (0) or the weft (1) [1].
    Stretch(u32, u8),
    /// The shear w_u·w_v of a membrane [1].
    Membrane(u32),
}

impl Slides {
    /// The first of the same kind.
    pub fn kind(self) -> Self {
        match self {
            Slides::Bend(_) => Slides::Bend(0),
            Slides::Plate(_, axis) => Slides::Plate(0, axis),
            Slides::Twist(_) => Slides::Twist(0),
            Slides::Spring(_) => Slides::Spring(0),
            Slides::Stretch(_, axis) => Slides::Stretch(0, axis),
            Slides::Membrane(_) => Slides::Membrane(0),
        }
    }
}

/// A spring in series with a Coulomb slider, both in parallel with an element (Jenkin's element): its force is stiffness × (e - anchor) and never more
/// than its limit, for then the anchor follows. The anchor is part of the state ([`super::State::anchors`]).
///
/// The stiffness of the element in its own table is that of both: what a slider adds to it is the force stiffness × anchor, which is constant while the anchor rests.
/// An element that rests bent adds its own stiffness × rest to that; without friction it has a slider of no stiffness here.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Slider {
    /// What it resists.
    pub of: Slides,
    /// Force per deformation, in the units of its element.
    pub stiffness: f64,
    /// The deformation that it gives by before it slides: limit over stiffness, in the units of e.
    pub give: f64,
    /// By how much more it gives per e where its element is pulled: yarns under tension press on one another the harder [1].
    pub grip: f64,
}

//! Line plots as SVG: of any numbers ([`lines_svg`]) and of the reports of runs ([`report_svg`]).
//!
//! A plot is as wide as a phone held upright can show and still be read; larger screens scale it up.

mod axis;
mod draw;
mod report;

pub use report::report_svg;

/// A plot.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Plot {
    /// Above it.
    pub title: String,
    /// Below it: what x is, and its unit.
    pub x_label: String,
    /// Beside it: what y is, and its unit.
    pub y_label: String,
    /// Whether x is shown by its logarithm; what is not above 0 is left out.
    pub log_x: bool,
    /// Whether y is shown by its logarithm.
    pub log_y: bool,
    /// What is drawn.
    pub lines: Vec<Line>,
    /// Lines across at one height, such as a limit.
    pub levels: Vec<Level>,
}

/// A line through points, or the points alone.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Line {
    /// In the legend; empty leaves it out.
    pub name: String,
    /// x and y; where one is not finite the line is broken.
    pub points: Vec<[f64; 2]>,
    /// Equal numbers have equal colours.
    pub colour: usize,
    /// How it is drawn.
    pub stroke: Stroke,
}

/// How a line is drawn.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Stroke {
    /// In one piece.
    #[default]
    Solid,
    /// In pieces.
    Dashed,
    /// In dots.
    Dotted,
    /// In one piece, with a mark on every point.
    Marked,
    /// Marks alone.
    Marks,
}

/// A line across.
#[derive(Debug, Clone, PartialEq)]
pub struct Level {
    /// In the legend.
    pub name: String,
    /// How high.
    pub y: f64,
}

/// Draws one plot.
///
/// ```
/// use taffeta_render::plot::{Line, Plot, lines_svg};
///
/// let points = (1..=5).map(|i| [f64::from(i), f64::from(i * i)]).collect();
/// let line = Line { name: "squares".into(), points, ..Line::default() };
/// let svg = lines_svg(&Plot { title: "Growth".into(), lines: vec![line], ..Plot::default() });
/// assert!(svg.starts_with("<svg") && svg.contains("squares"));
/// ```
pub fn lines_svg(plot: &Plot) -> String {
    draw::page(std::slice::from_ref(plot))
}

//! A garment: flat panels with outlines of named edges, the seams that join them, and where they start around a body.

use super::cloth::{ClothModel, Pin};
use super::{Fold, Keyframe};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A garment: panels cut from cloth and sewn together. Every panel becomes a piece of cloth of its own, named `garment.panel`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Garment {
    /// Its name in messages and reports.
    pub name: String,
    /// Where panels and seams come from: a built-in pattern (`t-shirt`, `tee`, `collar-shirt`, `hoodie`, `jacket`, `trousers`, `skirt`, `pleated-skirt`,
    /// `circle-dress`) or a file, relative to the folder of the scene: TOML with `[[panel]]` and `[[seam]]` as here, a GarmentCode specification (`.json`), or
    /// a drawing (`.dxf` of a pattern room, or `.svg`) with TOML of the same name beside it. Those given here come first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pattern: Option<String>,
    /// The size to cut, of a drawing that has several; left out, its sample size.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<String>,
    /// The fabric of all panels that name none.
    pub fabric: String,
    /// What the elements of its panels are. Only implicit methods know others than springs.
    pub model: ClothModel,
    /// Distance of neighbouring particles [m].
    #[schemars(range(min = 1e-4, max = 10.0))]
    pub edge_length: f64,
    /// Bastes it before the start: panels are drawn together around bodies of meshes that are slim at first and then grow, until all seams are closed.
    /// Otherwise panels start where their pattern puts them.
    pub baste: bool,
    /// By how much cloth may be let out or taken in where it does not fit the body that it is basted on, as a share of its length [1].
    #[schemars(range(min = 0.0, max = 1.0))]
    pub let_out: f64,
    /// How long the sewing takes [s]: seams shrink from the distance that panels start at to a stitch.
    #[schemars(range(min = 0.0, max = 1000.0))]
    pub sewing: f64,
    /// When the sewing begins [s]: what is worn over another garment is sewn after it.
    #[schemars(range(min = 0.0, max = 1000.0))]
    pub sewing_start: f64,
    /// Largest difference of two edges that are sewn together, as a share of the longer one [1]. What differs is eased in along the whole seam.
    #[schemars(range(min = 0.0, max = 0.9))]
    pub ease: f64,
    /// Where the origin that panels are placed from lies [m].
    #[schemars(inner(range(min = -1e5, max = 1e5)))]
    pub position: [f64; 3],
    /// Turns about x, then y, then z [degrees].
    #[schemars(inner(range(min = -36_000.0, max = 36_000.0)))]
    pub rotation: [f64; 3],
    /// Makes it a belt: a band of cloth that is drawn around the body and what it wears.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub belt: Option<Belt>,
    /// The panels.
    #[schemars(length(max = 200))]
    pub panel: Vec<Panel>,
    /// Panels that start elsewhere than their pattern says, so as to be outside of what is worn below.
    #[schemars(length(max = 200))]
    pub place: Vec<PanelPlace>,
    /// The seams.
    #[schemars(length(max = 1000))]
    pub seam: Vec<Seam>,
    /// Edges of panels that do not move, move by keyframes, or follow a body.
    #[schemars(length(max = 1000))]
    pub pin: Vec<GarmentPin>,
}

impl Default for Garment {
    fn default() -> Self {
        Self {
            name: String::new(),
            pattern: None,
            size: None,
            fabric: "cotton".into(),
            model: ClothModel::default(),
            edge_length: 0.02,
            baste: false,
            let_out: 0.0,
            sewing: 1.0,
            sewing_start: 0.0,
            ease: 0.1,
            position: [0.0; 3],
            rotation: [0.0; 3],
            belt: None,
            panel: Vec::new(),
            place: Vec::new(),
            seam: Vec::new(),
            pin: Vec::new(),
        }
    }
}

/// A flat panel, drawn as seen from outside: x to the right, y up. It stands in the plane z = 0 and looks towards z, or is wrapped; then it is placed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Panel {
    /// Its name, in seams and messages.
    pub name: String,
    /// Its fabric; left out, that of the garment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fabric: Option<String>,
    /// Direction of the warp, from x towards y [degrees].
    #[serde(default = "upright")]
    #[schemars(range(min = -360.0, max = 360.0))]
    pub warp: f64,
    /// Where the outline starts [m].
    #[schemars(inner(range(min = -100.0, max = 100.0)))]
    pub start: [f64; 2],
    /// The outline, edge after edge against the clock, back to its start.
    #[schemars(length(min = 2, max = 100))]
    pub edge: Vec<PanelEdge>,
    /// Darts.
    #[serde(default)]
    #[schemars(length(max = 100))]
    pub dart: Vec<Dart>,
    /// Folds that were pressed into it, as pleats are.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 1000))]
    pub fold: Vec<Fold>,
    /// What is fused to it, as to collars, cuffs and plackets.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub interfacing: Option<Interfacing>,
    /// Wraps it on a cylinder; left out, it stays flat.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wrap: Option<Wrap>,
    /// Where the origin of its drawing is, or the axis of its cylinder [m].
    #[serde(default)]
    #[schemars(inner(range(min = -1e5, max = 1e5)))]
    pub position: [f64; 3],
    /// Turns about x, then y, then z [degrees].
    #[serde(default)]
    #[schemars(inner(range(min = -36_000.0, max = 36_000.0)))]
    pub rotation: [f64; 3],
}

impl Default for Panel {
    fn default() -> Self {
        Self {
            name: String::new(),
            fabric: None,
            warp: upright(),
            start: [0.0; 2],
            edge: Vec::new(),
            dart: Vec::new(),
            fold: Vec::new(),
            interfacing: None,
            wrap: None,
            position: [0.0; 3],
            rotation: [0.0; 3],
        }
    }
}

/// From across to along: pattern pieces are drawn upright.
fn upright() -> f64 {
    90.0
}

/// An edge of an outline, from the end of the one before.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PanelEdge {
    /// Its name, in seams, darts and pins.
    #[serde(default)]
    pub name: String,
    /// Where it ends [m].
    #[schemars(inner(range(min = -100.0, max = 100.0)))]
    pub to: [f64; 2],
    /// Control points of a Bezier curve, one or two [m]; left out, the edge is straight.
    #[serde(default)]
    #[schemars(length(max = 2), inner(inner(range(min = -100.0, max = 100.0))))]
    pub via: Vec<[f64; 2]>,
    /// Makes it an arc of a circle: the tangent of a quarter of its angle, above 0 where it runs against the clock around its centre [1]. 1 is half a
    /// circle.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = -100.0, max = 100.0))]
    pub bulge: Option<f64>,
    /// Points that it passes through in straight pieces, as digitised curves have them [m].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 1000), inner(inner(range(min = -100.0, max = 100.0))))]
    pub through: Vec<[f64; 2]>,
    /// Notches, each as a share of its length [1]. Those of two edges that are sewn together have to meet, or it is told.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[schemars(length(max = 100), inner(range(min = 0.0, max = 1.0)))]
    pub notch: Vec<f64>,
    /// How far in from it cloth lies double, as in a hem or the allowance of a seam [m]: twice as heavy and twice as stiff.
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub hem: f64,
    /// An elastic along it, which gathers it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub elastic: Option<Elastic>,
    /// Whether it stays as high as it is drawn while the garment is basted, if nothing of the garment is worn higher: as the waist of a skirt does, which somebody
    /// holds up.
    #[serde(default, skip_serializing_if = "is_false")]
    pub held_up: bool,
}

/// An elastic that is stretched to the length of an edge when it is sewn on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Elastic {
    /// Its own length, as a share of that of the edge [1].
    #[schemars(range(min = 0.1, max = 1.0))]
    pub length: f64,
    /// Force that stretches it to twice its length [N].
    #[serde(default = "soft_elastic")]
    #[schemars(range(min = 0.01, max = 10_000.0))]
    pub force: f64,
}

fn is_false(flag: &bool) -> bool {
    !flag
}

/// Of a knitted elastic 10 mm wide.
fn soft_elastic() -> f64 {
    10.0
}

/// A stiff layer that is fused to a panel.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Interfacing {
    /// How many times as stiff it makes the fabric, in all ways [1].
    #[schemars(range(min = 1.0, max = 1000.0))]
    pub stiffness: f64,
    /// Its own mass per area [g/m²].
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 10_000.0))]
    pub density: f64,
}

/// A band around the body at one height. It starts open in front, clear of all that it goes around, and its ends are drawn together as seams are.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Belt {
    /// How long it is, once closed [m]. What is shorter than the body is too short.
    #[schemars(range(min = 0.05, max = 10.0))]
    pub length: f64,
    /// How wide [m].
    #[serde(default = "belt_width")]
    #[schemars(range(min = 0.005, max = 1.0))]
    pub width: f64,
    /// At which height its middle is [m].
    #[schemars(range(min = -1000.0, max = 1000.0))]
    pub height: f64,
    /// An elastic along both of its edges, which draws it tight.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub elastic: Option<Elastic>,
}

fn belt_width() -> f64 {
    0.035
}

/// A wedge cut out of an edge, whose two sides are sewn together.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Dart {
    /// The edge that it is cut into.
    pub edge: String,
    /// Where its middle is, as a share of the edge [1].
    #[schemars(range(min = 0.0, max = 1.0))]
    pub at: f64,
    /// How wide it is at the edge [m].
    #[schemars(range(min = 1e-4, max = 10.0))]
    pub width: f64,
    /// How far it reaches into the panel [m].
    #[schemars(range(min = 1e-4, max = 10.0))]
    pub depth: f64,
}

/// A cylinder that a panel starts on: its axis is y, x goes around it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Wrap {
    /// Its radius [m].
    #[schemars(range(min = 1e-3, max = 100.0))]
    pub radius: f64,
    /// Where x = 0 lies on it [degrees]: 0 is towards z, 90 towards x.
    #[serde(default)]
    #[schemars(range(min = -360.0, max = 360.0))]
    pub angle: f64,
}

/// Where a panel starts instead of where its pattern puts it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PanelPlace {
    /// The name of the panel.
    pub panel: String,
    /// Where the origin of its drawing is, or the axis of its cylinder [m]; left out, as in the pattern.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(inner(range(min = -1e5, max = 1e5)))]
    pub position: Option<[f64; 3]>,
    /// Turns about x, then y, then z [degrees]; left out, as in the pattern.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(inner(range(min = -36_000.0, max = 36_000.0)))]
    pub rotation: Option<[f64; 3]>,
}

/// Two edges that are sewn together, as `panel.edge`. They have the same number of stitches, however long they are.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Seam {
    /// The two edges.
    pub join: [String; 2],
    /// Joins start with start. Left out, the start of one joins the end of the other, as is usual for outlines that all run against the clock.
    #[serde(default)]
    pub reverse: bool,
    /// Gathers the longer edge into the shorter one, however much longer it is: it folds between stitches. Left out, edges differ by no more than `ease`.
    #[serde(default)]
    pub gather: bool,
    /// When it is closed, if not with the others [s].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0, max = 1000.0))]
    pub start: Option<f64>,
    /// When it is undone, as a zip or buttons are [s]; left out, never.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0.0, max = 1000.0))]
    pub open: Option<f64>,
    /// Holds it by so many buttons, from end to end, instead of a stitch at every particle.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 100))]
    pub buttons: Option<u32>,
}

impl Seam {
    /// Whether it is a zip or buttons, which are closed and undone at times of their own and are never basted.
    pub fn is_closure(&self) -> bool {
        self.start.is_some() || self.open.is_some() || self.buttons.is_some()
    }
}

/// Edges of panels whose particles do not move, move together by keyframes, or follow a body.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct GarmentPin {
    /// The edges, as `panel.edge`.
    pub edges: Vec<String>,
    /// How they move, turning about their common centre; times must increase.
    pub keyframe: Vec<Keyframe>,
    /// The name of a collider that they follow: each keeps its place over the nearest point of it, as it moves and deforms.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub on: Option<String>,
}

impl GarmentPin {
    /// The same as a pin of cloth, whose particles are still to be named.
    pub fn led(&self) -> Pin {
        Pin { keyframe: self.keyframe.clone(), on: self.on.clone(), ..Pin::default() }
    }
}

impl Garment {
    /// The panel and the edge that `panel.edge` names.
    pub fn find(&self, name: &str) -> Option<(usize, usize)> {
        let (panel, edge) = name.rsplit_once('.')?;
        let panel = self.panel.iter().position(|p| p.name == panel)?;
        Some((panel, self.panel[panel].edge(edge)?))
    }

    /// Position and turns of a panel before those of the garment [m, degrees].
    pub fn placed(&self, panel: &Panel) -> [[f64; 3]; 2] {
        let own = self.place.iter().find(|place| place.panel == panel.name);
        let position = own.and_then(|place| place.position);
        let rotation = own.and_then(|place| place.rotation);
        [position.unwrap_or(panel.position), rotation.unwrap_or(panel.rotation)]
    }
}

impl Panel {
    /// The edge of that name.
    pub fn edge(&self, name: &str) -> Option<usize> {
        self.edge.iter().position(|edge| edge.name == name && !name.is_empty())
    }
}

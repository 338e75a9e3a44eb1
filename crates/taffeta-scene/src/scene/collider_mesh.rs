//! A collider from mesh files: rigid, or deforming with a file for each moment.

use super::cloth::{MeshShape, UpAxis, one};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A surface from a file, or from a file for each moment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MeshBody {
    /// The file, relative to the folder of the scene: OBJ, PLY, STL, glTF or GLB. In a sequence `#` stand for the digits: `walk-###.obj`.
    pub file: String,
    /// What one unit of the file is [m].
    #[serde(default = "one")]
    #[schemars(range(min = 1e-6, max = 1e6))]
    pub scale: f64,
    /// Which axis of the file points up; z is turned to y.
    #[serde(default)]
    pub up: UpAxis,
    /// Points closer than this become one [m]; 0 joins none.
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub weld: f64,
    /// Cloth keeps half of this from the surface, on either side [m].
    #[serde(default = "thin")]
    #[schemars(range(min = 0.0, max = 1.0))]
    pub thickness: f64,
    /// Files that show it from moment to moment; left out, it is rigid.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sequence: Option<Sequence>,
    /// A clip of the file (glTF) that moves it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub animation: Option<Animation>,
    /// A file with the points of every moment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache: Option<PointCache>,
}

fn thin() -> f64 {
    1e-3
}

/// Files that show a surface from moment to moment, the first at the start; in between it moves straight, after the last it rests.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Sequence {
    /// Number of the first file.
    pub first: u32,
    /// Number of the last file.
    pub last: u32,
    /// Files in a second [1/s].
    #[schemars(range(min = 1e-3, max = 1e5))]
    pub rate: f64,
}

/// A clip of a glTF file: bones and shapes move the surface. It is taken at 120 moments for each of its seconds.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Animation {
    /// Its name in the file, or its number as text, counted from 0.
    pub clip: String,
    /// When it starts [s]; before, the body stands in the first pose.
    #[schemars(range(min = 0.0, max = 1e6))]
    pub start: f64,
    /// How many of its seconds pass in one [1].
    #[schemars(range(min = 1e-3, max = 1000.0))]
    pub speed: f64,
    /// Whether it starts again at its end; if not, the body stays in the last pose.
    pub repeat: bool,
    /// Until when the body stands as the file has it without a clip, such as with its arms out, so that garments can be sewn on it [s]. From then on it goes to
    /// the first pose, softly, and is there at `start`. Left out, it stands in the first pose from the beginning.
    #[schemars(range(min = 0.0, max = 1e6))]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rest_until: Option<f64>,
}

impl Default for Animation {
    fn default() -> Self {
        Self { clip: "0".into(), start: 0.0, speed: 1.0, repeat: false, rest_until: None }
    }
}

/// A point cache (PC2): where all points of the file are from moment to moment; in between they move straight.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PointCache {
    /// The file, relative to the folder of the scene.
    pub file: String,
    /// Moments in a second [1/s].
    #[schemars(range(min = 1e-3, max = 1e5))]
    pub rate: f64,
    /// When the first moment passes [s].
    #[serde(default)]
    #[schemars(range(min = 0.0, max = 1e6))]
    pub start: f64,
    /// Whether the first moment follows on the last; if not, the body stays as it is in the last.
    #[serde(default)]
    pub repeat: bool,
}

impl MeshBody {
    /// All its files, in the order of time; at least one.
    pub fn files(&self) -> Vec<String> {
        let Some(sequence) = &self.sequence else { return vec![self.file.clone()] };
        let (Some(start), digits) = (self.file.find('#'), self.digits()) else {
            return vec![self.file.clone()];
        };
        let (before, after) = (&self.file[..start], &self.file[start + digits..]);
        let name = |number: u32| format!("{before}{number:0digits$}{after}");
        (sequence.first..=sequence.last.max(sequence.first)).map(name).collect()
    }

    /// How many `#` stand together for the digits of a number; 0 for none, or none in one place.
    pub fn digits(&self) -> usize {
        let signs = self.file.matches('#').count();
        if self.file.contains(&"#".repeat(signs.max(1))) { signs } else { 0 }
    }

    /// Time from one file to the next [s].
    pub fn interval(&self) -> f64 {
        self.sequence.as_ref().map_or(1.0, |sequence| 1.0 / sequence.rate)
    }

    /// How a file becomes a surface.
    pub fn shape(&self) -> MeshShape {
        MeshShape { file: self.file.clone(), scale: self.scale, up: self.up, weld: self.weld }
    }
}

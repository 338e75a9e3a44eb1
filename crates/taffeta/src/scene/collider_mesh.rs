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

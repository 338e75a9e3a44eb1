//! The parts of a glTF document that make a surface move, as the file writes them. They are read only where a scene asks for motion.

use serde::Deserialize;
use std::collections::BTreeMap;

/// The document once more.
#[derive(Deserialize)]
pub struct Moving {
    #[serde(default)]
    pub nodes: Vec<MovingNode>,
    #[serde(default)]
    pub meshes: Vec<MovingMesh>,
    #[serde(default)]
    pub animations: Vec<Animation>,
}

#[derive(Deserialize)]
pub struct MovingNode {
    #[serde(default)]
    pub name: String,
    /// How much of every shape is added.
    pub weights: Option<Vec<f64>>,
}

#[derive(Deserialize)]
pub struct MovingMesh {
    #[serde(default)]
    pub primitives: Vec<MovingPart>,
    pub weights: Option<Vec<f64>>,
}

#[derive(Deserialize)]
pub struct MovingPart {
    #[serde(default)]
    pub attributes: BTreeMap<String, u32>,
    #[serde(default)]
    pub targets: Vec<Target>,
}

#[derive(Deserialize)]
pub struct Target {
    #[serde(rename = "POSITION")]
    pub position: Option<u32>,
}

#[derive(Deserialize)]
pub struct Animation {
    #[serde(default)]
    pub name: String,
    #[serde(default)]
    pub channels: Vec<Channel>,
    #[serde(default)]
    pub samplers: Vec<Sampler>,
}

#[derive(Deserialize)]
pub struct Channel {
    pub sampler: u32,
    pub target: ChannelTarget,
}

#[derive(Deserialize)]
pub struct ChannelTarget {
    pub node: Option<u32>,
    pub path: String,
}

#[derive(Deserialize)]
pub struct Sampler {
    pub input: u32,
    pub output: u32,
    pub interpolation: Option<String>,
}

//! The parts of a glTF document that a surface needs, as the file writes them; all else is passed over.
//!
//! Structs are small on purpose: `{},` is three bytes of a file, and a list of them must not take many times its size.

use serde::Deserialize;
use serde::de::IgnoredAny;

/// The document.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Document {
    pub asset: Asset,
    pub scene: Option<u32>,
    #[serde(default)]
    pub scenes: Vec<Scene>,
    #[serde(default)]
    pub nodes: Vec<Node>,
    #[serde(default)]
    pub meshes: Vec<Mesh>,
    #[serde(default)]
    pub skins: Vec<Skin>,
    #[serde(default)]
    pub accessors: Vec<Accessor>,
    #[serde(default)]
    pub buffer_views: Vec<View>,
    #[serde(default)]
    pub buffers: Vec<Buffer>,
    #[serde(default)]
    pub extensions_required: Vec<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Asset {
    pub version: String,
    pub min_version: Option<String>,
}

#[derive(Deserialize)]
pub struct Scene {
    #[serde(default)]
    pub nodes: Vec<u32>,
}

#[derive(Deserialize)]
pub struct Node {
    #[serde(default)]
    pub children: Vec<u32>,
    pub mesh: Option<u32>,
    pub skin: Option<u32>,
    /// Columns of a 4 x 4 matrix.
    pub matrix: Option<Box<[f64; 16]>>,
    pub translation: Option<Box<[f64; 3]>>,
    /// A quaternion, its real part last.
    pub rotation: Option<Box<[f64; 4]>>,
    pub scale: Option<Box<[f64; 3]>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Skin {
    #[serde(default)]
    pub joints: Vec<u32>,
    pub inverse_bind_matrices: Option<u32>,
}

#[derive(Deserialize)]
pub struct Mesh {
    pub primitives: Vec<Primitive>,
}

#[derive(Deserialize)]
pub struct Primitive {
    pub attributes: Attributes,
    pub indices: Option<u32>,
    pub mode: Option<u32>,
    /// Only whether there are any is of interest.
    #[serde(default)]
    pub targets: Vec<IgnoredAny>,
}

#[derive(Deserialize)]
pub struct Attributes {
    #[serde(rename = "POSITION")]
    pub position: Option<u32>,
    #[serde(rename = "TEXCOORD_0")]
    pub texture: Option<u32>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Accessor {
    pub buffer_view: Option<u32>,
    #[serde(default)]
    pub byte_offset: u64,
    pub component_type: u32,
    #[serde(default)]
    pub normalized: bool,
    pub count: u64,
    #[serde(rename = "type")]
    pub kind: Kind,
    pub sparse: Option<Box<Sparse>>,
}

/// How many numbers make an element.
#[derive(Deserialize, Clone, Copy, PartialEq, Eq, Debug)]
#[serde(rename_all = "UPPERCASE")]
pub enum Kind {
    Scalar,
    Vec2,
    Vec3,
    Vec4,
    Mat2,
    Mat3,
    Mat4,
}

/// Elements that take the place of others.
#[derive(Deserialize)]
pub struct Sparse {
    pub count: u64,
    pub indices: SparseIndices,
    pub values: SparseValues,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SparseIndices {
    pub buffer_view: u32,
    #[serde(default)]
    pub byte_offset: u64,
    pub component_type: u32,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SparseValues {
    pub buffer_view: u32,
    #[serde(default)]
    pub byte_offset: u64,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct View {
    pub buffer: u32,
    #[serde(default)]
    pub byte_offset: u64,
    pub byte_length: u64,
    pub byte_stride: Option<u32>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Buffer {
    pub byte_length: u64,
    pub uri: Option<String>,
}

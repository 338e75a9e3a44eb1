//! The way through a scene: every node once, children after their parents, each with its place in the world.

use std::collections::BTreeMap;

use glam::{DAffine3, DMat4, DQuat, DVec3};

use super::document::{Document, Node, Primitive};
use super::skin::Skins;
use super::{DAMAGED, refuse};
use crate::mesh::MeshFault;

/// A part of a mesh as a node draws it.
pub struct Draw<'a> {
    pub primitive: &'a Primitive,
    /// Its place in the document, for messages.
    pub place: String,
    /// From the mesh to the world.
    pub world: DAffine3,
    /// Number of its first point in the whole surface.
    pub first_point: u64,
    /// Whether no other part of this mesh and node has brought these points already.
    pub first_use: bool,
    /// Mesh and number of this part in it.
    pub mesh: u32,
    pub part: usize,
    /// The node that draws it, and its skin.
    pub node: Option<u32>,
    pub skin: Option<u32>,
    /// Whether no node draws it, since there are none.
    pub loose: bool,
}

/// Takes a part, tells how many points it has.
type Visit<'v> = &'v mut dyn FnMut(&Draw) -> Result<u64, MeshFault>;

/// Hands every part of the default scene to `visit`, in the order of the document.
pub fn walk(document: &Document, skins: &Skins, visit: Visit) -> Result<(), MeshFault> {
    let mut walk = Walk { document, skins, visit, seen: vec![false; document.nodes.len()], points: 0 };
    if document.nodes.is_empty() && document.scenes.is_empty() && document.scene.is_none() {
        return (0..document.meshes.len())
            .try_for_each(|mesh| walk.mesh(mesh as u32, DAffine3::IDENTITY, None));
    }
    let roots = match document.scenes.get(document.scene.unwrap_or(0) as usize) {
        Some(scene) => scene.nodes.clone(),
        None if document.scenes.is_empty() && document.scene.is_none() => skins.roots(),
        None => {
            let place = format!("scenes[{}]", document.scene.unwrap_or(0));
            return Err(refuse(place, "there is no such scene", DAMAGED));
        }
    };
    walk.tree(&roots)
}

struct Walk<'a, 'v> {
    document: &'a Document,
    skins: &'a Skins<'a>,
    visit: Visit<'v>,
    seen: Vec<bool>,
    points: u64,
}

impl<'a> Walk<'a, '_> {
    /// Goes down from `roots`; only the way down is remembered, with what is left to do beside it.
    fn tree(&mut self, roots: &[u32]) -> Result<(), MeshFault> {
        let mut way = vec![(DAffine3::IDENTITY, roots.iter())];
        while let Some((parent, left)) = way.last_mut() {
            let parent = *parent;
            let Some(&index) = left.next() else {
                way.pop();
                continue;
            };
            let place = || format!("nodes[{index}]");
            let Some(node) = self.document.nodes.get(index as usize) else {
                return Err(refuse(place(), "there is no such node", DAMAGED));
            };
            // The standard asks for trees; anything else would repeat nodes, or never end.
            if std::mem::replace(&mut self.seen[index as usize], true) {
                return Err(refuse(place(), "the node has two parents, or is its own ancestor", DAMAGED));
            }
            let world = parent * own_place(node);
            if !world.is_finite() {
                return Err(refuse(place(), "the transform of the node is not finite", DAMAGED));
            }
            if let Some(mesh) = node.mesh {
                let drawn = node.skin.map_or(Ok(world), |skin| self.skins.place(skin))?;
                self.mesh(mesh, drawn, Some((index, node)))?;
            }
            way.push((world, node.children.iter()));
        }
        Ok(())
    }

    /// Visits the parts of a mesh. Parts with the same lists of points share them, so that a surface of several materials holds together.
    fn mesh(&mut self, index: u32, world: DAffine3, node: Option<(u32, &Node)>) -> Result<(), MeshFault> {
        let Some(mesh) = self.document.meshes.get(index as usize) else {
            return Err(refuse(format!("meshes[{index}]"), "there is no such mesh", DAMAGED));
        };
        let mut known = BTreeMap::new();
        for (k, primitive) in mesh.primitives.iter().enumerate() {
            let lists = (primitive.attributes.position, primitive.attributes.texture);
            let shared = known.get(&lists).copied();
            let points = (self.visit)(&Draw {
                primitive,
                place: format!("meshes[{index}].primitives[{k}]"),
                world,
                first_point: shared.unwrap_or(self.points),
                first_use: shared.is_none(),
                mesh: index,
                part: k,
                node: node.map(|(number, _)| number),
                skin: node.and_then(|(_, node)| node.skin),
                loose: node.is_none(),
            })?;
            // Points and lines bring nothing that others could share.
            if shared.is_none() && points > 0 {
                known.insert(lists, self.points);
                self.points = self.points.saturating_add(points);
            }
        }
        Ok(())
    }
}

/// From a node to its parent.
pub fn own_place(node: &Node) -> DAffine3 {
    if let Some(matrix) = &node.matrix {
        return DAffine3::from_mat4(DMat4::from_cols_array(matrix));
    }
    let turned = node.rotation.as_deref().map_or(DQuat::IDENTITY, |r| DQuat::from_array(*r).normalize());
    let scale = node.scale.as_deref().map_or(DVec3::ONE, |s| DVec3::from_array(*s));
    let shift = node.translation.as_deref().map_or(DVec3::ZERO, |t| DVec3::from_array(*t));
    DAffine3::from_scale_rotation_translation(scale, turned, shift)
}

//! Where a skinned mesh stands: joints carry it, and the standard lets its own node's transform count for nothing.

use glam::{DAffine3, DMat4};

use super::accessor::{self, Elements, Number};
use super::buffers::Buffers;
use super::document::{Document, Kind};
use super::walk::own_place;
use super::{DAMAGED, refuse};
use crate::mesh::MeshFault;

/// Marks a node without a parent.
const NO_PARENT: u32 = u32::MAX;
/// Most nodes above a joint; bounds the time where many skins hang on a long chain.
const DEEPEST: usize = 1000;

pub struct Skins<'a> {
    document: &'a Document,
    buffers: &'a Buffers<'a>,
    parents: Vec<u32>,
}

impl<'a> Skins<'a> {
    pub fn new(document: &'a Document, buffers: &'a Buffers<'a>) -> Self {
        let mut parents = vec![NO_PARENT; document.nodes.len()];
        for (parent, node) in document.nodes.iter().enumerate() {
            for child in &node.children {
                if let Some(of_child) = parents.get_mut(*child as usize) {
                    *of_child = parent as u32;
                }
            }
        }
        Self { document, buffers, parents }
    }

    /// Nodes that are no child of another.
    pub fn roots(&self) -> Vec<u32> {
        let parents = self.parents.iter().enumerate();
        parents.filter(|(_, parent)| **parent == NO_PARENT).map(|(node, _)| node as u32).collect()
    }

    /// From a mesh to the world by the first joint. In the pose that the mesh was bound in all joints give the same.
    pub fn place(&self, index: u32) -> Result<DAffine3, MeshFault> {
        let fault = |reason: String| refuse(format!("skins[{index}]"), reason, DAMAGED);
        let Some(skin) = self.document.skins.get(index as usize) else {
            return Err(fault("there is no such skin".into()));
        };
        let Some(joint) = skin.joints.first() else { return Err(fault("the skin has no joints".into())) };
        let (mut world, mut at) = (DAffine3::IDENTITY, *joint);
        for _ in 0..DEEPEST {
            let Some(node) = self.document.nodes.get(at as usize) else {
                return Err(fault(format!("there is no node {at}, which carries the first joint")));
            };
            world = own_place(node) * world;
            at = self.parents.get(at as usize).copied().unwrap_or(NO_PARENT);
            if at == NO_PARENT {
                let world = world * self.unbound(skin.inverse_bind_matrices)?;
                return if world.is_finite() {
                    Ok(world)
                } else {
                    Err(fault("a transform is not finite".into()))
                };
            }
        }
        Err(fault(format!("more than {DEEPEST} nodes lie above the first joint")))
    }

    /// From the mesh to its first joint.
    fn unbound(&self, matrices: Option<u32>) -> Result<DAffine3, MeshFault> {
        let Some(index) = matrices else { return Ok(DAffine3::IDENTITY) };
        let matrices = Elements::find(self.document, self.buffers, index)?;
        let fits = matrices.kind == Kind::Mat4 && matrices.number == Number::F32;
        match matrices.first().filter(|_| fits) {
            Some(first) => Ok(DAffine3::from_mat4(DMat4::from_cols_array(&first))),
            None => Err(refuse(accessor::place(index), "these are no matrices of a skin", DAMAGED)),
        }
    }
}

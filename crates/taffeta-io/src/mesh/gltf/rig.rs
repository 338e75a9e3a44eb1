//! The skeleton of a file: its tree of nodes, the joints and shapes of every part, and its clips.

use std::collections::{BTreeMap, VecDeque};

use glam::{DAffine3, DMat4, DQuat, DVec3};
use taffeta_scene::rig::{Bone, Morph, Node, Place, Rig, Shape, Share};

use super::accessor::{self, Elements, Number};
use super::buffers::Buffers;
use super::document::{Document, Kind};
use super::moving::Moving;
use super::part::Part;
use super::walk::Draw;
use super::{DAMAGED, FREE, refuse, tracks};
use crate::mesh::MeshFault;

/// Weights of a point whose sum is further from 1 are told: what 8 bits round is less.
const TOLD: f64 = 0.01;
/// Most numbers for each byte of the file: lists that are used again and again must not fill the memory.
const NUMBERS: u64 = 6;

/// A skeleton as it grows.
pub struct RigReader<'a> {
    pub document: &'a Document,
    pub moving: &'a Moving,
    pub buffers: &'a Buffers<'a>,
    pub rig: Rig,
    pub notes: Vec<String>,
    /// By number in the file: the number of a node in the rig, where parents come first.
    pub number: Vec<u32>,
    first_bone: BTreeMap<u32, u32>,
    bone_of_node: BTreeMap<u32, u32>,
    /// How many numbers may still be taken.
    left: u64,
}

impl<'a> RigReader<'a> {
    /// For a document with that tree, whose file has so many bytes.
    pub fn new(
        document: &'a Document,
        moving: &'a Moving,
        buffers: &'a Buffers<'a>,
        (mut nodes, number): (Vec<Node>, Vec<u32>),
        size: usize,
    ) -> Self {
        for (moving, number) in moving.nodes.iter().zip(&number) {
            nodes[*number as usize].name.clone_from(&moving.name);
        }
        let left =
            (size as u64).saturating_add(buffers.beside.get()).saturating_mul(NUMBERS).saturating_add(FREE);
        let rig = Rig { nodes, ..Rig::default() };
        let (first_bone, bone_of_node) = (BTreeMap::new(), BTreeMap::new());
        Self { document, moving, buffers, rig, notes: vec![], number, first_bone, bone_of_node, left }
    }

    /// Takes the points of a part and what holds them; tells how many it has.
    pub fn add(&mut self, draw: &Draw) -> Result<u64, MeshFault> {
        let Some(part) = Part::find(self.document, self.buffers, draw)? else { return Ok(0) };
        let count = part.points.count;
        if draw.first_use {
            let first = self.rig.points.len() as u32;
            self.rig.points.extend(self.vectors(&part.points)?);
            let Some(node) = draw.node.and_then(|node| self.number.get(node as usize)).copied() else {
                return Err(refuse(
                    &draw.place,
                    "no node draws this part, so that nothing can move it",
                    DAMAGED,
                ));
            };
            match draw.skin {
                Some(skin) => self.hold_by_joints(draw, skin, count)?,
                None => self.hold_by_node(node, count),
            }
            self.add_shapes(draw, node, first, count)?;
        }
        Ok(count as u64)
    }

    /// Reads all clips; of what it cannot follow it makes notes.
    pub fn add_clips(&mut self) -> Result<(), MeshFault> {
        for k in 0..self.moving.animations.len() {
            let clip = tracks::clip(self, k)?;
            self.rig.clips.push(clip);
        }
        Ok(())
    }

    /// An accessor of which so many numbers will be taken.
    pub fn find(&mut self, index: u32) -> Result<Elements<'a>, MeshFault> {
        let elements = Elements::find(self.document, self.buffers, index)?;
        self.left = self.left.checked_sub(elements.count as u64).ok_or_else(|| {
            let reason = "lists are used so often that they are too many for the size of the file";
            refuse(accessor::place(index), reason, "write every list once")
        })?;
        Ok(elements)
    }

    fn vectors(&self, elements: &Elements) -> Result<Vec<DVec3>, MeshFault> {
        let mut vectors = vec![DVec3::ZERO; elements.count];
        elements.read(|k, numbers: [f64; 3]| {
            if !numbers.iter().all(|n| n.is_finite()) {
                let reason = format!("coordinates of element {k} are not finite");
                return Err(refuse(
                    accessor::place(elements.index),
                    reason,
                    "find out how the mesh came to hold it",
                ));
            }
            vectors.get_mut(k).into_iter().for_each(|v| *v = DVec3::from(numbers));
            Ok(())
        })?;
        Ok(vectors)
    }

    /// All points of a part on its own node.
    fn hold_by_node(&mut self, node: u32, count: usize) {
        let bones = &mut self.rig.bones;
        let bone = *self.bone_of_node.entry(node).or_insert_with(|| {
            bones.push(Bone { node, unbound: DAffine3::IDENTITY });
            bones.len() as u32 - 1
        });
        for _ in 0..count {
            self.rig.shares.push(Share { bone, weight: 1.0 });
            self.rig.ends.push(self.rig.shares.len() as u32);
        }
    }

    /// Each point on its joints.
    fn hold_by_joints(&mut self, draw: &Draw, skin: u32, count: usize) -> Result<(), MeshFault> {
        let first_bone = self.bones(skin)?;
        let joints = self.document.skins.get(skin as usize).map_or(0, |skin| skin.joints.len());
        let mut held: Vec<Vec<Share>> = vec![Vec::new(); count];
        let part = self.moving.meshes.get(draw.mesh as usize).and_then(|mesh| mesh.primitives.get(draw.part));
        for set in 0.. {
            let list =
                |name: &str| part.and_then(|part| part.attributes.get(&format!("{name}_{set}"))).copied();
            let (Some(of_joints), Some(of_weights)) = (list("JOINTS"), list("WEIGHTS")) else { break };
            self.add_set(of_joints, of_weights, joints, &mut held)?;
        }
        let (mut off, mut worst) = (0, (0, 1.0));
        for (k, held) in held.iter().enumerate() {
            let sum: f64 = held.iter().map(|share| share.weight).sum();
            if held.is_empty() {
                let reason = format!("the weights of point {k} are all 0, so that no joint holds it");
                return Err(refuse(&draw.place, reason, "give it to a joint in the program that made it"));
            }
            if (sum - 1.0).abs() > TOLD {
                off += 1;
                worst = if (sum - 1.0).abs() > f64::abs(worst.1 - 1.0) { (k, sum) } else { worst };
            }
            let share = |share: &Share| Share { bone: first_bone + share.bone, weight: share.weight / sum };
            self.rig.shares.extend(held.iter().map(share));
            self.rig.ends.push(self.rig.shares.len() as u32);
        }
        if off > 0 {
            self.notes.push(format!(
                "{}: weights of {off} points did not add up to 1 and were normalised; point {} had {:.3}",
                draw.place, worst.0, worst.1
            ));
        }
        Ok(())
    }

    /// Up to four more joints for every point.
    fn add_set(
        &mut self,
        of_joints: u32,
        of_weights: u32,
        joints: usize,
        held: &mut [Vec<Share>],
    ) -> Result<(), MeshFault> {
        let (numbers, mut weights) = (self.find(of_joints)?, self.find(of_weights)?);
        for (elements, what) in [(&numbers, "JOINTS"), (&weights, "WEIGHTS")] {
            let fits = elements.kind == Kind::Vec4 && (what == "WEIGHTS" || elements.number.counts());
            if !fits || elements.count != held.len() {
                let reason = format!(
                    "{} {what} of kind {:?} for {} points cannot be used",
                    elements.count,
                    elements.kind,
                    held.len()
                );
                return Err(refuse(accessor::place(elements.index), reason, DAMAGED));
            }
        }
        let mut named = vec![[0.0; 4]; held.len()];
        numbers.read(|k, joints: [f64; 4]| {
            named.get_mut(k).into_iter().for_each(|to| *to = joints);
            Ok(())
        })?;
        let mut parts = vec![[0.0; 4]; held.len()];
        // Whole numbers always stand for parts of their largest.
        weights.normalized = weights.number != Number::F32;
        weights.read(|k, weights: [f64; 4]| {
            parts.get_mut(k).into_iter().for_each(|to| *to = weights);
            Ok(())
        })?;
        for (k, (held, (named, parts))) in held.iter_mut().zip(named.iter().zip(&parts)).enumerate() {
            for (joint, weight) in named.iter().zip(parts).filter(|(_, weight)| **weight != 0.0) {
                if !(*weight > 0.0 && weight.is_finite()) {
                    let reason = format!("a weight of element {k} is {weight}, where 0 is the least");
                    return Err(refuse(accessor::place(of_weights), reason, DAMAGED));
                }
                if *joint >= joints as f64 {
                    let reason = format!("element {k} names joint {joint} of a skin of {joints} joints");
                    return Err(refuse(accessor::place(of_joints), reason, DAMAGED));
                }
                held.push(Share { bone: *joint as u32, weight: *weight });
            }
        }
        Ok(())
    }

    /// The first of a skin's bones, which come in the order of its joints.
    fn bones(&mut self, index: u32) -> Result<u32, MeshFault> {
        if let Some(first) = self.first_bone.get(&index) {
            return Ok(*first);
        }
        let place = format!("skins[{index}]");
        let Some(skin) = self.document.skins.get(index as usize) else {
            return Err(refuse(place, "there is no such skin", DAMAGED));
        };
        let mut unbound = vec![DAffine3::IDENTITY; skin.joints.len()];
        match skin.inverse_bind_matrices {
            None => self.notes.push(format!(
                "{place} has no inverse bind matrices; its points are taken to lie in the axes of its joints, as the standard says"
            )),
            Some(of_matrices) => {
                let matrices = self.find(of_matrices)?;
                if matrices.kind != Kind::Mat4 || matrices.number != Number::F32 || matrices.count < unbound.len() {
                    let (count, kind) = (matrices.count, matrices.kind);
                    let reason = format!("{count} inverse bind matrices of kind {kind:?} for {} joints", unbound.len());
                    return Err(refuse(place, reason, "export the mesh with the matrices of all joints"));
                }
                matrices.read(|k, numbers: [f64; 16]| {
                    let matrix = DAffine3::from_mat4(DMat4::from_cols_array(&numbers));
                    if !matrix.is_finite() {
                        return Err(refuse(accessor::place(of_matrices), format!("matrix {k} is not finite"), DAMAGED));
                    }
                    unbound.get_mut(k).into_iter().for_each(|to| *to = matrix);
                    Ok(())
                })?;
            }
        }
        let first = self.rig.bones.len() as u32;
        for (joint, unbound) in skin.joints.iter().zip(unbound) {
            let Some(node) = self.number.get(*joint as usize).copied() else {
                return Err(refuse(place, format!("there is no node {joint}, which is a joint"), DAMAGED));
            };
            self.rig.bones.push(Bone { node, unbound });
        }
        self.first_bone.insert(index, first);
        Ok(first)
    }

    /// The shapes of a part; those of all parts of a mesh go together.
    fn add_shapes(&mut self, draw: &Draw, node: u32, first: u32, count: usize) -> Result<(), MeshFault> {
        let Some(mesh) = self.moving.meshes.get(draw.mesh as usize) else { return Ok(()) };
        let Some(part) = mesh.primitives.get(draw.part) else { return Ok(()) };
        let of_node = draw.node.and_then(|node| self.moving.nodes.get(node as usize)?.weights.as_ref());
        let weights = of_node.or(mesh.weights.as_ref());
        for (number, target) in part.targets.iter().enumerate() {
            let mut morph = Morph::default();
            if let Some(index) = target.position {
                let ways = self.find(index)?;
                if ways.kind != Kind::Vec3 || ways.count != count {
                    let reason =
                        format!("a shape of {} ways of kind {:?} for {count} points", ways.count, ways.kind);
                    return Err(refuse(accessor::place(index), reason, DAMAGED));
                }
                for (k, way) in
                    self.vectors(&ways)?.into_iter().enumerate().filter(|(_, way)| *way != DVec3::ZERO)
                {
                    morph.points.push(first + k as u32);
                    morph.ways.push(way);
                }
            }
            let part = weights.and_then(|weights| weights.get(number)).copied().unwrap_or(0.0);
            self.rig.shapes.push(Shape { node, number: number as u32, part, morph });
        }
        Ok(())
    }
}

/// All nodes, parents before their children, and the new number of each.
pub fn tree(document: &Document) -> Result<(Vec<Node>, Vec<u32>), MeshFault> {
    let count = document.nodes.len();
    let mut parent_of: Vec<Option<u32>> = vec![None; count];
    for (parent, node) in document.nodes.iter().enumerate() {
        for child in &node.children {
            let place = format!("nodes[{child}]");
            let Some(of_child) = parent_of.get_mut(*child as usize) else {
                return Err(refuse(place, "there is no such node", DAMAGED));
            };
            if of_child.replace(parent as u32).is_some() {
                return Err(refuse(place, "the node has two parents", DAMAGED));
            }
        }
    }
    let mut number = vec![u32::MAX; count];
    let mut nodes = Vec::with_capacity(count);
    let mut waiting: VecDeque<u32> = (0..count as u32).filter(|k| parent_of[*k as usize].is_none()).collect();
    while let Some(k) = waiting.pop_front() {
        let node = &document.nodes[k as usize];
        let parent = parent_of[k as usize].map(|parent| number[parent as usize]);
        number[k as usize] = nodes.len() as u32;
        nodes.push(Node { name: String::new(), parent, place: place(node) });
        waiting.extend(&node.children);
    }
    match number.iter().position(|number| *number == u32::MAX) {
        Some(k) => Err(refuse(format!("nodes[{k}]"), "the node is its own ancestor", DAMAGED)),
        None => Ok((nodes, number)),
    }
}

fn place(node: &super::document::Node) -> Place {
    if node.matrix.is_some() {
        return Place::Whole(super::walk::own_place(node));
    }
    Place::Parts {
        scale: node.scale.as_deref().map_or(DVec3::ONE, |s| DVec3::from_array(*s)),
        turn: node.rotation.as_deref().map_or(DQuat::IDENTITY, |r| DQuat::from_array(*r).normalize()),
        shift: node.translation.as_deref().map_or(DVec3::ZERO, |t| DVec3::from_array(*t)),
    }
}

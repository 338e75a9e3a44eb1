//! Bodies that hang on bones, for formats that have skeletons.

use super::film::Film;
use super::names::Names;
use super::subject::bounds;
use super::{ExportError, Format};
use std::cmp::Reverse;
use taffeta::math::{DAffine3, DQuat, DVec3, Pose};
use taffeta::model::BodyMesh;
use taffeta::model::skin::Skin;

/// A body is written by its points if its bones would not bring them as near as this to where they were [m].
const NEAR: f64 = 1e-3;

/// A body on its skeleton, in the file's units.
pub(super) struct Skinned {
    pub name: String,
    /// What the user calls it.
    pub called: String,
    /// Its place among the frames' poses.
    pub body: usize,
    /// Points and smooth normals in the pose that it was bound in.
    pub rest: Vec<DVec3>,
    pub normals: Vec<DVec3>,
    pub triangles: Vec<[u32; 3]>,
    /// Parents stand before their children.
    pub joints: Vec<ExportJoint>,
    /// How many joints hold a point at most.
    pub width: usize,
    /// Of every point so many joints and their shares [1]; who is held by fewer has joint 0 with none.
    pub held: Vec<(u16, f32)>,
    mesh: BodyMesh,
    scale: f64,
    /// USD holds scales of joints in half precision, which is not enough: there they have none.
    scales: bool,
}

/// A joint of a skeleton.
pub(super) struct ExportJoint {
    pub name: String,
    pub parent: Option<usize>,
    /// From the points in their bound pose to its own axes.
    pub unbound: DAffine3,
    /// Its bone in the recording.
    bone: usize,
}

/// Where a joint is on its parent.
#[derive(Clone, Copy)]
pub(super) struct JointPlace {
    pub shift: DVec3,
    pub turn: DQuat,
    pub scale: DVec3,
}

impl JointPlace {
    fn of(matrix: &DAffine3) -> JointPlace {
        let (scale, turn, shift) = matrix.to_scale_rotation_translation();
        JointPlace { shift, turn: turn.normalize(), scale }
    }

    /// So much of the way to another, which is near.
    fn towards(&self, other: &JointPlace, share: f64) -> JointPlace {
        // The shorter way round.
        let near = if self.turn.dot(other.turn) < 0.0 { -other.turn } else { other.turn };
        JointPlace {
            shift: self.shift.lerp(other.shift, share),
            turn: (self.turn * (1.0 - share) + near * share).normalize(),
            scale: self.scale.lerp(other.scale, share),
        }
    }

    pub fn matrix(&self) -> DAffine3 {
        DAffine3::from_scale_rotation_translation(self.scale, self.turn, self.shift)
    }
}

impl Skinned {
    /// A body on its skeleton, or in words why it has none.
    pub fn of(
        called: &str,
        mesh: &BodyMesh,
        body: usize,
        scale: f64,
        format: Format,
    ) -> Result<Skinned, &'static str> {
        let skin = mesh.skin().ok_or("it has no bones")?;
        if skin.joints.is_empty() {
            return Err("the recording does not say how its bones hang together");
        }
        if skin.moments.iter().flat_map(|moment| &moment.morphs).any(|part| *part != 0.0) {
            return Err("it also changes its shape");
        }
        let order = parents_first(skin).ok_or("its bones hang on one another in a circle")?;
        let mut place = vec![0; order.len()];
        order.iter().enumerate().for_each(|(new, bone)| place[*bone] = new);
        let mut names = Names::new(format);
        let joint = |bone: &usize| {
            let joint = &skin.joints[*bone];
            let unbound = scaled(&joint.unbound, scale);
            // A skeleton in other units than its body, as many are, gets axes of length 1.
            let first = skin.moments[0].bones[*bone].matrix3 * unbound.matrix3.inverse();
            ExportJoint {
                name: names.take(if joint.name.is_empty() { "joint" } else { &joint.name }),
                parent: joint.parent.map(|parent| place[parent as usize]),
                unbound: DAffine3::from_scale(DVec3::splat(first.x_axis.length())) * unbound,
                bone: *bone,
            }
        };
        let joints: Vec<ExportJoint> = order.iter().map(joint).collect();
        if joints.iter().any(|joint| !joint.unbound.inverse().is_finite()) {
            return Err("a bone has no axes of its own");
        }
        if joints.len() > usize::from(u16::MAX) {
            return Err("it has more bones than the format can name");
        }
        let (width, held) = holds(skin, &place);
        let rest: Vec<DVec3> = skin.rest.iter().map(|p| *p * scale).collect();
        let triangles = mesh.triangles().to_vec();
        let mut normals = vec![DVec3::ZERO; rest.len()];
        for t in &triangles {
            let [a, b, c] = t.map(|i| rest[i as usize]);
            t.iter().for_each(|i| normals[*i as usize] += (b - a).cross(c - a));
        }
        normals.iter_mut().for_each(|n| *n = n.normalize_or(DVec3::Y));
        let (name, called, mesh) = (String::new(), called.into(), mesh.clone());
        let scales = format == Format::Gltf;
        Ok(Skinned { name, called, body, rest, normals, triangles, joints, width, held, mesh, scale, scales })
    }

    /// Where every joint is on its parent at `time` [s], under a pose in the file's axes and units.
    ///
    /// Between moments joints turn, where the points of the recording go straight.
    pub fn pose(&self, time: f64, pose: &Pose) -> Vec<JointPlace> {
        let Some(skin) = self.mesh.skin() else { return Vec::new() };
        let (from, to, share) = self.mesh.moments_at(time);
        let [before, after] = [from, to].map(|moment| {
            let bones = &skin.moments[moment].bones;
            let global =
                |joint: &ExportJoint| scaled(&bones[joint.bone], self.scale) * joint.unbound.inverse();
            let globals: Vec<DAffine3> = self.joints.iter().map(global).collect();
            let local = |(joint, own): (&ExportJoint, &DAffine3)| {
                let above = joint.parent.map_or(DAffine3::IDENTITY, |parent| globals[parent].inverse());
                JointPlace::of(&(above * *own))
            };
            self.joints.iter().zip(&globals).map(local).collect::<Vec<_>>()
        });
        let mut places: Vec<JointPlace> =
            before.iter().zip(&after).map(|(a, b)| a.towards(b, share)).collect();
        if !self.scales {
            places.iter_mut().for_each(|place| place.scale = DVec3::ONE);
        }
        for (place, _) in places.iter_mut().zip(&self.joints).filter(|(_, joint)| joint.parent.is_none()) {
            (place.shift, place.turn) = (pose.to_world(place.shift), pose.rotation * place.turn);
        }
        places
    }

    /// The corners of a box around its points as they were at `time` [s], under a pose in the file's axes and units.
    pub fn bounds(&self, time: f64, pose: &Pose) -> [[f32; 3]; 2] {
        let points = self.mesh.points(time, &Pose::IDENTITY);
        bounds(&points.iter().map(|p| pose.to_world(*p * self.scale)).collect::<Vec<_>>())
    }

    /// The largest distance of its points on their skeleton from where they were, over all frames, in the file's units.
    pub fn off(&self, film: &mut Film) -> Result<f64, ExportError> {
        let mut off: f64 = 0.0;
        let mut points = vec![DVec3::ZERO; self.rest.len()];
        film.play(&mut |moment| {
            let pose = &moment.poses[self.body];
            self.mesh.place(moment.time, &Pose::IDENTITY, &mut points);
            let bones = self.bones(&self.pose(moment.time, pose));
            for ((was, rest), held) in points.iter().zip(&self.rest).zip(self.held.chunks(self.width)) {
                let is: DVec3 = held
                    .iter()
                    .map(|(joint, share)| {
                        f64::from(*share) * bones[usize::from(*joint)].transform_point3(*rest)
                    })
                    .sum();
                // What is not finite is far.
                off = if is.is_finite() {
                    off.max(is.distance(pose.to_world(*was * self.scale)))
                } else {
                    f64::INFINITY
                };
            }
            Ok(())
        })?;
        Ok(off)
    }

    /// Whether a distance in the file's units is near.
    pub fn is_near(&self, off: f64) -> bool {
        off <= NEAR * self.scale
    }

    /// From the bound pose to where every joint brings it.
    fn bones(&self, places: &[JointPlace]) -> Vec<DAffine3> {
        let mut globals: Vec<DAffine3> = Vec::with_capacity(places.len());
        for (joint, place) in self.joints.iter().zip(places) {
            let above = joint.parent.map_or(DAffine3::IDENTITY, |parent| globals[parent]);
            globals.push(above * place.matrix());
        }
        globals.iter().zip(&self.joints).map(|(global, joint)| *global * joint.unbound).collect()
    }
}

/// A transform of metres as one of the file's units.
fn scaled(matrix: &DAffine3, scale: f64) -> DAffine3 {
    DAffine3 { matrix3: matrix.matrix3, translation: matrix.translation * scale }
}

/// The bones in an order in which parents stand before their children, if there is one.
fn parents_first(skin: &Skin) -> Option<Vec<usize>> {
    let mut depth = vec![0usize; skin.joints.len()];
    for (bone, depth) in depth.iter_mut().enumerate() {
        let mut at = bone;
        while let Some(parent) = skin.joints[at].parent {
            (at, *depth) = (parent as usize, *depth + 1);
            if *depth > skin.joints.len() {
                return None;
            }
        }
    }
    let mut order: Vec<usize> = (0..depth.len()).collect();
    order.sort_by_key(|bone| depth[*bone]);
    Some(order)
}

/// How many joints hold a point at most, and of every point so many, those with the largest shares first.
fn holds(skin: &Skin, place: &[usize]) -> (usize, Vec<(u16, f32)>) {
    let starts = || std::iter::once(0).chain(skin.ends.iter().map(|end| *end as usize));
    let of = |(start, end): (usize, &u32)| &skin.shares[start..*end as usize];
    let width = starts().zip(&skin.ends).map(|point| of(point).len()).max().unwrap_or(0).max(1);
    let mut held = Vec::with_capacity(width * skin.rest.len());
    for point in starts().zip(&skin.ends) {
        let begin = held.len();
        held.extend(of(point).iter().map(|share| (place[share.bone as usize] as u16, share.weight as f32)));
        held[begin..].sort_by_key(|(_, share)| Reverse(share.to_bits()));
        held.resize(begin + width, (0, 0.0));
    }
    (width, held)
}

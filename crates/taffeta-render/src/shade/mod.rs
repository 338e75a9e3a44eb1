//! From a hit to light: what the surface is there, what it would send to the eye, and where to look for shadow.

pub mod ground;
pub mod light;
pub mod smooth;
mod weave;

use crate::trace::{Coat, Face, Hit, Ray, What, World};
use glam::{Vec2, Vec3};
use light::Lights;
use smooth::Seen;
pub use weave::hash;

/// Reflectance of bodies.
const CLAY: Vec3 = Vec3::new(0.46, 0.43, 0.40);
/// The back of a cloth is as bright as this, seen beside its front.
const BACK: f32 = 0.82;
/// Share of the light that passes through a white cloth.
const TRANSLUCENCY: f32 = 0.16;
/// A vertex normal further from the face's than this (its cosine) is across a crease of a body.
const CREASE: f32 = 0.86;

/// What does not change from pixel to pixel.
#[derive(Debug)]
pub struct Studio<'a> {
    /// What can be met.
    pub world: &'a World,
    /// What lights it.
    pub lights: &'a Lights,
    /// Half the height of the picture at its target [m]: the size of things.
    pub scale: f32,
    /// Width of a pixel at distance 1.
    pub pixel: f32,
    /// Distance of grid lines [m].
    pub grid: f32,
}

/// A lit place, before shadow is known.
#[derive(Debug, Clone, Copy, Default)]
pub struct Place {
    /// Where it is [m].
    pub position: Vec3,
    /// Its normal towards the eye.
    pub normal: Vec3,
    /// Width of the pixel there [m].
    pub footprint: f32,
    /// The same for places of one surface, and above 0.
    pub surface: u32,
    /// Light that no shadow takes away.
    pub sure: Vec3,
    /// Light from the key lamp if it is not hidden.
    pub direct: Vec3,
    /// Light from all around if nothing hides it.
    pub ambient: Vec3,
    /// The same times the surface's own colour: what bounces once more in folds.
    pub bounced: Vec3,
    /// Where rays to the key light start [m].
    pub key_start: Vec3,
    /// Where rays to the sky start [m].
    pub sky_start: Vec3,
    /// The side that rays must leave on: the normal of the flat triangle towards the eye.
    pub flat: Vec3,
}

/// A surface, before any light.
struct Matter {
    albedo: Vec3,
    /// Strength of fuzz.
    sheen: f32,
    translucency: f32,
    /// Normal that is lit; the weave tilts it.
    normal: Vec3,
}

impl Studio<'_> {
    /// What a ray of the eye sees; `None` is the backdrop.
    pub fn place(&self, ray: &Ray, hit: &Hit) -> Option<Place> {
        match hit.what {
            What::Face(face, weights) => Some(self.face(ray, hit.t, face, weights)),
            What::Solid(solid, normal) => {
                let surface = 0x8000_0000 + solid;
                let matter = Matter { albedo: CLAY, sheen: 0.0, translucency: 0.0, normal };
                let start = ray.at(hit.t) + self.offset(hit.t) * normal;
                Some(self.lit(ray, hit.t, [normal; 2], surface, &matter, [start; 2]))
            }
            What::Plane(plane) => self.plane(ray, hit.t, plane),
        }
    }

    /// How far rays start above a surface at distance `t` of the eye [m]: more than single precision may be wrong there.
    fn offset(&self, t: f32) -> f32 {
        5e-5 * self.scale + 2e-6 * t
    }

    fn plane(&self, ray: &Ray, t: f32, number: u32) -> Option<Place> {
        let plane = &self.world.planes[number as usize];
        let position = ray.at(t);
        let haze = ground::haze(position.length(), self.scale);
        if haze >= 1.0 {
            return None;
        }
        let towards = |axis: Vec3| (position - plane.point).dot(axis);
        let at = Vec2::new(towards(plane.along[0]), towards(plane.along[1]));
        // Seen flat, a pixel is stretched along the line of sight.
        let stretch = self.pixel * t / plane.normal.dot(ray.direction).abs().max(1e-3);
        let sight = |axis: Vec3| self.pixel * t + stretch * axis.dot(ray.direction).abs();
        let footprint = Vec2::new(sight(plane.along[0]), sight(plane.along[1]));
        let albedo = ground::FLOOR * ground::grid(at, self.grid, footprint);
        let matter = Matter { albedo, sheen: 0.0, translucency: 0.0, normal: plane.normal };
        let start = position + self.offset(t) * plane.normal;
        let mut place = self.lit(ray, t, [plane.normal; 2], 0x4000_0000 + number, &matter, [start; 2]);
        for light in [&mut place.direct, &mut place.ambient, &mut place.bounced, &mut place.sure] {
            *light *= 1.0 - haze;
        }
        place.sure += haze * ground::backdrop(ray.direction);
        Some(place)
    }

    fn face(&self, ray: &Ray, t: f32, number: u32, weights: [f32; 2]) -> Place {
        let face = self.world.face(number);
        let corners = self.world.corners(face);
        let weights = [1.0 - weights[0] - weights[1], weights[0], weights[1]];
        let flat = (corners[1] - corners[0]).cross(corners[2] - corners[0]).normalize_or(-ray.direction);
        // Everything below is seen from the eye's side.
        let side = if flat.dot(ray.direction) < 0.0 { 1.0 } else { -1.0 };
        let clay = matches!(self.world.coats.get(face.surface as usize), Some(Coat::Clay));
        let straight = |n: Vec3| if clay && n.dot(flat) < CREASE { flat } else { n };
        let normals = self.world.normals(face).map(|n| side * straight(n));
        let flat = side * flat;
        let mix = |v: [Vec3; 3]| weights[0] * v[0] + weights[1] * v[1] + weights[2] * v[2];
        let normal = towards_eye(mix(normals).normalize_or(flat), ray.direction);
        let position = ray.at(t);
        let matter = self.face_matter(ray, t, face, weights, normal, side > 0.0);
        // Rays leave from the smooth surface that the normals pretend, or its flat triangles would shade each other where
        // light grazes (Hanika 2021, "Hacking the shadow terminator").
        let start = |side: f32| {
            let lift = |i: usize| {
                let below = (side * normals[i]).dot(position - corners[i]).min(0.0);
                -weights[i] * below * side * normals[i]
            };
            position + lift(0) + lift(1) + lift(2) + self.offset(t) * side * flat
        };
        let sky_start = start(1.0);
        let key_start = if matter.normal.dot(self.lights.key) < 0.0 { start(-1.0) } else { sky_start };
        self.lit(ray, t, [normal, flat], 1 + face.surface, &matter, [key_start, sky_start])
    }

    fn face_matter(
        &self,
        ray: &Ray,
        t: f32,
        face: &Face,
        weights: [f32; 3],
        normal: Vec3,
        front: bool,
    ) -> Matter {
        if let Some(albedo) = self.world.painted(face, weights) {
            return Matter { albedo, sheen: 0.0, translucency: 0.5 * TRANSLUCENCY, normal };
        }
        match self.world.coats.get(face.surface as usize) {
            Some(Coat::Fabric { colour, thread }) => {
                let (brightness, normal) = self.woven(ray, t, face, weights, normal, *thread);
                let albedo = *colour * brightness * if front { 1.0 } else { BACK };
                Matter {
                    albedo: albedo.min(Vec3::splat(0.95)),
                    sheen: 0.22,
                    translucency: TRANSLUCENCY,
                    normal,
                }
            }
            _ => Matter { albedo: CLAY, sheen: 0.0, translucency: 0.0, normal },
        }
    }

    /// Brightness and normal of a woven triangle.
    fn woven(
        &self,
        ray: &Ray,
        t: f32,
        face: &Face,
        weights: [f32; 3],
        normal: Vec3,
        thread: f32,
    ) -> (f32, Vec3) {
        let [a, b, c] = self.world.material(face);
        let [p, q, r] = self.world.corners(face);
        let (du, dv) = (b - a, c - a);
        let (eu, ev) = (q - p, r - p);
        let area = du.perp_dot(dv);
        // Where a cloth closes on itself, as a tube does, one row of triangles spans all of its material: no threads there.
        let torn = du.length() > 2.0 * eu.length() || dv.length() > 2.0 * ev.length();
        if thread <= 0.0 || area == 0.0 || torn {
            return (1.0, normal);
        }
        let at = (weights[0] * a + weights[1] * b + weights[2] * c) / thread;
        let footprint = self.pixel * t / (thread * normal.dot(ray.direction).abs().max(0.05));
        let weave = weave::weave(at, footprint);
        if weave.tilt == Vec2::ZERO {
            return (weave.brightness, normal);
        }
        let along_u = (dv.y * eu - du.y * ev).normalize_or_zero() * area.signum();
        let along_v = (du.x * ev - dv.x * eu).normalize_or_zero() * area.signum();
        let tilted = (normal + weave.tilt.x * along_u + weave.tilt.y * along_v).normalize_or(normal);
        (weave.brightness, towards_eye(tilted, ray.direction))
    }

    fn lit(
        &self,
        ray: &Ray,
        t: f32,
        smooth_flat: [Vec3; 2],
        surface: u32,
        matter: &Matter,
        start: [Vec3; 2],
    ) -> Place {
        let Matter { albedo, sheen, translucency, normal } = *matter;
        let (eye, lights) = (-ray.direction, self.lights);
        let towards = normal.dot(lights.key);
        let through = translucency * (-towards).max(0.0) * albedo;
        let fuzz = Vec3::splat(0.5).lerp(albedo, 0.5) * sheen;
        let direct = light::KEY
            * (albedo * (towards.max(0.0) + through) + fuzz * weave::sheen(normal, eye, lights.key));
        let fill = light::FILL * normal.dot(lights.fill).max(0.0);
        let grazing = 1.0 - normal.dot(eye).clamp(0.0, 1.0);
        let all_around = light::ambient(normal) + fill;
        let ambient = all_around * (albedo + fuzz * (grazing * grazing * grazing));
        Place {
            position: ray.at(t),
            normal: smooth_flat[0],
            footprint: self.pixel * t,
            surface,
            sure: Vec3::ZERO,
            direct,
            ambient,
            bounced: ambient * albedo,
            key_start: start[0],
            sky_start: start[1],
            flat: smooth_flat[1],
        }
    }

    /// Whether a place sees a point of the key light and a direction of the sky, by their number.
    pub fn look(&self, place: &Place, number: usize) -> Seen {
        let lights = self.lights;
        let direction = lights.key_points[number];
        let key = self.world.occluded(&Ray::new(place.key_start, direction), f32::INFINITY);
        let (local, share) = lights.sky[number];
        let direction = light::frame(place.normal) * local;
        // Below the flat triangle is nothing but itself.
        let below = direction.dot(place.flat).min(0.0);
        let direction = direction - 2.0 * below * place.flat;
        let hidden = self.world.occluded(&Ray::new(place.sky_start, direction), 1.6 * self.scale * share);
        let seen = |hidden: bool| if hidden { 0.0 } else { 1.0 };
        Seen { key: seen(key), open: seen(hidden) }
    }
}

/// A normal bent until it looks at the eye: smooth normals may look away at silhouettes.
fn towards_eye(normal: Vec3, direction: Vec3) -> Vec3 {
    let away = normal.dot(direction);
    if away < -0.02 { normal } else { (normal - (away + 0.02) * direction).normalize_or(-direction) }
}

/// How much of the light from all around reaches a place that sees the share `open` of the sky, as factors of its
/// ambient light and of the same once bounced (Jimenez et al. 2016, "Practical real-time strategies for accurate indirect
/// occlusion", eq. 10): in folds of a bright cloth light is passed on.
pub fn around(open: f32) -> [f32; 2] {
    let (a, b, c) = (open, open * open, open * open * open);
    [0.6903 * a + 0.6417 * b - 0.3324 * c, 2.7552 * a - 4.7951 * b + 2.0404 * c]
}

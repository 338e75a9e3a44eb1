//! The camera, and where it has to stand to see everything.

use crate::view::{BodyView, SceneView};
use taffeta::math::{DVec3, trig};
use taffeta::model::{PosedShape, Shape};

/// Where the picture is taken from. +y is up.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Camera {
    /// Where it stands [m].
    pub position: DVec3,
    /// What it looks at, in the middle of the picture [m].
    pub target: DVec3,
    /// Angle from the lower to the upper edge of the picture [degrees].
    pub field_of_view: f64,
}

impl Camera {
    /// Unit vectors to the right, up and forward of the picture.
    pub fn axes(&self) -> [DVec3; 3] {
        let forward = (self.target - self.position).normalize_or(DVec3::NEG_Z);
        // Looking straight up or down, the top of the picture is away from or towards -z.
        let right = forward.cross(DVec3::Y).try_normalize().unwrap_or(DVec3::X);
        [right, right.cross(forward), forward]
    }
}

/// Angle of the automatic camera from the front (+z) towards the right (+x) [degrees].
const AZIMUTH: f64 = 32.0;
/// Its angle above the horizon [degrees].
const ELEVATION: f64 = 22.0;
/// Its field of view [degrees]: a long lens, which bends nothing.
const FIELD_OF_VIEW: f64 = 28.0;
/// The part of the picture that is filled.
const FILL: f64 = 0.84;
/// Bodies larger than the cloth by this factor are scenery and need not fit.
const SCENERY: f64 = 3.0;

/// Finds the camera and the floor for all moments of a film.
///
/// The view has a fixed direction, so that all it needs are the four planes of the pyramid of sight pushed outwards until
/// everything lies between them.
#[derive(Debug, Clone)]
pub struct Framing {
    axes: [DVec3; 3],
    /// Half the filled width and height at distance 1.
    half: [f64; 2],
    /// How far things reach along right, left, up and down, each less forward times `half` [m].
    reach: [f64; 4],
    /// How far things reach forward and backward [m].
    depth: [f64; 2],
    /// How far things reach down [m].
    down: f64,
    /// The lowest level plane among the bodies [m].
    floor: Option<f64>,
}

impl Framing {
    /// For pictures of that shape [pixels].
    pub fn new(width: u32, height: u32) -> Self {
        let (azimuth, elevation) = (AZIMUTH.to_radians(), ELEVATION.to_radians());
        let towards = DVec3::new(
            trig::sin(azimuth) * trig::cos(elevation),
            trig::sin(elevation),
            trig::cos(azimuth) * trig::cos(elevation),
        );
        let camera = Camera { position: towards, target: DVec3::ZERO, field_of_view: FIELD_OF_VIEW };
        let tangent = half_height(FIELD_OF_VIEW) * FILL;
        let aspect = f64::from(width.max(1)) / f64::from(height.max(1));
        Self {
            axes: camera.axes(),
            half: [tangent * aspect, tangent],
            reach: [f64::NEG_INFINITY; 4],
            depth: [f64::NEG_INFINITY; 2],
            down: f64::NEG_INFINITY,
            floor: None,
        }
    }

    /// Makes room for one moment.
    pub fn include(&mut self, view: &SceneView) {
        let (mut low, mut high) = (DVec3::INFINITY, DVec3::NEG_INFINITY);
        for cloth in &view.cloths {
            let corners = cloth.triangles.iter().flatten();
            for p in corners.filter_map(|c| cloth.positions.get(*c as usize)).filter(|p| p.is_finite()) {
                (low, high) = (low.min(*p), high.max(*p));
                self.push(|direction| direction.dot(*p));
            }
        }
        let largest = if low.x <= high.x { SCENERY * (high - low).length() } else { f64::INFINITY };
        for body in &view.bodies {
            match body {
                BodyView::Shape(PosedShape { shape: Shape::Plane, pose }) => {
                    let level = (pose.rotation * DVec3::Y - DVec3::Y).length() < 1e-6;
                    if level && pose.position.y.is_finite() {
                        self.floor = Some(self.floor.map_or(pose.position.y, |y| y.min(pose.position.y)));
                    }
                }
                BodyView::Shape(shape) => {
                    let size = 2.0 * radius(&shape.shape);
                    if size <= largest && shape.pose.position.is_finite() && shape.pose.rotation.is_finite() {
                        self.push(|direction| support(shape, direction));
                    }
                }
                BodyView::Mesh { positions, .. } => {
                    let finite = || positions.iter().filter(|p| p.is_finite()).copied();
                    let low = finite().fold(DVec3::INFINITY, DVec3::min);
                    let high = finite().fold(DVec3::NEG_INFINITY, DVec3::max);
                    if (high - low).length() <= largest {
                        finite().for_each(|p| self.push(|direction| direction.dot(p)));
                    }
                }
            }
        }
    }

    /// Pushes the planes out to something that reaches `support(direction)` along a direction.
    fn push(&mut self, support: impl Fn(DVec3) -> f64) {
        let [right, up, forward] = self.axes;
        let [kx, ky] = self.half;
        let planes = [right - kx * forward, -right - kx * forward, up - ky * forward, -up - ky * forward];
        for (reach, plane) in self.reach.iter_mut().zip(planes) {
            *reach = reach.max(support(plane));
        }
        self.depth = [self.depth[0].max(support(forward)), self.depth[1].max(support(-forward))];
        self.down = self.down.max(support(DVec3::NEG_Y));
    }

    /// The camera that sees everything included, and no more than it must.
    pub fn camera(&self) -> Camera {
        let [right, up, forward] = self.axes;
        let [a, b, c, d] = self.reach;
        let [kx, ky] = self.half;
        let back = (-0.5 * (a + b) / kx).min(-0.5 * (c + d) / ky);
        let middle = 0.5 * (self.depth[0] - self.depth[1]);
        if !(back.is_finite() && middle.is_finite()) {
            let position = -4.0 * forward;
            return Camera { position, target: DVec3::ZERO, field_of_view: FIELD_OF_VIEW };
        }
        // A single point has no size to keep a distance from.
        let back = back.min(-self.depth[1] - 0.01);
        let aside = 0.5 * (a - b) * right + 0.5 * (c - d) * up;
        Camera {
            position: aside + back * forward,
            target: aside + middle.max(back + 0.01) * forward,
            field_of_view: FIELD_OF_VIEW,
        }
    }

    /// Height of the floor [m]: the lowest level plane among the bodies, else a little below everything.
    pub fn ground(&self) -> f64 {
        let size = (self.depth[0] + self.depth[1]).max(0.1);
        let below = if self.down.is_finite() { -self.down - 0.02 * size } else { 0.0 };
        self.floor.unwrap_or(below)
    }
}

/// Half the height of the picture at distance 1.
pub(crate) fn half_height(field_of_view: f64) -> f64 {
    let half = 0.5 * field_of_view.to_radians();
    trig::sin(half) / trig::cos(half)
}

/// How far a finite shape reaches along a vector, times its length.
fn support(body: &PosedShape, along: DVec3) -> f64 {
    let local = body.pose.rotation.conjugate() * along;
    let own = match body.shape {
        Shape::Plane => 0.0,
        Shape::Sphere { radius } => radius * along.length(),
        Shape::Capsule { radius, half_length } => radius * along.length() + half_length * local.y.abs(),
        Shape::Box { half_size } => half_size.dot(local.abs()),
    };
    body.pose.position.dot(along) + own
}

/// Radius of the ball around a shape's centre that holds it [m].
pub(crate) fn radius(shape: &Shape) -> f64 {
    match *shape {
        Shape::Plane => f64::INFINITY,
        Shape::Sphere { radius } => radius,
        Shape::Capsule { radius, half_length } => radius + half_length,
        Shape::Box { half_size } => half_size.length(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::ClothView;
    use taffeta::math::{Pose, random::Random};

    /// Where a point lies in the picture: -1..1 from edge to edge.
    fn project(camera: &Camera, aspect: f64, p: DVec3) -> [f64; 2] {
        let [right, up, forward] = camera.axes();
        let q = p - camera.position;
        let half = half_height(camera.field_of_view) * q.dot(forward);
        assert!(half > 0.0, "{p} lies behind the camera");
        [q.dot(right) / (half * aspect), q.dot(up) / half]
    }

    #[test]
    fn everything_included_is_in_the_picture_and_fills_it() {
        let mut random = Random::new(5);
        for (width, height) in [(1280, 720), (300, 900)] {
            let mut framing = Framing::new(width, height);
            let mut points = Vec::new();
            for _ in 0..3 {
                let mut vector = || DVec3::from_array(std::array::from_fn(|_| random.between(-1.0, 1.0)));
                let positions: Vec<DVec3> = (0..30).map(|_| vector() + DVec3::X * 7.0).collect();
                let pose = Pose::from_degrees(vector() + DVec3::X * 8.0, 90.0 * vector());
                let shape = Shape::Capsule { radius: 0.3, half_length: 0.4 };
                let cloth = ClothView {
                    positions: &positions,
                    triangles: &[[0, 1, 2], [3, 4, 5], [6, 7, 29]],
                    material: &[],
                    colour: [0.5; 3],
                    thread: None,
                    values: None,
                };
                let body = BodyView::Shape(PosedShape { shape, pose });
                framing.include(&SceneView { cloths: vec![cloth], bodies: vec![body], ground: None });
                points.extend([0, 1, 2, 3, 4, 5, 6, 7, 29].map(|i| positions[i]));
                for _ in 0..2000 {
                    let end = if random.unit() < 0.5 { 0.4 } else { -0.4 };
                    let out =
                        DVec3::from_array(std::array::from_fn(|_| random.between(-1.0, 1.0))).normalize();
                    points.push(pose.to_world(DVec3::Y * end + 0.3 * out));
                }
            }
            let camera = framing.camera();
            let mut reach = [0.0_f64; 2];
            for p in &points {
                let at = project(&camera, f64::from(width) / f64::from(height), *p);
                reach = [reach[0].max(at[0].abs()), reach[1].max(at[1].abs())];
                assert!(p.y > framing.ground());
            }
            let fill = reach[0].max(reach[1]);
            assert!(fill <= FILL + 1e-9 && fill > FILL - 0.01, "{reach:?} is filled, {FILL} was wanted");
        }
    }

    #[test]
    fn the_floor_is_the_lowest_level_plane_and_scenery_does_not_count() {
        let plane = |y: f64, tilt: f64| {
            let pose = Pose::from_degrees(DVec3::Y * y, DVec3::X * tilt);
            BodyView::Shape(PosedShape { shape: Shape::Plane, pose })
        };
        let positions = [DVec3::ZERO, DVec3::X, DVec3::Z];
        let cloth = ClothView {
            positions: &positions,
            triangles: &[[0, 1, 2]],
            material: &[],
            colour: [0.5; 3],
            thread: None,
            values: None,
        };
        let huge = Shape::Box { half_size: DVec3::splat(50.0) };
        let huge = BodyView::Shape(PosedShape { shape: huge, pose: Pose::IDENTITY });
        let mut framing = Framing::new(100, 100);
        framing.include(&SceneView { cloths: vec![cloth], bodies: vec![huge], ground: None });
        assert!((-0.2..0.0).contains(&framing.ground()));
        assert!(framing.camera().position.length() < 10.0);
        let bodies = vec![plane(-0.5, 0.0), plane(-0.7, 0.0), plane(-5.0, 30.0)];
        framing.include(&SceneView { cloths: vec![cloth], bodies, ground: None });
        assert_eq!(framing.ground(), -0.7);
    }

    #[test]
    fn nothing_and_a_single_point_are_framed_too() {
        let mut framing = Framing::new(100, 100);
        assert!(framing.camera().position.is_finite() && framing.ground() == 0.0);
        framing.push(|direction| direction.dot(DVec3::ONE));
        let camera = framing.camera();
        assert!(camera.position.distance(DVec3::ONE) < 0.1 && camera.position.distance(camera.target) > 1e-3);
    }
}

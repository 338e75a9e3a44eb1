//! The picture: how large, how good, from where; and the loop over its pixels.

use crate::camera::{Camera, Framing, half_height};
use crate::colour::{self, SrgbTable};
use crate::legend::{self, Scale};
use crate::shade::light::Lights;
use crate::shade::smooth::{Band, HALO, Pixel, Seen};
use crate::shade::{Place, Studio, ground, hash};
use crate::trace::{Ray, World};
use crate::view::{SceneView, Values, ViewError};
use glam::Vec3;
use rayon::prelude::*;
use taffeta::math::DVec3;

/// The largest picture [pixels].
const MOST_PIXELS: u64 = 1 << 26;
/// Rows that are traced before they are developed: what bounds memory.
const BAND: usize = 240;
/// Pixels that one thread takes at a time.
const RUN: usize = 64;

/// How a picture is taken.
#[derive(Debug, Clone)]
pub struct Picture {
    /// Pixels from left to right.
    pub width: u32,
    /// Pixels from top to bottom.
    pub height: u32,
    /// How much work goes into it.
    pub quality: Quality,
    /// From where; `None` finds a place that shows all of the view. For a film, find it once with [`Framing`].
    pub camera: Option<Camera>,
    /// What the colours of [`Values`] mean, and whether to say so; `None` spans all values and says nothing.
    pub scale: Option<Scale>,
}

impl Default for Picture {
    fn default() -> Self {
        Self { width: 1280, height: 720, quality: Quality::Preview, camera: None, scale: None }
    }
}

/// How much work goes into a picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quality {
    /// 4 samples of every pixel, 2 rays to each light: below a second.
    Preview,
    /// 16 samples of every pixel, 8 rays to each light: for print.
    Final,
}

/// What a quality means.
struct Plan {
    /// Samples along the side of a pixel.
    side: usize,
    /// How many of them share one ray to each light.
    share: usize,
    /// Samples along the side of a pixel that shows several surfaces.
    mixed_side: usize,
}

impl Quality {
    fn plan(self) -> Plan {
        match self {
            Quality::Preview => Plan { side: 2, share: 2, mixed_side: 4 },
            Quality::Final => Plan { side: 4, share: 2, mixed_side: 6 },
        }
    }
}

/// A picture: rows from the top, RGB, one byte each.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Image {
    /// Pixels from left to right.
    pub width: u32,
    /// Pixels from top to bottom.
    pub height: u32,
    /// 3 × width × height bytes.
    pub data: Vec<u8>,
}

impl Image {
    /// The colour of a pixel; `None` outside.
    pub fn pixel(&self, x: u32, y: u32) -> Option<[u8; 3]> {
        let start = 3 * (y as usize * self.width as usize + x as usize);
        let bytes = self.data.get(start..start + 3)?;
        (x < self.width).then(|| [bytes[0], bytes[1], bytes[2]])
    }
}

/// Why no picture can be taken.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum RenderError {
    /// The view does not fit together.
    #[error(transparent)]
    View(#[from] ViewError),
    /// No pixels, or too many.
    #[error(
        "a picture of {width} x {height} pixels was asked for; give both sides 1 or more and at most {} pixels in all",
        MOST_PIXELS
    )]
    Size {
        /// Pixels from left to right.
        width: u32,
        /// Pixels from top to bottom.
        height: u32,
    },
    /// A camera that cannot see.
    #[error(
        "the camera at {position} looks at {target} with a field of view of {field_of_view} degrees; \
         give finite, different points and an angle above 0 and below 180"
    )]
    Camera {
        /// Where it stands [m].
        position: DVec3,
        /// What it looks at [m].
        target: DVec3,
        /// Its angle [degrees].
        field_of_view: f64,
    },
}

/// Takes a picture. The bytes are the same on any number of threads.
///
/// ```
/// use taffeta_scene::{Cloth, Scene, Sheet};
/// use taffeta_render::{Picture, SceneView, render};
///
/// let sheet = Sheet { width: 1.0, height: 1.0, columns: 5, rows: 5, slack: 0.7 };
/// let scene = Scene { cloth: vec![Cloth { sheet: Some(sheet), ..Cloth::default() }], ..Scene::default() };
/// let simulation = taffeta_scene::simulation(&scene, &Default::default()).expect("the scene has no faults");
/// let mut view = SceneView::of(simulation.model(), &simulation.state().positions, 0.0);
/// view.ground = Some(-0.5);
/// let picture = Picture { width: 64, height: 36, ..Picture::default() };
/// let image = render(&view, &picture).expect("the view fits together");
/// assert_eq!(image.data.len(), 3 * 64 * 36);
/// ```
pub fn render(view: &SceneView, picture: &Picture) -> Result<Image, RenderError> {
    let mut image = render_in_bands(view, picture, BAND)?;
    if let Some(scale) = &picture.scale {
        legend::draw(&mut image, scale);
    }
    Ok(image)
}

fn render_in_bands(view: &SceneView, picture: &Picture, band_rows: usize) -> Result<Image, RenderError> {
    view.check()?;
    let (width, height) = (picture.width, picture.height);
    if width == 0 || height == 0 || u64::from(width) * u64::from(height) > MOST_PIXELS {
        return Err(RenderError::Size { width, height });
    }
    let camera = picture.camera.unwrap_or_else(|| {
        let mut framing = Framing::new(width, height);
        framing.include(view);
        framing.camera()
    });
    let lens = Lens::new(&camera, width, height)?;
    let range = picture.scale.as_ref().map_or_else(|| range_of(view), |scale| [scale.low, scale.high]);
    let world = World::new(view, camera.target, range);
    let plan = picture.quality.plan();
    let lights = Lights::new(lens.forward, plan.side * plan.side / plan.share);
    let scale = lens.half * lens.eye.length();
    let studio =
        Studio { world: &world, lights: &lights, scale, pixel: lens.pixel, grid: ground::spacing(scale) };
    let mut image = Image { width, height, data: Vec::new() };
    Tracer { studio, lens, quality: picture.quality, table: SrgbTable::new() }.fill(&mut image, band_rows);
    Ok(image)
}

/// The smallest and the largest value of a view; 0 and 1 if there are none.
pub fn range_of(view: &SceneView) -> [f64; 2] {
    let lists = view.cloths.iter().filter_map(|cloth| match cloth.values {
        Some(Values::Particles(list) | Values::Triangles(list)) => Some(list),
        _ => None,
    });
    let finite = lists.flatten().filter(|value| value.is_finite());
    let [low, high] =
        finite.fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], v| [low.min(*v), high.max(*v)]);
    if low <= high { [low, high] } else { [0.0, 1.0] }
}

/// A camera ready to make rays. The origin is its target.
struct Lens {
    eye: Vec3,
    right: Vec3,
    up: Vec3,
    forward: Vec3,
    /// Half the height of the picture at distance 1.
    half: f32,
    /// Width of a pixel at distance 1.
    pixel: f32,
    size: [f32; 2],
}

impl Lens {
    fn new(camera: &Camera, width: u32, height: u32) -> Result<Self, RenderError> {
        let Camera { position, target, field_of_view } = *camera;
        let eye = (position - target).as_vec3();
        let half = half_height(field_of_view) as f32;
        let sound = target.is_finite() && eye.is_finite() && eye.length() > 1e-6 && eye.length() < 1e12;
        if !(sound && field_of_view > 0.0 && field_of_view < 180.0 && half > 0.0) {
            return Err(RenderError::Camera { position, target, field_of_view });
        }
        let [right, up, forward] = camera.axes().map(|axis| axis.as_vec3());
        let size = [width as f32, height as f32];
        Ok(Self { eye, right, up, forward, half, pixel: 2.0 * half / size[1], size })
    }

    /// The ray through a place of the picture, in pixels from its upper left corner.
    fn ray(&self, x: f32, y: f32) -> Ray {
        let (x, y) = ((x - 0.5 * self.size[0]) * self.pixel, (0.5 * self.size[1] - y) * self.pixel);
        Ray::new(self.eye, (self.forward + x * self.right + y * self.up).normalize())
    }
}

/// All that a pixel needs.
struct Tracer<'a> {
    studio: Studio<'a>,
    lens: Lens,
    quality: Quality,
    table: SrgbTable,
}

impl Tracer<'_> {
    /// Band by band of so many rows: trace them and those that their filters look at, then filter and develop.
    fn fill(&self, image: &mut Image, band_rows: usize) {
        let (width, height) = (image.width as usize, image.height as usize);
        image.data = vec![0; 3 * width * height];
        let (mut pixels, mut blocks) = (Vec::new(), Vec::new());
        for (number, rows) in image.data.chunks_mut(3 * width * band_rows).enumerate() {
            let (first, count) = (number * band_rows, rows.len() / (3 * width));
            let top = first.saturating_sub(HALO);
            let bottom = (first + count + HALO).min(height);
            pixels.resize((bottom - top) * width, Pixel::default());
            blocks.resize(pixels.len(), Seen::default());
            each(&mut pixels, 1, |i, pixel| pixel[0] = self.pixel(i % width, top + i / width));
            let band = Band { pixels: &pixels, width, samples: self.studio.lights.set };
            each(&mut blocks, 1, |i, seen| {
                if pixels[i].surface != 0 {
                    seen[0] = band.block_filter(i % width, i / width);
                }
            });
            each(rows, 3, |i, bytes| {
                let (x, y) = (i % width, first + i / width);
                let pixel = &pixels[(y - top) * width + x];
                let light = match pixel.surface {
                    0 => pixel.sure,
                    _ => pixel.light(band.wide_filter(&blocks, x, y - top)),
                };
                bytes.copy_from_slice(&colour::develop(light, &self.table, dither(x, y)));
            });
        }
    }

    /// A pixel: with few samples where it can show nothing but floor, with more where it shows several surfaces.
    fn pixel(&self, x: usize, y: usize) -> Pixel {
        let plan = self.quality.plan();
        let middle = self.lens.ray(x as f32 + 0.5, y as f32 + 0.5);
        if self.studio.world.is_bare(&middle, self.lens.pixel) {
            return self.sample_bare(x, y, &middle, plan.side * plan.side / plan.share);
        }
        self.sample(x, y, plan.side, plan.share).unwrap_or_else(|| {
            let sure = self.sample_mixed(x, y, plan.mixed_side);
            Pixel { sure, ..Pixel::default() }
        })
    }

    /// A pixel of the floor, whose grid is smooth by itself, or of the backdrop.
    fn sample_bare(&self, x: usize, y: usize, ray: &Ray, looks: usize) -> Pixel {
        let Some(place) = self.place(ray) else {
            return Pixel { sure: ground::backdrop(ray.direction), ..Pixel::default() };
        };
        let mut pixel = Pixel::at(&place);
        pixel.add(&place, 1.0);
        for look in 0..looks {
            let seen = self.studio.look(&place, self.studio.lights.number(x, y, look));
            pixel.see(seen, 1.0 / looks as f32);
        }
        pixel
    }

    /// The ray of one of `side` × `side` samples of a pixel, stratified, each with its own jitter.
    fn ray(&self, x: usize, y: usize, side: usize, sample: usize) -> Ray {
        let jitter = |seed: u32| hash((y as i32) << 16 ^ x as i32, seed + 2 * sample as u32);
        let across = ((sample % side) as f32 + jitter(1)) / side as f32;
        let down = ((sample / side) as f32 + jitter(2)) / side as f32;
        self.lens.ray(x as f32 + across, y as f32 + down)
    }

    fn place(&self, ray: &Ray) -> Option<Place> {
        self.studio.world.closest(ray).and_then(|hit| self.studio.place(ray, &hit))
    }

    /// A pixel that shows one surface alone; `share` samples share their rays to the lights.
    fn sample(&self, x: usize, y: usize, side: usize, share: usize) -> Option<Pixel> {
        let count = side * side;
        let mut pixel = Pixel::default();
        for sample in 0..count {
            let place = self.place(&self.ray(x, y, side, sample))?;
            if sample == 0 {
                pixel = Pixel::at(&place);
            }
            if place.surface != pixel.surface || place.normal.dot(pixel.normal) < 0.8 {
                return None;
            }
            pixel.add(&place, 1.0 / count as f32);
            if sample % share == 0 {
                let number = self.studio.lights.number(x, y, sample / share);
                pixel.see(self.studio.look(&place, number), share as f32 / count as f32);
            }
        }
        Some(pixel)
    }

    /// Light of a pixel that shows several surfaces, which no filter can help: every sample looks at the lights itself.
    fn sample_mixed(&self, x: usize, y: usize, side: usize) -> Vec3 {
        let count = side * side;
        let mut light = Vec3::ZERO;
        for sample in 0..count {
            let ray = self.ray(x, y, side, sample);
            light += match self.place(&ray) {
                None => ground::backdrop(ray.direction),
                Some(place) => {
                    let number = self.studio.lights.number(x, y, sample);
                    let mut pixel = Pixel::default();
                    pixel.add(&place, 1.0);
                    pixel.light(self.studio.look(&place, number))
                }
            };
        }
        light / count as f32
    }
}

/// Runs `work` on every `size` items of a list, on all threads.
fn each<T: Send>(list: &mut [T], size: usize, work: impl Fn(usize, &mut [T]) + Sync) {
    list.par_chunks_mut(size * RUN).enumerate().for_each(|(run, part)| {
        for (i, items) in part.chunks_exact_mut(size).enumerate() {
            work(run * RUN + i, items);
        }
    });
}

/// A number in 0..1, spread evenly over neighbours (Jimenez 2014, "interleaved gradient noise").
fn dither(x: usize, y: usize) -> f32 {
    let t = 0.067_110_56 * x as f32 + 0.005_837_15 * y as f32;
    let t = 52.982_918 * (t - t.floor());
    t - t.floor()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::ClothView;

    #[test]
    fn bands_leave_no_trace() {
        let positions = [DVec3::ZERO, DVec3::X, DVec3::new(0.0, 0.5, 1.0), DVec3::new(1.0, 0.2, 1.0)];
        let cloth = ClothView {
            positions: &positions,
            triangles: &[[0, 2, 1], [1, 2, 3]],
            material: &[],
            colour: [0.5; 3],
            thread: None,
            values: None,
        };
        let view = SceneView { cloths: vec![cloth], ground: Some(-0.3), ..SceneView::default() };
        let picture = Picture { width: 72, height: 54, ..Picture::default() };
        let whole = render_in_bands(&view, &picture, 54).unwrap();
        for rows in [1, 7, 20] {
            assert!(render_in_bands(&view, &picture, rows).unwrap() == whole, "bands of {rows} rows");
        }
    }
}

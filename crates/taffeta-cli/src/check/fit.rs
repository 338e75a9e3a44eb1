//! How garments fit the body they are worn on, in the last frame of a recording: ease around it, pressure and strain by part, and what is too tight in words.

use crate::Failure;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;
use taffeta::math::{DVec2, DVec3, Pose};
use taffeta::model::Form;
use taffeta_bench::{figures, percent};
use taffeta_io::recording::{Frame, Header, NoPressure, Reader, pressure};
use taffeta_io::scene_file;
use taffeta_render::values;
use taffeta_scene::Mannequin;
use taffeta_scene::build::Measures;
use taffeta_scene::build::section::{middle, sections};

/// Above this, waistbands, girdles and brassieres were felt as uncomfortable [kPa]: 35 mmHg, by the abstract of Sen'i Gakkaishi 47 (6), 282, 1991.
const UNCOMFORTABLE: f64 = 4.7;
/// Cloth goes around what it is seen at in this share of all directions [1].
const AROUND: f64 = 0.9;
/// Directions that are looked into.
const DIRECTIONS: usize = 36;

/// How the garments of a frame fit.
pub struct Fit {
    frame: u32,
    time: f64,
    girths: Vec<Girth>,
    parts: Vec<Part>,
    /// Why there is no pressure.
    unknown: Option<String>,
    words: Vec<String>,
}

/// Lengths around a body at one level, of the body and of a garment [m].
struct Girth {
    garment: String,
    level: &'static str,
    body: f64,
    cloth: f64,
}

impl Girth {
    fn ease(&self) -> f64 {
        self.cloth - self.body
    }
}

/// A piece of cloth.
struct Part {
    name: String,
    /// Largest strain [1], where that is.
    strain: (f64, DVec3),
    /// Largest pressure [kPa], where that is.
    pressure: Option<(f64, DVec3)>,
}

/// A plane that a tailor measures in.
struct Level {
    name: &'static str,
    at: DVec3,
    normal: DVec3,
}

/// Looks at the last frame of a recording; nothing where it has no frame or no body that is a mesh.
pub fn measure(path: &Path) -> Result<Option<Fit>, Failure> {
    let mut reader = Reader::open(path).map_err(Failure::input)?;
    let Some(last) = reader.frame_count().checked_sub(1) else { return Ok(None) };
    let pressures = match pressure(&mut reader, last, path.parent().unwrap_or(Path::new("."))) {
        Ok(pressures) => Ok(pressures),
        Err(NoPressure::Recording(error)) => return Err(Failure::input(error)),
        Err(unknown) => Err(unknown.to_string()),
    };
    let mut frame = Frame::default();
    reader.seek(last).map_err(Failure::input)?;
    reader.next_frame(&mut frame).map_err(Failure::input)?;
    let header = reader.header();
    let x: Vec<DVec3> = frame.absolute().collect();
    let Some(body) = Body::of(header, &frame) else { return Ok(None) };
    let levels = body.levels(header, &frame);
    let girths = levels.iter().flat_map(|level| body.girths(level, header, &x)).collect();
    let parts = parts(header, &x, pressures.as_deref().ok());
    let mut fit = Fit {
        frame: frame.number,
        time: frame.time,
        girths,
        parts,
        unknown: pressures.err(),
        words: Vec::new(),
    };
    fit.words = words(&fit, &levels, header.about["tolerance"].as_f64().unwrap_or(0.0));
    Ok(Some(fit))
}

/// What is too tight, each in a sentence.
fn words(fit: &Fit, levels: &[Level], tolerance: f64) -> Vec<String> {
    let near = |p: DVec3| {
        let far = |level: &Level| (p - level.at).dot(level.normal).abs();
        levels.iter().min_by(|a, b| far(a).total_cmp(&far(b))).map_or("", |level| level.name)
    };
    let mut words = Vec::new();
    for girth in fit.girths.iter().filter(|girth| girth.ease() < 0.0) {
        let short = -1e2 * girth.ease();
        words.push(format!("{} is too narrow at the {}, by {short:.1} cm", girth.garment, girth.level));
    }
    for part in &fit.parts {
        if let Some((pressure, at)) = part.pressure.filter(|(pressure, _)| *pressure > UNCOMFORTABLE) {
            words.push(format!(
                "{} presses by {pressure:.1} kPa near the {}: too tight",
                part.name,
                near(at)
            ));
        }
        // What rounding of positions can do is not told.
        if part.strain.0 > 1.05 * tolerance {
            let stretched = percent(part.strain.0);
            words.push(format!("{} is stretched by {stretched} near the {}", part.name, near(part.strain.1)));
        }
    }
    if words.is_empty() {
        words.push("nothing is too tight".into());
    }
    words
}

fn parts(header: &Header, x: &[DVec3], pressures: Option<&[f64]>) -> Vec<Part> {
    let strain: Vec<f64> = values::strain(x, &header.edges, &header.rest_lengths);
    let largest = |of: &[f64], range: std::ops::Range<usize>| {
        let most = range.max_by(|a, b| of[*a].total_cmp(&of[*b]))?;
        Some((of[most], x[most]))
    };
    let listed = header.about["cloths"].as_array().map_or(&[][..], Vec::as_slice);
    let part = |about: &Value| {
        let range = particles(about, x.len())?;
        Some(Part {
            name: about["name"].as_str().unwrap_or_default().into(),
            strain: largest(&strain, range.clone())?,
            pressure: pressures.and_then(|pressures| largest(pressures, range)),
        })
    };
    listed.iter().filter_map(part).collect()
}

fn particles(about: &Value, count: usize) -> Option<std::ops::Range<usize>> {
    let end = |k: usize| about["particles"][k].as_u64().and_then(|n| usize::try_from(n).ok());
    let range = end(0)?..end(1)?;
    (range.end <= count && !range.is_empty()).then_some(range)
}

/// The body that garments are worn on: the first that is a mesh.
struct Body {
    number: usize,
    points: Vec<DVec3>,
    triangles: Vec<[u32; 3]>,
    pose: Pose,
}

impl Body {
    fn of(header: &Header, frame: &Frame) -> Option<Self> {
        let colliders = header.about["colliders"].as_array()?;
        let mesh = |(number, (about, pose)): (usize, (&Value, &Pose))| {
            let Form::Mesh(mesh) = serde_json::from_value(about["shape"].clone()).ok()? else { return None };
            let (points, triangles) = (mesh.points(frame.time, pose), mesh.triangles().to_vec());
            Some(Self { number, points, triangles, pose: *pose })
        };
        colliders.iter().zip(&frame.bodies).enumerate().find_map(mesh)
    }

    /// Where a tailor measures: around the trunk at heights that are the mannequin's, as shares of the body's; around the arms of a mannequin that stands.
    fn levels(&self, header: &Header, frame: &Frame) -> Vec<Level> {
        let low = self.points.iter().copied().fold(DVec3::INFINITY, DVec3::min);
        let high = self.points.iter().copied().fold(DVec3::NEG_INFINITY, DVec3::max);
        let measures = Measures::of(&Mannequin { height: high.y - low.y, ..Mannequin::default() });
        let trunk = [("chest", measures.chest), ("waist", measures.waist), ("hips", measures.hips)];
        let mut levels: Vec<Level> = trunk
            .map(|(name, section)| {
                let middle = 0.5 * (low + high);
                Level { name, at: DVec3::new(middle.x, low.y + section.height, middle.z), normal: DVec3::Y }
            })
            .into();
        let scene = scene_file::from_text("the recorded scene", &header.scene, &[]).ok();
        let mannequin = scene.and_then(|scene| scene.collider.get(self.number)?.mannequin.clone());
        if let Some(stands) = mannequin.filter(|m| frame.time <= m.moves_from()) {
            let measures = Measures::of(&stands);
            let arm = [measures.shoulder.position, measures.elbow.position];
            for (name, side) in [("left upper arm", 1.0), ("right upper arm", -1.0)] {
                let [shoulder, elbow] = arm.map(|p| self.pose.to_world(DVec3::new(side * p.x, p.y, p.z)));
                let normal = (elbow - shoulder).normalize_or_zero();
                levels.push(Level { name, at: shoulder.midpoint(elbow), normal });
            }
        }
        levels
    }

    /// What a tape around the body measures at a level, and every garment that goes around it there.
    fn girths(&self, level: &Level, header: &Header, x: &[DVec3]) -> Vec<Girth> {
        let mut limbs = sections(&self.points, &self.triangles, level.at, level.normal);
        let far = |limb: &Vec<[DVec3; 2]>| middle(limb).distance(level.at);
        let Some(own) = (0..limbs.len()).min_by(|a, b| far(&limbs[*a]).total_cmp(&far(&limbs[*b]))) else {
            return Vec::new();
        };
        let limb = limbs.swap_remove(own);
        let body = tape(&limb, level);
        let mut garments: BTreeMap<String, Vec<[DVec3; 2]>> = BTreeMap::new();
        for about in header.about["cloths"].as_array().into_iter().flatten() {
            let end = |k: usize| about["triangles"][k].as_u64().and_then(|n| usize::try_from(n).ok());
            let (Some(first), Some(last)) = (end(0), end(1)) else { continue };
            let Some(triangles) = header.triangles.get(first..last) else { continue };
            let name = about["name"].as_str().unwrap_or_default();
            let garment = name.split_once('.').map_or(name, |(garment, _)| garment);
            let cuts = sections(x, triangles, level.at, level.normal).into_iter().flatten();
            // What hangs on another limb is nearer to that.
            let own = cuts.filter(|cut| {
                let p = cut[0].midpoint(cut[1]);
                let here = distance(p, &limb);
                limbs.iter().all(|other| distance(p, other) > here)
            });
            garments.entry(garment.into()).or_default().extend(own);
        }
        let around = |cuts: &[[DVec3; 2]]| {
            let (middle, [u, v]) = (middle(&limb), axes(level.normal));
            let mut seen = [false; DIRECTIONS];
            for p in cuts.iter().flatten() {
                let angle = (*p - middle).dot(v).atan2((*p - middle).dot(u)) / std::f64::consts::TAU;
                seen[((angle.rem_euclid(1.0) * DIRECTIONS as f64) as usize).min(DIRECTIONS - 1)] = true;
            }
            seen.iter().filter(|seen| **seen).count() as f64 >= AROUND * DIRECTIONS as f64
        };
        garments
            .into_iter()
            .filter(|(_, cuts)| around(cuts))
            .map(|(garment, cuts)| Girth { garment, level: level.name, body, cloth: length(&cuts) })
            .collect()
    }
}

fn length(cuts: &[[DVec3; 2]]) -> f64 {
    cuts.iter().map(|[a, b]| a.distance(*b)).sum()
}

fn distance(p: DVec3, cuts: &[[DVec3; 2]]) -> f64 {
    let to = |[a, b]: &[DVec3; 2]| {
        let way = *b - *a;
        let share = ((p - *a).dot(way) / way.length_squared().max(f64::MIN_POSITIVE)).clamp(0.0, 1.0);
        (p - *a - share * way).length()
    };
    cuts.iter().map(to).fold(f64::INFINITY, f64::min)
}

fn axes(normal: DVec3) -> [DVec3; 2] {
    let u = normal.any_orthonormal_vector();
    [u, normal.cross(u)]
}

/// The length of a tape around a section, which does not go into hollows: that of its convex hull [m].
fn tape(cuts: &[[DVec3; 2]], level: &Level) -> f64 {
    let [u, v] = axes(level.normal);
    let mut points: Vec<DVec2> = cuts.iter().flatten().map(|p| DVec2::new(p.dot(u), p.dot(v))).collect();
    points.sort_by(|a, b| a.x.total_cmp(&b.x).then(a.y.total_cmp(&b.y)));
    let chain = |points: &mut dyn Iterator<Item = DVec2>| {
        let mut hull: Vec<DVec2> = Vec::new();
        for p in points {
            while let [.., a, b] = hull[..]
                && (b - a).perp_dot(p - b) <= 0.0
            {
                hull.pop();
            }
            hull.push(p);
        }
        hull.windows(2).map(|pair| pair[0].distance(pair[1])).sum::<f64>()
    };
    chain(&mut points.iter().copied()) + chain(&mut points.iter().rev().copied())
}

impl Fit {
    /// As lines of text.
    pub fn lines(&self) -> Vec<String> {
        let mut lines = vec![format!("fit          frame {}, {:.3} s", self.frame, self.time)];
        if !self.girths.is_empty() {
            lines.push("             around           body cm   cloth cm    ease cm".into());
        }
        for girth in &self.girths {
            let [body, cloth, ease] = [girth.body, girth.cloth, girth.ease()].map(|length| 1e2 * length);
            let name = format!("{} ({})", girth.level, girth.garment);
            lines.push(format!("             {name:24} {body:9.1} {cloth:10.1} {ease:10.1}"));
        }
        lines.push("             part              strain   pressure kPa".into());
        for part in &self.parts {
            let pressure = part.pressure.map_or("-".into(), |(pressure, _)| figures(pressure));
            lines.push(format!("             {:14} {:>9} {pressure:>14}", part.name, percent(part.strain.0)));
        }
        lines.extend(self.unknown.iter().map(|reason| format!("             no pressure: {reason}")));
        lines.extend(self.words.iter().map(|words| format!("             {words}")));
        lines
    }

    /// As JSON.
    pub fn as_json(&self) -> Value {
        let girth = |girth: &Girth| {
            json!({
                "garment": girth.garment,
                "around": girth.level,
                "body_m": girth.body,
                "cloth_m": girth.cloth,
                "ease_m": girth.ease(),
            })
        };
        let part = |part: &Part| {
            json!({
                "name": part.name,
                "max_strain": part.strain.0,
                "max_pressure_kpa": part.pressure.map(|(pressure, _)| pressure),
            })
        };
        json!({
            "frame": self.frame,
            "time_s": self.time,
            "girths": self.girths.iter().map(girth).collect::<Vec<_>>(),
            "parts": self.parts.iter().map(part).collect::<Vec<_>>(),
            "no_pressure": self.unknown,
            "words": self.words,
        })
    }
}

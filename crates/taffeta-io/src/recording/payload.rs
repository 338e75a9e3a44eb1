//! Headers, frames and states as bytes, and back from bytes that cannot be trusted.

use super::{Frame, FullState, Header};
use serde_json::Value;
use taffeta::math::{DQuat, DVec3, Pose};

/// Appends a header's payload.
pub(super) fn write_header(out: &mut Vec<u8>, header: &Header) -> Result<(), String> {
    check_header(header)?;
    let mut about = Vec::new();
    put_json(&mut about, "about", &header.about)?;
    let Header { rest_positions, edges, triangles, material, pinned, scene, .. } = header;
    out.extend_from_slice(&header.frame_time.to_le_bytes());
    let counts = [
        rest_positions.len(),
        edges.len(),
        triangles.len(),
        material.len(),
        pinned.len(),
        scene.len(),
        about.len(),
    ];
    out.extend(counts.iter().flat_map(|count| (*count as u64).to_le_bytes()));
    rest_positions.iter().for_each(|p| put_f64(out, &p.to_array()));
    put_f64(out, &header.rest_lengths);
    put_f64(out, material.as_flattened());
    put_u32(out, edges.as_flattened());
    put_u32(out, triangles.as_flattened());
    put_u32(out, pinned);
    out.extend_from_slice(scene.as_bytes());
    out.extend_from_slice(&about);
    Ok(())
}

/// The header in a payload.
pub(super) fn read_header(payload: &[u8]) -> Result<Header, String> {
    let mut bytes = Bytes(payload);
    let frame_time = bytes.f64()?;
    let [particles, edges, triangles, material, pinned, scene, about] =
        split(&bytes.array::<56>()?, u64::from_le_bytes);
    let header = Header {
        frame_time,
        rest_positions: bytes.list(particles, |b: &[u8; 24]| DVec3::from(split(b, f64::from_le_bytes)))?,
        rest_lengths: bytes.list(edges, |b| f64::from_le_bytes(*b))?,
        material: bytes.list(material, |b: &[u8; 16]| split(b, f64::from_le_bytes))?,
        edges: bytes.list(edges, |b: &[u8; 8]| split(b, u32::from_le_bytes))?,
        triangles: bytes.list(triangles, |b: &[u8; 12]| split(b, u32::from_le_bytes))?,
        pinned: bytes.list(pinned, |b| u32::from_le_bytes(*b))?,
        scene: String::from_utf8(bytes.take(scene, 1)?.to_vec())
            .map_err(|e| format!("the scene is no text: {e}"))?,
        about: json("about", bytes.take(about, 1)?)?,
    };
    if !bytes.0.is_empty() {
        return Err(format!("{} bytes follow the header's contents", bytes.0.len()));
    }
    check_header(&header)?;
    Ok(header)
}

/// That a header's parts fit each other.
fn check_header(header: &Header) -> Result<(), String> {
    let particles = header.rest_positions.len();
    if !(header.frame_time.is_finite() && header.frame_time > 0.0) {
        return Err(format!("the frame time {} s is not finite and positive", header.frame_time));
    }
    if header.rest_lengths.len() != header.edges.len() {
        return Err(format!("{} rest lengths for {} edges", header.rest_lengths.len(), header.edges.len()));
    }
    if !header.material.is_empty() && header.material.len() != particles {
        return Err(format!("{} material coordinates for {particles} particles", header.material.len()));
    }
    let lists = [
        ("triangles", header.triangles.as_flattened()),
        ("edges", header.edges.as_flattened()),
        ("pinned", &header.pinned[..]),
    ];
    for (name, indices) in lists {
        if let Some(wrong) = indices.iter().find(|i| **i as usize >= particles) {
            return Err(format!("{name} name particle {wrong} of {particles}"));
        }
    }
    Ok(())
}

/// Appends a frame's payload.
pub(super) fn write_frame(out: &mut Vec<u8>, frame: &Frame, particles: usize) -> Result<(), String> {
    if frame.positions.len() != particles {
        return Err(format!("{} positions for {particles} particles", frame.positions.len()));
    }
    let bodies = u32::try_from(frame.bodies.len()).map_err(|_| "more than 2^32 bodies".to_owned())?;
    put_u32(out, &[frame.number, bodies]);
    out.extend_from_slice(&frame.time.to_le_bytes());
    out.extend_from_slice(&frame.state_hash.to_le_bytes());
    put_f64(out, &frame.centre.to_array());
    out.extend(frame.positions.as_flattened().iter().flat_map(|x| x.to_le_bytes()));
    for Pose { position, rotation } in &frame.bodies {
        put_f64(out, &position.to_array());
        put_f64(out, &rotation.to_array());
    }
    put_json(out, "the report", &frame.report)
}

/// Reads a frame's payload into memory that is used again; after an error `frame` means nothing.
pub(super) fn read_frame(payload: &[u8], frame: &mut Frame, particles: usize) -> Result<(), String> {
    let mut bytes = Bytes(payload);
    let [number, bodies] = split(&bytes.array::<8>()?, u32::from_le_bytes);
    frame.number = number;
    frame.time = bytes.f64()?;
    frame.state_hash = u64::from_le_bytes(bytes.array()?);
    frame.centre = DVec3::from(split(&bytes.array::<24>()?, f64::from_le_bytes));
    let positions = bytes.chunks::<12>(particles as u64)?;
    frame.positions.clear();
    frame.positions.extend(positions.iter().map(|b| split(b, f32::from_le_bytes)));
    let poses = bytes.chunks::<56>(u64::from(bodies))?;
    frame.bodies.clear();
    frame.bodies.extend(poses.iter().map(|b| {
        let [x, y, z, i, j, k, w] = split(b, f64::from_le_bytes);
        Pose { position: DVec3::new(x, y, z), rotation: DQuat::from_xyzw(i, j, k, w) }
    }));
    frame.report = json("the report", bytes.0)?;
    Ok(())
}

/// Appends a state's payload.
pub(super) fn write_state(out: &mut Vec<u8>, state: &FullState) {
    put_u32(out, &[state.frame]);
    out.extend_from_slice(&state.bytes);
}

/// The state in a payload.
pub(super) fn read_state(payload: &[u8]) -> Result<FullState, String> {
    let mut bytes = Bytes(payload);
    Ok(FullState { frame: u32::from_le_bytes(bytes.array()?), bytes: bytes.0.to_vec() })
}

fn put_f64(out: &mut Vec<u8>, values: &[f64]) {
    out.extend(values.iter().flat_map(|x| x.to_le_bytes()));
}

fn put_u32(out: &mut Vec<u8>, values: &[u32]) {
    out.extend(values.iter().flat_map(|x| x.to_le_bytes()));
}

/// Appends JSON that [`json`] can read: its parser gives up on deep nesting to save the stack.
fn put_json(out: &mut Vec<u8>, name: &str, value: &Value) -> Result<(), String> {
    fn depth(value: &Value) -> usize {
        match value {
            Value::Array(list) => 1 + list.iter().map(depth).max().unwrap_or(0),
            Value::Object(map) => 1 + map.values().map(depth).max().unwrap_or(0),
            _ => 0,
        }
    }
    match depth(value) {
        0..=100 => serde_json::to_writer(out, value).map_err(|e| format!("{name} is no JSON: {e}")),
        deep => Err(format!("{name} is nested {deep} deep, more than 100")),
    }
}

fn json(name: &str, text: &[u8]) -> Result<Value, String> {
    serde_json::from_slice(text).map_err(|e| format!("{name} is no JSON: {e}"))
}

/// `BYTES` bytes as `COUNT` numbers of `SIZE` bytes each.
fn split<T, const BYTES: usize, const COUNT: usize, const SIZE: usize>(
    bytes: &[u8; BYTES],
    number: impl Fn([u8; SIZE]) -> T,
) -> [T; COUNT] {
    const { assert!(BYTES == COUNT * SIZE) };
    std::array::from_fn(|k| number(std::array::from_fn(|i| bytes[k * SIZE + i])))
}

/// What is left of a payload; taking more than that is an error, so every allocation is bounded by what is there.
struct Bytes<'a>(&'a [u8]);

impl<'a> Bytes<'a> {
    fn take(&mut self, count: u64, size: usize) -> Result<&'a [u8], String> {
        let wanted = usize::try_from(count).ok().and_then(|count| count.checked_mul(size));
        let (taken, rest) = wanted
            .and_then(|wanted| self.0.split_at_checked(wanted))
            .ok_or_else(|| format!("{count} times {size} bytes are claimed, {} are left", self.0.len()))?;
        self.0 = rest;
        Ok(taken)
    }

    fn chunks<const N: usize>(&mut self, count: u64) -> Result<&'a [[u8; N]], String> {
        Ok(self.take(count, N)?.as_chunks().0)
    }

    fn list<T, const N: usize>(
        &mut self,
        count: u64,
        read: impl Fn(&[u8; N]) -> T,
    ) -> Result<Vec<T>, String> {
        Ok(self.chunks(count)?.iter().map(read).collect())
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], String> {
        self.chunks(1)?.first().copied().ok_or_else(|| "nothing is left".to_owned())
    }

    fn f64(&mut self) -> Result<f64, String> {
        self.array().map(f64::from_le_bytes)
    }
}

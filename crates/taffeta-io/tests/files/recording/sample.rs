//! A small run to record: a sheet of 4 x 4 particles, six frames, a state before the first and one after the third.

use super::{Frame, FullState, Header, RecordingError, Writer};
use serde_json::json;
use taffeta::math::{DVec3, Pose, random::Random};

/// One call of the writer.
#[derive(Clone)]
pub enum Step {
    State(FullState),
    Frame(Frame),
}

impl Step {
    pub fn write(&self, writer: &mut Writer) -> Result<(), RecordingError> {
        match self {
            Step::State(state) => writer.state(state),
            Step::Frame(frame) => writer.frame(frame),
        }
    }
}

pub fn header() -> Header {
    let at = |row: u32, column: u32| row * 4 + column;
    let mut header = Header {
        scene: "[cloth]\nsize = [1.0, 1.0] # Grüße\n".into(),
        about: json!({"program": "taffeta 0.1.0", "threads": 2, "objects": ["sheet", "ball"]}),
        frame_time: 1.0 / 60.0,
        triangles: Vec::new(),
        edges: Vec::new(),
        rest_lengths: Vec::new(),
        rest_positions: Vec::new(),
        material: Vec::new(),
        pinned: vec![0, 3],
    };
    for (row, column) in (0..16).map(|i| (i / 4, i % 4)) {
        let uv = [f64::from(column) / 3.0, f64::from(row) / 3.0];
        header.rest_positions.push(DVec3::new(uv[0], uv[1], 0.0));
        header.material.push(uv);
        if column < 3 {
            header.edges.push([at(row, column), at(row, column + 1)]);
            header.rest_lengths.push(1.0 / 3.0);
        }
        if row < 3 && column < 3 {
            header.triangles.push([at(row, column), at(row, column + 1), at(row + 1, column)]);
            header.triangles.push([at(row + 1, column + 1), at(row + 1, column), at(row, column + 1)]);
        }
    }
    header
}

pub fn frame(number: u32, particles: usize) -> Frame {
    let mut random = Random::new(u64::from(number));
    let mut frame =
        Frame { number, time: f64::from(number) / 60.0, state_hash: random.bits(), ..Frame::default() };
    let mut any = || DVec3::from(std::array::from_fn(|_| random.between(-1.0, 5.0)));
    frame.set_positions(&(0..particles).map(|_| any()).collect::<Vec<_>>());
    frame.bodies = vec![Pose::from_degrees(any(), 90.0 * any()), Pose::IDENTITY];
    frame.report = json!({"contacts": number * 3, "strain": random.unit(), "note": "ok"});
    frame
}

pub fn state(frame: u32) -> FullState {
    let mut random = Random::new(1000 + u64::from(frame));
    FullState { frame, bytes: (0..300).map(|_| random.bits() as u8).collect() }
}

pub fn steps() -> Vec<Step> {
    let mut steps: Vec<Step> = (1..=6).map(|number| Step::Frame(frame(number, 16))).collect();
    steps.insert(3, Step::State(state(3)));
    steps.insert(0, Step::State(state(0)));
    steps
}

/// What `steps` writes, by kind.
pub fn frames_and_states(steps: &[Step]) -> (Vec<Frame>, Vec<FullState>) {
    let frames =
        steps.iter().filter_map(|step| if let Step::Frame(f) = step { Some(f.clone()) } else { None });
    let states =
        steps.iter().filter_map(|step| if let Step::State(s) = step { Some(s.clone()) } else { None });
    (frames.collect(), states.collect())
}

/// A folder for many small files: in memory where there is such a place, for fsync on a disk takes its time.
pub fn folder() -> tempfile::TempDir {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap()
}

/// The whole sample as the bytes of a finished recording.
pub fn recorded() -> Vec<u8> {
    let folder = folder();
    let path = folder.path().join("run");
    let mut writer = Writer::create(&path, &header()).unwrap();
    steps().iter().for_each(|step| step.write(&mut writer).unwrap());
    writer.finish().unwrap();
    std::fs::read(&path).unwrap()
}

/// Where the blocks of an undamaged recording lie, header and end included.
pub fn blocks(bytes: &[u8]) -> Vec<std::ops::Range<usize>> {
    let mut blocks = Vec::new();
    let mut start = 16;
    while start < bytes.len() {
        let length = u64::from_le_bytes(bytes[start + 8..start + 16].try_into().unwrap());
        blocks.push(start..start + 32 + length as usize);
        start = start + 32 + length as usize;
    }
    blocks
}

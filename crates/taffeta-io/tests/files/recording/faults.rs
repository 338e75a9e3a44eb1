//! Damaged, cut, shuffled and forged recordings: nothing but what was written comes out, and nothing panics.

use super::sample::{blocks, folder, frames_and_states, header, recorded, steps};
use std::path::{Path, PathBuf};
use taffeta::math::random::Random;
use taffeta_io::recording::{Damage, Fault, Frame, Header, Reader, RecordingError, Writer};
use xxhash_rust::xxh3::xxh3_64_with_seed;

/// What could be read: frames and states that all equal the sample's, how many of each, and the first damage.
fn read(path: &Path) -> Result<(usize, usize, Option<Damage>), RecordingError> {
    let (frames, states) = frames_and_states(&steps());
    let mut reader = Reader::open(path)?;
    assert_eq!(*reader.header(), header());
    let mut frame = Frame::default();
    let (mut good_frames, mut good_states) = (0, 0);
    while reader.next_frame(&mut frame)? {
        assert_eq!(frame, frames[good_frames]);
        good_frames += 1;
    }
    for (i, want) in states.iter().enumerate() {
        if let Some(state) = reader.state(i)? {
            assert_eq!(state, *want);
            good_states += 1;
        }
    }
    // Frames behind the damage are either the right ones or refused as well.
    for (k, want) in frames.iter().enumerate().take(reader.frame_count()) {
        reader.seek(k)?;
        assert!(!reader.next_frame(&mut frame)? || frame == *want);
    }
    Ok((good_frames, good_states, reader.damage().cloned()))
}

/// A file of these bytes.
fn place(folder: &tempfile::TempDir, bytes: &[u8]) -> PathBuf {
    let path = folder.path().join("damaged");
    std::fs::write(&path, bytes).unwrap();
    path
}

#[test]
fn every_truncation_is_read_up_to_the_cut_and_resumed_to_the_same_file() {
    let (folder, bytes, steps) = (folder(), recorded(), steps());
    let blocks = blocks(&bytes);
    for cut in 0..bytes.len() {
        let path = place(&folder, &bytes[..cut]);
        let Some(whole) = blocks.iter().filter(|block| block.end <= cut).count().checked_sub(1) else {
            assert!(matches!(
                (cut, Reader::open(&path).err().unwrap()),
                (..16, RecordingError::NotARecording { .. }) | (16.., RecordingError::NoHeader { .. })
            ));
            assert!(Writer::resume(&path).is_err());
            continue;
        };
        let (frames, states) = frames_and_states(&steps[..whole]);
        let (good_frames, good_states, damage) = read(&path).unwrap();
        assert_eq!((good_frames, good_states), (frames.len(), states.len()), "cut at {cut}");
        let at_a_block = blocks[whole].end == cut;
        assert_eq!(damage.is_none(), at_a_block);
        if let Some(Damage { offset, fault }) = damage.clone() {
            assert_eq!(offset, blocks[whole].end as u64);
            let there = cut as u64 - offset;
            assert!(matches!(fault, Fault::Truncated { there: t, needed } if t == there && needed > there));
        }

        let mut resumed = Writer::resume(&path).unwrap();
        assert_eq!((resumed.complete, resumed.damage, resumed.header), (false, damage, header()));
        assert_eq!(resumed.state.as_ref(), states.last());
        let last = states.last().map_or(0, |state| state.frame);
        let after = frames.iter().filter(|frame| frame.number > last);
        assert_eq!(resumed.frames_after, after.map(|f| (f.number, f.state_hash)).collect::<Vec<_>>());
        steps[whole..].iter().for_each(|step| step.write(&mut resumed.writer).unwrap());
        resumed.writer.finish().unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), bytes, "cut at {cut}");
    }
}

#[test]
fn every_flipped_bit_is_noticed_and_nothing_wrong_is_read() {
    let (folder, bytes) = (folder(), recorded());
    let mut random = Random::new(7);
    for _ in 0..10_000 {
        let bit = random.below(bytes.len() * 8);
        let mut damaged = bytes.clone();
        damaged[bit / 8] ^= 1 << (bit % 8);
        let path = place(&folder, &damaged);
        if let Ok((.., damage)) = read(&path) {
            let damage = damage.unwrap_or_else(|| panic!("bit {bit} flipped unnoticed"));
            let hit = blocks(&bytes).into_iter().find(|block| block.contains(&(bit / 8))).unwrap();
            assert_eq!(damage.offset, hit.start as u64, "bit {bit}: {damage}");
        }
        // Resuming would lose the frames behind the damage, so it leaves the file alone.
        assert!(Writer::resume(&path).is_err());
        assert_eq!(std::fs::read(&path).unwrap(), damaged);
    }
}

#[test]
fn overwritten_stretches_are_noticed() {
    let (folder, bytes) = (folder(), recorded());
    let mut random = Random::new(8);
    for _ in 0..3_000 {
        let mut damaged = bytes.clone();
        let start = random.below(bytes.len());
        let stretch = start..(start + 1 + random.below(600)).min(bytes.len());
        let source = random.below(bytes.len() - stretch.len() + 1);
        match random.below(4) {
            0 => damaged[stretch].fill(0),
            1 => damaged[stretch].fill(0xFF),
            2 => damaged[stretch].iter_mut().for_each(|byte| *byte = random.bits() as u8),
            _ => damaged.copy_within(source..source + stretch.len(), start),
        }
        let path = place(&folder, &damaged);
        let noticed = read(&path).map_or(true, |(.., damage)| damage.is_some());
        assert_eq!(noticed, damaged != bytes);
        let resumed = Writer::resume(&path).is_ok();
        assert_eq!(resumed, damaged == bytes);
    }
}

#[test]
fn shuffled_doubled_missing_and_foreign_blocks_are_rejected() {
    let (folder, bytes) = (folder(), recorded());
    let blocks = blocks(&bytes);
    let with_order = |order: &[usize]| -> Vec<u8> {
        order.iter().fold(bytes[..16].to_vec(), |file, i| [&file, &bytes[blocks[*i].clone()]].concat())
    };
    let fault =
        |file: &[u8]| read(&place(&folder, file)).map(|(frames, _, damage)| (frames, damage.unwrap().fault));
    let sequence = |expected, found| Fault::Sequence { expected, found };
    // 0 is the header, 1 and 5 are states, 9 is the end.
    assert_eq!(read(&place(&folder, &with_order(&[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]))).unwrap(), (6, 2, None));
    assert_eq!(fault(&with_order(&[0, 1, 3, 2, 4, 5, 6, 7, 8, 9])).unwrap(), (0, sequence(2, 3)));
    assert_eq!(fault(&with_order(&[0, 1, 2, 3, 3, 4])).unwrap(), (2, sequence(4, 3)));
    assert_eq!(fault(&with_order(&[0, 1, 2, 4, 5])).unwrap(), (1, sequence(3, 4)));
    assert_eq!(fault(&with_order(&[0, 1, 2, 0])).unwrap(), (1, Fault::Head));
    assert_eq!(fault(&[&bytes[..], &bytes].concat()).unwrap(), (6, Fault::AfterEnd));
    assert_eq!(fault(&[&bytes[..], b"x"].concat()).unwrap(), (6, Fault::AfterEnd));
    assert!(matches!(
        read(&place(&folder, &with_order(&[1, 0]))),
        Err(RecordingError::NoHeader { damage: Damage { offset: 16, fault: Fault::Head }, .. })
    ));

    // A frame of another run, at its own place in the file.
    let path = folder.path().join("other");
    let mut writer = Writer::create(&path, &Header { scene: "other".into(), ..header() }).unwrap();
    steps().iter().for_each(|step| step.write(&mut writer).unwrap());
    let other = std::fs::read(&path).unwrap();
    let theirs = &other[super::sample::blocks(&other)[2].clone()];
    let mixed = [&bytes[..blocks[2].start], theirs, &bytes[blocks[2].end..]].concat();
    assert_eq!(fault(&mixed).unwrap(), (0, Fault::Head));
}

/// A block with right checks, whatever it claims; written from the format's description alone.
fn forge(kind: &[u8; 4], sequence: u32, length: u64, payload: &[u8], identity: u64) -> Vec<u8> {
    let mut block = [&kind[..], &sequence.to_le_bytes(), &length.to_le_bytes()].concat();
    block.extend(xxh3_64_with_seed(&block, identity).to_le_bytes());
    block.extend(payload);
    block.extend(xxh3_64_with_seed(&block, identity).to_le_bytes());
    block
}

/// The sample's header, and one forged block behind it.
fn forged(kind: &[u8; 4], length: Option<u64>, payload: &[u8]) -> Vec<u8> {
    let bytes = recorded();
    let end = blocks(&bytes)[0].end;
    let identity = u64::from_le_bytes(bytes[end - 8..end].try_into().unwrap());
    let length = length.unwrap_or(payload.len() as u64);
    [&bytes[..end], &forge(kind, 1, length, payload, identity)].concat()
}

#[test]
fn lies_about_lengths_are_found_out_before_memory_is_asked_for() {
    let folder = folder();
    let bytes = recorded();
    for lie in [u64::MAX, u64::MAX - 31, u64::MAX - 32, 1 << 63, 1 << 40, 101] {
        let (.., damage) = read(&place(&folder, &forged(b"FRAM", Some(lie), &[0; 100]))).unwrap();
        assert!(matches!(damage.unwrap().fault, Fault::Truncated { there: 132, .. }), "{lie}");
        let header = [&bytes[..16], &forge(b"HEAD", 0, lie, &[0; 100], 0)].concat();
        assert!(matches!(Reader::open(place(&folder, &header)), Err(RecordingError::NoHeader { .. })));
        // The seven counts of the header, then the count of bodies in a frame.
        let payload = &bytes[blocks(&bytes)[0].clone()][24..];
        let payload = &payload[..payload.len() - 8];
        for count in 0..7 {
            let mut payload = payload.to_vec();
            payload[8 + 8 * count..16 + 8 * count].copy_from_slice(&lie.to_le_bytes());
            let file = [&bytes[..16], &forge(b"HEAD", 0, payload.len() as u64, &payload, 0)].concat();
            let Err(RecordingError::NoHeader { damage, .. }) = Reader::open(place(&folder, &file)) else {
                panic!("count {count} of {lie} was believed");
            };
            assert!(matches!(damage.fault, Fault::Contents(_)));
        }
        let mut frame = bytes[blocks(&bytes)[2].clone()][24..].to_vec();
        frame[4..8].copy_from_slice(&(lie as u32).to_le_bytes());
        let (frames, _, damage) = read(&place(&folder, &forged(b"FRAM", None, &frame))).unwrap();
        assert!(frames == 0 && matches!(damage.unwrap().fault, Fault::Contents(_)));
    }
}

#[test]
fn well_made_nonsense_is_named() {
    let folder = folder();
    let fault = |file: &[u8]| read(&place(&folder, file)).unwrap().2.unwrap().fault;
    assert_eq!(fault(&forged(b"WHAT", None, b"")), Fault::Kind(*b"WHAT"));
    for (kind, payload) in [(b"HEAD", &b""[..]), (b"FRAM", b""), (b"FRAM", &[0; 300]), (b"STAT", b"123")] {
        assert!(matches!(fault(&forged(kind, None, payload)), Fault::Contents(_)));
    }
    let mut frame = recorded()[blocks(&recorded())[2].clone()].to_vec();
    frame[24 + 8..24 + 16].copy_from_slice(&f64::NAN.to_le_bytes());
    let Fault::Contents(reason) = fault(&forged(b"FRAM", None, &frame[24..frame.len() - 8])) else {
        panic!()
    };
    assert!(reason.contains("not finite"), "{reason}");

    // A particle that is not there; the writer is as strict as the reader.
    let path = folder.path().join("new");
    for wrong in [
        Header { pinned: vec![16], ..header() },
        Header { edges: vec![[0, 99]; 12], ..header() },
        Header { triangles: vec![[1, 2, u32::MAX]], ..header() },
        Header { rest_lengths: vec![1.0], ..header() },
        Header { material: vec![[0.0; 2]; 15], ..header() },
        Header { frame_time: f64::NAN, ..header() },
    ] {
        assert!(matches!(Writer::create(&path, &wrong), Err(RecordingError::Refused { .. })));
        assert!(!path.exists());
    }
    let bytes = recorded();
    let whole = blocks(&bytes)[0].clone();
    let mut payload = bytes[whole.start + 24..whole.end - 8].to_vec();
    // The pinned particles stand before the two texts.
    let texts = header().scene.len() + header().about.to_string().len();
    let at = payload.len() - texts - 4;
    assert_eq!(payload[at..at + 4], 3u32.to_le_bytes());
    payload[at..at + 4].copy_from_slice(&16u32.to_le_bytes());
    let file = [&bytes[..16], &forge(b"HEAD", 0, payload.len() as u64, &payload, 0)].concat();
    let error = Reader::open(place(&folder, &file)).err().unwrap().to_string();
    assert!(error.contains("pinned name particle 16 of 16"), "{error}");
}

#[test]
fn frames_that_go_back_in_time_are_not_read_on() {
    let (folder, bytes) = (folder(), recorded());
    let blocks = blocks(&bytes);
    let end = blocks[0].end;
    let identity = u64::from_le_bytes(bytes[end - 8..end].try_into().unwrap());
    let payload = |i: usize| &bytes[blocks[i].start + 24..blocks[i].end - 8];
    // The first frame once more, as if it belonged there.
    let again = forge(b"FRAM", 3, payload(2).len() as u64, payload(2), identity);
    let path = place(&folder, &[&bytes[..blocks[2].end], &again].concat());
    let mut reader = Reader::open(&path).unwrap();
    let mut frame = Frame::default();
    assert!(reader.next_frame(&mut frame).unwrap() && !reader.next_frame(&mut frame).unwrap());
    assert!(
        matches!(&reader.damage().unwrap().fault, Fault::Contents(reason) if reason.contains("must grow"))
    );
    assert!(matches!(Writer::resume(&path), Err(RecordingError::DamagedInside { .. })));
}

#[test]
fn damage_inside_is_refused_with_a_remedy_that_works() {
    let (folder, mut bytes) = (folder(), recorded());
    let third = blocks(&bytes)[3].clone();
    bytes[third.start + 100] ^= 1;
    let path = place(&folder, &bytes);
    let error = Writer::resume(&path).err().unwrap();
    let text = error.to_string();
    let RecordingError::DamagedInside { damage, .. } = error else { panic!("{text}") };
    assert_eq!(damage, Damage { offset: third.start as u64, fault: Fault::Checksum });
    assert!(text.contains(&format!("truncate -s {}", third.start)), "{text}");
    std::fs::OpenOptions::new().write(true).open(&path).unwrap().set_len(damage.offset).unwrap();
    let resumed = Writer::resume(&path).unwrap();
    assert_eq!((resumed.frames_after.len(), resumed.damage), (1, None));
}

#[test]
fn of_two_damages_the_first_is_named_and_frames_between_them_are_read() {
    let (folder, mut bytes) = (folder(), recorded());
    let blocks = blocks(&bytes);
    // Frames 2 and 4, counted from 1; a state stands between frames 3 and 4.
    [3, 6].iter().for_each(|i: &usize| bytes[blocks[*i].start + 70] ^= 1);
    let mut reader = Reader::open(place(&folder, &bytes)).unwrap();
    let mut frame = Frame::default();
    let mut readable = |k: usize| {
        reader.seek(k).unwrap();
        (reader.next_frame(&mut frame).unwrap(), reader.damage().map(|damage| damage.offset))
    };
    let (second, fourth) = (Some(blocks[3].start as u64), Some(blocks[6].start as u64));
    assert_eq!([readable(0), readable(3), readable(2)], [(true, None), (false, fourth), (true, fourth)]);
    assert_eq!([readable(1), readable(3), readable(4)], [(false, second), (false, second), (true, second)]);
}

#[test]
fn what_is_no_recording_is_an_error() {
    let folder = folder();
    assert!(matches!(
        Reader::open(folder.path().join("none")),
        Err(RecordingError::Io { doing: "opening", .. })
    ));
    assert!(matches!(Writer::resume(folder.path().join("none")), Err(RecordingError::Io { .. })));
    assert!(Reader::open(folder.path()).is_err());
    let mut bytes = recorded();
    bytes[8] = 2;
    assert!(matches!(Reader::open(place(&folder, &bytes)), Err(RecordingError::Version { found: 2, .. })));
    for text in [&b""[..], b"TAFFETA\n", b"solid taffeta\nendsolid and then some more"] {
        assert!(matches!(Reader::open(place(&folder, text)), Err(RecordingError::NotARecording { .. })));
    }
}

#[test]
fn a_full_state_that_is_damaged_gives_way_to_the_one_before() {
    let (folder, mut bytes) = (folder(), recorded());
    let state = blocks(&bytes)[5].clone();
    bytes[state.start + 60] ^= 4;
    let mut reader = Reader::open(place(&folder, &bytes)).unwrap();
    assert_eq!(reader.damage(), None);
    assert_eq!(reader.last_state().unwrap(), Some(super::sample::state(0)));
    assert_eq!(reader.damage(), Some(&Damage { offset: state.start as u64, fault: Fault::Checksum }));
    assert_eq!(reader.state(1).unwrap(), None);
}

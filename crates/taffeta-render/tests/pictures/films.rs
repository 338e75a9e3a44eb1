//! Films come back from their files with the right frames, or not at all.

use std::fs::{self, File};
use std::io::BufReader;
use std::path::Path;
use taffeta_render::{Film, FilmError, Image, Reel, film};

const SIZE: [u32; 2] = [23, 17];

/// A grey slope with a red square that moves.
fn frame(number: u32) -> Image {
    let [width, height] = SIZE;
    let pixel = |i: u32| {
        let (x, y) = (i % width, i / width);
        let red = (number..number + 5).contains(&x) && (4..9).contains(&y);
        if red { [200, 20, 20] } else { [(100 + 3 * x) as u8; 3] }
    };
    Image { width, height, data: (0..width * height).flat_map(pixel).collect() }
}

fn reel(frames: u32) -> Reel {
    Reel { width: SIZE[0], height: SIZE[1], frames, frame_time: 1.0 / 30.0 }
}

fn make(path: &Path, frames: u32, sample: &[Image]) {
    let mut film = Film::create(path, reel(frames), sample).unwrap();
    (0..frames).for_each(|i| film.add(&frame(i)).unwrap());
    assert!(!path.exists(), "it is there before it is whole");
    film.finish().unwrap();
}

/// Names of all that is in a folder.
fn names(folder: &Path) -> Vec<String> {
    fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect()
}

#[test]
fn a_still_comes_back_bit_by_bit() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("still.PNG");
    fs::write(&path, "what was there before").unwrap();
    film::save(&path, &frame(3)).unwrap();
    let mut reader = png::Decoder::new(BufReader::new(File::open(&path).unwrap())).read_info().unwrap();
    assert!(reader.info().animation_control().is_none());
    let mut data = vec![0; reader.output_buffer_size().unwrap()];
    reader.next_frame(&mut data).unwrap();
    assert_eq!(data, frame(3).data);
    assert_eq!(names(folder.path()), ["still.PNG"]);
}

#[test]
fn an_animated_png_has_all_frames_bit_by_bit() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("film.png");
    make(&path, 5, &[]);
    let mut reader = png::Decoder::new(BufReader::new(File::open(&path).unwrap())).read_info().unwrap();
    assert_eq!(reader.info().animation_control().map(|control| control.num_frames), Some(5));
    for i in 0..5 {
        let mut data = vec![0; reader.output_buffer_size().unwrap()];
        reader.next_frame(&mut data).unwrap();
        assert_eq!(data, frame(i).data, "frame {i}");
        let control = reader.info().frame_control().unwrap();
        assert_eq!((control.delay_num, control.delay_den), (33, 1000));
    }
}

#[test]
fn a_gif_has_all_frames_nearly_and_keeps_what_stands_still() {
    let folder = tempfile::tempdir().unwrap();
    for sample in [vec![], vec![frame(0), frame(6)]] {
        let path = folder.path().join("film.gif");
        make(&path, 7, &sample);
        let mut options = gif::DecodeOptions::new();
        options.set_color_output(gif::ColorOutput::RGBA);
        let mut decoder = options.read_info(File::open(&path).unwrap()).unwrap();
        let mut canvas = vec![0_u8; 3 * (SIZE[0] * SIZE[1]) as usize];
        let (mut count, mut time) = (0, 0);
        while let Some(shown) = decoder.read_next_frame().unwrap() {
            let before = canvas.clone();
            for (old, new) in canvas.chunks_exact_mut(3).zip(shown.buffer.chunks_exact(4)) {
                if new[3] > 0 {
                    old.copy_from_slice(&new[..3]);
                }
            }
            let wanted = frame(count).data;
            let error = canvas.iter().zip(&wanted).map(|(a, b)| u32::from(a.abs_diff(*b))).max().unwrap();
            assert!(error < 16, "frame {count} is off by {error}");
            // The lower right corner never changes, so it must not flicker.
            assert!(count == 0 || canvas[canvas.len() - 60..] == before[before.len() - 60..]);
            (count, time) = (count + 1, time + u32::from(shown.delay));
        }
        assert_eq!((count, time), (7, 23), "frames and hundredths of a second");
        fs::remove_file(path).unwrap();
    }
}

#[test]
fn an_unfinished_film_leaves_nothing_behind() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["a.png", "a.gif"] {
        let path = folder.path().join(name);
        let mut film = Film::create(&path, reel(3), &[]).unwrap();
        film.add(&frame(0)).unwrap();
        drop(film);
        assert!(names(folder.path()).is_empty());
        let mut film = Film::create(&path, reel(2), &[]).unwrap();
        film.add(&frame(0)).unwrap();
        let small = Image { width: 1, height: 1, data: vec![0; 3] };
        assert!(matches!(film.add(&small), Err(FilmError::Frames { added: 1, .. })));
        assert!(matches!(film.finish(), Err(FilmError::Frames { added: 1, frames: 2, .. })));
        let mut film = Film::create(&path, reel(1), &[]).unwrap();
        film.add(&frame(0)).unwrap();
        assert!(matches!(film.add(&frame(1)), Err(FilmError::Frames { added: 1, frames: 1, .. })));
        drop(film);
        assert!(names(folder.path()).is_empty());
    }
}

#[test]
fn what_cannot_be_a_film_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let create =
        |name: &str, reel: Reel| Film::create(&folder.path().join(name), reel, &[]).map(drop).unwrap_err();
    for name in ["film", "film.avi", "film.png.txt"] {
        assert!(matches!(create(name, reel(1)), FilmError::Kind { .. }), "{name}");
    }
    for bad in [reel(0), Reel { width: 0, ..reel(1) }, Reel { frame_time: f64::NAN, ..reel(1) }] {
        assert!(matches!(create("film.png", bad), FilmError::Reel { .. }), "{bad:?}");
    }
    assert!(matches!(create("film.gif", Reel { width: 70_000, ..reel(1) }), FilmError::Reel { .. }));
    assert!(matches!(create("no/such/folder/film.png", reel(1)), FilmError::Io { .. }));
    assert!(names(folder.path()).is_empty());
}

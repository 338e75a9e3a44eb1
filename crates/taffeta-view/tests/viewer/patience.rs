//! Nobody waits for the simulation: every request is answered while a frame is computed that would take minutes.

use crate::client::{Page, viewer};
use serde_json::{Value, json};
use std::time::Instant;
use taffeta_io::recording::Reader;
use tempfile::TempDir;

/// A page whose simulation is in the midst of a frame of many minutes.
fn busy(folder: &TempDir) -> (taffeta_view::Viewer, Page) {
    let viewer = viewer(folder.path());
    let mut page = Page::open(&viewer.url());
    page.until(|told| told["kind"] == "pages" && told["control"] == true);
    page.done(json!({ "do": "set", "key": "solver.steps_per_frame", "value": 100_000 }));
    page.done(json!({ "do": "set", "key": "frame_time", "value": 1000 }));
    page.done(json!({ "do": "play" }));
    page.status_with(|status| status["computing"] == true);
    (viewer, page)
}

/// Asks for something that is carried out although the frame is not there yet; tells what it took [ms].
fn soon(page: &mut Page, request: Value) -> f64 {
    let begun = Instant::now();
    page.done(request);
    1e3 * begun.elapsed().as_secs_f64()
}

#[test]
fn requests_are_answered_while_a_long_frame_is_computed() {
    let folder = TempDir::new().unwrap();
    let (_viewer, mut page) = busy(&folder);
    let frame = page.shown["frame"].clone();
    let mut longest = 0.0_f64;
    for request in [
        json!({ "do": "hold", "particle": 399, "place": [0.5, 0.9, -0.4] }),
        json!({ "do": "free", "particle": 399 }),
        json!({ "do": "speed", "factor": 2 }),
        json!({ "do": "save" }),
        json!({ "do": "set", "key": "air.wind", "value": [3, 0, 0] }),
    ] {
        longest = longest.max(soon(&mut page, request));
    }
    assert_eq!(page.status["computing"], true, "none of these has ended the frame");
    for request in [
        json!({ "do": "ball", "from": [0, 2, 2], "velocity": [0, 0, -4], "radius": 0.1 }),
        json!({ "do": "compare", "method": "verlet" }),
        json!({ "do": "record" }),
        json!({ "do": "stop" }),
        json!({ "do": "reset" }),
        json!({ "do": "open", "choice": "hang" }),
    ] {
        longest = longest.max(soon(&mut page, request));
        assert!(page.shown["frame"] == frame || page.shown["frame"] == 0, "no frame has come to its end");
    }
    eprintln!("the longest answer took {longest:.0} ms");
}

#[test]
fn a_pause_takes_the_frame_back_and_nothing_is_lost() {
    let folder = TempDir::new().unwrap();
    let (_viewer, mut page) = busy(&folder);
    soon(&mut page, json!({ "do": "pause" }));
    let status = page.status_with(|status| status["computing"] == false);
    assert_eq!(status["playing"], false);
    page.done(json!({ "do": "reset" }));
    assert_eq!(page.frame_at(0)["time"], 0.0);
}

#[test]
fn the_program_ends_in_the_midst_of_a_frame() {
    let folder = TempDir::new().unwrap();
    let (viewer, mut page) = busy(&folder);
    page.done(json!({ "do": "record" }));
    page.done(json!({ "do": "play" }));
    page.status_with(|status| status["computing"] == true);
    drop(viewer);
    let recorded = Reader::open(folder.path().join("out/view-1.taffeta")).unwrap();
    assert_eq!(recorded.frame_count(), 1, "the frame that was under way is not there, the one before it is");
}

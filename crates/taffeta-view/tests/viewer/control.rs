//! What a page can do.

use crate::client::{Page, SCENE, viewer};
use serde_json::{Value, json};
use taffeta_io::scene_file::from_text;
use tempfile::TempDir;

/// A page that controls a viewer which stands still at its start.
fn still(folder: &TempDir) -> (taffeta_view::Viewer, Page) {
    let viewer = viewer(folder.path());
    let mut page = Page::open(&viewer.url());
    page.until(|told| told["kind"] == "pages" && told["control"] == true);
    page.done(json!({ "do": "pause" }));
    page.done(json!({ "do": "reset" }));
    page.frame_at(0);
    (viewer, page)
}

/// One frame on.
fn step(page: &mut Page, frame: u64) -> Value {
    page.done(json!({ "do": "step" }));
    page.frame_at(frame)
}

#[test]
fn frames_are_those_of_the_engine_and_carry_a_certificate() {
    let folder = TempDir::new().unwrap();
    let (_viewer, mut page) = still(&folder);
    let scene = from_text("scene", SCENE, &[]).unwrap();
    let mut alone = taffeta_scene::simulation(&scene, &Default::default()).unwrap();
    for frame in 1..=3 {
        let told = step(&mut page, frame);
        alone.step().unwrap();
        assert_eq!(told["sides"][0]["report"]["state_hash"], format!("{:016x}", alone.state().hash()));
    }
    while page.shown["sides"][0]["certificate"]["frame"] != 3 {
        page.next();
    }
    let certified = page.shown.clone();
    let certificate = alone.certificate();
    let told = &certified["sides"][0]["certificate"];
    assert_eq!(told["max_strain"], certificate.max_strain);
    assert_eq!(told["cloth_cloth"], certificate.cloth_cloth);
    assert_eq!(told["min_gap_m"], certificate.min_gap);
    assert_eq!(page.shape["particles"], 400);
    assert_eq!(page.shape["bodies"][0]["form"]["sphere"]["radius"], 0.2);
}

#[test]
fn keys_are_changed_live_or_begin_the_scene_anew() {
    let folder = TempDir::new().unwrap();
    let (_viewer, mut page) = still(&folder);
    let before = step(&mut page, 1)["time"].as_f64().unwrap();
    for (key, value) in [
        ("air.wind", json!([5, 0, 0])),
        ("gravity[1]", json!(-1.62)),
        ("solver.tolerance", json!(0.02)),
        ("solver.method", json!("verlet")),
        ("cloth[0].fabric", json!("silk")),
        ("fabrics.silk.density", json!(80)),
        ("collider[0].friction", json!(0.9)),
    ] {
        let answer = page.done(json!({ "do": "set", "key": key, "value": value }));
        assert_eq!(answer["note"], "", "{key}");
    }
    let next = step(&mut page, 2);
    assert!(next["time"].as_f64().unwrap() > before, "it went on");
    assert_eq!(page.shape["methods"], json!(["verlet"]));
    let answer = page.done(json!({ "do": "set", "key": "cloth[0].sheet.rows", "value": 15 }));
    assert!(answer["note"].as_str().unwrap().contains("anew"));
    page.frame_at(0);
    assert_eq!(page.shape["particles"], 300);

    assert!(page.refused(json!({ "do": "set", "key": "air.density", "value": -1 })).contains("too small"));
    assert!(
        page.refused(json!({ "do": "set", "key": "cloth[0].sheet.rows", "value": 9999 * 10 }))
            .contains("too large")
    );
    page.refused(json!({ "do": "set", "key": "nonsense", "value": 1 }));
    let text = page.done(json!({ "do": "save" }))["text"].as_str().unwrap().to_string();
    let saved = from_text("saved", &text, &[]).unwrap();
    assert_eq!((saved.air.wind, saved.cloth[0].sheet.as_ref().unwrap().rows), ([5.0, 0.0, 0.0], 15));
}

#[test]
fn hands_balls_comparisons_and_recordings() {
    let folder = TempDir::new().unwrap();
    let (_viewer, mut page) = still(&folder);
    step(&mut page, 1);
    page.done(json!({ "do": "hold", "particle": 399, "place": [0.5, 0.9, -0.4] }));
    page.done(json!({ "do": "free", "particle": 0 }));
    assert_eq!(page.status_with(|status| status["freed"] == json!([0]))["held"], json!([399]));
    page.done(json!({ "do": "record" }));
    page.done(json!({ "do": "ball", "from": [0, 1, 1], "velocity": [0, 0, -4], "radius": 0.1 }));
    page.done(json!({ "do": "compare", "method": "verlet" }));
    let told = step(&mut page, 2);
    assert_eq!(told["sides"].as_array().unwrap().len(), 2);
    assert_eq!(told["sides"][1]["poses"].as_array().unwrap().len(), 2, "the ball is there");
    step(&mut page, 3);
    page.done(json!({ "do": "stop" }));
    page.status_with(|status| status["recording"].is_null());
    let recording = page.status["choices"].as_array().unwrap().last().unwrap()["id"].clone();
    page.done(json!({ "do": "open", "choice": recording }));
    page.status_with(|status| status["live"] == false);
    assert_eq!(page.status["frames"], 3, "frames 1, 2 and 3 were recorded");
    page.done(json!({ "do": "seek", "frame": 2 }));
    assert_eq!(page.frame_at(2)["sides"][0]["report"]["frame"], 3);
    assert!(page.refused(json!({ "do": "hold", "particle": 1 })).contains("recording"));
    page.done(json!({ "do": "open", "choice": "flag" }));
    assert!(page.refused(json!({ "do": "open", "choice": "/etc/passwd" })).contains("no such choice"));
    for wrong in [
        json!({ "do": "hold", "particle": 4_000_000_000_u32 }),
        json!({ "do": "hold", "particle": 1, "place": [1e300, 0, 0] }),
        json!({ "do": "ball", "from": [0, 0, 0], "velocity": [1e9, 0, 0], "radius": 1 }),
        json!({ "do": "ball", "from": [0, 0, 0], "velocity": [0, 0, 0], "radius": 0 }),
        json!({ "do": "speed", "factor": 1e9 }),
        json!({ "do": "threads", "count": 0 }),
        json!({ "do": "threads", "count": 100_000 }),
        json!({ "do": "compare", "method": "magic" }),
        json!({ "do": "seek", "frame": 0 }),
        json!({ "do": "stop" }),
    ] {
        page.refused(wrong);
    }
}

#[test]
fn what_would_fill_the_memory_is_refused_before_it_is_built() {
    let folder = TempDir::new().unwrap();
    let (_viewer, mut page) = still(&folder);
    // Cells as narrow as these reach over thousands of others.
    page.done(json!({ "do": "set", "key": "cloth[0].sheet.height", "value": 100 }));
    let reason = page.refused(json!({ "do": "set", "key": "cloth[0].sheet.columns", "value": 10_000 }));
    assert!(reason.contains("memory") && reason.contains("fewer particles"), "{reason}");
    page.done(json!({ "do": "set", "key": "cloth[0].sheet.height", "value": 0.8 }));
    // A ball that starts in the cloth would have to be proven against all of it at once.
    let reason =
        page.refused(json!({ "do": "ball", "from": [0, 0.7, 0], "velocity": [0, 0, 4], "radius": 0.5 }));
    assert!(reason.contains("in the cloth"), "{reason}");
    step(&mut page, 1);
}

#[test]
fn one_page_controls_and_others_look_on() {
    let folder = TempDir::new().unwrap();
    let (viewer, mut first) = still(&folder);
    let mut second = Page::open(&viewer.url());
    second.until(|told| told["kind"] == "pages" && told["control"] == false);
    second.frame();
    assert!(second.refused(json!({ "do": "play" })).contains("another page controls"));
    second.done(json!({ "do": "take" }));
    assert!(first.refused(json!({ "do": "play" })).contains("another page controls"));
    step(&mut second, 1);
    first.frame_at(1);
    drop(second);
    first.until(|told| told["kind"] == "pages" && told["control"] == true && told["watching"] == 1);
}

#[test]
fn what_a_page_has_in_its_hand_falls_when_it_goes() {
    let folder = TempDir::new().unwrap();
    let (viewer, mut first) = still(&folder);
    let mut second = Page::open(&viewer.url());
    first.done(json!({ "do": "hold", "particle": 200 }));
    first.done(json!({ "do": "hold", "particle": 399, "place": [0.5, 0.9, -0.4], "fleeting": true }));
    second.status_with(|status| status["held"] == json!([200, 399]));
    drop(first);
    second.status_with(|status| status["held"] == json!([200]));
}

#[test]
fn a_page_that_does_not_answer_gets_two_frames_and_later_the_newest() {
    let folder = TempDir::new().unwrap();
    let (viewer, mut first) = still(&folder);
    let mut silent = tungstenite_page(&viewer.url());
    for frame in 1..=6 {
        step(&mut first, frame);
    }
    let mut seen = Vec::new();
    while seen.len() < 2 {
        seen.extend(frame_of(&silent.read().unwrap()));
    }
    // What comes after the acknowledgement is the newest, not the next.
    silent
        .send(tungstenite::Message::text(json!({ "v": 1, "do": "got", "serial": seen[1].1 }).to_string()))
        .unwrap();
    loop {
        if let Some((frame, _)) = frame_of(&silent.read().unwrap()) {
            assert_eq!(frame, 6);
            break;
        }
    }
}

fn tungstenite_page(url: &str) -> tungstenite::WebSocket<std::net::TcpStream> {
    use tungstenite::client::IntoClientRequest;
    let (address, path) = crate::client::parts(url);
    let mut request = format!("ws://{address}{path}socket").into_client_request().unwrap();
    request.headers_mut().insert("origin", format!("http://{address}").parse().unwrap());
    let stream = std::net::TcpStream::connect(address).unwrap();
    tungstenite::client::client(request, stream).unwrap().0
}

/// Frame and serial number of a message that is one.
fn frame_of(message: &tungstenite::Message) -> Option<(u64, u64)> {
    let tungstenite::Message::Binary(bytes) = message else { return None };
    let length = u32::from_le_bytes(bytes[4..8].try_into().ok()?) as usize;
    let head: Value = serde_json::from_slice(&bytes[8..8 + length]).ok()?;
    (head["kind"] == "frame").then_some((head["frame"].as_u64()?, head["serial"].as_u64()?))
}

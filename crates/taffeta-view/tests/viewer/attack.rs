//! What nobody can do: crash, stall or change the simulation, or fill the memory.

use crate::client::{Page, SCENE, exchange, parts, viewer};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;
use taffeta::math::random::Random;
use taffeta_io::scene_file::from_text;
use tempfile::TempDir;
use tungstenite::Message;

/// How many frames to watch under attack.
fn frames() -> usize {
    if testing::long() { 1000 } else { 200 }
}

/// Memory that this process holds now [bytes]; none where the system does not tell.
fn memory() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    Some(1024 * line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?)
}

/// Watches so many frames; returns their numbers and state hashes, and the median time of a step [ms].
fn watch(page: &mut Page, count: usize) -> (Vec<(u64, String)>, f64) {
    let (mut seen, mut walls) = (Vec::new(), Vec::new());
    for _ in 0..count {
        let told = page.frame();
        let report = &told["sides"][0]["report"];
        seen.push((told["frame"].as_u64().unwrap(), report["state_hash"].as_str().unwrap().into()));
        walls.push(report["wall_ms"].as_f64().unwrap());
    }
    walls.sort_by(f64::total_cmp);
    (seen, walls[walls.len() / 2])
}

#[test]
fn the_simulation_goes_on_undisturbed() {
    let folder = TempDir::new().unwrap();
    let viewer = viewer(folder.path());
    let url = viewer.url();
    let mut page = Page::open(&url);
    page.done(json!({ "do": "speed", "factor": 4 }));
    let (_, quiet_ms) = watch(&mut page, frames() / 4);
    let before = memory();

    let over = AtomicBool::new(false);
    let (seen, loud_ms, during) = thread::scope(|scope| {
        let (over, url) = (&over, url.as_str());
        scope.spawn(move || many_connections(url, over));
        scope.spawn(move || slow_readers(url, over));
        scope.spawn(move || noise(url, over));
        scope.spawn(move || bad_messages(url, over));
        let (seen, loud_ms) = watch(&mut page, frames());
        let during = memory();
        over.store(true, Ordering::Relaxed);
        (seen, loud_ms, during)
    });

    let scene = from_text("scene", SCENE, &[]).unwrap();
    let mut alone = taffeta_scene::simulation(&scene, &Default::default()).unwrap();
    let (mut frame, mut compared) = (0, 0);
    for (number, hash) in &seen {
        while frame < *number {
            alone.step().unwrap();
            frame += 1;
        }
        assert_eq!(*hash, format!("{:016x}", alone.state().hash()), "frame {number}");
        compared += 1;
    }
    let grown = during.zip(before).map_or(0, |(during, before)| during.saturating_sub(before));
    assert!(grown < 32 << 20, "memory grew by {grown} bytes");
    eprintln!(
        "step {quiet_ms:.3} ms in quiet, {loud_ms:.3} ms under attack; {} kB more memory; {compared} frames",
        grown / 1024
    );
}

/// Two hundred connections at once: some silent, some with half a request.
fn many_connections(url: &str, over: &AtomicBool) {
    let (address, root) = parts(url);
    while !over.load(Ordering::Relaxed) {
        let half = format!("GET {root} HTTP/1.1\r\nHost: {address}\r\nX-Slow: ");
        let mut open: Vec<TcpStream> = (0..200).filter_map(|_| TcpStream::connect(address).ok()).collect();
        for (k, stream) in open.iter_mut().enumerate().filter(|(k, _)| k % 2 == 0) {
            let _ = stream.write_all(&half.as_bytes()[..half.len() - k % 7]);
        }
        thread::sleep(Duration::from_millis(700));
    }
}

/// Pages that take a byte now and then, and pages that take nothing and acknowledge what they never saw.
fn slow_readers(url: &str, over: &AtomicBool) {
    let (address, root) = parts(url);
    let upgrade = format!(
        "GET {root}socket HTTP/1.1\r\nHost: {address}\r\nOrigin: http://{address}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\
         Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
    );
    let mut streams: Vec<TcpStream> = (0..6).map(|_| TcpStream::connect(address).unwrap()).collect();
    streams.iter_mut().for_each(|stream| stream.write_all(upgrade.as_bytes()).unwrap());
    // {"v":1,"do":"got","serial":N} in a masked frame whose mask is zero.
    let got = |serial: u64| {
        let text = json!({ "v": 1, "do": "got", "serial": serial }).to_string();
        [&[0x81, 0x80 | text.len() as u8, 0, 0, 0, 0], text.as_bytes()].concat()
    };
    let mut serial = 0;
    while !over.load(Ordering::Relaxed) {
        for (k, stream) in streams.iter_mut().enumerate() {
            if k % 2 == 0 {
                let _ = stream.read(&mut [0; 1]);
            }
            serial += 10;
            let _ = stream.write_all(&got(serial));
        }
        thread::sleep(Duration::from_millis(50));
    }
}

/// Random bytes, raw and behind a beginning that looks good.
fn noise(url: &str, over: &AtomicBool) {
    let (address, root) = parts(url);
    let mut random = Random::new(7);
    while !over.load(Ordering::Relaxed) {
        let noise: Vec<u8> = (0..3000).map(|_| (256.0 * random.unit()) as u8).collect();
        let start =
            ["", "GET / HTTP/1.1\r\nHost: ", &format!("GET {root}socket HTTP/1.1\r\nHost: {address}\r\n")]
                [(3.0 * random.unit()) as usize % 3]
                .to_string();
        if let Ok(mut stream) = TcpStream::connect(address) {
            let _ = stream.write_all(start.as_bytes()).and_then(|()| stream.write_all(&noise));
        }
        // A request head without an end.
        if random.unit() < 0.02 {
            exchange(url, format!("GET {root} HTTP/1.1\r\nX: {}", "x".repeat(100_000)).as_bytes());
        }
        thread::sleep(Duration::from_millis(3));
    }
}

/// A page that looks on and sends what no page should.
fn bad_messages(url: &str, over: &AtomicBool) {
    let mut random = Random::new(11);
    while !over.load(Ordering::Relaxed) {
        // There may be no room for a moment.
        let Ok(mut page) = Page::from_origin(url, &format!("http://{}", parts(url).0)) else {
            thread::sleep(Duration::from_millis(50));
            continue;
        };
        for text in
            ["", "{", "[[[[", "null", r#"{"v":1}"#, r#"{"v":1,"do":"play"}"#, r#"{"v":1,"do":"reset"}"#]
        {
            page.send(text);
            assert_eq!(page.until(|told| told["kind"] == "error")["kind"], "error", "{text}");
        }
        page.send(&"[".repeat(10_000));
        assert!(page.until(|told| told["kind"] == "error")["error"].is_string());
        let noise: Vec<u8> = (0..500).map(|_| (256.0 * random.unit()) as u8).collect();
        page.try_send(Message::binary(noise));
        // Too large: the connection ends.
        page.try_send(Message::text("x".repeat(2_000_000)));
        thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_scene_that_a_page_brings_reads_no_file() {
    let folder = TempDir::new().unwrap();
    std::fs::write(folder.path().join("secret.obj"), "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n").unwrap();
    let secret = folder.path().join("secret.obj").display().to_string();
    let viewer = viewer(folder.path());
    let mut page = Page::open(&viewer.url());
    page.until(|told| told["kind"] == "pages" && told["control"] == true);
    let mut refused = |name: &str, text: String| {
        page.send(&json!({ "v": 1, "id": 5, "do": "read", "name": name, "text": text }).to_string());
        page.until(|told| told["id"] == 5)["error"].as_str().unwrap_or_default().to_string()
    };
    let fine = "[[cloth]]\nsheet = { width = 1, height = 1, columns = 9, rows = 9 }\n";
    for file in [secret.as_str(), "secret.obj", "../secret.obj", "/etc/passwd"] {
        assert!(!refused("mine", format!("[[cloth]]\nmesh = {{ file = {file:?} }}\n")).is_empty(), "{file}");
        assert!(!refused("mine", format!("[[garment]]\npattern = {file:?}\n")).is_empty(), "{file}");
    }
    for (name, text) in [
        ("", fine.to_string()),
        ("hang", fine.into()),
        (&*"x".repeat(200), fine.into()),
        ("mine", "[[cloth]]\nfabric = \"tin\"\n".into()),
        ("mine", fine.replace('9', "100000")),
    ] {
        assert!(!refused(name, text).is_empty(), "{name}");
    }
    assert_eq!(refused("mine", fine.into()), "");
    for number in 1..50 {
        assert_eq!(refused(&format!("mine {number}"), fine.into()), "");
    }
    assert!(refused("one more", fine.into()).contains("already"));
}

#[test]
fn a_file_that_a_page_brings_is_bounded_and_reads_no_other() {
    let folder = TempDir::new().unwrap();
    std::fs::write(folder.path().join("secret.bin"), [0; 36]).unwrap();
    let viewer = viewer(folder.path());
    let mut page = Page::open(&viewer.url());
    page.until(|told| told["kind"] == "pages" && told["control"] == true);
    let mut bring = |name: &str, at: usize, bytes: &[u8], last: bool| {
        let part = STANDARD.encode(bytes);
        let asked =
            json!({ "v": 1, "id": 5, "do": "bring", "name": name, "at": at, "part": part, "last": last });
        page.send(&asked.to_string());
        page.until(|told| told["id"] == 5)["error"].as_str().unwrap_or_default().to_string()
    };
    let gltf = |file: &str| {
        json!({
            "asset": { "version": "2.0" }, "meshes": [{ "primitives": [{ "attributes": { "POSITION": 0 } }] }], "nodes": [{ "mesh": 0 }],
            "accessors": [{ "bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3" }], "bufferViews": [{ "buffer": 0, "byteLength": 36 }],
            "buffers": [{ "uri": file, "byteLength": 36 }],
        })
        .to_string()
    };
    let secret = folder.path().join("secret.bin").display().to_string();
    for file in [secret.as_str(), "secret.bin", "../secret.bin", "/etc/passwd"] {
        assert!(!bring("mine.gltf", 0, gltf(file).as_bytes(), true).is_empty(), "{file}");
    }
    let sheet = b"v 0 0 0\nv 1 0 0\nv 0 0 1\nf 1 3 2\n";
    for (name, bytes, words) in [
        ("", &sheet[..], "a name has"),
        ("mine.exe", sheet, "can be brought"),
        ("mine.obj", b"f 1 2 3\n", "mine.obj"),
        ("mine.taffeta", b"TAFFETA and then nothing", "mine.taffeta"),
        ("mine.toml", b"\xff", "UTF-8"),
        ("hang.toml", b"[[cloth]]\nsheet = { width = 1, height = 1, columns = 9, rows = 9 }", "already"),
    ] {
        let told = bring(name, 0, bytes, true);
        assert!(told.contains(words), "{name}: {told}");
    }
    assert!(bring("mine.obj", 7, sheet, true).contains("missing"), "there is no part before it");
    assert_eq!(bring("mine.obj", 0, &sheet[..9], false), "");
    assert!(bring("other.obj", 9, &sheet[9..], true).contains("missing"));
    assert_eq!(bring("mine.obj", 0, &sheet[..9], false), "");
    assert_eq!(bring("mine.obj", 9, &sheet[9..], true), "");
}

#[test]
fn a_flood_of_requests_is_answered_or_refused_and_nothing_breaks() {
    let folder = TempDir::new().unwrap();
    let viewer = viewer(folder.path());
    let mut page = Page::open(&viewer.url());
    for id in 0..300 {
        page.send(
            &json!({ "v": 1, "id": id, "do": "set", "key": "air.wind[0]", "value": id % 9 }).to_string(),
        );
    }
    let mut last = Value::Null;
    while last != 299 {
        last = page.until(|told| told["kind"] == "reply" || told["kind"] == "error")["id"].clone();
    }
    page.done(json!({ "do": "pause" }));
}

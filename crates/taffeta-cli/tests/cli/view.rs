//! `taffeta view`: the address it prints, the port it takes, what it refuses, how it ends.

use crate::workplace::Workplace;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Stdio};

/// A viewer that has printed its address.
struct Serving {
    child: Child,
    url: String,
}

impl Serving {
    fn start(place: &Workplace, words: &[&str]) -> Self {
        let mut command = place.bare_command(&["view", "--no-open"]);
        let mut child = command.args(words).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut url = String::new();
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut url).unwrap();
        Self { child, url: url.trim().into() }
    }

    /// Ends it at once; returns what it had said besides.
    fn end(mut self) -> String {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
        let mut said = String::new();
        self.child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
        said
    }
}

#[test]
fn the_address_leads_to_a_page_and_a_taken_port_to_another() {
    let place = Workplace::new();
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = taken.local_addr().unwrap().port();
    let serving = Serving::start(&place, &["small.toml", "--port", &port.to_string()]);
    let (address, path) = serving.url.strip_prefix("http://").unwrap().split_once('/').unwrap();
    let mut stream = TcpStream::connect(address).unwrap();
    write!(stream, "GET /{path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n\r\n").unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    assert!(answer.starts_with("HTTP/1.1 200") && answer.contains("Taffeta"), "{answer}");
    let said = serving.end();
    assert!(said.contains(&format!("port {port} is taken")), "{said}");
}

#[test]
fn what_cannot_be_shown_is_refused() {
    let place = Workplace::new();
    place.write("wrong.toml", "frames = 0");
    place.write("broken.taffeta", "nothing");
    for (source, told) in [("wrong.toml", "cloth"), ("broken.taffeta", "no recording"), ("flagg", "flag")] {
        let ended = place.bare_command(&["view", "--no-open", source]).output().unwrap();
        assert_eq!(ended.status.code(), Some(2), "{source}");
        let said = String::from_utf8_lossy(&ended.stderr);
        assert!(said.contains(told), "{source}: {said}");
    }
}

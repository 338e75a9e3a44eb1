//! A page without a browser: a WebSocket, and plain HTTP.

use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::time::Duration;
use taffeta_view::{Choice, Options, Viewer};
use tungstenite::client::IntoClientRequest;
use tungstenite::protocol::WebSocketConfig;
use tungstenite::{Message, WebSocket};

/// The last resort where nothing comes any more; no machine is so busy.
const SILENCE: Duration = Duration::from_secs(600);

/// The last resort where much comes, but not what is awaited.
const MOST_MESSAGES: usize = 100_000;

/// A small scene: a sheet falls onto a ball.
pub const SCENE: &str = r#"
[solver]
method = "impulse-strips"
tolerance = 0.01
[[cloth]]
position = [0, 0.6, 0]
sheet = { width = 0.8, height = 0.8, columns = 20, rows = 20 }
pin = [{ corners = ["lower-left"] }]
[[collider]]
position = [0, 0.3, 0]
sphere = { radius = 0.2 }
"#;

/// A viewer of [`SCENE`] on any port, with its files in `folder`.
pub fn viewer(folder: &Path) -> Viewer {
    let scene = folder.join("scene.toml");
    std::fs::write(&scene, SCENE).unwrap();
    let choice = Choice::named(scene.to_str().unwrap()).unwrap();
    let host = "127.0.0.1".parse().unwrap();
    Viewer::start(Options { choice, host, port: 0, folder: folder.join("out"), threads: 1 }).unwrap()
}

/// Address and path of a URL.
pub fn parts(url: &str) -> (&str, &str) {
    let rest = url.strip_prefix("http://").unwrap();
    rest.split_at(rest.find('/').unwrap())
}

/// Sends bytes and returns all that comes back until the other side closes.
pub fn exchange(url: &str, bytes: &[u8]) -> String {
    let mut stream = TcpStream::connect(parts(url).0).unwrap();
    stream.set_read_timeout(Some(SILENCE)).unwrap();
    // The server may close before it has read all.
    let _ = stream.write_all(bytes);
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    String::from_utf8_lossy(&answer).into_owned()
}

/// A page at its socket.
pub struct Page {
    socket: WebSocket<TcpStream>,
    next: u64,
    /// The newest of every kind that came by.
    pub status: Value,
    pub shape: Value,
    pub pages: Value,
    pub shown: Value,
}

impl Page {
    /// Connects as the page of this address would.
    pub fn open(url: &str) -> Self {
        Self::from_origin(url, &format!("http://{}", parts(url).0)).expect("the socket opens")
    }

    /// Connects from a page of another origin; the status code where that is refused, or 0.
    pub fn from_origin(url: &str, origin: &str) -> Result<Self, u16> {
        let (address, path) = parts(url);
        let mut request = format!("ws://{address}{path}socket").into_client_request().unwrap();
        request.headers_mut().insert("origin", origin.parse().unwrap());
        let stream = TcpStream::connect(address).unwrap();
        stream.set_read_timeout(Some(SILENCE)).unwrap();
        let config = WebSocketConfig::default();
        match tungstenite::client::client_with_config(request, stream, Some(config)) {
            Ok((socket, _)) => {
                let (status, shape, pages, shown) = Default::default();
                Ok(Self { socket, next: 1, status, shape, pages, shown })
            }
            Err(tungstenite::HandshakeError::Failure(tungstenite::Error::Http(refused))) => {
                Err(refused.status().as_u16())
            }
            // Closed without a word: there are too many connections.
            Err(_) => Err(0),
        }
    }

    /// The next message: text as it is, binary as its head. Frames are acknowledged.
    pub fn next(&mut self) -> Value {
        loop {
            let told: Value = match self.socket.read().expect("a message comes") {
                Message::Text(text) => serde_json::from_str(&text).unwrap(),
                Message::Binary(bytes) => {
                    assert_eq!(&bytes[..4], b"TFV1");
                    let length = u32::from_le_bytes(bytes[4..8].try_into().unwrap()) as usize;
                    serde_json::from_slice(&bytes[8..8 + length]).unwrap()
                }
                _ => continue,
            };
            match told["kind"].as_str().unwrap() {
                "status" => self.status = told.clone(),
                "shape" => self.shape = told.clone(),
                "pages" => self.pages = told.clone(),
                "frame" => {
                    self.send(&json!({ "v": 1, "do": "got", "serial": told["serial"] }).to_string());
                    self.shown = told.clone();
                }
                _ => {}
            }
            return told;
        }
    }

    /// Waits for a message that will do.
    pub fn until(&mut self, wanted: impl Fn(&Value) -> bool) -> Value {
        for _ in 0..MOST_MESSAGES {
            let told = self.next();
            if wanted(&told) {
                return told;
            }
        }
        panic!("what is awaited does not come");
    }

    /// Waits for the next frame.
    pub fn frame(&mut self) -> Value {
        self.until(|told| told["kind"] == "frame")
    }

    /// Waits until this frame is shown; it may have come before an answer.
    pub fn frame_at(&mut self, frame: u64) -> Value {
        if self.shown["frame"] == frame {
            self.shown.clone()
        } else {
            self.until(|told| told["kind"] == "frame" && told["frame"] == frame)
        }
    }

    /// Waits until the status is as wanted.
    pub fn status_with(&mut self, wanted: impl Fn(&Value) -> bool) -> Value {
        if !wanted(&self.status) {
            self.until(|told| told["kind"] == "status" && wanted(told));
        }
        self.status.clone()
    }

    /// Sends text as it is.
    pub fn send(&mut self, text: &str) {
        self.socket.send(Message::text(text)).unwrap();
    }

    /// Sends any message; the other side may be gone.
    pub fn try_send(&mut self, message: Message) -> bool {
        self.socket.send(message).is_ok()
    }

    /// Asks and waits for the answer.
    pub fn ask(&mut self, mut request: Value) -> Value {
        self.next += 1;
        let id = self.next;
        (request["v"], request["id"]) = (json!(1), json!(id));
        self.send(&request.to_string());
        self.until(|told| told["id"] == json!(id))
    }

    /// Asks for something that must be carried out.
    pub fn done(&mut self, request: Value) -> Value {
        let answer = self.ask(request.clone());
        assert_eq!(answer["kind"], "reply", "{request}: {answer}");
        answer
    }

    /// Asks for something that must be refused; returns the reason.
    pub fn refused(&mut self, request: Value) -> String {
        let answer = self.ask(request.clone());
        assert_eq!(answer["kind"], "error", "{request}");
        answer["error"].as_str().unwrap().into()
    }
}

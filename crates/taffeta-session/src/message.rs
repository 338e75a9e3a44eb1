//! Text messages: what a page may ask for, and what it is told. `docs/viewer.md` has the format.

use crate::packet::Packet;
use bytes::Bytes;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use taffeta_scene::{Method, Preset, presets};

/// The version of the format.
pub const VERSION: u32 = 1;

/// What a page asks for.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(tag = "do", rename_all = "lowercase", deny_unknown_fields)]
pub enum Request {
    /// Go on by itself.
    Play {},
    /// Stand still.
    Pause {},
    /// One frame, then pause.
    Step {},
    /// Back to the start; what was done by hand is undone.
    Reset {},
    /// Simulated seconds in a second; as fast as it goes without a factor.
    Speed {
        /// The factor [1].
        factor: Option<f64>,
    },
    /// Another scene or recording.
    Open {
        /// One of the list.
        choice: String,
    },
    /// A key of the scene.
    Set {
        /// Its path.
        key: String,
        /// Its value; null takes it out.
        value: Value,
    },
    /// A second method in step.
    Compare {
        /// Its name; nothing ends it.
        method: Option<String>,
    },
    /// How many threads to compute on.
    Threads {
        /// Their number.
        count: usize,
    },
    /// Lead a particle.
    Hold {
        /// Which.
        particle: u32,
        /// Where to [m]; to where it is, if left out.
        place: Option<[f64; 3]>,
        /// Only as long as this page is there and controls.
        #[serde(default)]
        fleeting: bool,
    },
    /// Let a particle go, or loose from its pin.
    Free {
        /// Which.
        particle: u32,
    },
    /// Throw a ball.
    Ball {
        /// From where [m].
        from: [f64; 3],
        /// How fast [m/s].
        velocity: [f64; 3],
        /// How large [m].
        radius: f64,
    },
    /// Start a recording.
    Record {},
    /// End it.
    Stop {},
    /// Show a frame of a recording.
    Seek {
        /// Its index.
        frame: usize,
    },
    /// Open a scene by its text.
    Read {
        /// What it goes by.
        name: String,
        /// The text, TOML.
        text: String,
    },
    /// A part of a file: a scene, a mesh or a recording. With its last part it is opened.
    Bring {
        /// Its name, whose ending says what it is.
        name: String,
        /// Where the part belongs [bytes].
        at: usize,
        /// The part, in base64.
        part: String,
        /// Whether it is the last.
        last: bool,
    },
    /// The whole run of a recording as a file for other programs.
    Export {
        /// `gltf` or `usdz`.
        format: String,
    },
    /// The scene file with all changes.
    Save {},
    /// Be the one who controls.
    Take {},
    /// A frame was displayed.
    Got {
        /// Its serial number.
        serial: u64,
    },
}

/// A request and the number that its answer repeats.
#[derive(Debug, Clone, PartialEq)]
pub struct Asked {
    /// The number, if it had one.
    pub id: Option<u64>,
    /// What is asked.
    pub request: Request,
}

/// Why a message is not a request.
#[derive(Debug, thiserror::Error)]
pub enum Malformed {
    /// It is not JSON.
    #[error("this is not a JSON object: {0}")]
    NotJson(String),
    /// It is of another version.
    #[error("the version `v` is {0}, this program speaks version {VERSION}; reload the page")]
    Version(Value),
    /// It is no request that exists.
    #[error("{0}; docs/viewer.md lists the requests")]
    NoRequest(String),
}

/// Reads a message. The number is told even where the rest cannot be used.
pub fn read(text: &str) -> Result<Asked, (Option<u64>, Malformed)> {
    let mut fields = match serde_json::from_str(text) {
        Ok(Value::Object(fields)) => fields,
        Ok(_) => return Err((None, Malformed::NotJson("it is a bare value".into()))),
        Err(error) => return Err((None, Malformed::NotJson(error.to_string()))),
    };
    let id = fields.remove("id").and_then(|id| id.as_u64());
    let version = fields.remove("v").unwrap_or_default();
    if version != json!(VERSION) {
        return Err((id, Malformed::Version(version)));
    }
    match serde_json::from_value(Value::Object(fields)) {
        Ok(request) => Ok(Asked { id, request }),
        Err(error) => Err((id, Malformed::NoRequest(error.to_string()))),
    }
}

/// What a request led to: a note for the user, and text to save where that was asked for.
#[derive(Debug, Default, PartialEq)]
pub struct Done {
    /// In plain words; empty where there is nothing to say.
    pub note: String,
    /// What is to be saved.
    pub text: Option<String>,
    /// A file for the page, by its name.
    pub file: Option<(String, Vec<u8>)>,
}

impl Done {
    /// With a note alone.
    pub fn noted(note: String) -> Self {
        Self { note, ..Self::default() }
    }
}

impl From<&str> for Done {
    fn from(note: &str) -> Self {
        Self::noted(note.into())
    }
}

/// What a page is told first: all that does not change.
pub fn hello(cores: usize) -> Value {
    let method = |method: &Method| json!({ "name": method.name(), "about": method.about() });
    let fabric =
        |preset: Preset| json!({ "name": preset.name, "about": preset.about, "fabric": preset.fabric });
    json!({
        "v": VERSION,
        "kind": "hello",
        "program": env!("CARGO_PKG_VERSION"),
        "methods": Method::ALL.iter().map(method).collect::<Vec<_>>(),
        "fabrics": presets().into_iter().map(fabric).collect::<Vec<_>>(),
        "schema": taffeta_scene::schema(),
        "cores": cores,
    })
}

/// The answer to a request that was carried out.
pub fn reply(id: Option<u64>, done: &Done) -> String {
    json!({ "v": VERSION, "kind": "reply", "id": id, "note": done.note, "text": done.text }).to_string()
}

/// The answer to a request that was refused.
pub fn error(id: Option<u64>, reason: &str) -> String {
    json!({ "v": VERSION, "kind": "error", "id": id, "error": reason }).to_string()
}

/// A file, which a page lets its user save.
pub fn file(name: &str, bytes: &[u8]) -> Bytes {
    let mut packet = Packet::default();
    packet.u8("bytes", bytes.iter().copied());
    packet.finish(Map::from_iter([("kind".into(), json!("file")), ("name".into(), json!(name))]))
}

/// Something that all should know.
pub fn notice(text: &str, bad: bool) -> String {
    json!({ "v": VERSION, "kind": "notice", "text": text, "bad": bad }).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_read_and_others_refused_with_their_number() {
        let asked = read(r#"{"v":1,"id":7,"do":"hold","particle":3,"place":[0,1,2.5]}"#).unwrap();
        assert_eq!(asked.id, Some(7));
        assert_eq!(
            asked.request,
            Request::Hold { particle: 3, place: Some([0.0, 1.0, 2.5]), fleeting: false }
        );
        assert_eq!(
            read(r#"{"v":1,"do":"speed","factor":null}"#).unwrap().request,
            Request::Speed { factor: None }
        );
        let refused = |text: &str| {
            let (id, error) = read(text).unwrap_err();
            (id, error.to_string())
        };
        for text in ["", "[]", "7", "{", "\u{0}", "{\"v\":1}{", "nonsense"] {
            assert!(refused(text).1.contains("JSON"), "{text}");
        }
        assert_eq!(refused(r#"{"v":2,"id":5,"do":"play"}"#).0, Some(5));
        assert!(refused(r#"{"id":5,"do":"play"}"#).1.contains("version"));
        for text in [
            r#"{"v":1,"do":"fly"}"#,
            r#"{"v":1}"#,
            r#"{"v":1,"do":"play","more":1}"#,
            r#"{"v":1,"do":"hold","particle":-1}"#,
            r#"{"v":1,"do":"hold","particle":1,"place":[0,1]}"#,
            r#"{"v":1,"do":"hold","particle":1,"place":[0,1,1e999]}"#,
        ] {
            read(text).unwrap_err();
        }
    }
}

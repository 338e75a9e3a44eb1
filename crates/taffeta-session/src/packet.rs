//! Binary messages to the page: a JSON head and arrays behind it. `docs/viewer.md` has the layout.

use bytes::Bytes;
use serde_json::{Map, Value, json};

/// The first bytes of every binary message: the format and its version.
const MAGIC: &[u8; 4] = b"TFV1";

/// A binary message under construction.
#[derive(Debug, Default)]
pub struct Packet {
    arrays: Vec<Value>,
    body: Vec<u8>,
}

impl Packet {
    /// Adds an array of 32-bit floats.
    pub fn f32(&mut self, name: &str, numbers: impl Iterator<Item = f32>) {
        self.array(name, "f32", numbers.map(f32::to_le_bytes));
    }

    /// Adds an array of 32-bit whole numbers.
    pub fn u32(&mut self, name: &str, numbers: impl Iterator<Item = u32>) {
        self.array(name, "u32", numbers.map(u32::to_le_bytes));
    }

    /// Adds an array of 16-bit whole numbers.
    pub fn u16(&mut self, name: &str, numbers: impl Iterator<Item = u16>) {
        self.array(name, "u16", numbers.map(u16::to_le_bytes));
    }

    /// Adds an array of bytes.
    pub fn u8(&mut self, name: &str, numbers: impl Iterator<Item = u8>) {
        self.array(name, "u8", numbers.map(|number| [number]));
    }

    fn array<const N: usize>(&mut self, name: &str, kind: &str, numbers: impl Iterator<Item = [u8; N]>) {
        let before = self.body.len();
        self.body.reserve(N * numbers.size_hint().0);
        numbers.for_each(|number| self.body.extend_from_slice(&number));
        self.arrays.push(json!([name, kind, (self.body.len() - before) / N]));
        // Views over the arrays need them at multiples of their size.
        self.body.resize(self.body.len().next_multiple_of(4), 0);
    }

    /// The message, its head filled up to a multiple of four bytes.
    pub fn finish(self, mut head: Map<String, Value>) -> Bytes {
        head.insert("arrays".into(), Value::Array(self.arrays));
        let mut text = Value::Object(head).to_string().into_bytes();
        text.resize(text.len().next_multiple_of(4), b' ');
        let mut message = Vec::with_capacity(8 + text.len() + self.body.len());
        message.extend_from_slice(MAGIC);
        message.extend_from_slice(&(text.len() as u32).to_le_bytes());
        message.extend_from_slice(&text);
        message.extend_from_slice(&self.body);
        message.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_is_laid_out_as_documented() {
        let mut packet = Packet::default();
        packet.u8("marks", [7, 8, 9].into_iter());
        packet.f32("positions", [1.5, -2.0].into_iter());
        let bytes = packet.finish(Map::from_iter([("kind".into(), json!("frame"))]));
        assert_eq!(&bytes[..4], b"TFV1");
        let head = u32::from_le_bytes(bytes[4..8].try_into().unwrap()) as usize;
        assert_eq!(head % 4, 0);
        let told: Value = serde_json::from_slice(&bytes[8..8 + head]).unwrap();
        assert_eq!(told["arrays"], json!([["marks", "u8", 3], ["positions", "f32", 2]]));
        assert_eq!(
            &bytes[8 + head..],
            [&[7, 8, 9, 0][..], &1.5_f32.to_le_bytes(), &(-2.0_f32).to_le_bytes()].concat()
        );
    }
}

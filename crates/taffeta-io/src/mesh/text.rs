//! Words and lines of a text file held as bytes: no allocation per word, no demand on the encoding of comments.

use super::MeshFault;

/// A place in a text that moves from word to word.
#[derive(Default)]
pub(super) struct Text<'a> {
    bytes: &'a [u8],
    at: usize,
    line: usize,
}

impl<'a> Text<'a> {
    /// The start of a text, behind a UTF-8 byte order mark; UTF-16 and UTF-32 are refused.
    pub fn new(bytes: &'a [u8]) -> Result<Self, MeshFault> {
        let wide = match bytes {
            [0xFF, 0xFE, ..] | [0xFE, 0xFF, ..] => true,
            // Without a mark, the first character of wide text still shows as one zero byte of two.
            [first, second, ..] => (*first == 0) != (*second == 0),
            _ => false,
        };
        if wide {
            let reason = "the text is encoded as UTF-16 or UTF-32";
            return Err(MeshFault::line(
                1,
                bytes.get(..2).unwrap_or_default(),
                reason,
                "save the file as UTF-8 or ASCII",
            ));
        }
        Ok(Self { bytes, at: if bytes.starts_with(b"\xEF\xBB\xBF") { 3 } else { 0 }, line: 1 })
    }

    /// The number of the current line, counted from 1.
    pub fn line(&self) -> usize {
        self.line
    }

    /// What has not been read yet.
    pub fn rest(&self) -> &'a [u8] {
        self.bytes.get(self.at..).unwrap_or_default()
    }

    /// How many bytes have been read.
    pub fn offset(&self) -> usize {
        self.at
    }

    /// Moves to the next word on this or a later line; false at the end of the text.
    pub fn seek(&mut self) -> bool {
        loop {
            self.skip_blanks();
            if self.at >= self.bytes.len() {
                return false;
            }
            if !self.end_line() {
                return true;
            }
        }
    }

    /// The next word of this line; `None`, without moving on, at the end of the line.
    pub fn word(&mut self) -> Option<&'a [u8]> {
        self.skip_blanks();
        let rest = self.rest();
        let mut length = 0;
        while let [byte, after @ ..] = &rest[length..] {
            let ends = match byte {
                b' ' | b'\t' | b'\n' | b'\r' | 0x0B | 0x0C => true,
                b'\\' => line_end(after) > 0,
                _ => false,
            };
            if ends {
                break;
            }
            length += 1;
        }
        self.at += length;
        Some(&rest[..length]).filter(|word| !word.is_empty())
    }

    /// Moves to the end of this line, whatever it holds.
    pub fn skip_line(&mut self) {
        let rest = self.rest();
        self.at += rest.iter().position(|b| matches!(b, b'\n' | b'\r')).unwrap_or(rest.len());
    }

    /// Moves past a line end that comes next; false when something else does.
    pub fn end_line(&mut self) -> bool {
        let length = line_end(self.rest());
        self.at += length;
        self.line += usize::from(length > 0);
        length > 0
    }

    /// Moves past spaces, line ends hidden by a backslash, and a comment.
    fn skip_blanks(&mut self) {
        loop {
            match self.bytes.get(self.at) {
                Some(b' ' | b'\t' | 0x0B | 0x0C) => self.at += 1,
                // A comment ends with its line even behind a backslash: `# C:\cloth\` is a path, not a continuation.
                Some(b'#') => return self.skip_line(),
                Some(b'\\') => {
                    let hidden = line_end(self.bytes.get(self.at + 1..).unwrap_or_default());
                    if hidden == 0 {
                        return;
                    }
                    self.at += 1 + hidden;
                    self.line += 1;
                }
                _ => return,
            }
        }
    }
}

/// Length of the line end that `bytes` start with, of any system: LF, CR LF or CR; 0 without one.
fn line_end(bytes: &[u8]) -> usize {
    match bytes {
        [b'\r', b'\n', ..] => 2,
        [b'\r' | b'\n', ..] => 1,
        _ => 0,
    }
}

/// The number that a word spells, finite or not.
pub(super) fn number(word: &[u8]) -> Option<f64> {
    std::str::from_utf8(word).ok()?.parse().ok()
}

/// The start of some bytes as one line of text for a message.
pub(super) fn excerpt(bytes: &[u8]) -> String {
    let shown = bytes.get(..40).unwrap_or(bytes);
    let dots = if shown.len() < bytes.len() { "..." } else { "" };
    format!("{}{dots}", String::from_utf8_lossy(shown).escape_debug())
}

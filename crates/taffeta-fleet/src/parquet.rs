//! Parquet files: one row group, plain encoding, no compression.
//!
//! The crate `parquet` would take 26 s of CPU of the first build, and this is all of the format that a table of runs needs. Readers are
//! those of others (pandas, pyarrow, polars, DuckDB).
//!
//! The format: <https://parquet.apache.org/docs/file-format/>; its metadata are Thrift's compact protocol.

use std::io::{self, Write};

/// A column: a value or nothing in every row.
#[derive(Debug, Clone, PartialEq)]
pub enum Cells {
    /// True or false.
    Bool(Vec<Option<bool>>),
    /// Whole numbers.
    Int(Vec<Option<i64>>),
    /// Numbers.
    Float(Vec<Option<f64>>),
    /// Words.
    Text(Vec<Option<String>>),
}

/// A column with its name.
#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    /// The name.
    pub name: String,
    /// The values.
    pub cells: Cells,
}

impl Cells {
    /// How many rows there are.
    pub fn len(&self) -> usize {
        match self {
            Self::Bool(cells) => cells.len(),
            Self::Int(cells) => cells.len(),
            Self::Float(cells) => cells.len(),
            Self::Text(cells) => cells.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number of the type in the format.
    fn kind(&self) -> i64 {
        match self {
            Self::Bool(_) => 0,
            Self::Int(_) => 2,
            Self::Float(_) => 5,
            Self::Text(_) => 6,
        }
    }

    /// The data of a page: which rows have a value, then the values.
    fn page(&self) -> Vec<u8> {
        fn there<T>(cells: &[Option<T>]) -> Vec<bool> {
            cells.iter().map(Option::is_some).collect()
        }
        let (there, values): (Vec<bool>, Vec<u8>) = match self {
            Self::Bool(cells) => {
                let bits: Vec<bool> = cells.iter().flatten().copied().collect();
                let byte = |bits: &[bool]| {
                    bits.iter().enumerate().fold(0, |byte, (k, bit)| byte | u8::from(*bit) << k)
                };
                (there(cells), bits.chunks(8).map(byte).collect())
            }
            Self::Int(cells) => {
                (there(cells), cells.iter().flatten().flat_map(|x| x.to_le_bytes()).collect())
            }
            Self::Float(cells) => {
                (there(cells), cells.iter().flatten().flat_map(|x| x.to_le_bytes()).collect())
            }
            Self::Text(cells) => {
                let text = |text: &String| [&(text.len() as u32).to_le_bytes(), text.as_bytes()].concat();
                (there(cells), cells.iter().flatten().flat_map(text).collect())
            }
        };
        // Runs of equal levels: twice the length, then the level.
        let mut levels = Vec::new();
        for run in there.chunk_by(|a, b| a == b) {
            varint(&mut levels, (run.len() as u64) << 1);
            levels.push(u8::from(run[0]));
        }
        [&(levels.len() as u32).to_le_bytes()[..], &levels, &values].concat()
    }
}

/// Writes a table; all columns have as many rows.
pub fn write(out: &mut impl Write, columns: &[Column]) -> io::Result<()> {
    let rows = columns.first().map_or(0, |column| column.cells.len()) as i64;
    let mut bytes = b"PAR1".to_vec();
    let mut chunks = Vec::new();
    for column in columns {
        let (start, page) = (bytes.len() as i64, column.cells.page());
        let mut head = Thrift::default();
        head.int(1, 0).int(2, page.len() as i64).int(3, page.len() as i64);
        // Of the values: how many, plain; of the levels: runs.
        head.structure(5, |data| {
            data.int(1, rows).int(2, 0).int(3, 3).int(4, 3);
        });
        bytes.extend(head.end());
        bytes.extend(page);
        chunks.push((column, start, bytes.len() as i64 - start));
    }
    let mut about = Thrift::default();
    about.int(1, 1);
    about.list(2, STRUCT, columns.len() + 1);
    about.item(|root| {
        root.text(4, "schema").int(5, columns.len() as i64);
    });
    for column in columns {
        about.item(|element| {
            element.int(1, column.cells.kind()).int(3, 1).text(4, &column.name);
            if matches!(column.cells, Cells::Text(_)) {
                element.int(6, 0);
            }
        });
    }
    about.long(3, rows);
    about.list(4, STRUCT, 1);
    about.item(|group| {
        group.list(1, STRUCT, chunks.len());
        for (column, start, size) in &chunks {
            group.item(|chunk| {
                chunk.long(2, *start);
                chunk.structure(3, |data| {
                    data.int(1, column.cells.kind());
                    data.list(2, I32, 2).bare_int(0).bare_int(3);
                    data.list(3, BINARY, 1).bare_text(&column.name);
                    data.int(4, 0).long(5, rows).long(6, *size).long(7, *size).long(9, *start);
                });
            });
        }
        group.long(2, chunks.iter().map(|(_, _, size)| size).sum()).long(3, rows);
    });
    about.text(6, concat!("taffeta version ", env!("CARGO_PKG_VERSION")));
    let about = about.end();
    bytes.extend(&about);
    bytes.extend((about.len() as u32).to_le_bytes());
    bytes.extend(b"PAR1");
    out.write_all(&bytes)
}

const I32: u8 = 5;
const I64: u8 = 6;
const BINARY: u8 = 8;
const LIST: u8 = 9;
const STRUCT: u8 = 12;

/// Fields of a structure in Thrift's compact protocol, in the order of their numbers.
#[derive(Default)]
struct Thrift {
    bytes: Vec<u8>,
    last: u8,
}

impl Thrift {
    fn field(&mut self, number: u8, kind: u8) -> &mut Self {
        self.bytes.push((number - self.last) << 4 | kind);
        self.last = number;
        self
    }

    fn int(&mut self, number: u8, value: i64) -> &mut Self {
        self.field(number, I32).bare_int(value)
    }

    fn long(&mut self, number: u8, value: i64) -> &mut Self {
        self.field(number, I64).bare_int(value)
    }

    fn text(&mut self, number: u8, text: &str) -> &mut Self {
        self.field(number, BINARY).bare_text(text)
    }

    fn bare_int(&mut self, value: i64) -> &mut Self {
        varint(&mut self.bytes, (value << 1 ^ value >> 63) as u64);
        self
    }

    fn bare_text(&mut self, text: &str) -> &mut Self {
        varint(&mut self.bytes, text.len() as u64);
        self.bytes.extend(text.as_bytes());
        self
    }

    fn list(&mut self, number: u8, kind: u8, length: usize) -> &mut Self {
        self.field(number, LIST);
        match length {
            0..15 => self.bytes.push((length as u8) << 4 | kind),
            _ => {
                self.bytes.push(0xF0 | kind);
                varint(&mut self.bytes, length as u64);
            }
        }
        self
    }

    fn structure(&mut self, number: u8, fill: impl FnOnce(&mut Thrift)) -> &mut Self {
        self.field(number, STRUCT).item(fill)
    }

    fn item(&mut self, fill: impl FnOnce(&mut Thrift)) -> &mut Self {
        let mut inner = Thrift::default();
        fill(&mut inner);
        self.bytes.extend(inner.end());
        self
    }

    /// The bytes, with the mark that no field follows.
    fn end(mut self) -> Vec<u8> {
        self.bytes.push(0);
        self.bytes
    }
}

/// A number in groups of seven bits, the lowest first.
fn varint(bytes: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_the_bytes_that_the_format_asks_for() {
        let mut file = Vec::new();
        let cells = Cells::Int(vec![Some(7), None]);
        write(&mut file, &[Column { name: "n".into(), cells }]).unwrap();
        assert!(file.starts_with(b"PAR1") && file.ends_with(b"PAR1"));
        // Levels: one row with a value, one without; then the value.
        let page = [4, 0, 0, 0, 2, 1, 2, 0, 7, 0, 0, 0, 0, 0, 0, 0];
        // Type 0, 16 bytes twice, then the data page's own head: 2 values, plain, runs, runs.
        let head = [0x15, 0, 0x15, 32, 0x15, 32, 0x2C, 0x15, 4, 0x15, 0, 0x15, 6, 0x15, 6, 0, 0];
        assert_eq!(file[4..4 + head.len()], head);
        assert_eq!(file[4 + head.len()..][..page.len()], page);
        let footer = u32::from_le_bytes(file[file.len() - 8..file.len() - 4].try_into().unwrap()) as usize;
        assert_eq!(footer, file.len() - 4 - head.len() - page.len() - 8);
    }
}

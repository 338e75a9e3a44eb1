//! Alembic's core in an Ogawa container: objects, properties with samples over time, metadata.
//!
//! The root group holds: the version of this layout, that of the library, the top object, the archive's metadata, the
//! time samplings, and a table of metadata that headers refer to by number. An object is a group: its properties, its
//! children, and a block with the headers of these children and two hashes. A compound property is a group of its
//! properties and a block with their headers. Any other property is a group of its samples; a sample is a block of a
//! 16-byte digest and the values, and in an array property it is followed by its dimensions, which are empty for lists.

use super::ogawa::{Child, Ogawa};
use std::io::{self, Seek, Write};
use xxhash_rust::xxh3::{Xxh3, xxh3_128};

/// Version of the reference library whose layout this is: 1.8.3.
const LIBRARY: i32 = 10803;

/// What a number is, by the code that headers use.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pod {
    /// One byte, 0 or 1.
    Bool = 0,
    /// One byte.
    U8 = 1,
    /// Four bytes without sign.
    U32 = 5,
    /// Four bytes with sign.
    I32 = 6,
    /// Single precision.
    F32 = 10,
    /// Double precision.
    F64 = 11,
}

impl Pod {
    fn size(self) -> usize {
        match self {
            Pod::Bool | Pod::U8 => 1,
            Pod::U32 | Pod::I32 | Pod::F32 => 4,
            Pod::F64 => 8,
        }
    }
}

/// When the samples of animated properties are: at equal distances.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Times {
    /// Time of the first sample [s].
    pub first: f64,
    /// Time from sample to sample [s].
    pub step: f64,
}

/// A property and where its samples are.
#[derive(Debug)]
pub struct Property {
    name: &'static str,
    metadata: String,
    pod: Pod,
    /// Numbers in one value.
    extent: u8,
    array: bool,
    /// Whether samples follow the archive's times; constants do not.
    animated: bool,
    /// Whether every sample so far holds exactly one value.
    one: bool,
    samples: Vec<Child>,
    count: u32,
    /// Of all samples, in their order.
    hash: [u8; 16],
}

impl Property {
    fn new(name: &'static str, metadata: &str, pod: Pod, extent: u8, array: bool, animated: bool) -> Self {
        let (samples, hash) = (Vec::new(), [0; 16]);
        let metadata = metadata.to_owned();
        Self { name, metadata, pod, extent, array, animated, one: true, samples, count: 0, hash }
    }

    /// A property of one value of `extent` numbers.
    pub fn scalar(name: &'static str, metadata: &str, pod: Pod, extent: u8, animated: bool) -> Self {
        Self::new(name, metadata, pod, extent, false, animated)
    }

    /// A property of a list of values of `extent` numbers each.
    pub fn array(name: &'static str, metadata: &str, pod: Pod, extent: u8, animated: bool) -> Self {
        Self::new(name, metadata, pod, extent, true, animated)
    }
}

/// Something with a name under an object or a compound.
#[derive(Debug)]
pub enum Entry {
    /// Samples.
    Property(Property),
    /// Name, metadata and more entries.
    Compound(&'static str, String, Vec<Entry>),
}

/// An object: its properties and the objects under it.
#[derive(Debug)]
pub struct Object {
    /// Its name; no slash, and unlike those of its siblings.
    pub name: String,
    /// What it is.
    pub metadata: String,
    /// Its properties.
    pub entries: Vec<Entry>,
    /// Objects under it.
    pub children: Vec<Object>,
}

/// Writes an archive: samples first, then the objects that own them.
pub struct Archive<W: Write + Seek> {
    ogawa: Ogawa<W>,
    times: Times,
    /// Most samples of any animated property.
    samples: u32,
    /// Metadata that headers refer to by number, from 1 on.
    metadata: Vec<String>,
}

impl<W: Write + Seek> Archive<W> {
    /// Starts an archive in an empty file.
    pub fn begin(out: W, times: Times) -> io::Result<Self> {
        Ok(Archive { ogawa: Ogawa::begin(out)?, times, samples: 0, metadata: Vec::new() })
    }

    /// Writes the next sample of a property: its values, little-endian.
    pub fn sample(&mut self, property: &mut Property, values: &[u8]) -> io::Result<()> {
        // Readers take the digest for the contents and never compute it.
        let digest = xxh3_128(values).to_le_bytes();
        property.samples.push(self.ogawa.data(&[&digest, values])?);
        if property.array {
            property.samples.push(Child::EMPTY_DATA);
        }
        property.one &= values.len() == usize::from(property.extent) * property.pod.size();
        property.hash = xxh3_128([property.hash, digest].as_flattened()).to_le_bytes();
        property.count += 1;
        if property.animated {
            self.samples = self.samples.max(property.count);
        }
        Ok(())
    }

    /// Writes all objects and the rest; `about` is the archive's metadata as `key=value;key=value`.
    pub fn finish(mut self, objects: Vec<Object>, about: &str) -> io::Result<W> {
        let version = self.ogawa.data(&[&0i32.to_le_bytes()])?;
        let library = self.ogawa.data(&[&LIBRARY.to_le_bytes()])?;
        let top =
            Object { name: "ABC".into(), metadata: String::new(), entries: Vec::new(), children: objects };
        let (top, _) = self.object(&top)?;
        let about = self.ogawa.data(&[about.as_bytes()])?;
        // Constants go by the first sampling, which every archive has; the second is ours.
        let mut samplings = Vec::new();
        for (samples, times) in [(1, Times { first: 0.0, step: 1.0 }), (self.samples, self.times)] {
            samplings.extend(samples.to_le_bytes());
            samplings.extend(times.step.to_le_bytes());
            samplings.extend(1u32.to_le_bytes());
            samplings.extend(times.first.to_le_bytes());
        }
        let samplings = self.ogawa.data(&[&samplings])?;
        let table = self.metadata.iter().flat_map(|text| [text.len() as u8].into_iter().chain(text.bytes()));
        let table: Vec<u8> = table.collect();
        let table = self.ogawa.data(&[&table])?;
        let root = self.ogawa.group(&[version, library, top, about, samplings, table])?;
        self.ogawa.finish(root)
    }

    /// Writes an object and all under it; returns its hash too.
    fn object(&mut self, object: &Object) -> io::Result<(Child, [u8; 16])> {
        let (properties, property_hash) = self.entries(&object.entries)?;
        let mut group = vec![properties];
        let (mut headers, mut hashes) = (Vec::new(), Xxh3::new());
        for child in &object.children {
            let (written, hash) = self.object(child)?;
            group.push(written);
            hashes.update(&hash);
            headers.extend((child.name.len() as u32).to_le_bytes());
            headers.extend(child.name.as_bytes());
            let number = self.metadata_number(&child.metadata);
            headers.push(number);
            if number == 255 {
                headers.extend((child.metadata.len() as u32).to_le_bytes());
                headers.extend(child.metadata.as_bytes());
            }
        }
        let children = if object.children.is_empty() { [0; 16] } else { hashes.digest128().to_le_bytes() };
        headers.extend(property_hash.iter().chain(&children));
        group.push(self.ogawa.data(&[&headers])?);
        hashes.update(&property_hash);
        hashes.update(object.name.as_bytes());
        Ok((self.ogawa.group(&group)?, hashes.digest128().to_le_bytes()))
    }

    /// Writes the group of an object's or compound's properties; returns their hash too.
    fn entries(&mut self, entries: &[Entry]) -> io::Result<(Child, [u8; 16])> {
        let (mut group, mut headers, mut hash) = (Vec::new(), Vec::new(), Xxh3::new());
        for entry in entries {
            match entry {
                Entry::Property(property) => {
                    group.push(self.ogawa.group(&property.samples)?);
                    hash.update(property.name.as_bytes());
                    hash.update(&property.hash);
                    self.property_header(property, &mut headers);
                }
                Entry::Compound(name, metadata, entries) => {
                    let (written, inner) = self.entries(entries)?;
                    group.push(written);
                    hash.update(name.as_bytes());
                    hash.update(&inner);
                    let number = self.metadata_number(metadata);
                    let hint = hint(name.len().max(metadata.len()) as u32);
                    headers.extend((u32::from(number) << 20 | hint << 2).to_le_bytes());
                    put_name(&mut headers, name, metadata, number, hint);
                }
            }
        }
        if !entries.is_empty() {
            group.push(self.ogawa.data(&[&headers])?);
        }
        Ok((self.ogawa.group(&group)?, hash.digest128().to_le_bytes()))
    }

    /// Appends what a compound says about a property with samples.
    ///
    /// The first word, from its lowest bit: 2 bits kind (1 scalar, 2 array, 3 array of one value), 2 bits width of the
    /// numbers behind it, 4 bits pod, whether a time sampling is named, whether first and last change are (never here:
    /// all samples are stored), whether all samples have equal size, whether all are equal, 8 bits extent, 8 bits metadata.
    fn property_header(&mut self, property: &Property, headers: &mut Vec<u8>) {
        let number = self.metadata_number(&property.metadata);
        let longest = property.name.len().max(property.metadata.len()) as u32;
        let hint = hint(longest.max(property.count));
        let kind = if property.array { 2 | u32::from(property.one) } else { 1 };
        let word = kind
            | hint << 2
            | (property.pod as u32) << 4
            | u32::from(property.animated) << 8
            | 1 << 10
            | u32::from(property.count < 2) << 11
            | u32::from(property.extent) << 12
            | u32::from(number) << 20;
        headers.extend(word.to_le_bytes());
        put(headers, property.count, hint);
        if property.animated {
            put(headers, 1, hint);
        }
        put_name(headers, property.name, &property.metadata, number, hint);
    }

    /// The number of metadata in the table; 255 stands for such as must be written out.
    fn metadata_number(&mut self, text: &str) -> u8 {
        if text.is_empty() {
            return 0;
        }
        let known = self.metadata.iter().position(|known| known == text);
        let place = known.unwrap_or(self.metadata.len());
        if text.len() > 255 || place > 253 {
            return 255;
        }
        if known.is_none() {
            self.metadata.push(text.to_owned());
        }
        place as u8 + 1
    }
}

/// Appends a name and, where it is not in the table, metadata.
fn put_name(headers: &mut Vec<u8>, name: &str, metadata: &str, number: u8, hint: u32) {
    put(headers, name.len() as u32, hint);
    headers.extend(name.as_bytes());
    if number == 255 {
        put(headers, metadata.len() as u32, hint);
        headers.extend(metadata.as_bytes());
    }
}

/// How wide numbers up to this one are: 1, 2 or 4 bytes, as 0, 1 or 2.
fn hint(largest: u32) -> u32 {
    match largest {
        0..256 => 0,
        256..65536 => 1,
        _ => 2,
    }
}

fn put(headers: &mut Vec<u8>, number: u32, hint: u32) {
    headers.extend(&number.to_le_bytes()[..1 << hint]);
}

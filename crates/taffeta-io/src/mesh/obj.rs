//! Wavefront OBJ: points, texture coordinates, faces, lines and stitches; all else is skipped.

use taffeta::math::DVec3;
use taffeta_scene::Mesh;

use super::polygon::Faces;
use super::text::{self, Text};
use super::{MeshFault, MeshFaults, MeshFile, Place};

/// How many different unknown keywords a note names.
const MOST_KEYWORDS: usize = 8;

/// Reads an OBJ file.
///
/// A point has three numbers, or four with a weight of 1, or six or seven with a colour. Another weight than 1 is
/// refused, since programs disagree whether to divide by it. Faces may stand before their points.
/// Texture coordinates become material coordinates if every point of a face has exactly one.
pub fn read_obj(bytes: &[u8]) -> Result<MeshFile, MeshFaults> {
    let mut obj = Obj { text: Text::new(bytes)?, ..Obj::default() };
    while obj.text.seek() {
        if let Err(fault) = obj.statement() {
            obj.faults.push(fault);
        }
        while obj.text.word().is_some() {}
    }
    obj.finish()
}

#[derive(Default)]
struct Obj<'a> {
    text: Text<'a>,
    positions: Vec<DVec3>,
    textures: Vec<[f64; 2]>,
    faces: Faces,
    lines: Vec<[u32; 2]>,
    /// Point and texture coordinate of every face corner that has both.
    pairs: Vec<[u32; 2]>,
    /// Indices that were ahead of their point or texture coordinate.
    ahead: Vec<Ahead>,
    /// Corners of the face at hand.
    corners: Vec<u32>,
    unknown: Vec<(&'a [u8], usize)>,
    /// Lines with further unknown keywords.
    others: usize,
    /// Faces without a corner.
    empty: usize,
    /// Numbers with the sign before the e.
    swapped: usize,
    faults: MeshFaults,
}

struct Ahead {
    line: usize,
    index: u32,
    of: List,
}

/// What an index counts.
#[derive(Clone, Copy, PartialEq)]
enum List {
    Points,
    Textures,
}

impl<'a> Obj<'a> {
    fn statement(&mut self) -> Result<(), MeshFault> {
        match self.text.word().unwrap_or_default() {
            b"v" => self.point(),
            b"vt" => self.texture(),
            b"f" => self.face(),
            b"l" => self.polyline(),
            b"stitch" => self.stitch(),
            b"vn" | b"vp" | b"p" => Ok(()),
            // A name may end in a backslash that hides no line end: the next line must not be lost with it.
            b"o" | b"g" | b"s" | b"usemtl" | b"mtllib" => {
                self.text.skip_line();
                Ok(())
            }
            keyword => self.skip_unknown(keyword),
        }
    }

    fn point(&mut self) -> Result<(), MeshFault> {
        let point = DVec3::new(self.number()?, self.number()?, self.number()?);
        let weight = self.text.word();
        let more = std::iter::from_fn(|| self.text.word()).count();
        match (weight, more) {
            (None, _) | (Some(_), 2 | 3) => {}
            (Some(weight), 0) if text::number(weight) == Some(1.0) => {}
            (Some(weight), 0) => {
                let reason = "the weight of a point is not 1";
                return Err(self.fault(weight, reason, "divide x, y and z by the weight, or leave it out"));
            }
            (Some(_), _) => {
                let value = format!("{} numbers", 4 + more);
                let remedy =
                    "write x y z, with a weight of 1 or a colour of three or four numbers behind them";
                return Err(self.fault(value.as_bytes(), "the numbers of a point are unclear", remedy));
            }
        }
        self.positions.push(point);
        Ok(())
    }

    fn texture(&mut self) -> Result<(), MeshFault> {
        let u = self.number()?;
        // The second coordinate may be left out; a third belongs to solid textures and is skipped.
        let v = self.text.word().map_or(Ok(0.0), |word| self.parse(word))?;
        self.textures.push([u, v]);
        Ok(())
    }

    fn face(&mut self) -> Result<(), MeshFault> {
        self.corners.clear();
        while let Some(word) = self.text.word() {
            let (point, texture) = self.corner(word)?;
            self.corners.push(point);
            self.pairs.extend(texture.map(|texture| [point, texture]));
        }
        if self.corners.is_empty() {
            self.empty += 1;
            return Ok(());
        }
        if self.corners.len() < 3 {
            let value = format!("{} corners", self.corners.len());
            return Err(self.fault(
                value.as_bytes(),
                "a face needs three corners",
                "complete the face, or use `l` for a line",
            ));
        }
        self.faces.push(&self.corners, Place::Line(self.text.line()));
        Ok(())
    }

    fn polyline(&mut self) -> Result<(), MeshFault> {
        let mut previous = None;
        while let Some(word) = self.text.word() {
            let (point, _) = self.corner(word)?;
            self.lines.extend(previous.map(|from| [from, point]));
            previous = Some(point);
        }
        Ok(())
    }

    /// `stitch a b c t` of sewing programs joins a to the point t of the way from b to c; here to the nearer of the two. They count points from 0.
    fn stitch(&mut self) -> Result<(), MeshFault> {
        let mut points = [0; 3];
        for point in &mut points {
            let word = self.text.word().unwrap_or_default();
            let number = std::str::from_utf8(word).ok().and_then(|word| word.parse::<u32>().ok());
            *point =
                number.filter(|number| (*number as usize) < self.length(List::Points)).ok_or_else(|| {
                    self.fault(
                        word,
                        "is no point of the file",
                        "name points that stand above, counted from 0",
                    )
                })?;
        }
        let [a, b, c] = points;
        let nearer = if self.number()? < 0.5 { b } else { c };
        self.lines.push([a, nearer]);
        Ok(())
    }

    /// Point and texture coordinate of `v`, `v/t`, `v//n` or `v/t/n`; normals are not used and so not looked at.
    fn corner(&mut self, word: &[u8]) -> Result<(u32, Option<u32>), MeshFault> {
        let mut parts = word.split(|b| *b == b'/');
        let point = self.index(word, parts.next().unwrap_or_default(), List::Points)?;
        let texture = match parts.next() {
            None | Some(b"") => None,
            Some(part) => Some(self.index(word, part, List::Textures)?),
        };
        if parts.nth(1).is_some() {
            return Err(self.fault(
                word,
                "a corner has more than three indices",
                "write it as point/texture/normal",
            ));
        }
        Ok((point, texture))
    }

    /// The index, counted from 0, that `part` of the corner `word` spells, counted from 1 or back from the last.
    fn index(&mut self, word: &[u8], part: &[u8], of: List) -> Result<u32, MeshFault> {
        let have = self.length(of);
        let Some(spelt) = std::str::from_utf8(part).ok().and_then(|p| p.parse::<i64>().ok()) else {
            return Err(self.fault(
                word,
                "an index is not an integer",
                "write corners as 7, 7/3, 7//2 or 7/3/2",
            ));
        };
        let index = if spelt < 0 { spelt.checked_add_unsigned(have as u64) } else { spelt.checked_sub(1) };
        match index.and_then(|i| u32::try_from(i).ok()) {
            Some(index) => {
                if index as usize >= have {
                    self.ahead.push(Ahead { line: self.text.line(), index, of });
                }
                Ok(index)
            }
            None => Err(self.fault(
                word,
                out_of_range(of, have),
                "correct the index: 1 is the first, -1 the last so far",
            )),
        }
    }

    fn number(&mut self) -> Result<f64, MeshFault> {
        let Some(word) = self.text.word() else {
            let remedy = "complete the line, or remove it";
            return Err(self.fault(b"end of line", "a number is missing", remedy));
        };
        self.parse(word)
    }

    fn parse(&mut self, word: &[u8]) -> Result<f64, MeshFault> {
        let number = text::number(word).or_else(|| {
            let number = sign_before_exponent(word)?;
            self.swapped += 1;
            Some(number)
        });
        match number {
            Some(number) if number.is_finite() => Ok(number),
            Some(_) => {
                Err(self.fault(word, "the number is not finite", "find out how the mesh came to hold it"))
            }
            None => {
                Err(self.fault(word, "not a number", "write numbers as -1.5 or 2e-3, with a decimal point"))
            }
        }
    }

    /// Counts a keyword for the note; what is no word at all shows that the file is no text.
    fn skip_unknown(&mut self, keyword: &'a [u8]) -> Result<(), MeshFault> {
        if keyword.iter().any(u8::is_ascii_control) {
            return Err(self.fault(
                keyword,
                "the line is not text",
                "export the mesh again: the file is damaged or no OBJ",
            ));
        }
        match self.unknown.iter().position(|(known, _)| *known == keyword) {
            Some(k) => self.unknown[k].1 += 1,
            None if self.unknown.len() < MOST_KEYWORDS => self.unknown.push((keyword, 1)),
            None => self.others += 1,
        }
        Ok(())
    }

    fn length(&self, of: List) -> usize {
        match of {
            List::Points => self.positions.len(),
            List::Textures => self.textures.len(),
        }
    }

    fn fault(&self, value: &[u8], reason: impl Into<String>, remedy: &str) -> MeshFault {
        MeshFault::line(self.text.line(), value, reason, remedy)
    }

    fn finish(mut self) -> Result<MeshFile, MeshFaults> {
        let mut late = MeshFaults::default();
        for &Ahead { line, index, of } in &self.ahead {
            let have = self.length(of);
            if index as usize >= have {
                let value = (u64::from(index) + 1).to_string();
                let remedy = "correct the index, or see whether the end of the file is missing";
                late.push(MeshFault::line(line, value.as_bytes(), out_of_range(of, have), remedy));
            }
        }
        self.faults.merge(late);
        if self.faults.count > 0 {
            return Err(self.faults);
        }
        let mut notes = self.notes();
        let material = self.material().unwrap_or_else(|note| {
            notes.push(note);
            Vec::new()
        });
        let mesh = Mesh { positions: self.positions, material, lines: self.lines, ..Mesh::default() };
        MeshFile::assemble(mesh, self.faces, notes)
    }

    fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if !self.unknown.is_empty() {
            let named: Vec<String> =
                self.unknown.iter().map(|(k, n)| format!("{} ({n})", text::excerpt(k))).collect();
            let others =
                if self.others > 0 { format!(" and others ({})", self.others) } else { String::new() };
            notes.push(format!(
                "skipped lines with keywords that are not plain OBJ: {}{others}",
                named.join(", ")
            ));
        }
        if self.empty > 0 {
            notes.push(format!("skipped {} faces without a corner", self.empty));
        }
        if self.swapped > 0 {
            let count = self.swapped;
            notes
                .push(format!("numbers with the sign before the e, such as 3.1+e2, read as 3.1e+2: {count}"));
        }
        notes
    }

    /// Texture coordinates by point, or why there are none; points without a face get 0, 0.
    fn material(&self) -> Result<Vec<[f64; 2]>, String> {
        const NONE: u32 = u32::MAX;
        if self.textures.is_empty() {
            return Ok(Vec::new());
        }
        let mut of_point = vec![NONE; self.positions.len()];
        let mut torn = vec![false; self.positions.len()];
        for &[point, texture] in &self.pairs {
            let (point, texture) = (point as usize, texture as usize);
            match of_point[point] {
                NONE => of_point[point] = texture as u32,
                other => torn[point] |= self.textures[other as usize] != self.textures[texture],
            }
        }
        // To give such a point a copy for each coordinate would cut the cloth open at its seams.
        match torn.iter().filter(|t| **t).count() {
            0 => {}
            n => {
                return Err(format!(
                    "no material coordinates; points with several texture coordinates (seams): {n}"
                ));
            }
        }
        match self.faces.indices().filter(|i| of_point[*i as usize] == NONE).count() {
            0 => {}
            n => {
                return Err(format!(
                    "no material coordinates; corners of faces without a texture coordinate: {n}"
                ));
            }
        }
        Ok(of_point.iter().map(|t| self.textures.get(*t as usize).copied().unwrap_or_default()).collect())
    }
}

fn out_of_range(of: List, have: usize) -> String {
    let what = if of == List::Points { "points" } else { "texture coordinates" };
    format!("an index is out of range of the {have} {what}")
}

/// Reads `3.1+e2` as 3.1e+2, which some old exporters write.
fn sign_before_exponent(word: &[u8]) -> Option<f64> {
    let at = word.windows(2).position(|pair| matches!(pair, [b'+' | b'-', b'e' | b'E']))?;
    let mut turned = word.to_vec();
    turned.swap(at, at + 1);
    text::number(&turned)
}

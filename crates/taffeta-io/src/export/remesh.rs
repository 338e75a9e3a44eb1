//! Meshes made for rendering: panels welded along their seams, smoother ones, shells. Every point stays a mean of particles, so
//! that one plan serves all frames.

use super::shaping::Means;
use super::subject::{Piece, Subject};
use std::collections::BTreeMap;

/// The two corners of a side, the smaller first.
fn side(a: u32, b: u32) -> [u32; 2] {
    [a.min(b), a.max(b)]
}

/// The sides of a triangle, each with the corner across.
fn sides([a, b, c]: [u32; 3]) -> [([u32; 2], u32); 3] {
    [(side(a, b), c), (side(b, c), a), (side(c, a), b)]
}

/// Joins points along seams, given as pairs of points. Pieces that are joined become one, which goes by the name before the last
/// dot: `shirt` of `shirt.front`. What a corner has of a texture stays that of its panel.
pub(super) fn weld(subject: &mut Subject, means: &mut Means, seams: &[[u32; 2]]) {
    let mut joined: Vec<u32> = (0..means.len() as u32).collect();
    for [a, b] in seams {
        let (a, b) = (root(&joined, *a), root(&joined, *b));
        joined[a.max(b) as usize] = a.min(b);
    }
    let piece_of = |point: u32| subject.pieces.partition_point(|piece| piece.points.end <= point as usize);
    let mut groups: Vec<u32> = (0..subject.pieces.len() as u32).collect();
    for [a, b] in seams {
        let (a, b) = (root(&groups, piece_of(*a) as u32), root(&groups, piece_of(*b) as u32));
        groups[a.max(b) as usize] = a.min(b);
    }
    // Points that are joined, in the order of the first of each, piece by piece.
    let mut members: BTreeMap<(u32, u32), Vec<u32>> = BTreeMap::new();
    for point in 0..means.len() as u32 {
        let first = root(&joined, point);
        members.entry((root(&groups, piece_of(first) as u32), first)).or_default().push(point);
    }
    let mut place = vec![0; means.len()];
    let mut welded = Means::default();
    let mut pinned = Vec::new();
    for (number, points) in members.values().enumerate() {
        points.iter().for_each(|point| place[*point as usize] = number as u32);
        welded.push_mean(means, points.iter().map(|point| (*point, (points.len() as f64).recip())));
        pinned.push(points.iter().any(|point| subject.pinned[*point as usize]));
    }
    let (mut pieces, mut triangles, mut texture): (Vec<Piece>, Vec<_>, Vec<_>) = Default::default();
    for first in (0..subject.pieces.len() as u32).filter(|piece| root(&groups, *piece) == *piece) {
        let parts = || (0..subject.pieces.len()).filter(|piece| root(&groups, *piece as u32) == first);
        let begin = triangles.len();
        for triangle in parts().flat_map(|part| &subject.triangles[subject.pieces[part].triangles.clone()]) {
            let [a, b, c] = triangle.map(|point| place[point as usize]);
            // A side that is sewn to another of the same triangle leaves nothing of it.
            if a != b && b != c && c != a {
                triangles.push([a, b, c]);
                texture.push(*triangle);
            }
        }
        let start = pieces.last().map_or(0, |piece| piece.points.end);
        let count = members.keys().filter(|(group, _)| *group == first).count();
        let mut piece = subject.pieces[first as usize].clone();
        (piece.points, piece.triangles) = (start..start + count, begin..triangles.len());
        if parts().count() > 1 {
            if let Some((before, _)) = piece.called.rsplit_once('.') {
                piece.called = before.to_owned();
            }
            if parts().any(|part| subject.pieces[part].colour != piece.colour) {
                subject.left_out.push(format!("`{}` has the colour of its first panel alone", piece.called));
            }
        }
        pieces.push(piece);
    }
    (subject.pieces, subject.triangles, subject.texture_triangles) = (pieces, triangles, texture);
    (*means, subject.pinned) = (welded, pinned);
}

/// The first of those that something is joined with.
fn root(joined: &[u32], mut at: u32) -> u32 {
    while joined[at as usize] != at {
        at = joined[at as usize];
    }
    at
}

/// Divides every triangle into four, smoothly: Loop 1987 with the weights of Warren 1995; rims are cubic B-splines and stay apart
/// from what is inside. Texture coordinates are divided in halves.
pub(super) fn subdivide(subject: &mut Subject, means: &mut Means) {
    let textured = subject.texture_triangles.clone();
    let (mut finer, mut pinned) = (Means::default(), Vec::new());
    let (mut triangles, mut pieces) = (Vec::new(), subject.pieces.clone());
    let mut place = vec![0; means.len()];
    for piece in &mut pieces {
        let own = &subject.triangles[piece.triangles.clone()];
        let mut across: BTreeMap<[u32; 2], Vec<u32>> = BTreeMap::new();
        own.iter()
            .flat_map(|t| sides(*t))
            .for_each(|(side, corner)| across.entry(side).or_default().push(corner));
        let mut around: BTreeMap<u32, (Vec<u32>, Vec<u32>)> = BTreeMap::new();
        for ([a, b], corners) in &across {
            for (from, to) in [(*a, *b), (*b, *a)] {
                let (neighbours, rim) = around.entry(from).or_default();
                neighbours.push(to);
                if corners.len() != 2 {
                    rim.push(to);
                }
            }
        }
        let start = finer.len();
        for point in piece.points.clone() {
            place[point] = finer.len() as u32;
            let (neighbours, rim) = around.get(&(point as u32)).cloned().unwrap_or_default();
            let (to, share) = match rim.len() {
                0 => (
                    neighbours.clone(),
                    if neighbours.len() == 3 { 3.0 / 16.0 } else { 3.0 / (8.0 * neighbours.len() as f64) },
                ),
                2 if neighbours.len() > 3 => (rim, 1.0 / 8.0),
                // A corner, which has at most two triangles, stays where it is.
                _ => (Vec::new(), 0.0),
            };
            let own = 1.0 - share * to.len() as f64;
            finer
                .push_mean(means, std::iter::once((point as u32, own)).chain(to.iter().map(|n| (*n, share))));
            pinned.push(subject.pinned[point]);
        }
        let mut middle = BTreeMap::new();
        for ([a, b], corners) in &across {
            middle.insert([*a, *b], finer.len() as u32);
            let parts = match corners[..] {
                [c, d] => vec![(*a, 3.0 / 8.0), (*b, 3.0 / 8.0), (c, 1.0 / 8.0), (d, 1.0 / 8.0)],
                _ => vec![(*a, 0.5), (*b, 0.5)],
            };
            finer.push_mean(means, parts);
            pinned.push(false);
        }
        let begin = triangles.len();
        triangles.extend(
            own.iter().flat_map(|t| quartered(*t, |i| place[i as usize], |a, b| middle[&side(a, b)])),
        );
        (piece.points, piece.triangles) = (start..finer.len(), begin..triangles.len());
    }
    let textured = if textured.is_empty() { subject.triangles.clone() } else { textured };
    let mut middle = BTreeMap::new();
    let mut halves = subject.material.clone();
    for ([a, b], _) in textured.iter().flat_map(|t| sides(*t)) {
        if let (Some(p), Some(q)) = (subject.material.get(a as usize), subject.material.get(b as usize)) {
            middle.entry([a, b]).or_insert_with(|| {
                halves.push([0.5 * (p[0] + q[0]), 0.5 * (p[1] + q[1])]);
                halves.len() as u32 - 1
            });
        }
    }
    if !halves.is_empty() {
        let quarters = textured.iter().flat_map(|t| quartered(*t, |i| i, |a, b| middle[&side(a, b)]));
        (subject.texture_triangles, subject.material) = (quarters.collect(), halves);
    }
    (subject.pieces, subject.triangles, subject.pinned, *means) = (pieces, triangles, pinned, finer);
}

/// The four triangles of one, in terms of its corners and the middles of its sides.
fn quartered(
    [a, b, c]: [u32; 3],
    place: impl Fn(u32) -> u32,
    middle: impl Fn(u32, u32) -> u32,
) -> [[u32; 3]; 4] {
    let [ab, bc, ca] = [middle(a, b), middle(b, c), middle(c, a)];
    let [a, b, c] = [a, b, c].map(place);
    [[a, ab, ca], [ab, b, bc], [ca, bc, c], [ab, bc, ca]]
}

/// Makes every piece a shell: the points of its upper side, then those of its lower, and a rim between them. Returns the triangles
/// that tell where up is, which are those there were.
pub(super) fn thicken(subject: &mut Subject) -> Vec<[u32; 3]> {
    let (before, textured) = (subject.triangles.clone(), subject.texture_triangles.clone());
    let (mut triangles, mut texture, mut pinned) = (Vec::new(), Vec::new(), Vec::new());
    for piece in &mut subject.pieces {
        let (first, count) = (piece.points.start as u32, piece.points.len() as u32);
        let upper = |i: u32| i + first;
        let lower = |i: u32| i + first + count;
        let own = &before[piece.triangles.clone()];
        let coordinates = textured.get(piece.triangles.clone()).unwrap_or(own);
        let begin = triangles.len();
        let mut across: BTreeMap<[u32; 2], u32> = BTreeMap::new();
        own.iter().flat_map(|t| sides(*t)).for_each(|(side, _)| *across.entry(side).or_default() += 1);
        for ([a, b, c], [p, q, r]) in own.iter().copied().zip(coordinates.iter().copied()) {
            triangles.extend([[a, b, c].map(upper), [c, b, a].map(lower)]);
            texture.extend([[p, q, r], [r, q, p]]);
            for ([a, b], [p, q]) in [([a, b], [p, q]), ([b, c], [q, r]), ([c, a], [r, p])] {
                if across[&side(a, b)] == 1 {
                    triangles.extend([[upper(b), upper(a), lower(a)], [upper(b), lower(a), lower(b)]]);
                    texture.extend([[q, p, p], [q, p, q]]);
                }
            }
        }
        for _ in 0..2 {
            pinned.extend_from_slice(&subject.pinned[piece.points.clone()]);
        }
        let start = 2 * piece.points.start;
        (piece.points, piece.triangles) = (start..start + 2 * count as usize, begin..triangles.len());
    }
    (subject.triangles, subject.pinned) = (triangles, pinned);
    if !subject.material.is_empty() {
        subject.texture_triangles = texture;
    }
    before
}

/// Gives every point one place in the texture, for formats that know no other: where panels meet, a point for each. Returns the
/// point that each of them was.
pub(super) fn split(subject: &mut Subject) -> Vec<u32> {
    let (mut was, mut texture, mut pinned) = (Vec::new(), Vec::new(), Vec::new());
    let textured = std::mem::take(&mut subject.texture_triangles);
    for piece in &mut subject.pieces {
        let start = was.len();
        let mut places: BTreeMap<(u32, u32), u32> = BTreeMap::new();
        for t in piece.triangles.clone() {
            for (point, corner) in subject.triangles[t].iter_mut().zip(textured[t]) {
                *point = *places.entry((*point, corner)).or_insert_with(|| {
                    was.push(*point);
                    texture.push(subject.material[corner as usize]);
                    pinned.push(subject.pinned[*point as usize]);
                    was.len() as u32 - 1
                });
            }
        }
        piece.points = start..was.len();
    }
    (subject.material, subject.pinned) = (texture, pinned);
    was
}

#[cfg(test)]
mod tests {
    use super::super::film::Placement;
    use super::super::shaping::Shaping;
    use super::super::{Format, Options, UpAxis};
    use super::*;
    use crate::recording::{Frame, Header};
    use serde_json::json;
    use std::collections::BTreeSet;
    use taffeta::math::DVec3;

    const COLUMNS: u32 = 4;

    /// Two square panels of 4 by 4 particles, side by side, 1 mm apart, and stitches along that slit; the last of them is open.
    fn header() -> (Header, Vec<DVec3>) {
        let (mut positions, mut triangles, mut seams) = (Vec::new(), Vec::new(), Vec::new());
        for panel in 0..2 {
            let first = positions.len() as u32;
            for (row, column) in (0..COLUMNS * COLUMNS).map(|i| (i / COLUMNS, i % COLUMNS)) {
                let x = f64::from(column + 3 * panel) / 3.0 + 0.001 * f64::from(panel);
                // Curved, so that smoothing does something.
                positions.push(DVec3::new(x, 0.1 * x * x, -f64::from(row) / 3.0));
                let at = |row: u32, column: u32| first + row * COLUMNS + column;
                if row > 0 && column > 0 {
                    triangles.push([at(row - 1, column - 1), at(row, column - 1), at(row, column)]);
                    triangles.push([at(row - 1, column - 1), at(row, column), at(row - 1, column)]);
                }
                if column == 3 && panel == 0 {
                    seams.push(json!([at(row, 3), 16 + row * COLUMNS, 0.0007]));
                }
            }
        }
        positions[15].x -= 0.2;
        let cloth = |k: usize, name: &str| json!({ "name": name, "particles": [16 * k, 16 * k + 16], "triangles": [18 * k, 18 * k + 18] });
        let header = Header {
            scene: String::new(),
            about: json!({ "cloths": [cloth(0, "shirt.a"), cloth(1, "shirt.b")], "seams": seams }),
            frame_time: 1.0,
            triangles,
            edges: vec![[0, 1]],
            rest_lengths: vec![1.0 / 3.0],
            rest_positions: positions.clone(),
            material: positions.iter().map(|p| [p.x, p.z]).collect(),
            pinned: vec![0],
        };
        (header, positions)
    }

    /// What becomes of the panels.
    fn made(options: &Options, format: Format) -> (Subject, Shaping, Vec<DVec3>) {
        let (header, positions) = header();
        let placement = Placement { up: UpAxis::Y, scale: options.scale };
        let (mut subject, mut shaping) = Subject::of(&header, placement, options);
        let mut frame = Frame::default();
        frame.set_positions(&positions);
        let (mut points, mut maps) = (Vec::new(), Vec::new());
        shaping.place(&frame, placement, &mut points, &mut maps);
        subject.remesh(&mut shaping, format, options);
        shaping.place(&frame, placement, &mut points, &mut maps);
        (subject, shaping, points)
    }

    /// How many triangles every directed side has.
    fn directed(subject: &Subject) -> BTreeMap<[u32; 2], u32> {
        let mut sides = BTreeMap::new();
        for [a, b, c] in &subject.triangles {
            [[*a, *b], [*b, *c], [*c, *a]].into_iter().for_each(|side| *sides.entry(side).or_default() += 1);
        }
        sides
    }

    #[test]
    fn closed_stitches_make_one_mesh_of_two_panels_and_texture_stays_apart() {
        let (subject, shaping, points) = made(&Options { weld: true, ..Options::default() }, Format::Usd);
        assert_eq!((subject.pieces.len(), subject.pieces[0].called.as_str()), (1, "shirt"));
        assert_eq!((points.len(), subject.pieces[0].points.len(), subject.triangles.len()), (29, 29, 36));
        assert!(subject.left_out[0].starts_with("1 of 4 stitches"), "{:?}", subject.left_out);
        // Halfway between the particles of a stitch, and known by the first of them.
        let middle = points.iter().position(|p| (p.x - 1.0005).abs() < 1e-6 && p.z == 0.0).unwrap();
        assert_eq!(shaping.origins()[middle], 3);
        assert!(subject.pinned[0] && subject.pinned.iter().filter(|pinned| **pinned).count() == 1);
        let (texture, corners) = subject.texture(&subject.pieces[0]).unwrap();
        assert_eq!((texture.len(), corners.unwrap().len()), (32, 36));
        // Three stitches are two sides with a triangle on either side.
        let sides = directed(&subject);
        assert_eq!(sides.keys().filter(|[a, b]| !sides.contains_key(&[*b, *a])).count(), 2 * 12 - 2 * 2);
    }

    #[test]
    fn triangles_are_divided_in_four_and_points_stay_means() {
        for weld in [false, true] {
            let (before, ..) = made(&Options { weld, ..Options::default() }, Format::Usd);
            let sides: BTreeSet<[u32; 2]> =
                before.triangles.iter().flat_map(|t| super::sides(*t)).map(|(side, _)| side).collect();
            let points_before: usize = before.pieces.iter().map(|piece| piece.points.len()).sum();
            let (subject, shaping, points) =
                made(&Options { weld, subdivide: 1, ..Options::default() }, Format::Usd);
            assert_eq!(subject.triangles.len(), 4 * before.triangles.len());
            assert_eq!(points.len(), points_before + sides.len());
            for point in 0..points.len() {
                let sum: f64 = shaping.cloth.parts(point).iter().map(|(_, share)| share).sum();
                assert!((sum - 1.0).abs() < 1e-15, "{sum}");
            }
            // In the plane the surface is what it was: every corner of the rim is where its particle is.
            let has = |p: DVec3| points.iter().any(|q| (*q - p).length() < 1e-6);
            assert!(has(DVec3::ZERO) && has(DVec3::new(0.0, 0.0, -1.0)));
            assert!(directed(&subject).values().all(|count| *count == 1));
        }
    }

    #[test]
    fn a_shell_is_closed_and_as_thick_as_asked_for() {
        let options = Options { weld: true, thickness: 0.01, scale: 100.0, ..Options::default() };
        let (subject, _, points) = made(&options, Format::Usd);
        assert_eq!(points.len(), 2 * 29);
        let sides = directed(&subject);
        assert!(sides.iter().all(|([a, b], count)| *count == 1 && sides.contains_key(&[*b, *a])));
        let corner = |i: u32| points[i as usize];
        let volume: f64 =
            subject.triangles.iter().map(|t| corner(t[0]).dot(corner(t[1]).cross(corner(t[2]))) / 6.0).sum();
        let (flat, _, middle) =
            made(&Options { weld: true, scale: 100.0, ..Options::default() }, Format::Usd);
        let area = |t: &[u32; 3]| {
            let [a, b, c] = t.map(|i| middle[i as usize]);
            0.5 * (b - a).cross(c - a).length()
        };
        let expected = flat.triangles.iter().map(area).sum::<f64>() * 1.0;
        assert!((volume / expected - 1.0).abs() < 0.02, "{volume} for {expected}");
        assert_eq!(subject.texture_triangles.len(), subject.triangles.len());
    }

    #[test]
    fn where_texture_coordinates_part_points_gltf_has_both_and_one_normal() {
        let (subject, _, points) = made(&Options { weld: true, ..Options::default() }, Format::Gltf);
        assert_eq!((points.len(), subject.material.len(), subject.texture_triangles.len()), (32, 32, 0));
        let mut normals = Vec::new();
        subject.normals(&points, &mut normals);
        let mut pairs = 0;
        for (a, b) in (0..points.len()).flat_map(|a| (0..a).map(move |b| (a, b))) {
            if points[a] == points[b] {
                pairs += 1;
                assert_eq!(normals[a], normals[b]);
            }
        }
        assert_eq!(pairs, 3);
    }
}

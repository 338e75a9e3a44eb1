//! Alembic's schemas of polygon meshes (`AbcGeom_PolyMesh_v1`) and transforms (`AbcGeom_Xform_v3`).

use super::archive::{Archive, Entry, Object, Pod, Property};
use std::io::{self, Seek, Write};

/// Metadata of a list of values of single precision on vertices (`vtx`) or on corners of faces (`fvr`).
fn parameter(scope: &str, interpretation: &str, extent: u8) -> String {
    format!(
        "arrayExtent=1;geoScope={scope};interpretation={interpretation};isGeomParam=true;podExtent={extent};podName=float32_t"
    )
}

/// A mesh of triangles whose points move.
pub struct Mesh {
    name: String,
    bounds: Property,
    positions: Property,
    normals: Option<Property>,
    constants: Vec<Entry>,
    /// What the schema has no place for.
    others: Vec<Entry>,
    measures: Vec<Property>,
    bytes: Vec<u8>,
}

impl Mesh {
    /// Starts a mesh and writes its triangles, seen counter-clockwise from outside.
    pub fn begin<W: Write + Seek>(
        archive: &mut Archive<W>,
        name: &str,
        triangles: &[[u32; 3]],
        with_normals: bool,
        animated: bool,
    ) -> io::Result<Mesh> {
        let mut counts = Property::array(".faceCounts", "", Pod::I32, 1, false);
        archive.sample(&mut counts, &3i32.to_le_bytes().repeat(triangles.len()))?;
        let mut indices = Property::array(".faceIndices", "", Pod::I32, 1, false);
        archive.sample(&mut indices, &clockwise(triangles))?;
        let constants = vec![Entry::Property(indices), Entry::Property(counts)];
        let normals =
            with_normals.then(|| Property::array("N", &parameter("vtx", "normal", 3), Pod::F32, 3, animated));
        Ok(Mesh {
            name: name.into(),
            bounds: Property::scalar(".selfBnds", "interpretation=box", Pod::F64, 6, animated),
            positions: Property::array("P", "geoScope=vtx;interpretation=point", Pod::F32, 3, animated),
            normals,
            constants,
            others: Vec::new(),
            measures: Vec::new(),
            bytes: Vec::new(),
        })
    }

    /// Gives every corner of every triangle one of some texture coordinates, by its number.
    pub fn texture<W: Write + Seek>(
        &mut self,
        archive: &mut Archive<W>,
        texture: &[[f32; 2]],
        corners: &[[u32; 3]],
    ) -> io::Result<()> {
        let metadata = parameter("fvr", "vector", 2);
        let mut values = Property::array(".vals", &metadata, Pod::F32, 2, false);
        let mut corner_values = Property::array(".indices", "", Pod::U32, 1, false);
        archive.sample(&mut values, &bytes_of(texture.as_flattened()))?;
        archive.sample(&mut corner_values, &clockwise(corners))?;
        let entries = vec![Entry::Property(values), Entry::Property(corner_values)];
        self.constants.push(Entry::Compound("uv", metadata, entries));
        Ok(())
    }

    /// Gives every point a whole number that stays.
    pub fn number<W: Write + Seek>(
        &mut self,
        archive: &mut Archive<W>,
        name: &'static str,
        numbers: &[u32],
    ) -> io::Result<()> {
        let metadata = "arrayExtent=1;geoScope=vtx;isGeomParam=true;podExtent=1;podName=int32_t";
        let mut property = Property::array(name, metadata, Pod::I32, 1, false);
        let bytes: Vec<u8> = numbers.iter().flat_map(|n| n.to_le_bytes()).collect();
        archive.sample(&mut property, &bytes)?;
        self.others.push(Entry::Property(property));
        Ok(())
    }

    /// Gives every point a number that changes from sample to sample ([`Mesh::sample_measure`]).
    pub fn measure(&mut self, name: &'static str, animated: bool) {
        let metadata = "arrayExtent=1;geoScope=vtx;isGeomParam=true;podExtent=1;podName=float32_t";
        self.measures.push(Property::array(name, metadata, Pod::F32, 1, animated));
    }

    /// The same for a colour, linear red, green and blue.
    pub fn measure_colour(&mut self, animated: bool) {
        self.measures.push(Property::array("Cd", &parameter("vtx", "rgb", 3), Pod::F32, 3, animated));
    }

    /// Writes the numbers of all points at the next time, of the `k`-th that was given.
    pub fn sample_measure<W: Write + Seek>(
        &mut self,
        archive: &mut Archive<W>,
        k: usize,
        numbers: &[f32],
    ) -> io::Result<()> {
        let Some(property) = self.measures.get_mut(k) else { return Ok(()) };
        archive.sample(property, &bytes_of(numbers))
    }

    /// Gives all points of a mesh a colour, linear red, green and blue, under the name that readers know: `Cd`.
    pub fn paint<W: Write + Seek>(
        &mut self,
        archive: &mut Archive<W>,
        points: usize,
        colour: [f32; 3],
    ) -> io::Result<()> {
        let mut colours = Property::array("Cd", &parameter("vtx", "rgb", 3), Pod::F32, 3, false);
        archive.sample(&mut colours, &bytes_of(&colour).repeat(points))?;
        self.others.push(Entry::Property(colours));
        Ok(())
    }

    /// Writes the points and, if the mesh has them, their normals at the next time.
    pub fn sample<W: Write + Seek>(
        &mut self,
        archive: &mut Archive<W>,
        points: impl Iterator<Item = [f32; 3]>,
        normals: impl Iterator<Item = [f32; 3]>,
    ) -> io::Result<()> {
        let (mut low, mut high) = ([f32::INFINITY; 3], [f32::NEG_INFINITY; 3]);
        self.bytes.clear();
        for point in points {
            for k in 0..3 {
                (low[k], high[k]) = (low[k].min(point[k]), high[k].max(point[k]));
                self.bytes.extend(point[k].to_le_bytes());
            }
        }
        archive.sample(&mut self.positions, &self.bytes)?;
        let corners = low.into_iter().chain(high).flat_map(|x| f64::from(x).to_le_bytes());
        archive.sample(&mut self.bounds, &corners.collect::<Vec<_>>())?;
        if let Some(property) = &mut self.normals {
            self.bytes.clear();
            self.bytes.extend(normals.flatten().flat_map(f32::to_le_bytes));
            archive.sample(property, &self.bytes)?;
        }
        Ok(())
    }

    /// The object, once all samples are written.
    pub fn finish(self) -> Object {
        let mut entries = vec![Entry::Property(self.bounds), Entry::Property(self.positions)];
        entries.extend(self.constants);
        entries.extend(self.normals.map(Entry::Property));
        let others: Vec<Entry> =
            self.others.into_iter().chain(self.measures.into_iter().map(Entry::Property)).collect();
        if !others.is_empty() {
            entries.push(Entry::Compound(".arbGeomParams", String::new(), others));
        }
        let schema = "schema=AbcGeom_PolyMesh_v1;schemaBaseType=AbcGeom_GeomBase_v1";
        Object {
            name: self.name,
            metadata: format!("{schema};schemaObjTitle=AbcGeom_PolyMesh_v1:.geom"),
            entries: vec![Entry::Compound(".geom", schema.into(), entries)],
            children: Vec::new(),
        }
    }
}

/// A transform of all objects under it.
pub struct Transform {
    name: String,
    values: Property,
    operations: Property,
    inherits: Property,
    not_identity: Property,
    channels: Option<Property>,
}

impl Transform {
    /// Starts a transform; one that is not animated has one sample.
    pub fn begin<W: Write + Seek>(
        archive: &mut Archive<W>,
        name: &str,
        animated: bool,
    ) -> io::Result<Transform> {
        let constant = |name, pod| Property::scalar(name, "", pod, 1, false);
        let mut transform = Transform {
            name: name.into(),
            values: Property::scalar(".vals", "", Pod::F64, 16, animated),
            operations: constant(".ops", Pod::U8),
            inherits: constant(".inherits", Pod::Bool),
            not_identity: constant("isNotConstantIdentity", Pod::Bool),
            channels: animated.then(|| Property::array(".animChans", "", Pod::U32, 1, false)),
        };
        // The one operation is a matrix: kind 3 in the upper half of the byte.
        archive.sample(&mut transform.operations, &[3 << 4])?;
        archive.sample(&mut transform.inherits, &[1])?;
        archive.sample(&mut transform.not_identity, &[1])?;
        if let Some(channels) = &mut transform.channels {
            let all: Vec<u8> = (0..16u32).flat_map(u32::to_le_bytes).collect();
            archive.sample(channels, &all)?;
        }
        Ok(transform)
    }

    /// Writes the matrix at the next time, for row vectors: the last row is the translation.
    pub fn sample<W: Write + Seek>(
        &mut self,
        archive: &mut Archive<W>,
        matrix: &[[f64; 4]; 4],
    ) -> io::Result<()> {
        let bytes: Vec<u8> = matrix.as_flattened().iter().flat_map(|x| x.to_le_bytes()).collect();
        archive.sample(&mut self.values, &bytes)
    }

    /// The object with others under it, once all samples are written.
    pub fn finish(self, children: Vec<Object>) -> Object {
        let properties = [self.inherits, self.operations, self.values, self.not_identity];
        let entries = properties.into_iter().chain(self.channels).map(Entry::Property).collect();
        let schema = "schema=AbcGeom_Xform_v3";
        Object {
            name: self.name,
            metadata: format!("{schema};schemaObjTitle=AbcGeom_Xform_v3:.xform"),
            entries: vec![Entry::Compound(".xform", schema.into(), entries)],
            children,
        }
    }
}

/// Corners of triangles as Alembic's faces go: clockwise.
fn clockwise(triangles: &[[u32; 3]]) -> Vec<u8> {
    triangles.iter().flat_map(|[a, b, c]| [*c, *b, *a]).flat_map(u32::to_le_bytes).collect()
}

fn bytes_of(numbers: &[f32]) -> Vec<u8> {
    numbers.iter().flat_map(|x| x.to_le_bytes()).collect()
}

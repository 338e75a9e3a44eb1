//! A folder with one mesh file per frame.

use super::pending::{Pending, settle, sync_folder};
use super::subject::Subject;
use super::{ExportError, Job, Precision};
use std::fs::File;
use std::io::{self, BufWriter};
use std::path::PathBuf;
use taffeta::math::DVec3;

/// What a mesh is in a frame; normals, maps and colours are none where none are wanted.
pub(super) struct Pose<'a> {
    pub positions: &'a [DVec3],
    pub normals: &'a [DVec3],
    /// The name of every map of the fit, and its numbers of every point.
    pub maps: &'a [(&'static str, &'a [f64])],
    /// sRGB of every point.
    pub colours: &'a [[f32; 3]],
    pub precision: Precision,
}

/// Writes a mesh from its name and parts.
type WriteMesh = fn(&mut BufWriter<File>, &str, &Subject, &Pose) -> io::Result<()>;

/// An extension, and what is written once into the file that has it.
type Beside = (&'static str, fn(&mut BufWriter<File>, &Subject) -> io::Result<()>);

/// Writes `name.0001.extension` and so on into a folder, each with `mesh`, and what else lies beside them.
pub(super) fn write(
    job: &mut Job,
    extension: &'static str,
    mesh: WriteMesh,
    beside: Option<Beside>,
) -> Result<(Vec<PathBuf>, u64), ExportError> {
    let extensions = [Some(extension), beside.map(|(extension, _)| extension)];
    let folder =
        Pending::folder(job.path, job.replace, &job.name, extensions.into_iter().flatten().collect())?;
    let (mut bytes, mut normals) = (0, Vec::new());
    if let Some((extension, write)) = beside {
        let file = folder.path().join(format!("{}.{extension}", job.name));
        let written = File::create_new(file).and_then(|file| {
            let mut out = BufWriter::new(file);
            write(&mut out, &job.subject)?;
            settle(out)
        });
        bytes += written.map_err(job.film.failed())?;
    }
    let names: Vec<_> = job.film.shaping.maps.which.iter().map(|map| map.name()).collect();
    job.film.plan(1);
    job.film.play(&mut |moment| {
        if job.normals {
            job.subject.normals(&moment.positions, &mut normals);
        }
        let file = folder.path().join(format!("{}.{:04}.{extension}", job.name, moment.number));
        let mut out = BufWriter::with_capacity(1 << 16, File::create_new(file)?);
        let maps: Vec<_> = names.iter().copied().zip(moment.maps.iter().map(Vec::as_slice)).collect();
        let (positions, colours, precision) = (&moment.positions, &moment.colours, job.precision);
        let pose = Pose { positions, normals: &normals, maps: &maps, colours, precision };
        mesh(&mut out, &job.name, &job.subject, &pose)?;
        bytes += settle(out)?;
        Ok(())
    })?;
    sync_folder(Some(folder.path()));
    Ok((vec![folder.commit()?], bytes))
}

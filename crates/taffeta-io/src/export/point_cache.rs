//! Point caches PC2 and MDD: bare positions for a mesh that lies beside them as OBJ.
//!
//! PC2, little-endian: `POINTCACHE2` and a zero byte, `i32` version 1, `i32` points, `f32` first frame, `f32` frames per
//! sample, `i32` samples; then every sample's points, `f32` x y z. MDD, big-endian: `i32` samples, `i32` points, every
//! sample's time \[s\] as `f32`; then the points likewise.

use super::obj::write_mesh;
use super::pending::{Pending, settle};
use super::sequence::Pose;
use super::subject::single;
use super::{ExportError, Format, Job, Precision};
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::PathBuf;
use taffeta::math::DVec3;

/// Writes `name.pc2` and `name.obj`.
pub(super) fn write_pc2(job: &mut Job) -> Result<(Vec<PathBuf>, u64), ExportError> {
    job.film.no_gap(Format::Pc2)?;
    let [points, samples] = counts(job, Format::Pc2)?;
    job.film.plan(1);
    with_rest_mesh(job, Format::Pc2, |job, out| {
        let mut header = b"POINTCACHE2\0".to_vec();
        header.extend([1, points].iter().flat_map(|n| n.to_le_bytes()));
        header.extend([job.film.survey.first as f32, 1.0].iter().flat_map(|x| x.to_le_bytes()));
        header.extend(samples.to_le_bytes());
        out.write_all(&header).map_err(job.film.failed())?;
        job.film.play(&mut |moment| {
            let numbers = moment.positions.iter().flat_map(|p| single(*p));
            { numbers }.try_for_each(|x| out.write_all(&x.to_le_bytes()))
        })
    })
}

/// Writes `name.mdd` and `name.obj`.
pub(super) fn write_mdd(job: &mut Job) -> Result<(Vec<PathBuf>, u64), ExportError> {
    let [points, samples] = counts(job, Format::Mdd)?;
    job.film.plan(2);
    with_rest_mesh(job, Format::Mdd, |job, out| {
        let mut counts = [samples, points].into_iter();
        counts.try_for_each(|n| out.write_all(&n.to_be_bytes())).map_err(job.film.failed())?;
        // All times come before the first position.
        job.film.play(&mut |moment| out.write_all(&(moment.time as f32).to_be_bytes()))?;
        job.film.play(&mut |moment| {
            let numbers = moment.positions.iter().flat_map(|p| single(*p));
            { numbers }.try_for_each(|x| out.write_all(&x.to_be_bytes()))
        })
    })
}

/// Points and samples as the formats count them.
fn counts(job: &Job, format: Format) -> Result<[i32; 2], ExportError> {
    let points = job.subject.point_count();
    let counts = (i32::try_from(points), i32::try_from(job.film.survey.count));
    let (Ok(points), Ok(samples)) = counts else {
        let what = format!("{points} points in {} frames", job.film.survey.count);
        return Err(ExportError::Unsupported {
            format,
            what,
            remedy: "at most 2147483647 of each: export to usd",
        });
    };
    Ok([points, samples])
}

/// Writes the cache by `write`, and the mesh at rest beside it.
fn with_rest_mesh(
    job: &mut Job,
    format: Format,
    write: impl FnOnce(&mut Job, &mut BufWriter<File>) -> Result<(), ExportError>,
) -> Result<(Vec<PathBuf>, u64), ExportError> {
    let lost = |p: &DVec3| !single(*p).iter().all(|x| x.is_finite());
    if let Some(i) = job.subject.rest_positions.iter().position(lost) {
        let what = format!("particle {i} at {} in its rest mesh", job.subject.rest_positions[i]);
        let remedy = "export to usd or alembic, which need no rest mesh";
        return Err(ExportError::Unsupported { format, what, remedy });
    }
    let mesh_path = job.path.with_extension("obj");
    let (mesh, mut mesh_out) = Pending::file(&mesh_path, job.replace)?;
    let (cache, mut cache_out) = Pending::file(job.path, job.replace)?;
    let subject = &job.subject;
    let positions = &subject.rest_positions;
    let pose = Pose { positions, normals: &[], maps: &[], colours: &[], precision: Precision::F32 };
    let written = write_mesh(&mut mesh_out, &job.name, subject, &pose, false).and_then(|()| settle(mesh_out));
    let mesh_bytes =
        written.map_err(|source| ExportError::Io { path: mesh_path.clone(), doing: "writing", source })?;
    write(job, &mut cache_out)?;
    let cache_bytes = settle(cache_out).map_err(job.film.failed())?;
    let mesh = mesh.commit()?;
    let cache = cache.commit().inspect_err(|_| {
        // One without the other is of no use.
        let _ = std::fs::remove_file(&mesh_path);
    })?;
    Ok((vec![cache, mesh], mesh_bytes + cache_bytes))
}

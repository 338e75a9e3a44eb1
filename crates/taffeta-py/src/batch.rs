//! Many simulations at once, each on one thread.

use crate::arrays::{copy, points};
use crate::check::Certificate;
use crate::errors::{refused, stopped};
use crate::picture::{self, Stand};
use crate::scene::AskedScene;
use crate::simulation::{hold, list};
use crate::work::on_one_thread_each;
use numpy::ndarray::Axis;
use numpy::{PyArray1, PyArray3, PyArray4, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2, ToPyArray};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::sync::Mutex;
use std::sync::atomic::Ordering;
use taffeta::step::{Hands, StepError};
use taffeta_io::clock::{StageClock, Watch};

/// Simulations that know nothing of one another; `taffeta.Batch` is this and what Python adds to it.
#[pyclass(module = "taffeta._taffeta", subclass)]
pub struct Batch {
    members: Vec<Member>,
    positions: Py<PyArray3<f64>>,
    velocities: Py<PyArray3<f64>>,
}

/// One of them, and what holds it.
#[derive(Clone)]
struct Member {
    engine: taffeta::Simulation,
    hands: Hands,
}

/// All arrays of a batch have their members along the first axis, and follow it in place.
#[pymethods]
impl Batch {
    /// As many of a scene, with the changes `sets[k]` (`key=value`) laid over it for the k-th; without any all are equal.
    #[new]
    fn new(scene: &Bound<PyAny>, count: usize, sets: Vec<Vec<String>>) -> PyResult<Self> {
        let py = scene.py();
        let member = |sets: &[String]| -> PyResult<Member> {
            Ok(Member { engine: AskedScene::new(scene, sets)?.simulation(py)?, hands: Hands::default() })
        };
        if count == 0 {
            return Err(refused("count = 0: a batch has at least one member"));
        }
        let members = match sets.is_empty() {
            true => vec![member(&[])?; count],
            false => sets.iter().map(|sets| member(sets)).collect::<PyResult<_>>()?,
        };
        let sizes: Vec<usize> = members.iter().map(|member| member.engine.positions().len()).collect();
        if let Some(other) = sizes.iter().position(|size| *size != sizes[0]) {
            let (found, first) = (sizes[other], sizes[0]);
            return Err(refused(format!(
                "member {other} has {found} particles, member 0 has {first}; all of a batch have as many, so vary nothing that changes their number"
            )));
        }
        let shape = [members.len(), sizes[0], 3];
        let array = || PyArray3::zeros(py, shape, false).unbind();
        let mut batch = Self { members, positions: array(), velocities: array() };
        batch.each(py, |_, _| Ok(()))?;
        Ok(batch)
    }

    fn __len__(&self) -> usize {
        self.members.len()
    }

    /// Moves every member on by one frame; whether each converged.
    fn step_frame<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<bool>>> {
        let converged = self.each(py, |member, watch| Ok(member.engine.step_frame(watch)?.converged))?;
        Ok(converged.to_pyarray(py))
    }

    /// Moves every member on by one step; whether each converged.
    fn step<'py>(&mut self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<bool>>> {
        let converged = self.each(py, |member, watch| Ok(member.engine.step_observed(watch)?.converged))?;
        Ok(converged.to_pyarray(py))
    }

    fn _positions(&self, py: Python) -> Py<PyArray3<f64>> {
        self.positions.clone_ref(py)
    }

    fn _velocities(&self, py: Python) -> Py<PyArray3<f64>> {
        self.velocities.clone_ref(py)
    }

    fn _hold(
        &mut self,
        member: usize,
        particles: PyReadonlyArray1<i64>,
        places: PyReadonlyArray2<f64>,
        duration: f64,
    ) -> PyResult<()> {
        let (particles, places) = (list(&particles)?, points(&places, "places")?);
        let Member { engine, hands } = self.member(member)?;
        hold(engine, hands, &particles, &places, duration)
    }

    fn _release(&mut self, member: usize, particles: PyReadonlyArray1<i64>) -> PyResult<()> {
        let Member { engine, hands } = self.member(member)?;
        for particle in list(&particles)? {
            engine.release(particle).map_err(refused)?;
            hands.held.remove(&particle);
            hands.freed.insert(particle);
        }
        Ok(())
    }

    /// The state of a member as bytes.
    fn snapshot<'py>(&mut self, py: Python<'py>, member: usize) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &self.member(member)?.engine.snapshot()))
    }

    /// Members go to a state that `snapshot` has kept, and nobody holds them any more: all, or those of the list.
    #[pyo3(signature = (snapshot, members=None))]
    fn restore(&mut self, py: Python, snapshot: &[u8], members: Option<Vec<usize>>) -> PyResult<()> {
        for number in members.unwrap_or_else(|| (0..self.members.len()).collect()) {
            let Member { engine, hands } = self.member(number)?;
            if *hands != Hands::default() {
                *hands = Hands::default();
                engine.set_hands(hands, 1.0);
            }
            engine.restore(snapshot).map_err(refused)?;
        }
        self.each(py, |_, _| Ok(())).map(|_| ())
    }

    /// Fingerprints of the states of all members, 16 hexadecimal digits each.
    #[getter]
    fn state_hashes(&self) -> Vec<String> {
        self.members.iter().map(|member| format!("{:016x}", member.engine.state().hash())).collect()
    }

    /// The certificates of all members.
    fn certificates(&mut self, py: Python) -> PyResult<Vec<Certificate>> {
        self.each(py, |member, _| {
            Ok(Certificate::new(member.engine.certificate(), Some(member.engine.model().tolerance)))
        })
    }

    /// Takes a picture of every member from one camera, `(members, height, width, 3)` bytes.
    #[pyo3(signature = (width=64, height=64, camera=None))]
    fn render<'py>(
        &mut self,
        py: Python<'py>,
        width: u32,
        height: u32,
        camera: Option<Stand>,
    ) -> PyResult<Bound<'py, PyArray4<u8>>> {
        let pictures = on_one_thread_each(py, &mut self.members, |_, member, _| {
            picture::taken(&member.engine, picture::picture(width, height, camera))
                .map_err(|error| error.to_string())
        })?;
        let pixels = pictures
            .into_iter()
            .map(|picture| picture.map(|image| image.data))
            .collect::<Result<Vec<_>, _>>();
        let pixels = pixels.map_err(refused)?.concat();
        pixels.to_pyarray(py).reshape([self.members.len(), height as usize, width as usize, 3])
    }
}

impl Batch {
    fn member(&mut self, number: usize) -> PyResult<&mut Member> {
        let count = self.members.len();
        let wrong = || refused(format!("there is no member {number}; the batch has {count}, counted from 0"));
        self.members.get_mut(number).ok_or_else(wrong)
    }

    /// Does something to every member, each on one thread; the arrays follow.
    fn each<T: Send>(
        &mut self,
        py: Python,
        work: impl Fn(&mut Member, &mut Watch) -> Result<T, StepError> + Sync,
    ) -> PyResult<Vec<T>> {
        let mut positions = self.positions.bind(py).try_readwrite().map_err(refused)?;
        let mut velocities = self.velocities.bind(py).try_readwrite().map_err(refused)?;
        let (mut positions, mut velocities) = (positions.as_array_mut(), velocities.as_array_mut());
        let rows = positions.axis_iter_mut(Axis(0)).zip(velocities.axis_iter_mut(Axis(0)));
        let rows: Vec<_> = rows.map(Mutex::new).collect();
        let done = on_one_thread_each(py, &mut self.members, |number, member, stop| {
            let (mut stages, mut ended) = (StageClock::default(), || stop.load(Ordering::Relaxed));
            let done = work(member, &mut Watch { stages: &mut stages, ended: &mut ended });
            if let Ok(mut row) = rows[number].lock() {
                let (positions, velocities) = &mut *row;
                let state = member.engine.state();
                positions.as_slice_mut().into_iter().for_each(|numbers| copy(&state.positions, numbers));
                velocities.as_slice_mut().into_iter().for_each(|numbers| copy(&state.velocities, numbers));
            }
            done.map_err(|error| format!("member {number}: {error}"))
        })?;
        done.into_iter().collect::<Result<_, _>>().map_err(stopped)
    }
}

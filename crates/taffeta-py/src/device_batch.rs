//! Many members of one scene that stay on a card, and their lists as arrays of the card.

use crate::arrays::points;
use crate::errors::{refused, stopped};
use crate::scene::AskedScene;
use crate::simulation::list;
use numpy::{PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2, ToPyArray};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyTuple};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use taffeta_cuda::{Batch, CudaDevice, CudaError, List, Number, number_of};

/// The stream of a card that all programs of a process share, as the interface of arrays names it.
const DEFAULT_STREAM: u64 = 1;

/// Members on a card; `taffeta.batch.DeviceBatch` is this and what Python adds to it.
#[pyclass(module = "taffeta._taffeta", subclass)]
pub struct DeviceBatch {
    batch: Arc<Mutex<Batch>>,
    /// The scene, to read states with.
    engine: taffeta::Simulation,
    handles: Vec<u32>,
    count: usize,
}

fn locked(batch: &Mutex<Batch>) -> MutexGuard<'_, Batch> {
    batch.lock().unwrap_or_else(PoisonError::into_inner)
}

#[pymethods]
impl DeviceBatch {
    /// As many of a scene on a device, which can be held by the pins of the scene and by `handles`.
    #[new]
    fn new(
        scene: &Bound<PyAny>,
        count: usize,
        sets: Vec<String>,
        device: &str,
        handles: PyReadonlyArray1<i64>,
    ) -> PyResult<Self> {
        let py = scene.py();
        if count == 0 {
            return Err(refused("count = 0: a batch has at least one member"));
        }
        let number = number_of(device).and_then(|number| number.ok_or(CudaError::NoName(device.into())));
        let number = number.map_err(refused)?;
        let engine = AskedScene::new(scene, &sets)?.simulation(py)?;
        let handles = list(&handles)?;
        let made = py.detach(|| {
            let card = CudaDevice::open(number).map_err(|error| error.to_string())?;
            Batch::new(&card, &engine, count, &handles).map_err(|refusal| refusal.to_string())
        });
        let batch = made.map_err(refused)?;
        let handles = batch.handles().to_vec();
        Ok(Self { batch: Arc::new(Mutex::new(batch)), engine, handles, count })
    }

    fn __len__(&self) -> usize {
        self.count
    }

    /// Particles that can be held: first those that the scene pins.
    #[getter]
    fn handles(&self) -> Vec<u32> {
        self.handles.clone()
    }

    /// Moves every member on by so many frames. What is held goes straight to its place, and is there at the end of the last. The work is sent to the card's
    /// default stream; nobody waits for it.
    #[pyo3(signature = (frames=1))]
    fn step_frame(&self, py: Python, frames: u32) -> PyResult<()> {
        py.detach(|| locked(&self.batch).step_frames(frames)).map_err(stopped)
    }

    /// Whether every member was within its tolerance at the end of all frames of the last `step_frame`.
    fn converged<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        let reports = py.detach(|| locked(&self.batch).reports()).map_err(stopped)?;
        let converged: Vec<bool> = reports.iter().map(|report| report.converged).collect();
        Ok(converged.to_pyarray(py).into_any())
    }

    /// The state of a member as bytes, which a simulation of the scene can restore too.
    fn snapshot<'py>(&self, py: Python<'py>, member: usize) -> PyResult<Bound<'py, PyBytes>> {
        self.check(member)?;
        let state = py.detach(|| locked(&self.batch).state(member)).map_err(stopped)?;
        Ok(PyBytes::new(py, &state.to_bytes()))
    }

    /// Members go to a state that a `snapshot` of the scene has kept, held by the pins of the scene alone: all, or those of the list.
    #[pyo3(signature = (snapshot, members=None))]
    fn restore(&mut self, py: Python, snapshot: &[u8], members: Option<Vec<usize>>) -> PyResult<()> {
        members.iter().flatten().try_for_each(|member| self.check(*member))?;
        self.engine.restore(snapshot).map_err(refused)?;
        let state = self.engine.state();
        py.detach(|| locked(&self.batch).set_state(state, members.as_deref())).map_err(stopped)
    }

    fn _hold(
        &self,
        py: Python,
        member: usize,
        particles: PyReadonlyArray1<i64>,
        places: PyReadonlyArray2<f64>,
    ) -> PyResult<()> {
        self.check(member)?;
        let (particles, places) = (self.numbers(&particles)?, points(&places, "places")?);
        if particles.len() != places.len() {
            return Err(refused(format!("{} places for {} particles", places.len(), particles.len())));
        }
        py.detach(|| {
            let mut batch = locked(&self.batch);
            particles.iter().zip(places).try_for_each(|(handle, place)| batch.hold(member, *handle, place))
        })
        .map_err(stopped)
    }

    fn _release(&self, py: Python, member: usize, particles: PyReadonlyArray1<i64>) -> PyResult<()> {
        self.check(member)?;
        let particles = self.numbers(&particles)?;
        py.detach(|| {
            let mut batch = locked(&self.batch);
            particles.iter().try_for_each(|handle| batch.release(member, *handle))
        })
        .map_err(stopped)
    }

    /// Where all particles are [m], `(members, particles, 3)`, on the card.
    #[getter]
    fn positions(&self) -> DeviceArray {
        self.array(List::Positions)
    }

    /// How fast they move [m/s], likewise.
    #[getter]
    fn velocities(&self) -> DeviceArray {
        self.array(List::Velocities)
    }

    /// Where every handle is to be at the end of the next `step_frame` [m], `(members, handles, 3)`, on the card; to be written to.
    #[getter]
    fn places(&self) -> DeviceArray {
        self.array(List::Places)
    }

    /// Whether every handle is held, `(members, handles)` bytes, on the card; to be written to.
    #[getter]
    fn held(&self) -> DeviceArray {
        self.array(List::Held)
    }

    /// The largest strain of every member at the end of any frame of the last `step_frame`, on the card [1].
    #[getter]
    fn strains(&self) -> DeviceArray {
        self.array(List::Strains)
    }
}

impl DeviceBatch {
    fn array(&self, list: List) -> DeviceArray {
        DeviceArray { batch: self.batch.clone(), list }
    }

    fn check(&self, member: usize) -> PyResult<()> {
        let count = self.count;
        let wrong = || refused(format!("there is no member {member}; the batch has {count}, counted from 0"));
        if member < count { Ok(()) } else { Err(wrong()) }
    }

    /// The numbers of particles among the handles.
    fn numbers(&self, particles: &PyReadonlyArray1<i64>) -> PyResult<Vec<usize>> {
        let number = |particle: u32| {
            self.handles.iter().position(|handle| *handle == particle).ok_or_else(|| {
                refused(format!(
                    "particle {particle} cannot be held; give it in `handles` where the batch is made"
                ))
            })
        };
        list(particles)?.into_iter().map(number).collect()
    }
}

/// A list in the memory of a card, which torch, cupy and others take without a copy (`__cuda_array_interface__`), and numpy with one. It keeps its batch alive.
#[pyclass(module = "taffeta._taffeta", frozen)]
pub struct DeviceArray {
    batch: Arc<Mutex<Batch>>,
    list: List,
}

#[pymethods]
impl DeviceArray {
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, locked(&self.batch).lent(self.list).shape)
    }

    #[getter]
    fn __cuda_array_interface__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let lent = locked(&self.batch).lent(self.list);
        let interface = PyDict::new(py);
        interface.set_item("shape", PyTuple::new(py, lent.shape)?)?;
        interface.set_item(
            "typestr",
            match lent.number {
                Number::Double => "<f8",
                Number::Byte => "|u1",
            },
        )?;
        interface.set_item("data", (lent.address, false))?;
        interface.set_item("strides", py.None())?;
        interface.set_item("version", 3)?;
        interface.set_item("stream", DEFAULT_STREAM)?;
        Ok(interface)
    }

    /// A copy of it on the host.
    #[pyo3(signature = (dtype=None, copy=None))]
    fn __array__<'py>(
        &self,
        py: Python<'py>,
        dtype: Option<Bound<'py, PyAny>>,
        copy: Option<bool>,
    ) -> PyResult<Bound<'py, PyAny>> {
        if copy == Some(false) {
            return Err(refused("what is on a card cannot be seen without a copy"));
        }
        let (numbers, shape) = py
            .detach(|| {
                let batch = locked(&self.batch);
                batch.fetch(self.list).map(|numbers| (numbers, batch.lent(self.list).shape))
            })
            .map_err(stopped)?;
        let array = numbers.to_pyarray(py).reshape(shape)?.into_any();
        match dtype {
            Some(dtype) => array.call_method1("astype", (dtype,)),
            None => Ok(array),
        }
    }
}

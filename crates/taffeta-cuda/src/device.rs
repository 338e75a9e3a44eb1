//! A card: found, asked what it can do, and lent to models.

use crate::cache::{self, Cache};
use crate::compile::{Kernels, Program};
use crate::error::{CudaError, words};
use crate::plan::{Plan, Shape};
use crate::refusal::refused;
use crate::sheet::SheetOnCard;
use crate::step::CudaMethod;
use cudarc::driver::{CudaContext, CudaModule, CudaStream, DriverError, sys};
use cudarc::nvrtc::Ptx;
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use taffeta::model::{Environment, Model};
use taffeta::step::{Device, DeviceMethod, DeviceRefusal};

/// The least compute capability: what compilers of today still know.
const LEAST_CAPABILITY: (i32, i32) = (7, 5);

/// The number of the card that a device's name asks for; none for the CPU.
pub fn number_of(device: &str) -> Result<Option<usize>, CudaError> {
    match device.split_once(':') {
        None if device == "cpu" => Ok(None),
        None if device == "cuda" => Ok(Some(0)),
        Some(("cuda", number)) if number.chars().all(|c| c.is_ascii_digit()) => {
            number.parse().map(Some).map_err(|_| CudaError::NoName(device.into()))
        }
        _ => Err(CudaError::NoName(device.into())),
    }
}

/// Opens the device of a name, such as `cuda:1`.
pub fn open(name: &str) -> Result<Arc<dyn Device>, DeviceRefusal> {
    let number = number_of(name)?.ok_or(CudaError::NoName(name.into()))?;
    Ok(CudaDevice::open(number)?)
}

/// A CUDA card that takes steps.
pub struct CudaDevice {
    context: Arc<CudaContext>,
    name: String,
    capability: (i32, i32),
    cache: Cache,
    /// Kernels that are loaded.
    loaded: Mutex<HashMap<(Program, Shape), Arc<CudaModule>>>,
}

impl fmt::Debug for CudaDevice {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        write!(f, "CudaDevice({})", self.name)
    }
}

impl CudaDevice {
    /// Opens the card of a number, or says in one sentence why not.
    pub fn open(number: usize) -> Result<Arc<Self>, CudaError> {
        // SAFETY: opening the library runs what it does when it is loaded, as any program that uses it has it.
        if !unsafe { sys::is_culib_present() } {
            return Err(CudaError::NoDriver);
        }
        let count = CudaContext::device_count().map_err(|error| CudaError::NoCard(words(error)))?;
        let count = usize::try_from(count).unwrap_or(0);
        if count == 0 {
            return Err(CudaError::NoCard("it counts none".into()));
        }
        if number >= count {
            return Err(CudaError::NoSuchCard { asked: number, count });
        }
        let unnamed = format!("cuda:{number}");
        let context = CudaContext::new(number).map_err(failed(&unnamed, "opening"))?;
        // SAFETY: every list is used on the stream it was made on, and no other.
        unsafe { context.disable_event_tracking() };
        let name = context.name().map_err(failed(&unnamed, "asking for the name"))?;
        let capability = context.compute_capability().map_err(failed(&name, "asking what it can do"))?;
        if capability < LEAST_CAPABILITY {
            return Err(CudaError::TooOld { name, has: capability, needs: LEAST_CAPABILITY });
        }
        let (cache, loaded) = (Cache::in_folder(cache::folder()), Mutex::default());
        Ok(Arc::new(Self { context, name, capability, cache, loaded }))
    }

    /// Its name, such as NVIDIA H200.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// A stream of its own for a model.
    pub(crate) fn stream(&self) -> Result<Arc<CudaStream>, CudaError> {
        self.context.new_stream().map_err(failed(&self.name, "making a stream"))
    }

    /// The stream that all programs of a process share on a card.
    pub(crate) fn default_stream(&self) -> Arc<CudaStream> {
        self.context.default_stream()
    }

    /// Memory that the threads of a block may share, and all blocks of a multiprocessor together [bytes].
    pub(crate) fn shared_memory(&self) -> Result<[usize; 2], CudaError> {
        use sys::CUdevice_attribute as Of;
        let of =
            |attribute| self.context.attribute(attribute).map(|bytes| usize::try_from(bytes).unwrap_or(0));
        let ask = || {
            Ok([
                of(Of::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN)?,
                of(Of::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR)?,
            ])
        };
        ask().map_err(failed(&self.name, "asking for memory"))
    }

    /// Memory that is free [bytes].
    pub(crate) fn free_memory(&self) -> Result<usize, CudaError> {
        self.context.mem_get_info().map(|(free, _)| free).map_err(failed(&self.name, "asking for memory"))
    }

    /// Kernels of a program for lanes of a shape: loaded already, kept on disk, or compiled.
    pub(crate) fn kernels(&self, program: Program, shape: Shape) -> Result<Arc<CudaModule>, CudaError> {
        let mut loaded = self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(module) = loaded.get(&(program, shape)) {
            return Ok(module.clone());
        }
        let code = Kernels { program, shape, capability: self.capability }.code(&self.cache)?;
        let module = self.context.load_module(Ptx::from_binary(code));
        let module = module.map_err(failed(&self.name, "loading the kernels"))?;
        loaded.insert((program, shape), module.clone());
        Ok(module)
    }

    /// A model that is not refused, on this card.
    fn take(&self, model: &Model, environment: &Environment) -> Result<CudaMethod, CudaError> {
        let plan = Plan::new(model, environment)?;
        let sheet = SheetOnCard::new(self, model, environment, &plan)?;
        Ok(CudaMethod::new(plan, sheet))
    }
}

impl Device for CudaDevice {
    fn prepare(
        &self,
        model: &Model,
        environment: &Environment,
    ) -> Result<Box<dyn DeviceMethod>, DeviceRefusal> {
        if let Some(refusal) = refused(model) {
            return Err(refusal);
        }
        Ok(Box::new(self.take(model, environment)?))
    }
}

/// A call of the driver that failed, with the card and what was being done.
pub(crate) fn failed(name: &str, doing: &'static str) -> impl Fn(DriverError) -> CudaError + use<> {
    let name = name.to_string();
    move |error| CudaError::Driver { name: name.clone(), doing, reason: words(error) }
}

//! Steps of the engine on a CUDA device.
//!
//! [`CudaDevice::open`] finds a card and says in one sentence why not; [`taffeta::Simulation::with_device`] lets it take the steps of a model. Its kernels are
//! sources of this crate (`kernels/`), compiled for the card at their first use and kept on disk. Nothing of CUDA is needed to build, and a program without a
//! driver runs as before.

mod batch;
mod cache;
mod compile;
mod contact_plan;
mod device;
mod error;
mod launch;
mod layout;
mod pace;
mod plan;
mod refusal;
mod sheet;
mod step;
mod touch;
mod windows;

pub use batch::{Batch, BatchPlan, Lent, List, MemberReport, Number};
pub use cache::{Cache, folder as cache_folder};
pub use compile::{Blocks, Kernels, Program, compiler_version};
pub use contact_plan::ContactPlan;
pub use device::{CudaDevice, number_of, open};
pub use error::CudaError;
pub use plan::{Lanes, Plan, Shape};

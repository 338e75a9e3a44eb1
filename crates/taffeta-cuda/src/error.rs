//! Why a device cannot be used, each in one sentence with what to do.

use cudarc::driver::DriverError;
use taffeta::step::DeviceRefusal;

/// Why a device cannot be used.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum CudaError {
    /// It is not the name of a device.
    #[error("`{0}` is no device; the devices are cpu, cuda and cuda:N with the number of the card")]
    NoName(String),
    /// There is no driver.
    #[error(
        "there is no NVIDIA driver on this machine (libcuda was not found); install one, or compute on the CPU"
    )]
    NoDriver,
    /// The driver has no card.
    #[error("the NVIDIA driver finds no card ({0}); make one visible to it, or compute on the CPU")]
    NoCard(String),
    /// There is no card of that number.
    #[error("there is no card {asked}, the driver has {count}; the first is cuda:0")]
    NoSuchCard {
        /// The number asked for.
        asked: usize,
        /// How many there are.
        count: usize,
    },
    /// The card is too old.
    #[error(
        "card {name} has the compute capability {}.{}, but {}.{} (Turing, 2018) is needed; take a newer card, or compute on the CPU",
        has.0, has.1, needs.0, needs.1
    )]
    TooOld {
        /// Its name.
        name: String,
        /// What it can do.
        has: (i32, i32),
        /// What is needed.
        needs: (i32, i32),
    },
    /// There is no compiler for kernels.
    #[error(
        "the compiler for kernels (libnvrtc) was not found; install the CUDA toolkit or the Python package nvidia-cuda-nvrtc, and name its \
         folder in LD_LIBRARY_PATH"
    )]
    NoCompiler,
    /// The compiler refuses a kernel.
    #[error("NVRTC {version} does not compile the kernels for {architecture}: {log}")]
    Compile {
        /// Its version.
        version: String,
        /// For what.
        architecture: String,
        /// What it says.
        log: String,
    },
    /// A strip is too long.
    #[error(
        "a strip of the cloth has {longest} particles in a row, lanes on a card have {most}; make the cells of the cloth larger, or compute on the CPU"
    )]
    LongStrip {
        /// Particles of the longest.
        longest: usize,
        /// Those that a lane has room for.
        most: usize,
    },
    /// A batch has no such member, or a member no such handle.
    #[error("there is no {what} {number} in the batch, which has {count}; count from 0")]
    NoSuch {
        /// A member or a handle.
        what: &'static str,
        /// What was asked for.
        number: usize,
        /// How many there are.
        count: usize,
    },
    /// A state is of another scene.
    #[error(
        "the state is none of the scene of the batch; take one of the same scene, stepped by impulse-strips"
    )]
    OtherState,
    /// The memory of the card does not suffice.
    #[error(
        "the scene needs {} MB on card {name}, which has {} MB free; take a smaller scene or another card, or compute on the CPU",
        needs.div_ceil(1_000_000), free / 1_000_000
    )]
    Memory {
        /// Its name.
        name: String,
        /// What is needed [bytes].
        needs: usize,
        /// What is free [bytes].
        free: usize,
    },
    /// A call of the driver failed.
    #[error(
        "card {name}: {doing} failed: {reason}; see whether nvidia-smi shows the card, or compute on the CPU"
    )]
    Driver {
        /// Its name.
        name: String,
        /// What was being done.
        doing: &'static str,
        /// What the driver says.
        reason: String,
    },
}

impl From<CudaError> for DeviceRefusal {
    fn from(error: CudaError) -> Self {
        let words = error.to_string();
        let (reason, remedy) = words.rsplit_once("; ").unwrap_or((&words, "compute on the CPU"));
        DeviceRefusal { reason: reason.into(), remedy: remedy.into() }
    }
}

/// What the driver says, in its words.
pub(crate) fn words(error: DriverError) -> String {
    let text = error.error_string().ok().and_then(|text| text.to_str().ok().map(str::to_string));
    text.unwrap_or_else(|| format!("{:?}", error.0))
}

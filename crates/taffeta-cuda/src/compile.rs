//! The kernels as source, and as code for one kind of card.

use crate::batch;
use crate::cache::Cache;
use crate::error::CudaError;
use crate::layout;
use crate::plan::Shape;
use cudarc::nvrtc::{result, sys};
use std::ffi::CString;

/// What both kinds of kernels are made of.
const COMMON: [(&str, &str); 8] = [
    ("types.cuh", include_str!("../kernels/types.cuh")),
    ("team.cuh", include_str!("../kernels/team.cuh")),
    ("strips.cuh", include_str!("../kernels/strips.cuh")),
    ("contact.cuh", include_str!("../kernels/contact.cuh")),
    ("motion.cuh", include_str!("../kernels/motion.cuh")),
    ("stitches.cuh", include_str!("../kernels/stitches.cuh")),
    ("ends.cuh", include_str!("../kernels/ends.cuh")),
    ("air.cuh", include_str!("../kernels/air.cuh")),
];
const PHASES: [(&str, &str); 7] = [
    ("substep.cu", include_str!("../kernels/substep.cu")),
    ("stitches.cu", include_str!("../kernels/stitches.cu")),
    ("ends.cu", include_str!("../kernels/ends.cu")),
    ("air.cu", include_str!("../kernels/air.cu")),
    ("find.cu", include_str!("../kernels/find.cu")),
    ("touch.cu", include_str!("../kernels/touch.cu")),
    ("guard.cu", include_str!("../kernels/guard.cu")),
];
const MEMBERS: [(&str, &str); 2] =
    [("batch.cuh", include_str!("../kernels/batch.cuh")), ("batch.cu", include_str!("../kernels/batch.cu"))];

/// What kernels are for: each its sources in their order, one translation unit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Program {
    /// The phases of a step of one model.
    Phases {
        /// Whether it has seams.
        sewn: bool,
    },
    /// Whole steps of the members of a batch.
    Members(Blocks),
}

/// Blocks that take steps of members.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Blocks {
    /// Threads of each, whole warps of 32.
    pub threads: usize,
    /// How many a multiprocessor has at once.
    pub at_once: usize,
    /// Whether the state is in memory that the threads of a block share.
    pub shared: bool,
    /// Threads at most that have to do with one strip, or more.
    pub span: usize,
}

/// Kernels for strips of some length on one kind of card.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kernels {
    /// What they are for.
    pub program: Program,
    /// How strips are dealt out to threads.
    pub shape: Shape,
    /// The compute capability of the card.
    pub capability: (i32, i32),
}

/// The version of the compiler, if there is one.
pub fn compiler_version() -> Option<String> {
    // SAFETY: opening the library runs what it does when it is loaded, as any program that uses it has it.
    if !unsafe { sys::is_culib_present() } {
        return None;
    }
    let (mut major, mut minor) = (0, 0);
    // SAFETY: the library is there, and both places are ours.
    let asked = unsafe { sys::nvrtcVersion(&mut major, &mut minor) };
    asked.result().ok().map(|()| format!("{major}.{minor}"))
}

impl Kernels {
    /// All sources, and that host and device have the same structures.
    fn source(&self) -> String {
        let file = |(name, text): &(&str, &str)| format!("#line 1 \"{name}\"\n{text}\n");
        let (own, sizes): (&[_], _) = match self.program {
            Program::Phases { .. } => (&PHASES, layout::sizes()),
            Program::Members(_) => (&MEMBERS, batch::layout::sizes()),
        };
        COMMON.iter().chain(own).map(file).chain(sizes).collect()
    }

    fn options(&self) -> Vec<String> {
        let Self { program, shape: Shape { threads, each }, capability: (major, minor) } = self;
        let mut options = vec![
            format!("--gpu-architecture=sm_{major}{minor}"),
            "--std=c++17".into(),
            format!("-DTHREADS={threads}"),
            format!("-DEACH={each}"),
        ];
        if *program == (Program::Phases { sewn: true }) {
            options.push("-DSEWN".into());
        }
        if let Program::Members(Blocks { threads, at_once, shared, span }) = program {
            options.extend([
                format!("-DBLOCK={threads}"),
                format!("-DBLOCKS={at_once}"),
                format!("-DSPAN={span}"),
                format!("-DPAD={each}"),
            ]);
            options.extend(shared.then(|| "-DSHARED".into()));
        }
        options
    }

    /// The code, from the cache if it was compiled before.
    pub fn code(&self, cache: &Cache) -> Result<Vec<u8>, CudaError> {
        let version = compiler_version().ok_or(CudaError::NoCompiler)?;
        let (source, options) = (self.source(), self.options());
        cache.get(&source, &options, &version, || {
            compile(&source, &options).map_err(|log| CudaError::Compile {
                version: version.clone(),
                architecture: options[0].rsplit('=').next().unwrap_or_default().into(),
                log,
            })
        })
    }
}

/// Compiles a source, or says what the compiler says.
fn compile(source: &str, options: &[String]) -> Result<Vec<u8>, String> {
    let failed = |error: result::NvrtcError| error.to_string();
    let source = CString::new(source).map_err(|error| error.to_string())?;
    let program = result::create_program(&source, Some(c"taffeta.cu")).map_err(failed)?;
    // SAFETY: the program was just made, is not destroyed before its code is copied, and its source outlives it.
    unsafe {
        let compiled = result::compile_program(program, options);
        let code = match compiled {
            Ok(()) => code_of(program).map_err(failed),
            Err(error) => Err(log_of(program).unwrap_or_else(|| error.to_string())),
        };
        let _ = result::destroy_program(program);
        code
    }
}

/// # Safety
/// The program must be compiled and not destroyed.
unsafe fn code_of(program: sys::nvrtcProgram) -> Result<Vec<u8>, result::NvrtcError> {
    let mut size = 0;
    // SAFETY: as the caller promises; the list is as long as the compiler has asked for.
    unsafe {
        sys::nvrtcGetCUBINSize(program, &mut size).result()?;
        let mut code = vec![0u8; size];
        sys::nvrtcGetCUBIN(program, code.as_mut_ptr().cast()).result()?;
        Ok(code)
    }
}

/// The first line of what the compiler says that names an error.
///
/// # Safety
/// The program must not be destroyed.
unsafe fn log_of(program: sys::nvrtcProgram) -> Option<String> {
    // SAFETY: as the caller promises.
    let log = unsafe { result::get_program_log(program) }.ok()?;
    let log: Vec<u8> = log.iter().map(|c| *c as u8).collect();
    let log = String::from_utf8_lossy(&log);
    let error = log.lines().find(|line| line.contains("error")).or(log.lines().next())?;
    Some(error.trim().trim_end_matches('\0').into())
}

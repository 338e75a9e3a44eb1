//! What `taffeta --version` tells, and whether the instructions that were asked for are there.

use crate::Failure;
use taffeta::math::lanes::InstructionSet;
use taffeta_bench::machine;

/// Version, and with which instructions on which processor it runs.
pub fn with_machine() -> String {
    let names = |sets: &[InstructionSet]| sets.iter().map(|set| set.name()).collect::<Vec<_>>().join(", ");
    format!(
        "taffeta {}\ninstructions: {} (this processor has {})\nprocessor: {}, {} cores\nsystem: {} {}",
        env!("CARGO_PKG_VERSION"),
        InstructionSet::available()[0].name(),
        names(InstructionSet::detected()),
        machine::cpu_name().as_deref().unwrap_or("unknown"),
        machine::cores(),
        std::env::consts::OS,
        std::env::consts::ARCH,
    )
}

/// Refuses a `TAFFETA_INSTRUCTIONS` that this processor does not have.
pub fn check_instructions() -> Result<(), Failure> {
    let Some(asked) = std::env::var_os("TAFFETA_INSTRUCTIONS") else { return Ok(()) };
    let known = || InstructionSet::detected().iter().map(|set| set.name());
    if known().any(|name| asked == name) {
        return Ok(());
    }
    let (asked, known) = (asked.display().to_string(), known().collect::<Vec<_>>().join(", "));
    Err(Failure::input(UnknownInstructions { asked, known }))
}

#[derive(Debug, thiserror::Error)]
#[error(
    "TAFFETA_INSTRUCTIONS = `{asked}`: this processor has no such instructions; set one of {known}, or nothing"
)]
struct UnknownInstructions {
    asked: String,
    known: String,
}

//! The program `taffeta`.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(taffeta_cli::program(std::env::args_os()))
}

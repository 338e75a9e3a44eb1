//! `taffeta view`: the cloth in a browser, to be looked at, touched and retuned.

use crate::interrupt::Interrupt;
use crate::{Ending, Failure};
use std::ffi::OsStr;
use std::net::{IpAddr, Ipv4Addr};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;
use taffeta_bench::machine;
use taffeta_bench::tell::{aside, tell};
use taffeta_view::{Choice, OpenError, Options, ViewError, Viewer, page_is_built};

/// Shows a scene or a recording in the browser, where the cloth can be grabbed, blown and retuned.
///
/// The page is served on this machine alone; its address holds a secret, new at every start. Ctrl-C ends it.
#[derive(clap::Args)]
pub struct Args {
    /// A scene file, the name of a built-in scene (see `taffeta scenes`), or a recording.
    #[arg(default_value = "flag")]
    source: String,
    /// The port; where it is taken, another one is.
    #[arg(long, value_name = "N", default_value_t = 7878)]
    port: u16,
    /// Open no browser; the address is printed all the same.
    #[arg(long)]
    no_open: bool,
    /// The address to listen on. Whoever can reach it and has the secret can use the viewer.
    #[arg(long, value_name = "IP", default_value_t = Ipv4Addr::LOCALHOST.into())]
    host: IpAddr,
    /// How many threads to use; all cores, if left out. The result does not depend on it.
    #[arg(long, value_name = "N", value_parser = machine::parse_threads)]
    threads: Option<usize>,
    /// The folder for recordings made in the page.
    #[arg(long, value_name = "DIR", default_value = "out/view")]
    out: PathBuf,
}

/// Serves the page until Ctrl-C.
pub fn run(args: &Args) -> Result<Ending, Failure> {
    let stop = Interrupt::watch("closing the viewer")?;
    stop.begin();
    let viewer = Viewer::start(Options {
        choice: Choice::named(&args.source)?,
        host: args.host,
        port: args.port,
        folder: args.out.clone(),
        threads: args.threads.unwrap_or_else(machine::cores),
    });
    let viewer = viewer.map_err(|error| match error {
        ViewError::Open(OpenError::Scene(faults)) => faults.into(),
        error => Failure::input(error),
    })?;
    if args.port != 0 && viewer.port() != args.port {
        aside(format_args!("port {} is taken; using {}", args.port, viewer.port()));
    }
    if !page_is_built() {
        aside("the page was not built into this program; it says what to install");
    }
    if !args.host.is_loopback() {
        aside(format_args!("others can reach {}: the address below is all they need", args.host));
    }
    let url = viewer.url();
    tell(&url)?;
    if !args.no_open && !open_browser(&url) {
        aside("no browser found here; open the address yourself (over ssh, forward the port first)");
    }
    aside("Ctrl-C ends the viewer");
    while !stop.asked() {
        std::thread::sleep(Duration::from_millis(100));
    }
    Ok(Ending::Done)
}

/// Asks the desktop to show the page; `false` where there is none.
fn open_browser(url: &str) -> bool {
    let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let (program, first): (&str, &[&str]) = match std::env::consts::OS {
        "macos" => ("open", &[]),
        "windows" => ("rundll32", &["url.dll,FileProtocolHandler"]),
        // Without a display, or at the far end of ssh, a browser would open where nobody sits.
        _ if (set("DISPLAY") || set("WAYLAND_DISPLAY")) && !set("SSH_CONNECTION") => ("xdg-open", &[]),
        _ => return false,
    };
    let mut command = Command::new(OsStr::new(program));
    command.args(first).arg(Path::new(url));
    command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().is_ok()
}

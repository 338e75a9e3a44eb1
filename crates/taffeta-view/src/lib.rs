//! The viewer: a server on this machine and the page it serves, over a simulation on a thread of its own.
//!
//! ```text
//! studio (simulation's thread)  ->  hub (the newest of everything)  ->  socket (one per page)  ->  page (web/)
//!            ^                                                            |
//!            +----------------------- requests ---------------------------+
//! ```
//!
//! What is open and what pages ask of it is `taffeta-session`; here are its threads and its pages. `docs/viewer.md` has the messages and what is done for safety.

mod guard;
mod hub;
mod page;
mod server;
mod socket;
mod studio;
pub mod widget;

pub use page::is_built as page_is_built;
pub use taffeta_session::{Choice, OpenError};

use guard::Token;
use hub::Hub;
use server::Door;
use std::io;
use std::net::{IpAddr, SocketAddr, TcpListener};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::sync_channel;
use std::thread::{self, JoinHandle};
use studio::Studio;
use taffeta_session::{Session, Shelf, message};
use tokio::sync::watch;

/// Requests that may wait for the simulation.
const MOST_WAITING: usize = 256;
/// How many ports are tried after one that is taken, before any will do.
const MORE_PORTS: u16 = 20;

/// What is wanted of a viewer.
#[derive(Debug)]
pub struct Options {
    /// What to open.
    pub choice: Choice,
    /// The address to listen on.
    pub host: IpAddr,
    /// The port; another one is taken where this is in use.
    pub port: u16,
    /// Where recordings go.
    pub folder: PathBuf,
    /// Threads to compute on.
    pub threads: usize,
}

/// Why there is no viewer.
#[derive(Debug, thiserror::Error)]
pub enum ViewError {
    /// What is asked for cannot be opened.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// No port can be had.
    #[error("cannot listen on {address}: {source}; try another --host or --port")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// The system's reason.
        source: io::Error,
    },
    /// The system gives no randomness, threads or timers.
    #[error("the server cannot start: {0}")]
    System(String),
}

/// A viewer that is running; it ends when this is dropped.
#[derive(Debug)]
pub struct Viewer {
    address: SocketAddr,
    token: Token,
    stop: watch::Sender<bool>,
    hub: Arc<Hub>,
    threads: Vec<JoinHandle<()>>,
}

impl Viewer {
    /// Opens what is asked for and starts to serve it.
    pub fn start(options: Options) -> Result<Self, ViewError> {
        let Options { choice, host, port, folder, threads } = options;
        let opened = choice.open()?;
        let listener = listen(host, port)?;
        let system = |error: &dyn std::fmt::Display| ViewError::System(error.to_string());
        let address = listener.local_addr().map_err(|error| system(&error))?;
        listener.set_nonblocking(true).map_err(|error| system(&error))?;
        let token = Token::new().map_err(|error| system(&error))?;
        let pool = pool(threads).map_err(|error| system(&error))?;
        let runtime = tokio::runtime::Builder::new_current_thread().enable_io().enable_time().build();
        let runtime = runtime.map_err(|error| system(&error))?;

        let (tells, events) = sync_channel(MOST_WAITING);
        let hub = Arc::new(Hub::new(tells));
        let mut choices = Choice::built_in();
        let id = choice.id.clone();
        if choices.iter().all(|known| known.id != id) {
            choices.push(choice);
        }
        let at_work = hub.clone();
        let studio = thread::Builder::new().name("simulation".into()).spawn(move || {
            let host = Studio { hub: at_work, pool };
            studio::run(Session::new(host, choices, id, opened, Shelf::Folder(folder)), &events);
        });
        let (stop, stopped) = watch::channel(false);
        let door = Door {
            token: token.clone(),
            address: host,
            hub: hub.clone(),
            hello: Arc::new(message::hello(cores())),
        };
        let server = thread::Builder::new().name("server".into()).spawn(move || {
            runtime.block_on(async move {
                // It was bound and set up above; what is left to fail is the runtime itself.
                if let Ok(listener) = tokio::net::TcpListener::from_std(listener) {
                    server::serve(listener, door, stopped).await;
                }
            });
        });
        let threads =
            [studio, server].into_iter().collect::<io::Result<_>>().map_err(|error| system(&error))?;
        Ok(Self { address, token, stop, hub, threads })
    }

    /// The port that it has.
    pub fn port(&self) -> u16 {
        self.address.port()
    }

    /// The address of the page, token and all.
    pub fn url(&self) -> String {
        format!("http://{}/{}/", self.address, self.token.text())
    }
}

impl Drop for Viewer {
    fn drop(&mut self) {
        self.stop.send_replace(true);
        self.hub.close();
        // A thread that has failed has nothing more to say.
        self.threads.drain(..).for_each(|thread| drop(thread.join()));
    }
}

/// The port asked for, one of the next, or any.
fn listen(host: IpAddr, port: u16) -> Result<TcpListener, ViewError> {
    let mut tried = TcpListener::bind((host, port));
    let taken = |tried: &io::Result<TcpListener>| {
        tried.as_ref().is_err_and(|error| error.kind() == io::ErrorKind::AddrInUse)
    };
    for next in (1..=MORE_PORTS).filter_map(|more| port.checked_add(more)).chain([0]) {
        if !taken(&tried) {
            break;
        }
        tried = TcpListener::bind((host, next));
    }
    tried.map_err(|source| ViewError::Listen { address: (host, port).into(), source })
}

/// How many threads run at once here.
fn cores() -> usize {
    thread::available_parallelism().map_or(1, |n| n.get())
}

fn pool(threads: usize) -> Result<rayon::ThreadPool, rayon::ThreadPoolBuildError> {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build()
}

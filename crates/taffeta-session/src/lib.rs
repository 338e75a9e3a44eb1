//! A session: a scene or a recording that is looked at, what pages may ask of it, and what they are shown.
//!
//! No thread, socket or runtime is in here: a [`Host`] has those. The server of `taffeta view` is one, with frames on threads of their own; the worker of a
//! page that has the engine in itself is another. `docs/viewer.md` has the messages.

mod brought;
mod certifier;
mod choice;
mod edit;
mod film;
mod host;
mod live;
mod look;
mod memory;
pub mod message;
mod packet;
mod requests;
mod session;
mod side;
mod tape;

pub use choice::{Choice, OpenError, Opened};
pub use edit::EditError;
pub use film::Film;
pub use host::{Host, Job, Shot, Unshown};
pub use live::Work;
pub use look::{Figure, Side};
pub use packet::Packet;
pub use session::{Computed, Session};
pub use tape::Shelf;

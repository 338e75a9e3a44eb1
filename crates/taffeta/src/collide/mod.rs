//! What touches: what may meet, whether it does on the way, and what is done about it.

pub mod broad_phase;
pub mod ccd;
pub mod contact;
pub mod pipeline;
pub mod rigid;
pub mod surface;

pub use pipeline::{CcdStats, ContactPipeline};
pub use rigid::closed_form::{
    ContactParams, Corners, MovingBody, SolidContact, bodies, contact_params, is_smooth, resolve_contact,
};

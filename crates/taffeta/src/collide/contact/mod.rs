//! Contacts of features inside the iteration of a method: listed once for a window, projected in every sweep.

pub mod barrier;
pub mod blocks;
pub(crate) mod contacts;
pub mod near_features;
pub mod projection;
pub mod smooth_friction;
pub mod supports;
pub mod through;
pub mod untangle;

//! Contacts of features inside the iteration of a method: listed once for a window, projected in every sweep.

pub mod blocks;
pub(crate) mod contacts;
pub mod projection;
pub mod supports;
pub mod untangle;

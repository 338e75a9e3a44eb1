//! Exports.

mod faults;
mod memory;
mod readers;
mod scenes;
mod skeletons;
mod whole;

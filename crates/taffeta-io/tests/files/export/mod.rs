//! Exports.

mod faults;
mod maps;
mod memory;
mod readers;
mod scenes;
mod skeletons;
mod whole;

//! Exports.

mod faults;
mod memory;
mod readers;
mod scenes;
mod whole;

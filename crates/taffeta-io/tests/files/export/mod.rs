//! Exports.

mod faults;
mod memory;
mod readers;
mod whole;

//! The methods: each predicts, solves and updates in a folder of its own.

pub(super) mod implicit;
pub(super) mod impulse;
pub(super) mod verlet;

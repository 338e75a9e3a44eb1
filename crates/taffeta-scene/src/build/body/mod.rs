//! Bodies that cloth meets: from files, and the one that the program makes itself.

pub mod clip;
pub mod files;
pub mod mannequin;
pub mod section;

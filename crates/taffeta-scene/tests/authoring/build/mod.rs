//! What scenes are made into: shapes, imports, elements.

mod details;
mod elements;
mod garments;
mod import;
mod shapes;
mod stuffing;

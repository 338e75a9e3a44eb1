//! The certificate and what it is made of.

mod certificate;
mod free_bodies;
mod reference;
mod strain;

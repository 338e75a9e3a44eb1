//! The certificate.

mod certificate;
mod reference;

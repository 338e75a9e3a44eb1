//! Contacts with bodies: particles against closed-form solids, and free bodies against everything.

pub mod closed_form;
pub(crate) mod contact;
pub(crate) mod contacts;
pub mod free;
pub mod nearest;
pub mod touch;

//! An LBCF driver: what to do is in [`driver`], in five functions; with which fields in
//! [`fields`]; by which API in [`cloud`].

pub mod cloud;
pub mod driver;
pub mod fields;

pub use cloud::{Cloud, CloudArgs};
pub use driver::MyDriver;

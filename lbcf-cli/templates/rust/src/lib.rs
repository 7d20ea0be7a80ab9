//! An LBCF driver: the functions are in [`driver`], their fields in [`fields`], the client of the API in
//! [`cloud`]. [`observer`] is for `lbcf conformance`, and [`proxy`] for the first try.

pub mod cloud;
pub mod driver;
pub mod fields;
pub mod observer;
pub mod proxy;

pub use cloud::{Cloud, CloudArgs};
pub use driver::MyDriver;

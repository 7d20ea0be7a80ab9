//! An LBCF driver: the functions are in [`driver`], their fields in [`fields`], the client of the API in
//! [`cloud`].

pub mod cloud;
pub mod driver;
pub mod fields;

pub use cloud::{Cloud, CloudArgs};
pub use driver::MyDriver;

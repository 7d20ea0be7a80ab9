//! The statements a1 to a29 about the cloud, the plans and the driver, in the order of their numbers
//! where one file has several.

mod attributes;
mod cloud;
mod concurrent;
mod crash;
mod lab;
mod order;
mod property;
mod selection;

//! The data plane over sockets (d79, d80).

mod addresses;
mod client;
mod datagrams;
mod drain;
mod lab;
mod requests;
mod streams;

pub(crate) use lab::until;

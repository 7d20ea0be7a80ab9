//! The data plane over sockets (d81, d82).

mod addresses;
mod client;
mod datagrams;
mod drain;
mod lab;
mod requests;
mod streams;

//! The API over HTTP: what a request means, and the form of its answer.

mod accept;
mod answer;
mod body;
mod columns;
mod continuation;
mod discovery;
mod openapi;
mod path;
mod protobuf;
mod query;
mod read;
mod route;
mod table;
mod watch;
mod write;

pub(crate) use route::{Stop, router};

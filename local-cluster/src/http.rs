//! The API over HTTP: what a request means, and the form of its answer.

mod accept;
mod answer;
mod body;
mod columns;
mod continuation;
mod discovery;
mod health;
mod list_options;
mod openapi;
mod patched;
mod path;
mod pods;
mod protobuf;
mod query;
mod read;
mod reviews;
mod route;
mod scale;
mod subresource;
mod table;
mod tagged;
mod watch;
mod write;

pub(crate) use route::{Stop, router};

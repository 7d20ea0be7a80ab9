//! The cluster as its clients see it: one binary, a module for each kind of client.

mod agents;
mod fixture;
mod http;
mod kube_client;
mod kubectl;
mod watch;
mod writes;

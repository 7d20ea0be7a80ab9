//! Shared by LBCF's servers and clients: an HTTP/1 listener and request bodies with limits, TLS from files
//! that change at run time, files that are replaced, signals, streams, flags, durations and rates.

#[cfg(feature = "body")]
pub mod body;
#[cfg(feature = "client")]
pub mod client_stream;
pub mod duration;
pub mod file_lock;
#[cfg(feature = "flags")]
pub mod flags;
#[cfg(feature = "listener")]
pub mod listener;
#[cfg(feature = "logging")]
pub mod logging;
pub mod private_file;
pub mod replaced_file;
pub mod secret;
pub mod signals;
pub mod streams;
#[cfg(feature = "tls")]
pub mod tls;
pub mod token_bucket;
pub mod traces;
pub mod watched_file;

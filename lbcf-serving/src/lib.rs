//! The common parts of LBCF's servers: an HTTP/1 listener with limits, TLS from files that change at run
//! time, signals, log flags and durations.

#[cfg(feature = "client")]
pub mod client_stream;
pub mod duration;
#[cfg(feature = "flags")]
pub mod flags;
#[cfg(feature = "listener")]
pub mod listener;
#[cfg(feature = "logging")]
pub mod logging;
pub mod secret;
pub mod signals;
#[cfg(feature = "tls")]
pub mod tls;
pub mod watched_file;

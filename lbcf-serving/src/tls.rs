//! TLS from PEM files.
//!
//! `ServerTls` is a listener's configuration; its certificate and client CAs can be replaced while
//! connections come in, by hand or, with `TlsFiles::load`, when files change. `ClientTls` is a
//! client's. Both use ring, TLS 1.2 and 1.3.

#[cfg(feature = "tls-client")]
mod client;
#[cfg(feature = "listener")]
mod files;
mod pem;
#[cfg(feature = "listener")]
mod server;

#[cfg(feature = "tls-client")]
pub use client::{ClientTls, ClientTlsError};
#[cfg(feature = "listener")]
pub use files::{ClientCa, ReloadingTls, TlsFiles};
pub use pem::{PemError, certificates, certified_key, client_verifier};
#[cfg(feature = "listener")]
pub(crate) use server::Current;
#[cfg(feature = "listener")]
pub use server::ServerTls;

use rustls::crypto::CryptoProvider;
use std::sync::Arc;

fn provider() -> Arc<CryptoProvider> {
    Arc::new(rustls::crypto::ring::default_provider())
}

//! Certificates and keys in PEM, as they are stored.

use std::fmt;

/// The contents of the Secret, unchecked.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(in crate::process::serving) struct Bundle {
    /// The CA certificates: first the one of `ca_key`, then older ones that are in use.
    pub(in crate::process::serving) cas: Vec<u8>,
    /// The first CA's key. Without it, something else maintains the certificates.
    pub(in crate::process::serving) ca_key: Option<PrivatePem>,
    /// The server's certificate, followed by those that lead to its CA.
    pub(in crate::process::serving) server: Vec<u8>,
    pub(in crate::process::serving) server_key: PrivatePem,
}

/// A private key in PEM. `Debug` does not show it.
#[derive(Clone, PartialEq, Eq, Default)]
pub(in crate::process::serving) struct PrivatePem(pub(in crate::process::serving) Vec<u8>);

impl fmt::Debug for PrivatePem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PrivatePem(..)")
    }
}

//! Certificates and keys as they are stored: in PEM.

use std::fmt;

/// All that is stored, as it is stored. Nothing of it has been checked.
#[derive(Clone, PartialEq, Eq, Default)]
pub(in crate::serving) struct Bundle {
    /// The CA certificates: the one whose key is here first, then older ones that are in use.
    pub(in crate::serving) cas: Vec<u8>,
    /// The first CA's key. Where there is none, somebody else keeps the certificates.
    pub(in crate::serving) ca_key: Option<PrivatePem>,
    /// The server's certificate and any that lead from it to a CA.
    pub(in crate::serving) server: Vec<u8>,
    /// The server's key.
    pub(in crate::serving) server_key: PrivatePem,
}

/// A private key in PEM, which nothing shows.
#[derive(Clone, PartialEq, Eq, Default)]
pub(in crate::serving) struct PrivatePem(pub(in crate::serving) Vec<u8>);

impl fmt::Debug for PrivatePem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PrivatePem(..)")
    }
}

impl fmt::Debug for Bundle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Bundle")
            .field("cas", &String::from_utf8_lossy(&self.cas))
            .field("ca_key", &self.ca_key)
            .field("server", &String::from_utf8_lossy(&self.server))
            .field("server_key", &self.server_key)
            .finish()
    }
}

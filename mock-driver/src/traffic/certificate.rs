//! The certificate of an HTTPS listener: self-signed, made when the listener is created, and shown
//! in the inspection, so that clients can trust it.

use lbcf_serving::tls::{ServerTls, certified_key};
use rcgen::{CertificateParams, DistinguishedName, DnType, KeyPair, SanType};
use std::io;
use std::net::IpAddr;
use std::sync::Arc;

#[derive(Debug)]
pub(super) struct Certificate {
    pub(super) tls: Arc<ServerTls>,
    pub(super) pem: String,
}

impl Certificate {
    /// A certificate for `localhost` and the address.
    pub(super) fn self_signed(addr: IpAddr) -> io::Result<Self> {
        let key = KeyPair::generate().map_err(io::Error::other)?;
        let names = vec!["localhost".to_owned()];
        let mut params = CertificateParams::new(names).map_err(io::Error::other)?;
        params.subject_alt_names.push(SanType::IpAddress(addr));
        params.distinguished_name = DistinguishedName::new();
        let name = "mock load balancer";
        params.distinguished_name.push(DnType::CommonName, name);
        let certificate = params.self_signed(&key).map_err(io::Error::other)?;
        let pem = certificate.pem();
        let certified = certified_key(pem.as_bytes(), key.serialize_pem().as_bytes());
        let tls = ServerTls::new(None).map_err(io::Error::other)?;
        tls.set_certificate(Arc::new(certified.map_err(io::Error::other)?));
        Ok(Self {
            tls: Arc::new(tls),
            pem,
        })
    }
}

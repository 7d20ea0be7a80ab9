//! TLS to webhooks, with the CA bundles of their configurations.

use std::sync::Arc;

use hyper_rustls::ConfigBuilderExt as _;
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{WebPkiServerVerifier, verify_server_name};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{
    CertificateError, ClientConfig, DigitallySignedStruct, RootCertStore, SignatureScheme,
};

/// A configuration that trusts only the CA bundle, or the system's root certificates if it is empty.
pub(super) fn tls_config(ca_bundle: &[u8]) -> Result<ClientConfig, String> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder = ClientConfig::builder_with_provider(Arc::clone(&provider))
        .with_safe_default_protocol_versions()
        .map_err(|e| e.to_string())?;
    let builder = if ca_bundle.is_empty() {
        builder
            .with_native_roots()
            .map_err(|e| format!("unable to load the system's root certificates: {e}"))?
    } else {
        let verifier = CaBundle::read(ca_bundle, provider)
            .map_err(|why| format!("unable to load root certificates: {why}"))?;
        builder
            .dangerous()
            .with_custom_certificate_verifier(Arc::new(verifier))
    };
    let mut config = builder.with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(config)
}

/// Trusts certificates signed by the CA bundle, and those in it.
///
/// A self-signed certificate is often its own CA. The default verifier rejects a CA certificate of a
/// server; Kubernetes does not.
#[derive(Debug)]
struct CaBundle {
    default: Arc<WebPkiServerVerifier>,
    certificates: Vec<CertificateDer<'static>>,
}

impl CaBundle {
    fn read(pem: &[u8], provider: Arc<CryptoProvider>) -> Result<Self, String> {
        let certificates: Vec<CertificateDer<'static>> = CertificateDer::pem_slice_iter(pem)
            .collect::<Result<_, _>>()
            .map_err(|e| format!("unable to parse bytes as PEM block: {e}"))?;
        if certificates.is_empty() {
            return Err("unable to parse bytes as PEM block".to_owned());
        }
        let mut roots = RootCertStore::empty();
        for certificate in &certificates {
            roots
                .add(certificate.clone())
                .map_err(|e| format!("failed to parse certificate: {e}"))?;
        }
        let default = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider)
            .build()
            .map_err(|e| e.to_string())?;
        Ok(Self {
            default,
            certificates,
        })
    }
}

impl ServerCertVerifier for CaBundle {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        ocsp_response: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        let found = self.default.verify_server_cert(
            end_entity,
            intermediates,
            server_name,
            ocsp_response,
            now,
        );
        match found {
            // The validity period was checked before.
            Err(rustls::Error::InvalidCertificate(CertificateError::Other(why)))
                if matches!(why.0.downcast_ref(), Some(webpki::Error::CaUsedAsEndEntity))
                    && self.certificates.iter().any(|known| known == end_entity) =>
            {
                verify_server_name(&ParsedCertificate::try_from(end_entity)?, server_name)?;
                Ok(ServerCertVerified::assertion())
            }
            found => found,
        }
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.default.verify_tls12_signature(message, cert, dss)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        cert: &CertificateDer<'_>,
        dss: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        self.default.verify_tls13_signature(message, cert, dss)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.default.supported_verify_schemes()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rcgen::{BasicConstraints, Certificate, CertificateParams, IsCa, KeyPair};
    use std::time::Duration;

    /// A certificate for `localhost` that is its own authority.
    fn own_authority(change: impl FnOnce(&mut CertificateParams)) -> Certificate {
        let mut params = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        change(&mut params);
        params.self_signed(&KeyPair::generate().unwrap()).unwrap()
    }

    fn trusting(certificate: &Certificate) -> CaBundle {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        CaBundle::read(certificate.pem().as_bytes(), provider).unwrap()
    }

    fn verify(ca_bundle: &CaBundle, shown: &Certificate, name: &str) -> Result<(), String> {
        let name = ServerName::try_from(name).unwrap();
        let now = UnixTime::since_unix_epoch(Duration::from_secs(1_800_000_000));
        ca_bundle
            .verify_server_cert(shown.der(), &[], &name, &[], now)
            .map(|_| ())
            .map_err(|e| format!("{e:?}"))
    }

    #[test]
    fn a_ca_may_serve_under_its_own_name_while_it_is_valid() {
        let certificate = own_authority(|_| {});
        let ca_bundle = trusting(&certificate);
        assert_eq!(verify(&ca_bundle, &certificate, "localhost"), Ok(()));
        let other_name = verify(&ca_bundle, &certificate, "example.com").unwrap_err();
        assert!(other_name.contains("NotValidForName"), "{other_name}");
        let stranger = own_authority(|_| {});
        let unknown = verify(&ca_bundle, &stranger, "localhost").unwrap_err();
        assert!(unknown.contains("CaUsedAsEndEntity"), "{unknown}");
        let old = own_authority(|params| params.not_after = rcgen::date_time_ymd(2020, 1, 1));
        let expired = verify(&trusting(&old), &old, "localhost").unwrap_err();
        assert!(expired.contains("Expired"), "{expired}");
    }

    #[test]
    fn invalid_bundles_are_rejected() {
        for (pem, expected) in [
            (
                "\n",
                "unable to load root certificates: unable to parse bytes as PEM block",
            ),
            (
                "nonsense",
                "unable to load root certificates: unable to parse bytes as PEM block",
            ),
            (
                "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
                "unable to load root certificates: failed to parse certificate",
            ),
        ] {
            let refused = tls_config(pem.as_bytes()).unwrap_err();
            assert!(refused.starts_with(expected), "{refused}");
        }
    }
}

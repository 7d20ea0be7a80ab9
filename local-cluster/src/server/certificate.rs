//! The certificate of the server: made, or read from files.

use std::net::{IpAddr, SocketAddr};
use std::path::Path;
use std::sync::Arc;

use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{Span, Timestamp};
use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DistinguishedName, DnType,
    ExtendedKeyUsagePurpose, IsCa, KeyPair, KeyUsagePurpose, SanType,
};
use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};

use super::options::Tls;
use crate::error::Error;

/// What clients in and outside of a cluster call its API.
const NAMES: [&str; 7] = [
    "localhost",
    "127.0.0.1",
    "::1",
    "kubernetes",
    "kubernetes.default",
    "kubernetes.default.svc",
    "kubernetes.default.svc.cluster.local",
];
/// How many names a certificate may be for.
const MAX_NAMES: usize = 64;
/// How long it is in force, as on a cluster.
const DAYS: i32 = 365;
/// How large a file of certificates may be.
const MAX_FILE: u64 = 1024 * 1024;

/// What a server shows, and what its clients trust.
pub(super) struct Identity {
    pub(super) config: Arc<ServerConfig>,
    /// The authority, in PEM.
    pub(super) authority: String,
}

/// The identity that options ask for.
pub(super) fn identity(tls: &Tls, listen: SocketAddr) -> Result<Identity, Error> {
    match tls {
        Tls::SelfMade { names } => {
            let today = Timestamp::now().to_zoned(TimeZone::UTC).date();
            self_made(names, listen.ip(), today).map_err(Error::Tls)
        }
        Tls::Files {
            certificate,
            key,
            authority,
        } => {
            let certificates = read(certificate)?;
            let trusted = match authority {
                Some(path) => read(path)?,
                None => certificates.clone(),
            };
            let named = |path: &Path, why: &str| Error::Tls(format!("{}: {why}", path.display()));
            let chain = chain(&certificates).map_err(|why| named(certificate, &why))?;
            if let Some(path) = authority {
                self::chain(&trusted).map_err(|why| named(path, &why))?;
            }
            let key_der = PrivateKeyDer::from_pem_slice(read(key)?.as_bytes())
                .map_err(|e| named(key, &format!("not a private key in PEM: {e}")))?;
            let config = config(chain, key_der).map_err(|why| named(certificate, &why))?;
            Ok(Identity {
                config,
                authority: trusted,
            })
        }
    }
}

fn read(path: &Path) -> Result<String, Error> {
    let failed = |source| Error::File {
        path: path.to_owned(),
        source,
    };
    let length = std::fs::metadata(path).map_err(failed)?.len();
    if length > MAX_FILE {
        let why = format!(
            "{}: {length} bytes are too many for a PEM file",
            path.display()
        );
        return Err(Error::Tls(why));
    }
    std::fs::read_to_string(path).map_err(failed)
}

fn chain(pem: &str) -> Result<Vec<CertificateDer<'static>>, String> {
    let chain: Vec<_> = CertificateDer::pem_slice_iter(pem.as_bytes())
        .collect::<Result<_, _>>()
        .map_err(|e| format!("not a certificate in PEM: {e}"))?;
    if chain.is_empty() {
        return Err("not a certificate in PEM: there is none in it".to_owned());
    }
    Ok(chain)
}

fn config(
    chain: Vec<CertificateDer<'static>>,
    key: PrivateKeyDer<'static>,
) -> Result<Arc<ServerConfig>, String> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .and_then(|builder| builder.with_no_client_auth().with_single_cert(chain, key))
        .map_err(|e| e.to_string())?;
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(Arc::new(config))
}

/// An authority and the certificate that it signed; the authority's key is forgotten.
fn self_made(more: &[String], listen: IpAddr, today: Date) -> Result<Identity, String> {
    let names = names(more, listen)?;
    let sign = || -> Result<(rcgen::Certificate, KeyPair, String), rcgen::Error> {
        let mut params = params("local-cluster CA", today);
        params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
        params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
        let authority = CertifiedIssuer::self_signed(params, KeyPair::generate()?)?;
        let key = KeyPair::generate()?;
        let mut params = self::params("local-cluster", today);
        params.subject_alt_names = names;
        params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
        params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
        params.use_authority_key_identifier_extension = true;
        let certificate = params.signed_by(&key, &authority)?;
        Ok((certificate, key, authority.pem()))
    };
    let (certificate, key, authority) = sign().map_err(|e| e.to_string())?;
    let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(key.serialize_der()));
    Ok(Identity {
        config: config(vec![certificate.der().clone()], key)?,
        authority,
    })
}

fn params(common_name: &str, today: Date) -> CertificateParams {
    let mut params = CertificateParams::default();
    params.distinguished_name = DistinguishedName::new();
    params
        .distinguished_name
        .push(DnType::CommonName, common_name);
    // From yesterday on, as clocks differ.
    let at = |days: i32| {
        let day = today.saturating_add(Span::new().days(days));
        let part = |number: i8| u8::try_from(number).unwrap_or(1);
        rcgen::date_time_ymd(i32::from(day.year()), part(day.month()), part(day.day()))
    };
    params.not_before = at(-1);
    params.not_after = at(DAYS);
    params
}

fn names(more: &[String], listen: IpAddr) -> Result<Vec<SanType>, String> {
    let mut names: Vec<String> = NAMES.map(str::to_owned).to_vec();
    if !listen.is_unspecified() {
        names.push(listen.to_string());
    }
    names.extend_from_slice(more);
    names.sort_unstable();
    names.dedup();
    if names.len() > MAX_NAMES {
        let count = names.len();
        return Err(format!(
            "{count} names for one certificate: no more than {MAX_NAMES} are allowed"
        ));
    }
    names.iter().map(|name| name_of(name)).collect()
}

fn name_of(name: &str) -> Result<SanType, String> {
    if let Ok(address) = name.parse::<IpAddr>() {
        return Ok(SanType::IpAddress(address));
    }
    // A wildcard stands for one label, at the front.
    let labels = name.strip_prefix("*.").unwrap_or(name);
    let is_name = rustls::pki_types::DnsName::try_from(labels).is_ok();
    let dns = is_name.then(|| name.to_owned().try_into().ok()).flatten();
    let dns = dns.ok_or_else(|| format!("{name:?}: neither a DNS name nor an IP address"))?;
    Ok(SanType::DnsName(dns))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_told_from_addresses_and_junk_is_refused() {
        let listen = "10.1.2.3".parse().unwrap();
        let made = names(
            &["x.example".into(), "*.y.example".into(), "fd00::1".into()],
            listen,
        );
        let made = made.unwrap();
        for address in ["127.0.0.1", "::1", "10.1.2.3", "fd00::1"] {
            assert!(
                made.contains(&SanType::IpAddress(address.parse().unwrap())),
                "{address}"
            );
        }
        assert_eq!(made.len(), NAMES.len() + 4);
        for wrong in ["", "a b", "http://x", "x:443", "*", "a.*.b"] {
            let error = names(&[wrong.to_owned()], listen).unwrap_err();
            assert_eq!(
                error,
                format!("{wrong:?}: neither a DNS name nor an IP address")
            );
        }
        let many: Vec<String> = (0..64).map(|n| format!("x{n}")).collect();
        assert!(
            names(&many, listen)
                .unwrap_err()
                .contains("no more than 64")
        );
    }

    #[test]
    fn any_day_will_do() {
        let listen = "127.0.0.1".parse().unwrap();
        for day in [
            jiff::civil::date(2024, 2, 29),
            jiff::civil::date(2026, 12, 31),
        ] {
            let made = self_made(&[], listen, day).unwrap();
            assert!(made.authority.starts_with("-----BEGIN CERTIFICATE-----"));
        }
    }
}

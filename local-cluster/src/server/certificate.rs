//! The server's certificate: signed at the start, or read from files.

use std::net::{IpAddr, SocketAddr};
use std::path::Path;
use std::sync::Arc;

use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{Span, Timestamp};
use lbcf_serving::tls::{ServerTls, TlsFiles, certificates, certified_key};
use lbcf_serving::watched_file::{self, FileError};
use rcgen::{
    BasicConstraints, CertificateParams, CertifiedIssuer, DistinguishedName, DnType,
    ExtendedKeyUsagePurpose, IsCa, KeyPair, KeyUsagePurpose, SanType,
};
use rustls::sign::CertifiedKey;

use super::options::Tls;
use crate::error::Error;

/// The names by which clients inside and outside of a cluster call its API.
const NAMES: [&str; 7] = [
    "localhost",
    "127.0.0.1",
    "::1",
    "kubernetes",
    "kubernetes.default",
    "kubernetes.default.svc",
    "kubernetes.default.svc.cluster.local",
];
const MAX_NAMES: usize = 64;
/// The certificate's lifetime, as on a cluster.
const DAYS: i32 = 365;
/// The size of the largest PEM file, in bytes.
const MAX_FILE: u64 = 1 << 20;

pub(super) struct Identity {
    pub(super) tls: Arc<ServerTls>,
    /// The CA that clients trust, in PEM.
    pub(super) authority: String,
}

pub(super) fn identity(options: &Tls, listen: SocketAddr) -> Result<Identity, Error> {
    let (certified, authority) = match options {
        Tls::SelfSignedCa { names } => {
            let today = Timestamp::now().to_zoned(TimeZone::UTC).date();
            self_signed(names, listen.ip(), today).map_err(Error::Tls)?
        }
        Tls::Files {
            certificate,
            key,
            authority,
        } => {
            let unusable = |error: FileError| Error::Tls(error.to_string());
            let (chain, key_pem) = (read(certificate)?, read(key)?);
            let files = TlsFiles::new(certificate, key);
            let certified = files.certificate(&chain, &key_pem).map_err(unusable)?;
            let trusted = match authority {
                Some(path) => {
                    let pem = read(path)?;
                    certificates(&pem)
                        .map_err(|error| unusable(FileError::contents(path, error)))?;
                    pem
                }
                None => chain,
            };
            (certified, String::from_utf8_lossy(&trusted).into_owned())
        }
    };
    let tls = ServerTls::new(None).map_err(|error| Error::Tls(error.to_string()))?;
    tls.set_certificate(Arc::new(certified));
    Ok(Identity {
        tls: Arc::new(tls),
        authority,
    })
}

fn read(path: &Path) -> Result<Vec<u8>, Error> {
    watched_file::read(path, MAX_FILE).map_err(|source| Error::File {
        path: path.to_owned(),
        source,
    })
}

/// A certificate and the CA that signed it, in PEM; the CA's key is not kept.
fn self_signed(
    more: &[String],
    listen: IpAddr,
    today: Date,
) -> Result<(CertifiedKey, String), String> {
    let names = names(more, listen)?;
    let sign = || -> Result<(String, String, String), rcgen::Error> {
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
        Ok((certificate.pem(), key.serialize_pem(), authority.pem()))
    };
    let (certificate, key, authority) = sign().map_err(|error| error.to_string())?;
    let certified = certified_key(certificate.as_bytes(), key.as_bytes());
    Ok((certified.map_err(|error| error.to_string())?, authority))
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
    fn names_and_addresses_are_accepted_and_junk_is_not() {
        let listen = "10.1.2.3".parse().unwrap();
        let accepted = names(
            &["x.example".into(), "*.y.example".into(), "fd00::1".into()],
            listen,
        );
        let accepted = accepted.unwrap();
        for address in ["127.0.0.1", "::1", "10.1.2.3", "fd00::1"] {
            assert!(
                accepted.contains(&SanType::IpAddress(address.parse().unwrap())),
                "{address}"
            );
        }
        assert_eq!(accepted.len(), NAMES.len() + 4);
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
    fn a_certificate_can_be_signed_on_any_day() {
        let listen = "127.0.0.1".parse().unwrap();
        for day in [
            jiff::civil::date(2024, 2, 29),
            jiff::civil::date(2026, 12, 31),
        ] {
            let (_, authority) = self_signed(&[], listen, day).unwrap();
            assert!(authority.starts_with("-----BEGIN CERTIFICATE-----"));
        }
    }
}

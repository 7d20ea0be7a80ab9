//! Carries out a plan: generates keys and signs certificates.

use super::found::{Bundle, Found, to_pem};
use super::server::PrivatePem;
use super::{BACKDATED, CA_LIFETIME, Names, Plan, SERVER_LIFETIME};
use crate::api::names::CONTROLLER;
use jiff::{SignedDuration, Timestamp};
use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, IsCa,
    Issuer, KeyPair, KeyUsagePurpose,
};
use rustls::pki_types::CertificateDer;
use x509_parser::time::ASN1Time;

#[derive(Debug, thiserror::Error)]
pub(in crate::process::serving) enum SignError {
    #[error("a certificate cannot end at {0}")]
    Time(i64),
    #[error("making a certificate: {0}")]
    Refused(#[from] rcgen::Error),
    #[error("there is no CA to sign with")]
    NoSigner,
}

/// The bundle by a plan.
pub(in crate::process::serving) fn carry_out(
    plan: &Plan,
    found: &Found,
    names: &Names,
    now: Timestamp,
) -> Result<Bundle, SignError> {
    let made = plan.ca.then(|| make_ca(now)).transpose()?;
    let signer = match &made {
        Some((key, _)) => key,
        None => found.signer.as_ref().ok_or(SignError::NoSigner)?,
    };
    let kept = plan
        .keeps
        .iter()
        .filter_map(|&number| found.cas.get(number));
    let cas = made.iter().map(|(_, der)| der);
    let cas: Vec<&CertificateDer<'static>> = cas.chain(kept.map(|ca| &ca.der)).collect();
    let (server, server_key) = match &found.server {
        Some(server) if !plan.server => (server.chain_pem.clone(), server.key_pem.clone()),
        _ => {
            let ca = *cas.first().ok_or(SignError::NoSigner)?;
            // A new CA expires after the first certificate that it signs.
            let latest = found.cas.first().filter(|_| !plan.ca);
            let latest = latest.map(|ca| ca.validity.end);
            sign_server(ca, signer, latest, names, now)?
        }
    };
    Ok(Bundle {
        cas: cas.into_iter().map(to_pem).collect::<String>().into_bytes(),
        ca_key: PrivatePem(signer.serialize_pem().into_bytes()),
        server,
        server_key,
    })
}

fn make_ca(now: Timestamp) -> Result<(KeyPair, CertificateDer<'static>), SignError> {
    let key = KeyPair::generate()?;
    // Each CA has a name of its own, so that a certificate's issuer is never ambiguous.
    let mark = uuid::Uuid::new_v4().simple().to_string();
    let mut params = params(
        &format!("{CONTROLLER} CA {}", &mark[..8]),
        now,
        CA_LIFETIME,
        None,
    )?;
    params.is_ca = IsCa::Ca(BasicConstraints::Constrained(0));
    params.key_usages = vec![KeyUsagePurpose::KeyCertSign, KeyUsagePurpose::CrlSign];
    let certificate = params.self_signed(&key)?;
    Ok((key, certificate.der().clone()))
}

fn sign_server(
    ca: &CertificateDer<'_>,
    ca_key: &KeyPair,
    latest: Option<Timestamp>,
    names: &Names,
    now: Timestamp,
) -> Result<(Vec<u8>, PrivatePem), SignError> {
    let key = KeyPair::generate()?;
    let mut params = params(CONTROLLER, now, SERVER_LIFETIME, latest)?;
    params.subject_alt_names = names.in_certificate()?;
    params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    params.use_authority_key_identifier_extension = true;
    let issuer = Issuer::from_ca_cert_der(ca, ca_key)?;
    let certificate = params.signed_by(&key, &issuer)?;
    let key = PrivatePem(key.serialize_pem().into_bytes());
    Ok((certificate.pem().into_bytes(), key))
}

/// Parameters of a certificate that is valid for `lifetime`, but not after `latest`.
fn params(
    common_name: &str,
    now: Timestamp,
    lifetime: SignedDuration,
    latest: Option<Timestamp>,
) -> Result<CertificateParams, SignError> {
    let end = now.as_second().saturating_add(lifetime.as_secs());
    let end = latest.map_or(end, |latest| end.min(latest.as_second()));
    let start = now.as_second().saturating_sub(BACKDATED.as_secs());
    let at = |second: i64| {
        let time = ASN1Time::from_timestamp(second).map_err(|_| SignError::Time(second))?;
        Ok::<_, SignError>(time.to_datetime())
    };
    let mut name = DistinguishedName::new();
    name.push(DnType::CommonName, common_name);
    let mut params = CertificateParams::default();
    params.distinguished_name = name;
    params.not_before = at(start)?;
    params.not_after = at(end)?;
    Ok(params)
}

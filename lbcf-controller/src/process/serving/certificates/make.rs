//! Carries out a plan: generates keys and signs certificates.

use super::found::{Found, to_pem};
use super::{BACKDATED, Bundle, CA_LIFETIME, Names, Plan, PrivatePem, SERVER_LIFETIME};
use jiff::{SignedDuration, Timestamp};
use rcgen::{
    BasicConstraints, CertificateParams, DistinguishedName, DnType, ExtendedKeyUsagePurpose, IsCa,
    Issuer, KeyPair, KeyUsagePurpose,
};
use rustls::pki_types::CertificateDer;
use x509_parser::time::ASN1Time;

#[derive(Debug, thiserror::Error)]
pub(in crate::process::serving) enum MakeError {
    #[error("a certificate cannot end at {0}")]
    Time(i64),
    #[error("making a certificate: {0}")]
    Refused(#[from] rcgen::Error),
    #[error("there is no CA to sign with")]
    NoSigner,
    /// The CA, which the controller did not make, cannot sign such a certificate.
    #[error("a certificate signed by this CA is not accepted: {0}")]
    NotAccepted(String),
}

/// The bundle by a plan.
pub(in crate::process::serving) fn carry_out(
    plan: &Plan,
    found: &Found,
    names: &Names,
    now: Timestamp,
) -> Result<Bundle, MakeError> {
    let made;
    let (signer, signer_der) = if plan.reissue.ca {
        made = make_ca(now)?;
        (&made.0, Some(&made.1))
    } else {
        (found.signer.as_ref().ok_or(MakeError::NoSigner)?, None)
    };
    let kept = plan
        .keeps
        .iter()
        .filter_map(|&number| found.cas.get(number));
    let cas: Vec<&CertificateDer<'static>> = signer_der
        .into_iter()
        .chain(kept.map(|ca| &ca.der))
        .collect();
    let (server, server_key) = match &found.server {
        Some(server) if !plan.reissue.server => (server.chain_pem.clone(), server.key_pem.clone()),
        _ => {
            let ca = *cas.first().ok_or(MakeError::NoSigner)?;
            // A new CA expires after the first certificate that it signs.
            let latest = found.cas.first().filter(|_| !plan.reissue.ca);
            let latest = latest.map(|ca| ca.validity.end);
            sign_server(ca, signer, latest, names, now)?
        }
    };
    let bundle = Bundle {
        cas: cas.into_iter().map(to_pem).collect::<String>().into_bytes(),
        ca_key: Some(PrivatePem(signer.serialize_pem().into_bytes())),
        server,
        server_key,
    };
    if plan.reissue.server {
        // Otherwise every rotation would sign it again.
        Found::read(&bundle)
            .is_accepted(names.first(), |_| true, now)
            .map_err(MakeError::NotAccepted)?;
    }
    Ok(bundle)
}

fn make_ca(now: Timestamp) -> Result<(KeyPair, CertificateDer<'static>), MakeError> {
    let key = KeyPair::generate()?;
    // Each CA has a name of its own, so that a certificate's issuer is never ambiguous.
    let mark = uuid::Uuid::new_v4().simple().to_string();
    let mut params = params(&format!("lbcf-controller CA {}", &mark[..8]));
    set_lifetime(&mut params, now, CA_LIFETIME, None)?;
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
) -> Result<(Vec<u8>, PrivatePem), MakeError> {
    let key = KeyPair::generate()?;
    let mut params = params("lbcf-controller");
    set_lifetime(&mut params, now, SERVER_LIFETIME, latest)?;
    params.subject_alt_names = names.in_certificate()?;
    params.key_usages = vec![KeyUsagePurpose::DigitalSignature];
    params.extended_key_usages = vec![ExtendedKeyUsagePurpose::ServerAuth];
    params.use_authority_key_identifier_extension = true;
    let issuer = Issuer::from_ca_cert_der(ca, ca_key)?;
    let certificate = params.signed_by(&key, &issuer)?;
    Ok((
        certificate.pem().into_bytes(),
        PrivatePem(key.serialize_pem().into_bytes()),
    ))
}

fn params(common_name: &str) -> CertificateParams {
    let mut params = CertificateParams::default();
    params.distinguished_name = DistinguishedName::new();
    params
        .distinguished_name
        .push(DnType::CommonName, common_name);
    params
}

fn set_lifetime(
    params: &mut CertificateParams,
    now: Timestamp,
    lifetime: SignedDuration,
    latest: Option<Timestamp>,
) -> Result<(), MakeError> {
    let end = now.as_second().saturating_add(lifetime.as_secs());
    let end = latest.map_or(end, |latest| end.min(latest.as_second()));
    let start = now.as_second().saturating_sub(BACKDATED.as_secs());
    let at = |second: i64| ASN1Time::from_timestamp(second).map_err(|_| MakeError::Time(second));
    params.not_before = at(start)?.to_datetime();
    params.not_after = at(end)?.to_datetime();
    Ok(())
}

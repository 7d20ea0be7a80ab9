//! Why TLS failed, and whose certificate is at fault.

use crate::causes::causes;
use rustls::{AlertDescription, CertificateError, Error as TlsError};
use std::error::Error;
use std::fmt;

/// Why a TLS connection did not come about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum TlsProblem {
    /// No CA that the client trusts signed the driver's certificate.
    UnknownIssuer,
    /// The driver's certificate has expired.
    Expired,
    /// The driver's certificate is not valid yet.
    NotYetValid,
    /// The driver's certificate is for other names than the host of its URL.
    WrongName,
    /// Something else is wrong with the driver's certificate.
    BadCertificate,
    /// The driver requires a client certificate and got none.
    ClientCertificateMissing,
    /// The driver refuses the client certificate.
    ClientCertificateRefused,
    /// The driver's port does not use TLS.
    NotTls,
    /// TLS failed for another reason.
    Other,
}

impl fmt::Display for TlsProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::UnknownIssuer => "no CA that is trusted here signed the driver's certificate",
            Self::Expired => "the driver's certificate has expired",
            Self::NotYetValid => "the driver's certificate is not valid yet",
            Self::WrongName => "the driver's certificate is for other names",
            Self::BadCertificate => "the driver's certificate cannot be used",
            Self::ClientCertificateMissing => "the driver wants a client certificate",
            Self::ClientCertificateRefused => "the driver refuses the client certificate",
            Self::NotTls => "the driver speaks no TLS there",
            Self::Other => "TLS failed",
        })
    }
}

/// The problem behind an error, if it is one of TLS, and the TLS library's error. After the handshake
/// only an alert about the client's certificate is one: under TLS 1.3 the driver verifies it when the
/// client has finished.
pub(crate) fn find(
    error: &(dyn Error + 'static),
    connecting: bool,
) -> Option<(TlsProblem, TlsError)> {
    let tls = causes(error).find_map(<dyn Error>::downcast_ref::<TlsError>)?;
    let problem = classify(tls);
    let is_late_refusal = matches!(
        problem,
        TlsProblem::ClientCertificateMissing | TlsProblem::ClientCertificateRefused
    );
    (connecting || is_late_refusal).then(|| (problem, tls.clone()))
}

fn classify(error: &TlsError) -> TlsProblem {
    match error {
        TlsError::InvalidCertificate(error) => match error {
            CertificateError::UnknownIssuer => TlsProblem::UnknownIssuer,
            CertificateError::Expired | CertificateError::ExpiredContext { .. } => {
                TlsProblem::Expired
            }
            CertificateError::NotValidYet | CertificateError::NotValidYetContext { .. } => {
                TlsProblem::NotYetValid
            }
            CertificateError::NotValidForName | CertificateError::NotValidForNameContext { .. } => {
                TlsProblem::WrongName
            }
            _ => TlsProblem::BadCertificate,
        },
        TlsError::AlertReceived(AlertDescription::CertificateRequired) => {
            TlsProblem::ClientCertificateMissing
        }
        TlsError::AlertReceived(
            AlertDescription::NoCertificate
            | AlertDescription::BadCertificate
            | AlertDescription::UnsupportedCertificate
            | AlertDescription::CertificateRevoked
            | AlertDescription::CertificateExpired
            | AlertDescription::CertificateUnknown
            | AlertDescription::UnknownCA
            | AlertDescription::AccessDenied,
        ) => TlsProblem::ClientCertificateRefused,
        TlsError::InvalidMessage(_) => TlsProblem::NotTls,
        _ => TlsProblem::Other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io;

    fn received(alert: AlertDescription) -> TlsError {
        TlsError::AlertReceived(alert)
    }

    #[test]
    fn tls_errors_are_found_where_they_were_wrapped() {
        let wrapped = io::Error::other(io::Error::new(
            io::ErrorKind::InvalidData,
            TlsError::InvalidCertificate(CertificateError::UnknownIssuer),
        ));
        let (problem, _) = find(&wrapped, true).unwrap();
        assert_eq!(problem, TlsProblem::UnknownIssuer);
        assert!(find(&io::Error::other("refused"), true).is_none());
    }

    #[test]
    fn after_the_handshake_only_the_clients_certificate_is_a_problem_of_tls() {
        let missing = received(AlertDescription::CertificateRequired);
        assert_eq!(
            find(&missing, false).unwrap().0,
            TlsProblem::ClientCertificateMissing
        );
        let unknown = received(AlertDescription::UnknownCA);
        assert_eq!(
            find(&unknown, false).unwrap().0,
            TlsProblem::ClientCertificateRefused
        );
        // What the driver did by then is unknown.
        for error in [
            received(AlertDescription::InternalError),
            received(AlertDescription::HandshakeFailure),
            TlsError::DecryptError,
        ] {
            assert!(find(&error, false).is_none(), "{error}");
            assert_eq!(find(&error, true).unwrap().0, TlsProblem::Other);
        }
    }
}

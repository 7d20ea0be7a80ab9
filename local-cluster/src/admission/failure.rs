//! Why a webhook did not let a request pass, in words that say where to look.

use std::error::Error;
use std::io;

use rustls::CertificateError;

use super::dialer::DialError;
use super::hook::Hook;
use crate::status::ApiError;

/// Why a webhook did not let a request pass.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Failure {
    /// It could not be asked, or its answer is none: its failure policy decides.
    Unasked(String),
    /// It said no, or what it wants cannot be done.
    Refused(ApiError),
}

impl Failure {
    /// What the client is told; `None` where the webhook is to be passed over.
    pub(super) fn settle(self, hook: &Hook, out_of_time: bool) -> Option<ApiError> {
        let why = match self {
            Self::Refused(error) => return Some(error),
            Self::Unasked(why) => format!("failed calling webhook {:?}: {why}", hook.name),
        };
        if !hook.fails_open {
            return Some(ApiError::internal_because(&why));
        }
        tracing::warn!("passing a webhook over, as its configuration says: {why}");
        out_of_time.then(ApiError::out_of_time)
    }
}

/// What went wrong on the way to a server, said once and without the layers around it.
pub(super) fn cause(error: &(dyn Error + 'static)) -> String {
    let mut current = Some(error);
    let mut last = error.to_string();
    while let Some(error) = current {
        if let Some(error) = error.downcast_ref::<DialError>() {
            return error.to_string();
        }
        if let Some(error) = error.downcast_ref::<rustls::Error>() {
            return tls(error);
        }
        if let Some(error) = error.downcast_ref::<hyper::Error>()
            && (error.is_incomplete_message() || error.is_canceled())
        {
            return "EOF".to_owned();
        }
        last = error.to_string();
        current = match error.downcast_ref::<io::Error>() {
            Some(error) if error.kind() == io::ErrorKind::UnexpectedEof => return "EOF".to_owned(),
            // An error inside an I/O error is not its source.
            Some(error) => error.get_ref().map(|inner| inner as &(dyn Error + 'static)),
            None => error.source(),
        };
    }
    last
}

fn tls(error: &rustls::Error) -> String {
    let why = match error {
        rustls::Error::InvalidCertificate(error) => error,
        // What is no TLS at all looks like a message that makes no sense.
        rustls::Error::InvalidMessage(_) => {
            return "tls: first record does not look like a TLS handshake".to_owned();
        }
        other => return format!("tls: {other}"),
    };
    let why = match why {
        // An authority that was made anew has its name still, but not its key.
        CertificateError::UnknownIssuer | CertificateError::BadSignature => {
            "certificate signed by unknown authority".to_owned()
        }
        CertificateError::Expired
        | CertificateError::ExpiredContext { .. }
        | CertificateError::NotValidYet
        | CertificateError::NotValidYetContext { .. } => {
            "certificate has expired or is not yet valid".to_owned()
        }
        CertificateError::NotValidForNameContext {
            expected,
            presented,
        } => {
            let expected = expected.to_str();
            match presented.as_slice() {
                [] => format!(
                    "certificate is not valid for any names, but wanted to match {expected}"
                ),
                names => {
                    let names: Vec<&str> = names.iter().map(|name| plain(name)).collect();
                    format!(
                        "certificate is valid for {}, not {expected}",
                        names.join(", ")
                    )
                }
            }
        }
        other => other.to_string(),
    };
    format!("tls: failed to verify certificate: x509: {why}")
}

/// A name without its type: `DnsName("a")` is `a`.
fn plain(name: &str) -> &str {
    let inner = name
        .split_once('(')
        .and_then(|(_, rest)| rest.strip_suffix(')'));
    inner.unwrap_or(name).trim_matches('"')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::admission::hook::hooks_of;
    use crate::object::object;
    use crate::store::Stored;
    use rustls::pki_types::ServerName;
    use serde_json::json;

    #[test]
    fn the_failure_policy_decides_only_about_calls_that_failed() {
        let webhooks = json!([
            {"name": "a.x.y", "failurePolicy": "Fail", "clientConfig": {"url": "https://h"}},
            {"name": "b.x.y", "failurePolicy": "Ignore", "clientConfig": {"url": "https://h"}},
        ]);
        let configuration = json!({"metadata": {"name": "c"}, "webhooks": webhooks});
        let hooks = hooks_of(&Stored::new(object(configuration), 1));
        let unasked = || Failure::Unasked("why".to_owned());
        let told = unasked().settle(&hooks[0], false).unwrap();
        assert_eq!(
            told.message(),
            "Internal error occurred: failed calling webhook \"a.x.y\": why"
        );
        assert_eq!(unasked().settle(&hooks[1], false), None);
        // There is no time left for anybody else.
        assert_eq!(unasked().settle(&hooks[1], true).unwrap().code(), 504);
        let refused = ApiError::bad_request("no");
        let settled = Failure::Refused(refused.clone()).settle(&hooks[1], false);
        assert_eq!(settled, Some(refused));
    }

    #[test]
    fn causes_are_found_under_their_layers() {
        let refused = DialError("dial tcp 127.0.0.1:1: connect: connection refused".to_owned());
        let layered = io::Error::other(io::Error::other(refused.clone()));
        assert_eq!(cause(&layered), refused.0);
        let issuer = rustls::Error::InvalidCertificate(CertificateError::UnknownIssuer);
        let layered = io::Error::other(io::Error::new(io::ErrorKind::InvalidData, issuer));
        assert_eq!(
            cause(&layered),
            "tls: failed to verify certificate: x509: certificate signed by unknown authority"
        );
        assert_eq!(cause(&io::Error::from(io::ErrorKind::UnexpectedEof)), "EOF");
    }

    #[test]
    fn names_that_do_not_fit_are_shown() {
        let name = |presented: &[&str]| {
            tls(&rustls::Error::InvalidCertificate(
                CertificateError::NotValidForNameContext {
                    expected: ServerName::try_from("a.b.svc").unwrap(),
                    presented: presented.iter().map(|p| (*p).to_owned()).collect(),
                },
            ))
        };
        assert_eq!(
            name(&["DnsName(\"localhost\")", "IpAddress(127.0.0.1)"]),
            "tls: failed to verify certificate: x509: certificate is valid for localhost, 127.0.0.1, not a.b.svc"
        );
        assert!(name(&[]).ends_with("but wanted to match a.b.svc"));
    }
}

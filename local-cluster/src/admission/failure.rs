//! Failures and rejections by webhooks, as messages for users.

use std::error::Error;
use std::io;

use rustls::CertificateError;

use super::dialer::DialError;
use super::webhook::Webhook;
use crate::status::ApiError;

#[derive(Clone, Debug, PartialEq)]
pub(super) enum WebhookFailure {
    /// The call failed, or the response is invalid: the failure policy decides.
    CallFailed(String),
    /// The webhook denied the request, or its patch cannot be applied.
    Rejected(ApiError),
}

impl WebhookFailure {
    /// The error for the client; `None` if the failure policy ignores the failure.
    pub(super) fn resolve(self, webhook: &Webhook, out_of_time: bool) -> Option<ApiError> {
        let why = match self {
            Self::Rejected(error) => return Some(error),
            Self::CallFailed(why) => format!("failed calling webhook {:?}: {why}", webhook.name),
        };
        if !webhook.ignores_failure {
            return Some(ApiError::internal_because(&why));
        }
        tracing::warn!("ignoring a webhook failure, by its failure policy: {why}");
        out_of_time.then(ApiError::out_of_time)
    }
}

/// The innermost known cause of a client error.
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
        // A recreated CA has the same name but another key.
        rustls::Error::InvalidCertificate(
            CertificateError::UnknownIssuer | CertificateError::BadSignature,
        ) => "certificate signed by unknown authority".to_owned(),
        rustls::Error::InvalidCertificate(error) => error.to_string(),
        // A server that does not speak TLS sends an invalid message.
        rustls::Error::InvalidMessage(_) => {
            return "tls: first record does not look like a TLS handshake".to_owned();
        }
        other => return format!("tls: {other}"),
    };
    format!("tls: failed to verify certificate: x509: {why}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::admission::webhook::webhooks_of;
    use crate::object::object;
    use crate::store::Stored;
    use serde_json::json;

    #[test]
    fn the_failure_policy_decides_only_about_calls_that_failed() {
        let webhooks = json!([
            {"name": "a.x.y", "failurePolicy": "Fail", "clientConfig": {"url": "https://h"}},
            {"name": "b.x.y", "failurePolicy": "Ignore", "clientConfig": {"url": "https://h"}},
        ]);
        let configuration = json!({"metadata": {"name": "c"}, "webhooks": webhooks});
        let webhooks = webhooks_of(&Stored::new(object(configuration), 1));
        let failed = || WebhookFailure::CallFailed("why".to_owned());
        let error = failed().resolve(&webhooks[0], false).unwrap();
        assert_eq!(
            error.message(),
            "Internal error occurred: failed calling webhook \"a.x.y\": why"
        );
        assert_eq!(failed().resolve(&webhooks[1], false), None);
        // The request has no time left for other webhooks.
        assert_eq!(failed().resolve(&webhooks[1], true).unwrap().code(), 504);
        let denied = ApiError::bad_request("no");
        let resolved = WebhookFailure::Rejected(denied.clone()).resolve(&webhooks[1], false);
        assert_eq!(resolved, Some(denied));
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
}

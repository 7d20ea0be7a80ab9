//! The server of the admission webhooks.

use super::configurations::{MUTATING_CONFIGURATION, VALIDATING_CONFIGURATION};
use super::http;
use crate::api::ObjectKey;
use crate::process::health_state::HealthState;
use crate::process::serving::{
    CertificateSource, ConfigurationName, NameError, Names, Server, ServingError,
};
use crate::runtime::Context;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use tokio::net::TcpListener;

/// The source of the serving certificate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Certificates {
    /// The controller issues its own, stores them in a Secret that all replicas share, and writes the
    /// CA bundle into the webhook configurations. In a dry run nothing is written, so admission is
    /// not served.
    SelfSignedCa {
        /// The Service by which API servers reach the controller.
        service: ObjectKey,
        /// The Secret, used by the controller only.
        secret: ObjectKey,
        /// Additional DNS names and IP addresses of the server.
        names: Vec<String>,
    },
    /// Files, such as a mounted Secret, which are read again when they change.
    Files {
        /// The certificate chain in PEM, the server's certificate first.
        cert: PathBuf,
        /// The private key in PEM.
        key: PathBuf,
    },
}

/// Why admission cannot be served.
#[derive(Debug, thiserror::Error)]
#[error(transparent)]
pub struct AdmissionError(#[from] Cause);

#[derive(Debug, thiserror::Error)]
enum Cause {
    #[error("the names of the admission server: {0}")]
    Names(#[from] NameError),
    #[error("serving admission: {0}")]
    Serving(#[from] ServingError),
}

/// The server of the admission webhooks. It responds once the controller runs and its index is
/// complete.
#[derive(Debug)]
pub struct AdmissionServer {
    listener: TcpListener,
    source: CertificateSource,
}

impl AdmissionServer {
    /// A server on this listener.
    ///
    /// # Errors
    /// [`AdmissionError`], if one of the names is invalid.
    pub fn new(listener: TcpListener, certificates: Certificates) -> Result<Self, AdmissionError> {
        let source = match certificates {
            Certificates::SelfSignedCa {
                service,
                secret,
                names,
            } => CertificateSource::SelfSignedCa {
                secret,
                names: Names::of_service(&service.name, &service.namespace, &names)
                    .map_err(Cause::Names)?,
                configurations: vec![
                    ConfigurationName::Validating(VALIDATING_CONFIGURATION.to_owned()),
                    ConfigurationName::Mutating(MUTATING_CONFIGURATION.to_owned()),
                ],
            },
            Certificates::Files { cert, key } => CertificateSource::Files { cert, key },
        };
        Ok(Self { listener, source })
    }

    /// The local address, which tells the port where 0 was requested.
    ///
    /// # Errors
    /// If the operating system does not provide it.
    pub fn addr(&self) -> std::io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Serves until `stop` completes.
    pub(crate) async fn serve(
        self,
        context: Arc<Context>,
        health: Arc<HealthState>,
        stop: impl Future<Output = ()> + Send,
    ) -> Result<(), AdmissionError> {
        let is_self_signed = matches!(self.source, CertificateSource::SelfSignedCa { .. });
        if is_self_signed && context.options.dry_run {
            tracing::warn!(
                "dry run: admission is not served, because its certificates would have to be stored; set certificate files to serve it"
            );
            health.admission(Ok(()));
            stop.await;
            return Ok(());
        }
        let report = move |served: Result<(), String>| {
            let problem = served.clone().err();
            if health.admission(served) {
                match problem {
                    None => tracing::info!("serving admission"),
                    Some(problem) => tracing::warn!(problem, "admission is not ready"),
                }
            }
        };
        let server = Server::new(context.client.clone(), self.source);
        let served = server.run(self.listener, http::routes(&context), stop, report);
        Ok(served.await.map_err(Cause::Serving)?)
    }
}

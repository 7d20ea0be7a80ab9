//! Where the admission webhooks are served, and with which certificate.

use super::configurations::{MUTATING_CONFIGURATION, VALIDATING_CONFIGURATION};
use crate::context::Context;
use crate::health::Vitals;
use crate::key::ObjectKey;
use crate::serving::{CertificateSource, Configurations, NameError, Names, Server, ServingError};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use tokio::net::TcpListener;

/// What the admission webhooks are served with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Certificates {
    /// The controller makes its own, keeps them in a Secret for all replicas, and tells the API
    /// servers whom to trust. In a dry run nothing can be kept, so nothing is served.
    SelfMade {
        /// The service by which API servers reach the controller.
        service: ObjectKey,
        /// The Secret. It is for the controller alone.
        secret: ObjectKey,
        /// Further DNS names and IP addresses of the server.
        names: Vec<String>,
    },
    /// Somebody else keeps them in files, which are read again when they change.
    Files {
        /// The certificate, then any that lead from it to a CA, in PEM.
        cert: PathBuf,
        /// Its key, in PEM.
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

/// The place of the admission webhooks. Nothing is served before the controller that has it runs
/// and knows the cluster.
#[derive(Debug)]
pub struct AdmissionServer {
    listener: TcpListener,
    source: CertificateSource,
}

impl AdmissionServer {
    /// A server on this listener.
    ///
    /// # Errors
    /// [`AdmissionError`], when a name of the server is none.
    pub fn new(listener: TcpListener, certificates: Certificates) -> Result<Self, AdmissionError> {
        let source = match certificates {
            Certificates::SelfMade {
                service,
                secret,
                names,
            } => CertificateSource::SelfMade {
                secret,
                names: Names::of_service(&service.name, &service.namespace, &names)
                    .map_err(Cause::Names)?,
                configurations: Configurations {
                    validating: vec![VALIDATING_CONFIGURATION.to_owned()],
                    mutating: vec![MUTATING_CONFIGURATION.to_owned()],
                },
            },
            Certificates::Files { cert, key } => CertificateSource::Files { cert, key },
        };
        Ok(Self { listener, source })
    }

    /// The address that it listens on.
    ///
    /// # Errors
    /// When the operating system does not say.
    pub fn addr(&self) -> std::io::Result<SocketAddr> {
        self.listener.local_addr()
    }

    /// Serves until `stop`.
    pub(crate) async fn serve(
        self,
        context: Arc<Context>,
        vitals: Arc<Vitals>,
        stop: impl Future<Output = ()> + Send,
    ) -> Result<(), AdmissionError> {
        let is_self_made = matches!(self.source, CertificateSource::SelfMade { .. });
        if is_self_made && context.options.dry_run {
            tracing::warn!(
                "dry run: admission is not served, as its certificates would have to be stored; give files to serve it with"
            );
            vitals.admits();
            stop.await;
            return Ok(());
        }
        let server = Server::new(context.client.clone(), self.source);
        let mut ready = server.ready();
        let note = async {
            ready.wait().await;
            tracing::info!("serving admission");
            vitals.admits();
            std::future::pending::<()>().await;
        };
        let router = super::router(&context);
        tokio::select! {
            served = server.run(self.listener, router, stop) => {
                served.map_err(|error| AdmissionError(Cause::Serving(error)))
            }
            () = note => Ok(()),
        }
    }
}

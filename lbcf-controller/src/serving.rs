//! The HTTPS server on which API servers call the controller, and its certificates.
//!
//! A certificate comes from files that somebody else keeps, or the controller makes its own, keeps
//! it in a Secret for all replicas, and tells the API servers whom to trust (u47: no key is ever
//! shipped). Either way it is replaced long before it ends, while the server runs.

mod api_server;
mod ca_bundle;
mod certificates;
mod files;
mod https;
mod reload;
mod secret;
mod self_made;
mod server_certificate;
#[cfg(test)]
mod tests;

pub(crate) use ca_bundle::Configurations;
pub(crate) use certificates::{NameError, Names};
use files::FilesError;

use crate::key::ObjectKey;
use api_server::ApiServer;
use axum::Router;
use files::CertificateFiles;
use futures::future::{Either, FutureExt as _};
use https::Limits;
use jiff::Timestamp;
use kube::Client;
use reload::CurrentCertificate;
use self_made::SelfMade;
use std::fmt;
use std::future::Future;
use std::path::PathBuf;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::watch;

/// How often the Secret and the webhook configurations are looked at.
const ROUND_INTERVAL: Duration = Duration::from_secs(120);
/// How often files are looked at.
const FILES_INTERVAL: Duration = Duration::from_secs(30);

/// Where the server's certificate comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum CertificateSource {
    /// The controller makes it.
    SelfMade {
        /// The Secret that keeps it. It is for the controller alone: what cannot be used in it is
        /// written over.
        secret: ObjectKey,
        /// What the server is called.
        names: Names,
        /// Who has to trust it.
        configurations: Configurations,
    },
    /// Somebody else keeps it in files.
    Files {
        /// The certificate, then any that lead from it to a CA, in PEM.
        cert: PathBuf,
        /// Its key, in PEM.
        key: PathBuf,
    },
}

/// Why nothing can be served.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum ServingError {
    /// The files cannot be used.
    #[error(transparent)]
    Files(#[from] FilesError),
    /// TLS cannot be set up.
    #[error("setting up TLS: {0}")]
    Tls(#[source] rustls::Error),
}

/// The HTTPS server. It does nothing until it runs.
pub(crate) struct Server {
    client: Client,
    source: CertificateSource,
    limits: Limits,
    round_interval: Duration,
    files_interval: Duration,
    ready: watch::Sender<bool>,
}

/// Tells when the server can be called: it listens with a certificate, and the webhook
/// configurations that exist have the CA certificates. Once true, it stays so.
#[derive(Debug, Clone)]
pub(crate) struct Ready(watch::Receiver<bool>);

impl Ready {
    /// Whether the server can be called.
    #[cfg(test)]
    pub(crate) fn is_ready(&self) -> bool {
        *self.0.borrow()
    }

    /// Waits until the server can be called, or for ever if it ended before.
    pub(crate) async fn wait(&mut self) {
        if self.0.wait_for(|ready| *ready).await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server")
            .field("source", &self.source)
            .finish_non_exhaustive()
    }
}

impl Server {
    pub(crate) fn new(client: Client, source: CertificateSource) -> Self {
        Self {
            client,
            source,
            limits: Limits::default(),
            round_interval: ROUND_INTERVAL,
            files_interval: FILES_INTERVAL,
            ready: watch::Sender::new(false),
        }
    }

    /// Tells when the server can be called.
    pub(crate) fn ready(&self) -> Ready {
        Ready(self.ready.subscribe())
    }

    /// Serves until `stop`, then finishes what is being answered. Until there is a certificate,
    /// connections wait.
    ///
    /// # Errors
    /// [`ServingError`], when it cannot start. What fails later is logged and tried again, and the
    /// certificate stays the one that was served before.
    pub(crate) async fn run(
        self,
        listener: TcpListener,
        router: Router,
        stop: impl Future<Output = ()> + Send,
    ) -> Result<(), ServingError> {
        let current = CurrentCertificate::none();
        let tls = reload::tls(Arc::clone(&current)).map_err(ServingError::Tls)?;
        let ready = self.ready;
        let keeping = match self.source {
            CertificateSource::Files { cert, key } => {
                let mut files = CertificateFiles::new(cert, key, Arc::clone(&current));
                files.load(Timestamp::now()).await?;
                ready.send_replace(true);
                Either::Left(files.watch(self.files_interval, Timestamp::now))
            }
            CertificateSource::SelfMade {
                secret,
                names,
                configurations,
            } => {
                let api = ApiServer::new(self.client);
                let current = Arc::clone(&current);
                let self_made = SelfMade::new(api, secret, names, configurations, current);
                let done = move || {
                    ready.send_replace(true);
                };
                Either::Right(self_made.run(self.round_interval, Timestamp::now, done))
            }
        };
        // One stop ends the waiting for a certificate or the serving, whichever it meets.
        let stop = stop.shared();
        let serving = async {
            tokio::select! {
                () = stop.clone() => return,
                () = current.loaded() => {}
            }
            https::serve(listener, Arc::new(tls), router, self.limits, stop.clone()).await;
        };
        let (keeping, serving) = (pin!(keeping), pin!(serving));
        // Keeping certificates has no end.
        futures::future::select(keeping, serving).await;
        Ok(())
    }
}

//! The HTTPS server that API servers call, and its certificate.
//!
//! The certificate comes from files, or the controller signs it with a CA of its own, keeps both in a
//! Secret for all replicas, and publishes the CA in the webhook configurations: no key is ever
//! shipped. Either way it is replaced while the server runs, long before it expires.

mod certificates;
mod files;
mod secret;
mod self_signed_ca;
#[cfg(test)]
mod tests;
mod webhook_configurations;

pub(crate) use certificates::{NameError, Names};
pub(crate) use webhook_configurations::ConfigurationName;

use crate::api::ObjectKey;
use crate::process::api_server::ApiServer;
use axum::Router;
use axum::http::StatusCode;
use axum::response::IntoResponse as _;
use futures::future::{Either, FutureExt as _};
use hyper_util::service::TowerToHyperService;
use jiff::Timestamp;
use kube::Client;
use lbcf_serving::listener::{Limits, Listener};
use lbcf_serving::tls::ClientCa;
use lbcf_serving::watched_file::FileError;
use self_signed_ca::SelfSignedCa;
use std::future::Future;
use std::path::PathBuf;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;

/// Period in which the Secret is read, and with it the webhook configurations: a new CA signs only after
/// they have had it for a while, which is not concluded from a watch that may be behind.
const ROTATION_INTERVAL: Duration = Duration::from_secs(120);
const FILES_INTERVAL: Duration = Duration::from_secs(30);
/// The shutdown waits this long for requests.
const SHUTDOWN: Duration = Duration::from_secs(10);
/// A connection that is to close may go on with its request for this long. API servers wait for 30 s at
/// most.
const DRAIN: Duration = Duration::from_secs(35);
const LIFETIME: Duration = Duration::from_secs(1200);

/// Where the server's certificate comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum CertificateSource {
    /// A CA of the controller's own signs it.
    SelfSignedCa {
        /// It is the controller's alone: damaged contents are overwritten.
        secret: ObjectKey,
        names: Names,
        configurations: Vec<ConfigurationName>,
    },
    /// PEM files, which are read again when they change.
    Files {
        /// The certificate, followed by those that lead to its CA.
        cert: PathBuf,
        key: PathBuf,
    },
}

#[derive(Debug, thiserror::Error)]
pub(crate) enum ServingError {
    #[error(transparent)]
    Files(#[from] FileError),
    #[error("setting up TLS: {0}")]
    Tls(#[from] rustls::Error),
    #[error("the address of the listener: {0}")]
    Address(#[from] std::io::Error),
}

pub(crate) struct Server {
    client: Client,
    source: CertificateSource,
    client_ca: Option<PathBuf>,
    rotation_interval: Duration,
    files_interval: Duration,
    clock: fn() -> Timestamp,
}

impl Server {
    /// With the file of a CA, clients need a certificate of it.
    pub(crate) fn new(
        client: Client,
        source: CertificateSource,
        client_ca: Option<PathBuf>,
    ) -> Self {
        Self {
            client,
            source,
            client_ca,
            rotation_interval: ROTATION_INTERVAL,
            files_interval: FILES_INTERVAL,
            clock: Timestamp::now,
        }
    }

    /// Serves until `stop`, then finishes the requests. Until there is a certificate, connections
    /// wait. Calls `report` with whether API servers can call the webhooks, or why they cannot: the
    /// server has a certificate, and the webhook configurations that exist have its CA.
    ///
    /// # Errors
    /// [`ServingError`], when it cannot start. Later failures are logged and tried again, and the
    /// previous certificate stays in use.
    pub(crate) async fn run(
        self,
        listener: TcpListener,
        router: Router,
        stop: impl Future<Output = ()> + Send,
        report: impl Fn(Result<(), String>) + Send + Sync,
    ) -> Result<(), ServingError> {
        let (tls, client_ca) = ClientCa::load::<ServingError>(self.client_ca).await?;
        let tls = Arc::new(tls);
        let listener = Listener::try_from(listener)?.tls(Arc::clone(&tls));
        let rotation = match self.source {
            CertificateSource::Files { cert, key } => {
                let files = files::watched(cert, key, self.clock).load().await?;
                let (interval, clock) = (self.files_interval, self.clock);
                Either::Left(files::follow(files, &tls, interval, clock, report))
            }
            CertificateSource::SelfSignedCa {
                secret,
                names,
                configurations,
            } => {
                let api = ApiServer(self.client);
                let ca = SelfSignedCa::new(api, secret, names, configurations, Arc::clone(&tls));
                Either::Right(ca.run(self.rotation_interval, self.clock, report))
            }
        };
        // One stop ends the wait for a certificate, or the serving.
        let stop = stop.shared();
        let serving = async {
            tokio::select! {
                () = stop.clone() => return,
                () = tls.has_certificate() => {}
            }
            let service = TowerToHyperService::new(router);
            let listener = listener.limits(Limits {
                lifetime: Some(LIFETIME),
                drain: Some(DRAIN),
                ..Limits::default()
            });
            let forbidden = |why| (StatusCode::FORBIDDEN, why).into_response();
            let connections = listener
                .serve(|_| service.clone(), Some(forbidden), stop.clone())
                .await;
            connections.finish_within(SHUTDOWN).await;
        };
        // Both have no end.
        let rotation = async { tokio::join!(rotation, client_ca.watch(&tls, self.files_interval)) };
        let (rotation, serving) = (pin!(rotation), pin!(serving));
        futures::future::select(rotation, serving).await;
        Ok(())
    }
}

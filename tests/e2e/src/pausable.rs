//! A controller that can be paused, as SIGSTOP or a suspended machine pauses a process.

use crate::cluster::Cluster;
use crate::kill_switch::write_target;
use crate::stored::ClusterService;
use http::Request;
use kube::Client;
use kube::client::Body;
use lbcf_controller::{Controller, Health, Options, RunError};
use std::convert::Infallible;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::task::{Context, Poll};
use tokio::runtime::{Builder, Handle};
use tokio::sync::oneshot::error::TryRecvError;
use tokio::sync::{oneshot, watch};
use tower::Service;

/// A controller whose tasks all run on one thread of its own. Dropping it kills the controller.
#[derive(Debug)]
pub struct PausableController {
    /// The controller's health.
    pub health: Health,
    runtime: Handle,
    ended: oneshot::Receiver<Result<(), RunError>>,
    /// The controller lives as long as this.
    life: oneshot::Sender<()>,
}

/// The controller goes on when this is dropped. Tasks whose responses came meanwhile run before
/// those whose timers expired.
#[derive(Debug)]
pub struct Paused(#[expect(dead_code, reason = "dropping it is its use")] mpsc::Sender<()>);

impl PausableController {
    /// Starts a controller of this name.
    pub async fn start(cluster: &Cluster, name: &str, options: Options) -> Self {
        Self::start_holding(cluster, name, options, "").await.0
    }

    /// Starts a controller of a cluster that may be restarted.
    pub async fn start_with(service: ClusterService, options: Options) -> Self {
        Self::hold(service, options, "", false).await.0
    }

    /// Starts a controller of this name. Responses to its writes to a target, such as `POST
    /// backendrecords`, are delayed.
    pub async fn start_holding(
        cluster: &Cluster,
        name: &str,
        options: Options,
        target: &'static str,
    ) -> (Self, HeldWrites) {
        Self::hold(ClusterService::of(cluster, name), options, target, false).await
    }

    /// The same, but its writes to the target are sent late themselves.
    pub async fn start_sending_late(
        cluster: &Cluster,
        name: &str,
        options: Options,
        target: &'static str,
    ) -> (Self, HeldWrites) {
        Self::hold(ClusterService::of(cluster, name), options, target, true).await
    }

    async fn hold(
        inner: ClusterService,
        options: Options,
        target: &'static str,
        is_sent_late: bool,
    ) -> (Self, HeldWrites) {
        let (release, released) = watch::channel(false);
        let count = Arc::new(AtomicUsize::new(0));
        let service = HoldingService {
            inner,
            server: Handle::current(),
            target,
            is_sent_late,
            count: Arc::clone(&count),
            released,
        };
        let (started, starting) = oneshot::channel();
        let (end, ended) = oneshot::channel();
        let (life, death) = oneshot::channel::<()>();
        std::thread::spawn(move || {
            let runtime = Builder::new_current_thread().enable_all().build().unwrap();
            let result = runtime.block_on(async move {
                // The client's tasks belong to this thread, too.
                let controller = Controller::new(Client::new(service, "default"), options);
                let _ = started.send((controller.health(), Handle::current()));
                tokio::select! {
                    ended = controller.run(std::future::pending()) => Some(ended),
                    _ = death => None,
                }
            });
            // Nothing of a killed controller runs any more when this is reported.
            drop(runtime);
            if let Some(result) = result {
                let _ = end.send(result);
            }
        });
        let (health, runtime) = starting.await.expect("the thread starts");
        let controller = Self {
            health,
            runtime,
            ended,
            life,
        };
        (controller, HeldWrites { count, release })
    }

    /// Pauses all of the controller's tasks; `None` if it has ended.
    pub async fn pause(&self) -> Option<Paused> {
        let (resume, resumed) = mpsc::channel();
        let (pause, paused) = oneshot::channel();
        self.runtime.spawn(async move {
            let _ = pause.send(());
            // Blocks the only thread until the sender is dropped.
            let _ = resumed.recv();
        });
        paused.await.ok()?;
        Some(Paused(resume))
    }

    /// Waits until the controller ends, and returns why.
    pub async fn ended(mut self) -> Result<(), RunError> {
        (&mut self.ended).await.expect("no panic")
    }

    /// Why the controller ended; `None` while it runs.
    ///
    /// # Panics
    /// If it panicked.
    pub fn try_ended(&mut self) -> Option<Result<(), RunError>> {
        match self.ended.try_recv() {
            Ok(ended) => Some(ended),
            Err(TryRecvError::Empty) => None,
            Err(TryRecvError::Closed) => panic!("the controller panicked"),
        }
    }

    /// Kills the controller, which must not be paused.
    pub async fn kill(self) {
        let Self { ended, life, .. } = self;
        drop(life);
        let _ = ended.await;
    }
}

/// Writes whose responses, or which themselves, are delayed until they are released.
#[derive(Debug)]
pub struct HeldWrites {
    count: Arc<AtomicUsize>,
    release: watch::Sender<bool>,
}

impl HeldWrites {
    /// How many have been delayed.
    #[must_use]
    pub fn count(&self) -> usize {
        self.count.load(Ordering::SeqCst)
    }

    /// Lets all arrive.
    pub fn release(&self) {
        self.release.send_replace(true);
    }
}

#[derive(Clone)]
struct HoldingService {
    inner: ClusterService,
    server: Handle,
    target: &'static str,
    is_sent_late: bool,
    count: Arc<AtomicUsize>,
    released: watch::Receiver<bool>,
}

type Response = <ClusterService as Service<Request<Body>>>::Response;

impl Service<Request<Body>> for HoldingService {
    type Response = Response;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let is_held = write_target(&request).as_deref() == Some(self.target);
        let hold = is_held.then(|| hold(Arc::clone(&self.count), self.released.clone()));
        let (before, after) = match self.is_sent_late {
            true => (hold, None),
            false => (None, hold),
        };
        let (server, mut inner) = (self.server.clone(), self.inner.clone());
        Box::pin(async move {
            // The network and the API server are not paused with the client, and what is on its way arrives also when
            // the client has given up.
            let response = server.spawn(async move {
                if let Some(hold) = before {
                    hold.await;
                }
                inner.call(request).await
            });
            let Ok(response) = response.await else {
                // The test has ended.
                return std::future::pending().await;
            };
            if let Some(hold) = after {
                hold.await;
            }
            response
        })
    }
}

async fn hold(count: Arc<AtomicUsize>, mut released: watch::Receiver<bool>) {
    count.fetch_add(1, Ordering::SeqCst);
    // An error means that the test has ended.
    let _ = released.wait_for(|released| *released).await;
}

//! The controller: watches feed the index, the index feeds the queue, workers act.

use crate::admission::{AdmissionError, AdmissionServer};
use crate::cluster::{Events, Observed, Watches};
use crate::context::Context;
use crate::drivers::{CallCounts, Drivers};
use crate::health::{Health, Vitals};
use crate::index::{Change, Index};
use crate::key::{ObjectKey, WorkKey};
use crate::leader::{InvalidLeaderElection, LostLease, Standing};
use crate::metrics::Metrics;
use crate::options::Options;
use crate::queue::Queue;
use crate::work::{Progress, Work};
use crate::{backend_group, backend_record, backends, bind, load_balancer, load_balancer_driver};
use futures::StreamExt;
use jiff::Timestamp;
use kube::Client;
use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time::Instant;
use tracing::Instrument;

/// Why a controller ended that was not asked to.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// It cannot take part in the election as its options say.
    #[error(transparent)]
    LeaderElection(#[from] InvalidLeaderElection),
    /// Another controller works, or soon will.
    #[error(transparent)]
    LostLease(#[from] LostLease),
    /// Admission cannot be served.
    #[error(transparent)]
    Admission(#[from] AdmissionError),
    /// A part broke that it cannot do without.
    #[error("{0} broke off; this is a defect")]
    BrokeOff(&'static str),
}

/// The LBCF controller of one cluster.
pub struct Controller {
    context: Arc<Context>,
    queue: Arc<Queue>,
    watches: Watches,
    events: Events,
    counts: CallCounts,
    vitals: Arc<Vitals>,
    election_client: Client,
    admission: Option<AdmissionServer>,
}

impl std::fmt::Debug for Controller {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Controller")
            .field("context", &self.context)
            .finish_non_exhaustive()
    }
}

impl Controller {
    /// A controller of the cluster that the client talks to. It does nothing until it runs.
    #[must_use]
    pub fn new(client: Client, options: Options) -> Self {
        Self::with_counts(client, options, CallCounts::default())
    }

    /// A controller that counts its calls into `counts`, which may have counted another's before.
    #[must_use]
    pub fn with_counts(client: Client, options: Options, counts: CallCounts) -> Self {
        let (sink, events) = Events::new(client.clone());
        let queue = Arc::new(Queue::new(options.backoff));
        let metrics = Metrics::new();
        let drivers = Drivers::new(&options, counts.clone(), metrics.clone());
        let watches = Watches::new(client.clone());
        let election_client = client.clone();
        let context = Arc::new(Context::new(
            options,
            client,
            sink,
            Arc::clone(&queue),
            drivers,
            metrics,
        ));
        Self {
            context,
            queue,
            watches,
            events,
            counts,
            vitals: Arc::default(),
            election_client,
            admission: None,
        }
    }

    /// Serves admission there from when the cluster is known, leader or not.
    #[must_use]
    pub fn with_admission(mut self, server: AdmissionServer) -> Self {
        self.vitals.awaits_admission();
        self.admission = Some(server);
        self
    }

    /// Takes part in the election by a client of its own, so that renewing the lead waits behind
    /// no other request.
    #[must_use]
    pub fn with_election_client(mut self, client: Client) -> Self {
        self.election_client = client;
        self
    }

    /// How the controller is, while it runs and after.
    #[must_use]
    pub fn health(&self) -> Health {
        Health::new(Arc::clone(&self.context), Arc::clone(&self.vitals))
    }

    /// How often each webhook was called.
    #[must_use]
    pub fn calls(&self) -> CallCounts {
        self.counts.clone()
    }

    /// Works until `stop` is done, then finishes what is in progress, for as long as
    /// [`Options::stop_timeout`] allows, and lets the lead go. With [`Options::leader_election`] it
    /// works only while it leads, and until then gets to know the cluster. Dropping the future ends
    /// everything at once; whatever was in progress is then finished by the next controller.
    ///
    /// # Errors
    /// [`RunError`], when it ends without having been asked to. What was in progress when the lead
    /// was lost is not finished: somebody else may do so already.
    pub async fn run(self, stop: impl Future<Output = ()> + Send) -> Result<(), RunError> {
        let Self {
            context,
            queue,
            watches,
            events,
            vitals,
            election_client,
            admission,
            ..
        } = self;
        let mut tasks = JoinSet::new();
        tasks.spawn(events.run());
        let (synced, is_synced) = tokio::sync::oneshot::channel();
        tasks.spawn(observe(
            Arc::clone(&context),
            watches,
            Arc::clone(&vitals),
            synced,
        ));

        let mut workers = JoinSet::new();
        let mut stop = pin!(stop);
        // Nothing is decided on half a picture (u9).
        tokio::select! {
            () = &mut stop => return Ok(()),
            synced = is_synced => if synced.is_err() {
                return Err(broke_off(&vitals));
            },
        }
        // Before that, nobody would know who uses a driver (b65).
        let mut admitting = Admitting::start(admission, &context, &vitals);
        // Who leads can work at once, so nobody stands who does not know the cluster.
        let election = context.options.leader_election.clone();
        let mut standing = Standing::start(election_client, election)?;
        vitals.stands(standing.leadership());
        tokio::select! {
            () = &mut stop => {
                standing.resign().await;
                return Ok(());
            }
            _ = tasks.join_next() => {
                standing.resign().await;
                return Err(broke_off(&vitals));
            }
            failed = admitting.until_failed() => {
                standing.resign().await;
                return Err(failed);
            }
            leads = standing.until_leader() => leads?,
        }
        tracing::info!("the cluster is known; working");
        let places = Arc::new(Semaphore::new(context.options.workers.max(1)));
        let mut ended = Ok(());
        loop {
            let place = tokio::select! {
                () = &mut stop => break,
                lost = standing.until_lost() => return Err(lost.into()),
                place = Arc::clone(&places).acquire_owned() => place,
            };
            let key = tokio::select! {
                () = &mut stop => break,
                lost = standing.until_lost() => return Err(lost.into()),
                failed = admitting.until_failed() => {
                    ended = Err(failed);
                    break;
                }
                _ = tasks.join_next() => {
                    // Without watches there would be nothing but old news to decide on.
                    ended = Err(broke_off(&vitals));
                    break;
                }
                key = queue.next(|key| context.lane_of(key)) => key,
            };
            while workers.try_join_next().is_some() {}
            let context = Arc::clone(&context);
            let (kind, part) = (key.kind(), key.part());
            let span = tracing::info_span!("work", kind, object = %key.object(), part);
            let held = Arc::clone(&queue).hold(key.clone());
            workers.spawn(
                async move {
                    let _place = place;
                    let began = Instant::now();
                    let progress = act(&context, &key).await;
                    context.metrics.processed(key.kind(), began.elapsed());
                    tracing::trace!(?progress, "looked");
                    held.done(progress);
                }
                .instrument(span),
            );
        }
        vitals.stops();
        while workers.try_join_next().is_some() {}
        tracing::info!(in_progress = workers.len(), "stopping");
        let finished = async { while workers.join_next().await.is_some() {} };
        tokio::select! {
            finished = tokio::time::timeout(context.options.stop_timeout, finished) => {
                if finished.is_err() {
                    tracing::warn!(
                        "work in progress took too long; the next controller finishes it"
                    );
                }
            }
            lost = standing.until_lost() => return Err(lost.into()),
        }
        // What took too long ends before another may begin.
        workers.shutdown().await;
        standing.resign().await;
        admitting.stop(context.options.stop_timeout).await;
        ended
    }
}

/// The admission webhooks being served.
struct Admitting {
    tasks: JoinSet<Result<(), AdmissionError>>,
    stop: Option<tokio::sync::oneshot::Sender<()>>,
}

impl Admitting {
    fn start(
        server: Option<AdmissionServer>,
        context: &Arc<Context>,
        vitals: &Arc<Vitals>,
    ) -> Self {
        let mut tasks = JoinSet::new();
        let stop = server.map(|server| {
            let (stop, stopped) = tokio::sync::oneshot::channel();
            let stopped = async {
                // Dropping the other end stops it too.
                let _ = stopped.await;
            };
            tasks.spawn(server.serve(Arc::clone(context), Arc::clone(vitals), stopped));
            stop
        });
        Self { tasks, stop }
    }

    /// Waits until serving fails, for ever where nothing is served.
    async fn until_failed(&mut self) -> RunError {
        match self.tasks.join_next().await {
            Some(Ok(Err(error))) => error.into(),
            Some(Ok(Ok(())) | Err(_)) => RunError::BrokeOff("serving admission"),
            None => std::future::pending().await,
        }
    }

    /// Finishes what is being answered.
    async fn stop(mut self, patience: std::time::Duration) {
        drop(self.stop.take());
        let ended = async { while self.tasks.join_next().await.is_some() {} };
        // What takes longer is dropped with the tasks.
        let _ = tokio::time::timeout(patience, ended).await;
    }
}

fn broke_off(vitals: &Vitals) -> RunError {
    let what = "watching or writing events";
    vitals.broke(format!("{what} broke off"));
    RunError::BrokeOff(what)
}

/// Looks at one object until there is nothing more to do at once.
async fn act(context: &Context, key: &WorkKey) -> Progress {
    if !context.index().has(key) {
        context.forget(key);
        return Progress::Settled;
    }
    loop {
        let progress = match key {
            WorkKey::Driver(key) => act_on_driver(context, key).await,
            WorkKey::LoadBalancer(key) => load_balancer::act(context, key).await,
            WorkKey::Group(key) => backend_group::act(context, key).await,
            WorkKey::Record(key) => backend_record::act(context, key).await,
            WorkKey::Bind(key) => bind::act(context, key).await,
            WorkKey::BindLoadBalancer(key) => bind::load_balancer::act(context, key).await,
            WorkKey::Judgement(owner) => backends::judge(context, owner).await,
        };
        if progress != Progress::Again {
            return progress;
        }
    }
}

async fn act_on_driver(context: &Context, key: &ObjectKey) -> Progress {
    if let Err(progress) = context.make_sure(key, Index::driver).await {
        return progress;
    }
    let driver = context.index().get_driver(key).found();
    let Some(driver) = driver else {
        return Progress::Settled;
    };
    let Some(status) = load_balancer_driver::decide(&driver, Timestamp::now()) else {
        return Progress::Settled;
    };
    let old = driver.status.as_ref();
    context
        .write_status(&*driver, old, &status, Index::driver, Progress::Settled)
        .await
}

/// Feeds the index with what the watches say, and tells when all have said everything once.
async fn observe(
    context: Arc<Context>,
    watches: Watches,
    vitals: Arc<Vitals>,
    synced: tokio::sync::oneshot::Sender<()>,
) {
    let mut observed = pin!(watches.run());
    let mut synced = Some(synced);
    let mut complete = std::collections::HashSet::new();
    while let Some(observed) = observed.next().await {
        if synced.is_some()
            && let Some(kind) = completes(&observed)
        {
            complete.insert(kind);
            vitals.listed(kind);
            if complete.len() == Watches::KINDS
                && let Some(synced) = synced.take()
            {
                let _ = synced.send(());
            }
        }
        let work = take_in(&mut context.index(), observed);
        context.queue.add(work);
    }
}

fn take_in(index: &mut Index, observed: Observed) -> Vec<Work> {
    match observed {
        Observed::Driver(change) => index.driver(change),
        Observed::LoadBalancer(change) => index.load_balancer(change),
        Observed::Group(change) => index.group(change),
        Observed::Record(change) => index.record(change),
        Observed::Bind(change) => index.bind(change),
        Observed::Pod(change) => index.pod(change),
        Observed::Service(change) => index.service(change),
        Observed::Node(change) => index.node(change),
    }
}

/// The kind whose first list this ends.
fn completes(observed: &Observed) -> Option<&'static str> {
    match observed {
        Observed::Driver(Change::ListEnds) => Some("LoadBalancerDriver"),
        Observed::LoadBalancer(Change::ListEnds) => Some("LoadBalancer"),
        Observed::Group(Change::ListEnds) => Some("BackendGroup"),
        Observed::Record(Change::ListEnds) => Some("BackendRecord"),
        Observed::Bind(Change::ListEnds) => Some("Bind"),
        Observed::Pod(Change::ListEnds) => Some("Pod"),
        Observed::Service(Change::ListEnds) => Some("Service"),
        Observed::Node(Change::ListEnds) => Some("Node"),
        _ => None,
    }
}

use crate::api::LoadBalancerDriver;
use crate::backends::reconcile_verdict;
use crate::index::RequestKey;
use crate::kinds::{backend_group, backend_record, bind, driver, load_balancer, pod, service};
use crate::process::text::in_full;
use crate::runtime::queue::{
    ActiveRequest, ConcurrencyKey, ConcurrencyLimits, probe_limits, shares,
};
use crate::runtime::{Action, Context, Error};
use lbcf_driver_sdk::webhook::HealthzResponse;
use std::convert::Infallible;
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};
use std::sync::Arc;
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time::Instant;
use tracing::Instrument;

/// Reconciles the requests of the queue, a limited number at a time.
pub(super) struct Workers {
    context: Arc<Context>,
    limit: Arc<Semaphore>,
    tasks: JoinSet<()>,
}

impl Workers {
    pub(super) fn new(context: &Arc<Context>) -> Self {
        Self {
            limit: Arc::new(Semaphore::new(context.options.workers.max(1))),
            context: Arc::clone(context),
            tasks: JoinSet::new(),
        }
    }

    /// Starts reconciliations until this future is dropped, which does not end them.
    pub(super) async fn run(&mut self) -> Infallible {
        self.context.load_record_key().await;
        tracing::info!("the index is complete; reconciling");
        loop {
            let permit = Arc::clone(&self.limit).acquire_owned().await;
            let limits = |key: &_| concurrency_limits(&self.context, key);
            let request = self.context.queue.next(limits).await;
            while self.tasks.try_join_next().is_some() {}
            let context = Arc::clone(&self.context);
            self.tasks.spawn(async move {
                let _permit = permit;
                process(&context, request).await;
            });
        }
    }

    /// Waits for running reconciliations, then aborts those that take too long.
    pub(super) async fn finish(&mut self) {
        while self.tasks.try_join_next().is_some() {}
        tracing::info!(in_progress = self.tasks.len(), "stopping");
        let timeout = self.context.options.stop_timeout;
        let finished = async { while self.tasks.join_next().await.is_some() {} };
        if tokio::time::timeout(timeout, finished).await.is_err() {
            tracing::warn!("aborting reconciliations, which the next controller finishes");
        }
        // They have to end before another controller leads.
        self.tasks.shutdown().await;
    }
}

/// The slots that a request needs before it is reconciled.
fn concurrency_limits(context: &Context, key: &RequestKey) -> ConcurrencyLimits {
    let index = context.index();
    let options = &context.options;
    if let RequestKey::DriverHealth(driver) = key {
        return probe_limits(driver, options);
    }
    if let Some(driver) = index.verdict_driver_of(key) {
        let shares = shares(&driver, options);
        let of_driver = (ConcurrencyKey::Driver(driver), options.calls_per_driver);
        return [vec![of_driver], shares].concat().into();
    }
    let Some((key, load_balancer)) = index.target_of(key) else {
        return ConcurrencyLimits::default();
    };
    let driver = index.find::<LoadBalancerDriver>(&key);
    let shares = shares(&key, options);
    let limits = context.call_limits(key, driver.as_deref(), &load_balancer);
    let is_batched = |it: &Arc<LoadBalancerDriver>| it.has_feature(HealthzResponse::BATCHES);
    let hash = || BuildHasherDefault::<DefaultHasher>::default().hash_one(&load_balancer);
    ConcurrencyLimits {
        slots: [limits, shares].concat(),
        batch: driver.as_ref().is_some_and(is_batched).then(hash),
    }
}

async fn process(context: &Context, request: ActiveRequest) {
    let key = &request.key;
    let (kind, part) = (key.kind(), key.part());
    let span = tracing::info_span!("reconcile", kind, object = %key.object(), part);
    let began = Instant::now();
    let result = reconcile(context, key).instrument(span.clone()).await;
    context.metrics.processed(kind, began.elapsed());
    span.in_scope(|| match &result {
        // Logged where the webhook and the driver are known.
        Err(Error::Operation(_) | Error::BackingOff(..)) => {}
        Err(error) if error.action().is_none() => {
            tracing::warn!(error = in_full(error), "reconciling failed; retrying");
        }
        result => tracing::trace!(?result, "reconciled"),
    });
    request.done(result);
}

/// Reconciles an object until nothing is left to do at once.
async fn reconcile(context: &Context, key: &RequestKey) -> Result<Action, Error> {
    if !context.index().contains_key(key) {
        context.remove(key);
        return Ok(Action::AwaitChange);
    }
    loop {
        let action = match key {
            RequestKey::Driver(key) => driver::reconcile(context, key).await,
            RequestKey::DriverHealth(key) => driver::reconcile_health(context, key).await,
            RequestKey::LoadBalancer(key) => load_balancer::reconcile(context, key).await,
            RequestKey::Group(key) => backend_group::reconcile(context, key).await,
            RequestKey::Record(key) => backend_record::reconcile(context, key).await,
            RequestKey::Bind(key) => bind::reconcile(context, key).await,
            RequestKey::BindLoadBalancer(key) => bind::load_balancer::reconcile(context, key).await,
            RequestKey::Pod(key) => pod::reconcile(context, key).await,
            RequestKey::Service(key) => service::reconcile(context, key).await,
            RequestKey::DeregisterVerdict(owner) => reconcile_verdict(context, owner).await,
        }?;
        if action != Action::RequeueNow {
            return Ok(action);
        }
    }
}

//! Services of type LoadBalancer whose class a driver has.
//!
//! [`desired`] has the LoadBalancers and BackendGroups that a Service should have, [`ingress`] the addresses
//! that its status should show, [`decide`] the writes that are due, and [`ensure`] those of them until it has
//! its load balancers.

mod decide;
mod desired;
mod ensure;
mod ingress;
mod policies;

use crate::api::names::SYSTEM_NAMESPACE;
use crate::api::reasons::{self, ReportReason};
use crate::api::{BackendGroup, LoadBalancer, LoadBalancerDriver, NamespacedKind, ObjectKey};
use crate::cluster::EventType::Normal;
use crate::cluster::{FromWatched, Regarding, Wait, WaitEvent, WriteError};
use crate::index::{Index, Indexed, Request, RequestKey, ServicePortView, ServiceView, StoreEvent};
use crate::process::text::in_full;
use crate::runtime::{Action, Context, Error, Reporter};
use decide::{Goal, ServiceAction, ServicePlan, ServiceState, decide};
use desired::desired;
use std::sync::Arc;
use std::time::Duration;

// The events of Kubernetes' own service controller.
const ENSURING: (&ReportReason, &str) = (reasons::ENSURING_OF_SERVICE, "Ensuring load balancer");
const ENSURED: (&ReportReason, &str) = (reasons::ENSURED, "Ensured load balancer");
const DELETING: (&ReportReason, &str) = (reasons::DELETING, "Deleting load balancer");
const DELETED: (&ReportReason, &str) = (reasons::DELETED, "Deleted load balancer");

/// A wait that begins when a Service's load balancers are made or changed, and ends when they are as they should
/// be: it tells the event about that from one at rest.
const IN_PROGRESS: &str = "ensuring";

/// The interval at which an address is looked at again that was refused: it may have become free.
const REFUSED_INTERVAL: Duration = Duration::from_secs(60);

/// Does the writes that are due for a Service.
pub(crate) async fn reconcile(context: &Context, key: &ObjectKey) -> Result<Action, Error> {
    let Some(state) = observe(context, key) else {
        return Ok(Action::AwaitChange);
    };
    let plan = decide(&state);
    let Some(part) = state.service.load_balancer.as_deref() else {
        return Ok(Action::AwaitChange);
    };
    let reporter = Reporter {
        context,
        key: RequestKey::Service(key.clone()),
        regarding: Regarding::service(key, &part.uid),
    };
    let service = Arc::clone(&state.service);
    let reconciler = Reconciler { reporter, service };
    reconciler.perform(plan).await
}

fn observe(context: &Context, key: &ObjectKey) -> Option<ServiceState> {
    let index = context.index();
    let service = index.find::<ServiceView>(key)?;
    let part = service.load_balancer.as_deref()?;
    let driver = index.driver_of(&service);
    let (mut lbs, mut groups) = index.owned_by_service(key, &part.uid);
    let wanted = driver
        .as_ref()
        .and_then(|driver| desired(&service, part, driver).ok());
    for wanted in wanted.iter().flat_map(|wanted| &wanted.load_balancers) {
        lbs.extend(index.find(&ObjectKey::of(wanted)));
    }
    for wanted in wanted.iter().flat_map(|wanted| &wanted.groups) {
        groups.extend(index.find(&ObjectKey::of(wanted)));
    }
    let refused = driver.iter().flat_map(|driver| {
        let addresses = lbs.iter().flat_map(|lb| ingress::announced(lb, driver));
        let refused = addresses.filter_map(|address| {
            let why = refusal(context, &index, &service, driver, &address)?;
            Some((address, why))
        });
        refused.collect::<Vec<_>>()
    });
    Some(ServiceState {
        refused: refused.collect(),
        driver,
        load_balancers: by_name(lbs),
        groups: by_name(groups),
        service,
    })
}

/// Why a Service does not get an address that its driver announces. Services of one driver may share an address on
/// different ports.
fn refusal(
    context: &Context,
    index: &Index,
    service: &ServiceView,
    driver: &LoadBalancerDriver,
    address: &str,
) -> Option<String> {
    let driver = ObjectKey::of(driver);
    let options = &context.options;
    let (announced, flag, where_) = match *driver.namespace == *SYSTEM_NAMESPACE {
        true => (
            &options.announced,
            "--announced-addresses",
            SYSTEM_NAMESPACE,
        ),
        false => {
            let flag = "--announced-addresses-of-tenants";
            (&options.announced_by_tenants, flag, "other namespaces")
        }
    };
    if !announced.allow(address) {
        return Some(format!(
            "{address} is no address that drivers in {where_} may announce ({flag} of the controller)"
        ));
    }
    let port = |port: &ServicePortView| (port.port, port.protocol.clone());
    let conflicts = |other: &Arc<ServiceView>| {
        let is_same = index
            .driver_of(other)
            .is_some_and(|it| ObjectKey::of(&*it) == driver);
        let mut ports = service.ports.iter().map(port);
        !is_same || ports.any(|port_| other.ports.iter().any(|it| port(it) == port_))
    };
    let others = index.others_at(address, &service.key);
    others
        .iter()
        .any(conflicts)
        .then(|| format!("another Service has the address {address}"))
}

fn by_name<K: NamespacedKind>(objects: Vec<Arc<K>>) -> std::collections::BTreeMap<String, Arc<K>> {
    let named = objects.into_iter().map(|object| {
        let name = object.meta().name.clone().unwrap_or_default();
        (name, object)
    });
    named.collect()
}

struct Reconciler<'a> {
    reporter: Reporter<'a>,
    service: Arc<ServiceView>,
}

impl Reconciler<'_> {
    /// A write that fails does not delay the others: one load balancer that the driver refuses must not
    /// keep another from its backends.
    async fn perform(&self, plan: ServicePlan) -> Result<Action, Error> {
        let context = self.reporter.context;
        let is_idle = plan.actions.is_empty();
        self.announce(&plan);
        let mut failed: Option<WriteError> = None;
        for action in plan.actions {
            match self.write(action).await {
                Ok(()) => {}
                Err(error @ (WriteError::DryRun | WriteError::NotLeading(_))) => {
                    return Err(error.into());
                }
                Err(error) => failed = failed.or(Some(error)),
            }
        }
        let mut problems = plan.problems;
        if let Some(error @ (WriteError::Refused(_) | WriteError::Timeout(_))) = &failed {
            problems.insert(0, in_full(error));
        }
        let mut repeat = self.report(&problems);
        if plan.is_refused {
            repeat = repeat.at_most(REFUSED_INTERVAL);
        }
        if let Some(error) = failed {
            return Err(error.into());
        }
        if !is_idle {
            return Ok(Action::RequeueNow);
        }
        if plan.goal == Goal::Ensured
            && plan.is_complete
            && context.memory.end_wait(&self.reporter.key)
        {
            self.record(ENSURED);
        }
        Ok(repeat)
    }

    fn announce(&self, plan: &ServicePlan) {
        let is_begin = plan.actions.iter().any(|action| {
            !matches!(
                action,
                ServiceAction::SetIngress(_) | ServiceAction::Release { .. }
            )
        });
        match plan.goal {
            Goal::Ensured if is_begin => {
                self.reporter.begin_wait(IN_PROGRESS);
                self.record(ENSURING);
            }
            Goal::Deleted if is_begin => self.record(DELETING),
            _ => {}
        }
    }

    /// Reports what is wrong; returns when to do so again.
    fn report(&self, problems: &[String]) -> Action {
        let Reporter {
            context, regarding, ..
        } = &self.reporter;
        if problems.is_empty() {
            context.recorder.end_wait(regarding);
            return Action::AwaitChange;
        }
        let message = format!("Error syncing load balancer: {}", problems.join("; "));
        let wait = Wait::new(reasons::SYNC_FAILED, message, WaitEvent::Problem);
        self.reporter.wait_event(&wait)
    }

    fn record(&self, (reason, message): (&'static ReportReason, &str)) {
        self.reporter.event(Normal, reason, message);
    }

    async fn write(&self, action: ServiceAction) -> Result<(), WriteError> {
        let (context, service) = (self.reporter.context, &self.service);
        let cluster = &context.cluster;
        match action {
            ServiceAction::Mark => {
                let part = service.load_balancer.as_deref();
                let class = part.and_then(|part| part.class.as_deref());
                let written = cluster.service_marks(service, class, true).await?;
                context.apply(StoreEvent::Written(written));
            }
            ServiceAction::CreateLoadBalancer(lb) => self.create(&lb).await?,
            ServiceAction::UpdateLoadBalancer(old, new) => self.update(&*old, &new).await?,
            ServiceAction::DeleteLoadBalancer(lb) => self.delete(&*lb).await?,
            ServiceAction::CreateGroup(group) => self.create(&group).await?,
            ServiceAction::UpdateGroup(old, new) => self.update(&*old, &new).await?,
            ServiceAction::DeleteGroup(group) => self.delete(&*group).await?,
            ServiceAction::SetIngress(ingress) => {
                let written = cluster.service_ingress(service, &ingress).await?;
                context.apply(StoreEvent::Written(written));
            }
            ServiceAction::Release { keeps_finalizer } => {
                let written = cluster
                    .service_marks(service, None, keeps_finalizer)
                    .await?;
                context.apply(StoreEvent::Written(written));
                context.memory.end_wait(&self.reporter.key);
                self.record(DELETED);
            }
        }
        Ok(())
    }

    async fn create<K: Owned>(&self, object: &K) -> Result<(), WriteError> {
        let created = self.reporter.context.cluster.create(object).await?;
        self.reporter.context.apply(StoreEvent::Written(created));
        self.enqueue(object);
        Ok(())
    }

    async fn update<K: Owned>(&self, old: &K, new: &K) -> Result<(), WriteError> {
        let written = self.reporter.context.cluster.update_owned(old, new).await;
        self.reporter.context.apply_written(old, written)?;
        self.enqueue(old);
        Ok(())
    }

    async fn delete<K: Owned>(&self, object: &K) -> Result<(), WriteError> {
        let context = self.reporter.context;
        match context.cluster.delete(object).await? {
            Some(left) => context.apply(StoreEvent::Written(left)),
            None => {
                let version = object.version();
                context.apply(StoreEvent::<K>::NotFound(ObjectKey::of(object), version));
            }
        }
        self.enqueue(object);
        Ok(())
    }

    /// The index enqueues no load balancer for a write of this process, which is usually its own.
    fn enqueue<K: Owned>(&self, object: &K) {
        let key = K::request_key(ObjectKey::of(object));
        self.reporter.context.queue.add([Request::normal(key)]);
    }
}

/// The kinds that a Service owns.
trait Owned: NamespacedKind + Indexed + FromWatched {
    fn request_key(key: ObjectKey) -> RequestKey;
}

impl Owned for LoadBalancer {
    fn request_key(key: ObjectKey) -> RequestKey {
        RequestKey::LoadBalancer(key)
    }
}

impl Owned for BackendGroup {
    fn request_key(key: ObjectKey) -> RequestKey {
        RequestKey::Group(key)
    }
}

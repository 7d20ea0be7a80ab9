//! Reconciling the backends of an owner, whatever its kind.

use super::brake::{brake, release};
use super::decide::{BackendsState, Candidates, decide};
use super::execute::{PlanOutcome, execute, may_adopt};
use super::hold::{advance, hold};
use super::service::{CandidateNode, EndpointCandidates, SelectedService, port_of_slice, tallies};
use super::status::{OwnerKind, report_refusal};
use super::verdict::enqueue_verdict;
use crate::api::{
    BackendRecord, DeregisterPolicy, LoadBalancerDriver, ObjectExt, ObjectKey, ServiceMode,
    ServiceSelection, names,
};
use crate::cluster::Regarding;
use crate::index::{Index, NodeView, Owner, PodView, SliceEndpoint, Unit, unit_of};
use crate::runtime::{Action, Context, Error};
use kube::ResourceExt;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

/// The number of units of an owner that are reconciled at a time, so that deregistering some need not wait
/// until all backends of a large owner are registered.
const BATCH: usize = 256;

/// Reconciles a batch of an owner's backends, or, after the last one, its status or its deletion.
pub(crate) async fn reconcile<K: OwnerKind>(
    context: &Context,
    owner: &Owner,
) -> Result<Action, Error> {
    let batch = UnitBatch::take(context, owner);
    let Some(state) = observe::<K>(context, owner, &batch.units) else {
        batch.done(&mut PlanOutcome::default());
        return Ok(Action::AwaitChange);
    };
    let (is_full, over) = (batch.is_full(), batch.over.clone());
    count_endpoints(context, &state, &batch.units);
    let mut plan = decide(&state);
    hold::<K>(context, &state, &mut plan);
    brake::<K>(context, &state, &batch.units, &mut plan);
    if !may_adopt::<K>(context, &state, &plan).await? {
        return Ok(Action::RequeueNow);
    }
    let regarding = Regarding::owner(&*state.object);
    if !plan.create.is_empty() {
        context.memory.begin_registering(&owner.request_key());
    }
    let mut outcome = execute(context, &state, plan).await;
    batch.done(&mut outcome);
    if !is_full {
        context.pod_pages.remove(owner);
    }
    enqueue_verdict(context, owner, state.object.deregister_policy());
    match outcome.error {
        Some(error) if state.is_deleting() => Err(error),
        // The counts are correct even if some records were not written.
        Some(error) => {
            report_refusal(context, &regarding, &error);
            match K::write_status(context, owner, Some(&error)).await {
                Err(failure) if error.action().is_some() => Err(failure),
                _ => Err(error),
            }
        }
        None if is_full => Ok(Action::RequeueNow),
        None if state.is_deleting() => K::finish_deletion(context, owner).await,
        None => {
            let action = K::write_status(context, owner, None).await?;
            finish::<K>(context, &state, &over, action)
        }
    }
}

/// Units of an owner that are being reconciled. Those that are not done when this is dropped are
/// marked again.
struct UnitBatch<'a> {
    context: &'a Context,
    owner: &'a Owner,
    units: BTreeSet<Unit>,
    /// Those of the owner that are not waited for any longer.
    over: BTreeSet<Unit>,
}

impl<'a> UnitBatch<'a> {
    fn take(context: &'a Context, owner: &'a Owner) -> Self {
        let mut index = context.index();
        let object = index.backend_owner(owner);
        let mut over = BTreeSet::new();
        if object.is_some_and(|object| object.service_of_endpoints().is_some()) {
            (over, _) = absences(context, owner);
            index.mark_units(owner, &over);
        } else {
            // It has other backends now, or is gone.
            context.memory.end_absences(owner);
        }
        let units = index.take_units(owner, BATCH);
        drop(index);
        Self {
            context,
            owner,
            units,
            over,
        }
    }

    /// True if there may be more units.
    fn is_full(&self) -> bool {
        self.units.len() == BATCH
    }

    /// All units are done except those that failed, and those whose records' names are taken. The
    /// latter would fail again at once, and are held until the last batch is done.
    fn done(mut self, outcome: &mut PlanOutcome) {
        self.units = std::mem::take(&mut outcome.failed);
        let taken = std::mem::take(&mut outcome.taken);
        self.context.index().hold_units(self.owner, taken);
    }
}

/// Ends the reconciliation of an owner whose units are done: retries with backoff what was held, and
/// comes back when the wait for an endpoint that no slice has, for a replacement, or of an unready backend is over.
///
/// # Errors
/// [`Error::NameTaken`] if something was held.
fn finish<K: OwnerKind>(
    context: &Context,
    state: &BackendsState,
    over: &BTreeSet<Unit>,
    action: Action,
) -> Result<Action, Error> {
    let owner = &state.owner;
    let replacement = advance::<K>(context, owner);
    let unready = release(context, owner, &*state.object);
    if context.index().release_units(owner) {
        return Err(Error::NameTaken);
    }
    let (now_over, next) = absences(context, owner);
    // Whose time has ended meanwhile was still waited for, and nothing else would take it.
    let ended = (!now_over.is_subset(over)).then_some(Duration::ZERO);
    let waits = [next, ended, replacement, unready].into_iter().flatten();
    Ok(waits.fold(action, Action::at_most))
}

/// The units whose endpoints no slice has and that are not waited for any longer, and when the wait for
/// the next one is over.
fn absences(context: &Context, owner: &Owner) -> (BTreeSet<Unit>, Option<Duration>) {
    let grace_period = context.options.endpoint_grace_period;
    context.memory.ended_absences(owner, grace_period)
}

impl Drop for UnitBatch<'_> {
    fn drop(&mut self) {
        self.context.index().mark_units(self.owner, &self.units);
    }
}

/// An owner and some of its units, as the index has them.
fn observe<K: OwnerKind>(
    context: &Context,
    owner: &Owner,
    units: &BTreeSet<Unit>,
) -> Option<BackendsState> {
    let index = context.index();
    let object = index.find::<K>(owner.key())?;
    let status = object.status().cloned().unwrap_or_default();
    let load_balancers = object.load_balancers(&index, &status);
    let records = index.records_of(owner, units);
    let revocable = records.iter().filter(|it| is_revocable(&index, it));
    let revocable = revocable.map(|record| record.name_any()).collect();
    let foreign = records.iter().filter(|it| !context.is_own(it));
    let foreign = foreign.map(|record| record.name_any()).collect();
    let candidates = match (object.pods(), object.service()) {
        (Some(_), _) => {
            let pods = index.pods_of(owner, units);
            let verdict = context.verdicts.current(owner, &pods);
            Candidates::Pods(pods, verdict)
        }
        (None, Some(service)) => {
            let selected = SelectedService::of(&index, owner, service);
            match service.mode() {
                ServiceMode::NodePort => nodes(&index, owner, selected, units),
                ServiceMode::Endpoints => {
                    let selection = (service, object.deregister_policy());
                    endpoints(
                        context,
                        &index,
                        owner,
                        selection,
                        selected,
                        (units, &records),
                    )
                }
            }
        }
        (None, None) => {
            let addresses = object.static_addresses().iter();
            let addresses = addresses.filter(|addr| units.contains(addr.as_str()));
            Candidates::Addresses(addresses.cloned().collect())
        }
    };
    Some(BackendsState {
        owner: owner.clone(),
        object,
        load_balancers,
        candidates,
        records,
        foreign,
        revocable,
    })
}

/// True if a record is being deleted, and its driver can cancel the deregistration.
fn is_revocable(index: &Index, record: &BackendRecord) -> bool {
    let namespace = record.metadata.namespace.as_deref().unwrap_or_default();
    let driver = names::resolve(namespace, &record.spec.lb_driver);
    let driver = || index.find::<LoadBalancerDriver>(&driver);
    record.is_deleting() && driver().is_some_and(|driver| driver.can_cancel())
}

fn nodes(
    index: &Index,
    owner: &Owner,
    selected: SelectedService,
    units: &BTreeSet<Unit>,
) -> Candidates {
    let nodes = units.iter().filter_map(|name| {
        Some(CandidateNode {
            has_pods: index.selections.has_available_on(owner, name),
            node: index.find::<NodeView>(&ObjectKey::new("", Unit::clone(name)))?,
        })
    });
    Candidates::Nodes(selected.service, nodes.collect())
}

/// The endpoints at these units, at which the owner has these records.
fn endpoints(
    context: &Context,
    index: &Index,
    owner: &Owner,
    (selection, policy): (&ServiceSelection, Option<DeregisterPolicy>),
    selected: SelectedService,
    (units, records): (&BTreeSet<Unit>, &[Arc<BackendRecord>]),
) -> Candidates {
    let endpoints: Vec<_> = units
        .iter()
        .flat_map(|unit| index.endpoints_at(owner, &selected.slices, unit))
        .collect();
    let mut pods = Vec::new();
    if policy.unwrap_or_default() != DeregisterPolicy::IfNotReady {
        let targets = endpoints.iter().filter_map(|it| it.endpoint.pod.as_ref());
        let names = targets.map(|target| Arc::clone(&target.name)).collect();
        // Those that the service selects: changes of others are not noticed.
        pods = index.pods_of(owner, &names);
    }
    let is_unknown = selected.slices.iter().any(|slice| slice.is_unknown);
    let service = selected.service.as_deref();
    let port = service.and_then(|service| service.port(&selection.port));
    // While a port is renamed the Service has the new name, and the slices still have the old one.
    let has_port =
        |it: &SliceEndpoint| port.is_some_and(|port| port_of_slice(port, &it.slice).is_some());
    let awaited = units.iter().filter(|unit| {
        let mut of_unit = endpoints.iter().filter(|it| it.endpoint.address == **unit);
        let is_present = of_unit.any(has_port);
        let mut of_unit = records.iter().filter(|record| unit_of(record) == &***unit);
        // Endpoints of a service that is another one now, or of pods that are gone, do not come back.
        if is_present || !of_unit.any(|record| may_return(index, record, selection)) {
            context.memory.end_absence(owner, unit);
            return false;
        }
        let grace_period = context.options.endpoint_grace_period;
        is_unknown || !context.memory.absence(owner, unit, grace_period).is_zero()
    });
    Candidates::Endpoints(EndpointCandidates {
        awaited: awaited.cloned().collect(),
        verdict: context.verdicts.current(owner, &pods),
        pods: pods.into_iter().map(|pod| (pod.uid.clone(), pod)).collect(),
        service: selected.service,
        endpoints,
    })
}

/// True if a record's endpoint, which no slice has, may be moving to another slice.
fn may_return(index: &Index, record: &BackendRecord, selection: &ServiceSelection) -> bool {
    let backend = record.spec.endpoint_backend.as_ref();
    if backend.is_none_or(|backend| backend.service != selection.name) {
        return false;
    }
    let namespace = record.metadata.namespace.as_deref().unwrap_or_default();
    record.spec.pod_backend.as_ref().is_none_or(|pod| {
        let pod = index.find::<PodView>(&ObjectKey::new(namespace, pod.name.as_str()));
        pod.is_some_and(|pod| !pod.deleting && !pod.finished)
    })
}

/// Stores what the endpoints at these addresses count in the status of their owner.
fn count_endpoints(context: &Context, state: &BackendsState, units: &BTreeSet<Unit>) {
    let (Candidates::Endpoints(candidates), Some(selection)) =
        (&state.candidates, state.object.service())
    else {
        return;
    };
    let backends = candidates.backends(selection, state.object.deregister_policy());
    let tallies = tallies(&backends);
    let mut index = context.index();
    for unit in units {
        let tally = tallies.get(unit).copied().unwrap_or_default();
        index.unit_tallies.set(&state.owner, unit, tally);
    }
}

//! Calling `judgePodDeregister`: which pods that are not ready stay registered.

use crate::api::{
    DeregisterPolicy, DeregisterWebhook, LoadBalancerDriver, ObjectKey, PodSelection, names,
    reasons,
};
use crate::cluster::EventType::Warning;
use crate::cluster::{Regarding, WriteError};
use crate::drivers::call_span;
use crate::index::{Owner, PodView, Request, RequestKey, Unit};
use crate::process::backoff::{jitter, spread};
use crate::process::text::{in_full, of_driver};
use crate::runtime::verdicts::{DeregisterVerdict, DriverVersion, LastVerdict, VerdictOutcome};
use crate::runtime::{Action, Context, Error};
use k8s_openapi::api::core::v1::Pod;
use kube::api::ListParams;
use lbcf_driver_sdk::webhook::{JudgePodDeregister, KubernetesObject};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;
use tracing::Instrument;

/// The shortest time between two calls for the same owner, so that pods that become unready at the
/// same time are in one call.
const MIN_INTERVAL: Duration = Duration::from_secs(1);
/// The number of pods that are read with one request.
const PAGE: u32 = 500;

/// Enqueues the request for a verdict if one may be needed, or an old one may have to be removed.
pub(crate) fn enqueue_verdict(context: &Context, owner: &Owner, policy: Option<DeregisterPolicy>) {
    let is_needed =
        policy == Some(DeregisterPolicy::Webhook) && context.index().has_unready_pods(owner);
    if is_needed || context.verdicts.get(owner).is_some() {
        let key = RequestKey::DeregisterVerdict(owner.clone());
        context.queue.add([Request::normal(key)]);
    }
}

/// Calls the driver of an owner if a verdict is needed now.
pub(crate) async fn reconcile_verdict(context: &Context, owner: &Owner) -> Result<Action, Error> {
    let Some(verdict_request) = VerdictRequest::of(context, owner) else {
        context.verdicts.remove(owner);
        return Ok(Action::AwaitChange);
    };
    let now = Instant::now();
    let last = context.verdicts.get(owner);
    if let Some(last) = &last {
        // Not even the pods are looked up for each of many changes in a row.
        let earliest = last.at + MIN_INTERVAL;
        if earliest > now {
            return Ok(Action::RequeueAfter(earliest - now));
        }
    }
    let [registered, others] = context.index().unready_pods_of(owner);
    // Without records the response would change nothing.
    if registered.is_empty() {
        context.verdicts.remove(owner);
        return Ok(Action::AwaitChange);
    }
    let driver = verdict_request.driver(context);
    let version: Option<DriverVersion> = driver.as_ref().ok().map(|driver| {
        let meta = &driver.metadata;
        (meta.uid.clone(), meta.generation)
    });
    let remaining = last
        .as_ref()
        .and_then(|it| it.remaining(&registered, version.as_ref()));
    if let Some(remaining) = remaining {
        return Ok(Action::RequeueAfter(remaining));
    }
    let judged = match driver {
        Ok(driver) => {
            let pods = [&registered[..], &others];
            verdict_request.judge(context, &driver, pods).await
        }
        Err(message) => Err(message),
    };
    let (verdict, failures, wait) = match judged {
        Ok(verdict) => (verdict, 0, spread(context.options.resync_period)),
        Err(message) => {
            let failures = last.map_or(0, |last| last.failures).saturating_add(1);
            let verdict = verdict_request.failed(context, &message, &registered);
            let wait = context.options.backoff.after(failures, jitter());
            (verdict, failures, wait)
        }
    };
    let at = Instant::now();
    let verdict = LastVerdict {
        verdict: Arc::new(verdict),
        at,
        due: at + wait,
        failures,
        driver: version,
    };
    context.verdicts.insert(owner.clone(), verdict);
    let keys = registered.iter().map(|pod| &pod.key);
    context.index().mark_units_of_pods(owner, keys);
    // The verdict may be to deregister pods.
    context.queue.add([Request::high(owner.request_key())]);
    Ok(Action::RequeueAfter(wait))
}

/// An owner's rules about pods that are not ready.
struct VerdictRequest {
    namespace: String,
    regarding: Regarding,
    selection: PodSelection,
    webhook: Option<DeregisterWebhook>,
}

impl VerdictRequest {
    /// None if the owner's policy is not `Webhook`, or the owner is deleted.
    fn of(context: &Context, owner: &Owner) -> Option<Self> {
        let index = context.index();
        let object = index.backend_owner(owner)?;
        let metadata = object.metadata();
        let is_silent = metadata.deletion_timestamp.is_some() || names::is_paused(metadata);
        if object.deregister_policy() != Some(DeregisterPolicy::Webhook) || is_silent {
            return None;
        }
        let selection = match object.pods() {
            Some(pods) => pods.clone(),
            None => index.pods_behind(owner)?,
        };
        Some(Self {
            namespace: owner.key().namespace.to_string(),
            regarding: Regarding::owner(object),
            selection,
            webhook: object.deregister_webhook().cloned(),
        })
    }

    fn driver(&self, context: &Context) -> Result<Arc<LoadBalancerDriver>, String> {
        let Some(webhook) = &self.webhook else {
            return Err("spec.deregisterWebhook: missing, though the policy is Webhook".to_owned());
        };
        let key = names::resolve(&self.namespace, &webhook.driver_name);
        let driver = context.index().find::<LoadBalancerDriver>(&key);
        driver.ok_or_else(|| {
            format!("spec.deregisterWebhook.driverName: LoadBalancerDriver {key} not found")
        })
    }

    /// The driver's verdict. It is not about a pod that was still starting: if that is registered and
    /// unready by now, the driver judges it again.
    async fn judge(
        &self,
        context: &Context,
        driver: &LoadBalancerDriver,
        [registered, others]: [&[Arc<PodView>]; 2],
    ) -> Result<DeregisterVerdict, String> {
        let unready: Vec<&PodView> = registered.iter().chain(others).map(|it| &**it).collect();
        let (pods, kept) = self.call(context, driver, &unready).await?;
        let outcome = VerdictOutcome::of_response(&self.namespace, &kept);
        let names: BTreeSet<&Unit> = registered.iter().map(|pod| &pod.key.name).collect();
        let about = pods.iter().filter(|pod| names.contains(&pod.key.name));
        Ok(DeregisterVerdict::new(about, outcome))
    }

    /// The verdict of the owner's failure policy, where the driver gave none.
    fn failed(
        &self,
        context: &Context,
        message: &str,
        registered: &[Arc<PodView>],
    ) -> DeregisterVerdict {
        let recorder = &context.recorder;
        recorder.record_change(&self.regarding, Warning, reasons::WEBHOOK_FAILED, message);
        let policy = self.webhook.as_ref();
        let policy = policy.and_then(|webhook| webhook.failure_policy);
        let outcome = VerdictOutcome::Failed(policy.unwrap_or_default());
        DeregisterVerdict::new(registered.iter().map(|pod| &**pod), outcome)
    }

    /// Calls the webhook; returns the pods that the call was about, and those that stay registered.
    async fn call(
        &self,
        context: &Context,
        driver: &LoadBalancerDriver,
        unready: &[&PodView],
    ) -> Result<(Vec<PodView>, Vec<KubernetesObject>), String> {
        let pods = self.read_pods(context, unready).await;
        let pods = pods.map_err(|error| format!("reading pods: {}", in_full(&error)))?;
        if pods.is_empty() {
            return Ok((Vec::new(), Vec::new()));
        }
        let asked = pods.iter().map(PodView::of).collect();
        let dry_run = context.options.dry_run;
        let key = ObjectKey::of(driver);
        if dry_run && !driver.spec.accept_dry_run_call {
            return Err(format!("driver {key} accepts no dry-run calls"));
        }
        let (namespace, name) = self.regarding.name();
        let request = JudgePodDeregister {
            dry_run,
            namespace: namespace.to_owned(),
            name: name.to_owned(),
            not_ready_pods: pods.iter().flat_map(KubernetesObject::of).collect(),
        };
        let call = context.drivers.call::<JudgePodDeregister>(driver, &request);
        match call
            .instrument(call_span::<JudgePodDeregister>(driver))
            .await
        {
            Ok(response) if response.succ => Ok((asked, response.do_not_deregister)),
            Ok(response) => Err(format!(
                "driver {key}: webhook judgePodDeregister: succ=false, msg: {}",
                of_driver(&response.msg)
            )),
            Err(error) => Err(of_driver(&in_full(&error))),
        }
    }

    /// Those of the pods that are still neither ready nor being deleted nor finished, whole.
    async fn read_pods(
        &self,
        context: &Context,
        unready: &[&PodView],
    ) -> Result<Vec<Pod>, WriteError> {
        let uids: BTreeMap<&ObjectKey, &str> = unready
            .iter()
            .map(|pod| (&pod.key, pod.uid.as_str()))
            .collect();
        let mut pods = Vec::new();
        match &self.selection.by_label {
            // One request for many pods is cheaper than one for each.
            Some(by_label) => {
                let selector = by_label.selector.iter();
                let selector = selector.map(|(label, value)| format!("{label}={value}"));
                let selector = selector.collect::<Vec<_>>().join(",");
                let mut params = ListParams::default().labels(&selector).limit(PAGE);
                loop {
                    let page = context.cluster.list(&self.namespace, &params).await?;
                    pods.extend(page.items);
                    match page.metadata.continue_ {
                        Some(next) if !next.is_empty() => params = params.continue_token(&next),
                        _ => break,
                    }
                }
            }
            None => {
                for pod in unready {
                    pods.extend(context.cluster.get(&pod.key).await?);
                }
            }
        }
        pods.retain(|pod| {
            let view = PodView::of(pod);
            let is_same = uids.get(&view.key) == Some(&view.uid.as_str());
            is_same && !view.is_available() && !view.deleting && !view.finished
        });
        Ok(pods)
    }
}

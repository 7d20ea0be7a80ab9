//! Asking a driver which pods that are not ready keep their place (b110, b111).

use super::{Answer, Judged, Judgement};
use crate::api::{DeregisterPolicy, DeregisterWebhook, LoadBalancerDriver, PodSelection};
use crate::cluster::EventType::Warning;
use crate::context::Context;
use crate::error_text::in_full;
use crate::index::{Lookup, PodView};
use crate::key::{ObjectKey, Owner, WorkKey};
use crate::names;
use crate::queue::{jitter, spread};
use crate::work::{Progress, Work};
use k8s_openapi::api::core::v1::Pod;
use kube::Resource;
use kube::api::{Api, ListParams};
use lbcf_driver_sdk::webhook::{JudgePodDeregister, JudgePodDeregisterRequest};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;

/// The least time between two questions about the same owner's pods: when many pods change at a
/// time, they are asked about together.
const LEAST_PAUSE: Duration = Duration::from_secs(1);
/// How many pods are fetched with one request.
const PAGE: u32 = 500;

/// Has a driver asked about an owner's pods, where there may be somebody to ask about.
pub(crate) fn wake_judge(context: &Context, owner: &Owner, policy: Option<DeregisterPolicy>) {
    let is_judged =
        policy == Some(DeregisterPolicy::Webhook) && context.index().has_unready_pods(owner);
    if is_judged || context.answer(owner).is_some() {
        let judge = WorkKey::Judgement(owner.clone());
        context.queue.add([Work::in_turn(judge)]);
    }
}

/// Asks the driver of an owner, if somebody is to be asked about now.
pub(crate) async fn judge(context: &Context, owner: &Owner) -> Progress {
    let turn = match owner {
        Owner::Group(key) => {
            let group = context.index().get_group(key).found();
            match group.as_deref() {
                Some(group) if group.metadata.deletion_timestamp.is_none() => {
                    let (spec, pods) = (&group.spec, group.spec.pods.as_ref());
                    let rules = Rules::new(spec.deregister_policy, pods, &spec.deregister_webhook);
                    take_turn(context, owner, group, rules).await
                }
                _ => Turn::Nothing,
            }
        }
        Owner::Bind(key) => {
            let bind = context.index().get_bind(key).found();
            match bind.as_deref() {
                Some(bind) if bind.metadata.deletion_timestamp.is_none() => {
                    let (spec, pods) = (&bind.spec, Some(&bind.spec.pods));
                    let rules = Rules::new(spec.deregister_policy, pods, &spec.deregister_webhook);
                    take_turn(context, owner, bind, rules).await
                }
                _ => Turn::Nothing,
            }
        }
    };
    match turn {
        Turn::Nothing => {
            context.set_answer(owner, None);
            Progress::Settled
        }
        Turn::Answered(wait) => {
            // What was answered may take pods away.
            context.queue.add([Work::first(owner.work())]);
            Progress::After(wait)
        }
        Turn::Wait(wait) => Progress::After(wait),
    }
}

/// What came of asking.
enum Turn {
    /// There is nobody to ask about.
    Nothing,
    /// There is a new answer; ask again after this time.
    Answered(Duration),
    /// What was answered stands; ask again after this time.
    Wait(Duration),
}

/// What an owner says about pods that are not ready.
struct Rules<'a> {
    selection: &'a PodSelection,
    webhook: Option<&'a DeregisterWebhook>,
}

impl<'a> Rules<'a> {
    /// The rules, where a driver decides.
    fn new(
        policy: Option<DeregisterPolicy>,
        selection: Option<&'a PodSelection>,
        webhook: &'a Option<DeregisterWebhook>,
    ) -> Option<Self> {
        let selection = selection.filter(|_| policy == Some(DeregisterPolicy::Webhook))?;
        Some(Self {
            selection,
            webhook: webhook.as_ref(),
        })
    }
}

async fn take_turn<K: Resource<DynamicType = ()>>(
    context: &Context,
    owner: &Owner,
    object: &K,
    rules: Option<Rules<'_>>,
) -> Turn {
    let Some(Rules { selection, webhook }) = rules else {
        return Turn::Nothing;
    };
    let now = Instant::now();
    let last = context.answer(owner);
    if let Some(last) = &last {
        // Nothing is gone through for each of many changes in a row.
        let least = last.at + LEAST_PAUSE;
        if least > now {
            return Turn::Wait(least - now);
        }
    }
    let unready = context.index().unready_pods_of(owner);
    if unready.is_empty() {
        return Turn::Nothing;
    }
    let driver = driver_of(context, owner, webhook);
    let asked = driver.as_ref().ok().map(|driver| {
        let meta = &driver.metadata;
        (meta.uid.clone(), meta.generation)
    });
    if let Some(last) = &last {
        let is_complete = unready.iter().all(|pod| last.judgement.is_about(pod));
        let is_another = last.failures > 0 && last.driver != asked;
        if is_complete && !is_another && last.due > now {
            return Turn::Wait(last.due - now);
        }
    }
    let answered = match driver {
        Ok(driver) => ask(context, owner, selection, &driver, &unready).await,
        Err(message) => Err(message),
    };
    let (pods, said) = match answered {
        Ok((pods, kept)) => {
            let said = Judged::answered(&owner.key().namespace, &kept);
            (pods, said)
        }
        Err(message) => {
            context.report(object, Warning, "WebhookFailed", message);
            let policy = webhook.and_then(|webhook| webhook.failure_policy);
            let pods = unready.iter().map(|pod| (**pod).clone()).collect();
            (pods, Judged::Failed(policy.unwrap_or_default()))
        }
    };
    let failures = match &said {
        Judged::Failed(_) => last.map_or(0, |last| last.failures).saturating_add(1),
        Judged::Kept(_) => 0,
    };
    let wait = if failures > 0 {
        context.options.backoff.after(failures, jitter())
    } else {
        spread(context.options.resync_period)
    };
    let at = Instant::now();
    let answer = Answer {
        judgement: Arc::new(Judgement::new(&pods, said)),
        at,
        due: at + wait,
        failures,
        driver: asked,
    };
    context.set_answer(owner, Some(answer));
    let names: Vec<String> = unready.iter().map(|pod| pod.key.name.clone()).collect();
    context.index().put_back(owner, names.iter());
    Turn::Answered(wait)
}

/// The driver that is to be asked.
fn driver_of(
    context: &Context,
    owner: &Owner,
    webhook: Option<&DeregisterWebhook>,
) -> Result<Arc<LoadBalancerDriver>, String> {
    let Some(webhook) = webhook else {
        return Err("spec.deregisterWebhook: missing, though the policy is Webhook".to_owned());
    };
    let key = names::resolve(&owner.key().namespace, &webhook.driver_name);
    match context.index().get_driver(&key) {
        Lookup::Found(driver) => Ok(driver),
        Lookup::Missing | Lookup::Unreadable => Err(format!(
            "spec.deregisterWebhook.driverName: LoadBalancerDriver {key} not found"
        )),
    }
}

/// Asks; gives the pods that were asked about and those that stay.
async fn ask(
    context: &Context,
    owner: &Owner,
    selection: &PodSelection,
    driver: &LoadBalancerDriver,
    unready: &[Arc<PodView>],
) -> Result<(Vec<PodView>, Vec<Pod>), String> {
    let pods = fetch(context, owner, selection, unready).await?;
    if pods.is_empty() {
        return Ok((Vec::new(), Vec::new()));
    }
    let asked = pods.iter().map(PodView::of).collect();
    let dry_run = context.options.dry_run;
    if dry_run && !driver.spec.accept_dry_run_call {
        let key = ObjectKey::of(driver);
        return Err(format!("driver {key} accepts no dry-run calls"));
    }
    let request = JudgePodDeregisterRequest {
        dry_run,
        not_ready_pods: pods,
    };
    let answer = context
        .drivers
        .call::<JudgePodDeregister>(driver, &request)
        .await;
    match answer {
        Ok(answer) if answer.succ => Ok((asked, answer.do_not_deregister)),
        Ok(answer) => Err(format!(
            "driver {}: webhook judgePodDeregister: succ=false, msg: {}",
            ObjectKey::of(driver),
            answer.msg
        )),
        Err(error) => Err(in_full(&error)),
    }
}

/// The pods whole, as drivers know them: those that are still neither ready nor going.
async fn fetch(
    context: &Context,
    owner: &Owner,
    selection: &PodSelection,
    unready: &[Arc<PodView>],
) -> Result<Vec<Pod>, String> {
    let namespace = &owner.key().namespace;
    let api: Api<Pod> = Api::namespaced(context.client.clone(), namespace);
    let wanted: BTreeMap<&ObjectKey, &str> = unready
        .iter()
        .map(|pod| (&pod.key, pod.uid.as_str()))
        .collect();
    let mut pods = Vec::new();
    match &selection.by_label {
        // One request for many pods is cheaper than one for each.
        Some(by_label) => {
            let selector: Vec<_> = by_label
                .selector
                .iter()
                .map(|(label, value)| format!("{label}={value}"))
                .collect();
            let mut params = ListParams::default()
                .labels(&selector.join(","))
                .limit(PAGE);
            loop {
                let page = within(context, api.list(&params)).await?;
                pods.extend(page.items);
                match page.metadata.continue_ {
                    Some(next) if !next.is_empty() => params = params.continue_token(&next),
                    _ => break,
                }
            }
        }
        None => {
            for pod in unready {
                pods.extend(within(context, api.get_opt(&pod.key.name)).await?);
            }
        }
    }
    pods.retain(|pod| {
        let view = PodView::of(pod);
        wanted.get(&view.key) == Some(&view.uid.as_str()) && !view.is_available() && !view.deleting
    });
    Ok(pods)
}

async fn within<T>(
    context: &Context,
    call: impl Future<Output = kube::Result<T>> + Send,
) -> Result<T, String> {
    match tokio::time::timeout(context.options.write_timeout, call).await {
        Ok(Ok(answer)) => Ok(answer),
        Ok(Err(error)) => Err(format!("fetching pods: {}", in_full(&error))),
        Err(_) => Err("fetching pods: the API server did not answer in time".to_owned()),
    }
}

//! Every state in which an object waits can be left by deleting what was declared: no finalizer has to be removed by hand.

use super::situations::{BASE, Event, Helps, SITUATIONS, Situation};
use super::ways::{NO_WAY, WAYS, Way};
use super::{Lab, has_kubectl};
use crate::concurrently::run_concurrently;
use kube::Api;
use kube::core::{ApiResource, DynamicObject};
use lbcf_controller::api::reasons::CONDITIONS;
use lbcf_controller::api::{BackendGroup, BackendRecord, Bind, LoadBalancer, LoadBalancerDriver};
use lbcf_e2e::{needs_embedded, sample, until};
use lbcf_inspect::Fix;
use serde_json::Value;
use std::collections::BTreeSet;

const DELETE_ALL: &str = "kubectl delete svc,bg,bind,lb --all --wait=false
    kubectl delete lb,lbd --all -n kube-system --wait=false";

type Reasons = BTreeSet<String>;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d122_exhaustive_what_is_broken_can_be_deleted() {
    if needs_embedded("kubectl is given a kubeconfig of it") || !has_kubectl().await {
        return;
    }
    let situations = sample("broken situations", SITUATIONS, 6);
    let ways = sample("waiting states", WAYS, 6);
    let is_all = situations.len() + ways.len() == SITUATIONS.len() + WAYS.len();
    let mut seen = run_concurrently(situations, leave_situation).await;
    seen.extend(run_concurrently(ways.into_iter().copied(), leave_state).await);
    let seen: Reasons = seen.into_iter().flatten().collect();
    let elsewhere: Vec<&str> = NO_WAY.iter().flat_map(|it| it.split(' ')).collect();
    let waits = CONDITIONS
        .iter()
        .filter(|it| !it.advice().starts_with("Nothing to do"));
    let mut unseen = waits.map(|it| &it[..]).collect::<Vec<_>>();
    unseen.retain(|it| !seen.contains(*it) && !elsewhere.contains(it));
    assert!(!is_all || unseen.is_empty(), "who leaves {unseen:?}?");
}

async fn leave_state((reason, breaks, ends): Way) -> Reasons {
    let mut lab = Lab::of(&BASE).await;
    lab.happen(breaks).await;
    let seen = until(reason, async || {
        Some(reasons(&lab).await).filter(|seen| seen.contains(reason))
    });
    let seen = seen.await;
    lab.shell.run(DELETE_ALL).await;
    lab.happen(&[Event::FaultsEnd]).await;
    lab.happen(ends).await;
    until_gone(lab, reason).await;
    seen
}

async fn leave_situation(situation: &'static Situation) -> Reasons {
    let mut lab = Lab::of(situation).await;
    lab.happen(situation.breaks).await;
    let fix = lab.until_cause(situation).await;
    let seen = reasons(&lab).await;
    lab.shell.run(DELETE_ALL).await;
    match (situation.helps, fix) {
        // What is registered in a cloud needs its driver, and what others hold needs them.
        (Helps::Events(events), _) => {
            let is_outside =
                |event: &&Event| situation.ends_gone || !matches!(event, Event::Run(_));
            for event in events.iter().filter(is_outside) {
                lab.happen(std::slice::from_ref(event)).await;
            }
        }
        // No driver is called about what is paused; a group that is gone pauses nothing.
        (Helps::Line, Fix::Run(line)) if situation.cause.contains("paused") => {
            lab.shell.run(&format!("{line} || true")).await;
        }
        (Helps::Line, _) => {}
    }
    until_gone(lab, situation.name).await;
    seen
}

async fn until_gone(lab: Lab, name: &str) {
    until(name, async || objects(&lab).await.is_empty().then_some(())).await;
    println!("{name}: left");
    lab.shell.server.shutdown().await;
}

/// Every object of LBCF's kinds, readable or not.
async fn objects(lab: &Lab) -> Vec<DynamicObject> {
    let mut objects = Vec::new();
    for kind in [
        ApiResource::erase::<BackendRecord>(&()),
        ApiResource::erase::<BackendGroup>(&()),
        ApiResource::erase::<Bind>(&()),
        ApiResource::erase::<LoadBalancer>(&()),
        ApiResource::erase::<LoadBalancerDriver>(&()),
    ] {
        let of_kind: Api<DynamicObject> = Api::all_with(lab.world.client(), &kind);
        objects.extend(of_kind.list(&Default::default()).await.unwrap());
    }
    objects
}

/// The reasons of all conditions.
async fn reasons(lab: &Lab) -> Reasons {
    fn collect(value: &Value, reasons: &mut Reasons) {
        match value {
            Value::Object(members) => {
                reasons.extend(
                    members
                        .get("reason")
                        .and_then(Value::as_str)
                        .map(str::to_owned),
                );
                members.values().for_each(|it| collect(it, reasons));
            }
            Value::Array(items) => items.iter().for_each(|it| collect(it, reasons)),
            _ => {}
        }
    }
    let mut reasons = Reasons::new();
    objects(lab)
        .await
        .iter()
        .for_each(|it| collect(&it.data, &mut reasons));
    reasons
}

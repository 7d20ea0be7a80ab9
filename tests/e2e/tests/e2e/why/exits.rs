//! Every broken situation can be left by deleting what was declared: no finalizer has to be removed by hand.

use super::situations::{Event, Helps, SITUATIONS, Situation};
use super::{Lab, has_kubectl};
use crate::concurrently::run_concurrently;
use kube::Api;
use lbcf_controller::api::{
    BackendGroup, BackendRecord, Bind, LoadBalancer, LoadBalancerDriver, NamespacedKind,
};
use lbcf_e2e::{needs_embedded, sample, until};
use lbcf_inspect::Fix;

const DELETE_ALL: &str = "kubectl delete svc,bg,bind,lb --all --wait=false
    kubectl delete lb,lbd --all -n kube-system --wait=false";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d122_exhaustive_what_is_broken_can_be_deleted() {
    if needs_embedded("kubectl is given a kubeconfig of it") || !has_kubectl().await {
        return;
    }
    let situations = sample("broken situations", SITUATIONS, 6);
    run_concurrently(situations, leave).await;
}

async fn leave(situation: &'static Situation) {
    let mut lab = Lab::of(situation).await;
    lab.happen(situation.breaks).await;
    let fix = lab.until_cause(situation).await;
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
    until(situation.name, async || {
        let left = [
            left::<BackendRecord>(&lab).await,
            left::<BackendGroup>(&lab).await,
            left::<Bind>(&lab).await,
            left::<LoadBalancer>(&lab).await,
            left::<LoadBalancerDriver>(&lab).await,
        ];
        (left.iter().sum::<usize>() == 0).then_some(())
    })
    .await;
    println!("{}: left", situation.name);
    lab.shell.server.shutdown().await;
}

async fn left<K: NamespacedKind>(lab: &Lab) -> usize {
    let objects: Api<K> = Api::all(lab.world.client());
    objects.list(&Default::default()).await.unwrap().items.len()
}

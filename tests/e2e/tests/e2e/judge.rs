//! A driver decides which unready pods stay registered (`deregisterPolicy: Webhook`), for groups and
//! for Binds.

mod calls;
mod failing;
mod verdicts;

use k8s_openapi::api::core::v1::Pod;
use kube::api::{Patch, PatchParams};
use lbcf_controller::Options;
use lbcf_controller::api::{
    BackendGroup, Bind, DeregisterPolicy, DeregisterWebhook, FailurePolicy, LoadBalancer,
};
use lbcf_e2e::manifests::{self, BIND, DRIVER, GROUP, LB, NAMESPACE};
use lbcf_e2e::{DriverProxy, ProxyAction, World, until};
use serde_json::json;
use std::time::Duration;
use tokio::task::JoinHandle;

const JUDGE: &str = "judgePodDeregister";

/// The kind of the object that selects the pods.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Owner {
    Group,
    Bind,
}

impl Owner {
    const ALL: [Self; 2] = [Self::Group, Self::Bind];

    const fn kind(self) -> &'static str {
        match self {
            Self::Group => "BackendGroup",
            Self::Bind => "Bind",
        }
    }

    async fn create(self, world: &World, webhook: DeregisterWebhook) {
        let policy = Some(DeregisterPolicy::Webhook);
        match self {
            Self::Group => {
                world.create(&manifests::load_balancer(LB)).await;
                let mut group = manifests::group(GROUP, &[LB]);
                group.spec.deregister_policy = policy;
                group.spec.deregister_webhook = Some(webhook);
                world.create(&group).await;
            }
            Self::Bind => {
                let mut bind = manifests::bind(BIND, &["left"]);
                bind.spec.deregister_policy = policy;
                bind.spec.deregister_webhook = Some(webhook);
                world.create(&bind).await;
            }
        }
    }

    async fn patch(self, world: &World, patch: serde_json::Value) {
        match self {
            Self::Group => drop(world.patch::<BackendGroup>(NAMESPACE, GROUP, patch).await),
            Self::Bind => drop(world.patch::<Bind>(NAMESPACE, BIND, patch).await),
        }
    }
}

fn webhook(failure_policy: Option<FailurePolicy>) -> DeregisterWebhook {
    DeregisterWebhook {
        driver_name: DRIVER.to_owned(),
        failure_policy,
    }
}

/// A world in which an owner has registered pods `web-0`, `web-1`, ….
struct Setup {
    world: World,
    proxy: DriverProxy,
    controller: JoinHandle<()>,
}

impl Setup {
    async fn new(owner: Owner, pods: usize) -> Self {
        Self::with(owner, pods, webhook(None), World::quick()).await
    }

    /// With webhooks that time out long after the deadline of [`until`]: what a test waits for does
    /// not happen because a call has timed out. The CRDs limit timeouts, so they have no rules.
    async fn with_long_timeout(owner: Owner, pods: usize) -> Self {
        let mut world = World::without_rules().await;
        world.webhook_timeout = Some(Duration::from_secs(3600));
        Self::on(world, owner, pods, webhook(None), World::quick()).await
    }

    async fn with(owner: Owner, pods: usize, webhook: DeregisterWebhook, options: Options) -> Self {
        Self::on(World::new().await, owner, pods, webhook, options).await
    }

    async fn on(
        mut world: World,
        owner: Owner,
        pods: usize,
        webhook: DeregisterWebhook,
        options: Options,
    ) -> Self {
        let proxy = world.start_proxy().await;
        let controller = world.start(options);
        world.create_driver().await;
        let names: Vec<String> = (0..pods).map(|number| format!("web-{number}")).collect();
        for name in &names {
            world.create(&manifests::pod(name)).await;
        }
        owner.create(&world, webhook).await;
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        world.until_targets(&names, "50").await;
        world.until_records(pods).await;
        Self {
            world,
            proxy,
            controller,
        }
    }

    /// The pods that each call was about.
    fn judged_pods(&self) -> Vec<Vec<String>> {
        let calls = self.proxy.calls_of(JUDGE);
        calls.iter().map(|call| call.pods()).collect()
    }

    async fn until_called(&self, times: usize) {
        until(
            &format!("the driver was called {times} times"),
            async || (self.judged_pods().len() >= times).then_some(()),
        )
        .await;
    }

    /// From now on the driver keeps these pods, and responds with nothing but their names.
    fn keep(&self, pods: &'static [&'static str]) {
        let kept: Vec<_> = pods
            .iter()
            .map(|name| json!({"metadata": {"name": name}}))
            .collect();
        let answer = json!({"succ": true, "doNotDeregister": kept});
        self.proxy.rule(move |call| match call.webhook.as_str() {
            JUDGE => ProxyAction::reply_json(&answer),
            _ => ProxyAction::Forward,
        });
    }

    /// Makes a pod unready and its phase Failed.
    async fn fail_pod(&self, pod: &str) {
        let failed = json!({"status": {
            "phase": "Failed", "conditions": [{"type": "Ready", "status": "False"}],
        }});
        self.world
            .api::<Pod>(NAMESPACE)
            .patch_status(pod, &PatchParams::default(), &Patch::Strategic(failed))
            .await
            .unwrap();
    }

    /// Deletes everything and checks that nothing is left.
    async fn end(self) {
        let world = &self.world;
        world.delete::<Bind>(NAMESPACE, BIND).await;
        world.delete::<BackendGroup>(NAMESPACE, GROUP).await;
        world.delete::<LoadBalancer>(NAMESPACE, LB).await;
        world.until_deleted::<Bind>(NAMESPACE, BIND).await;
        world.delete_basics().await;
        self.controller.abort();
    }
}

//! What is changed: an object of every kind and shape, all registered.

use k8s_openapi::api::core::v1::{Pod, Service};
use kube::Resource;
use kube::api::{Api, ApiResource, DynamicObject, ListParams};
use kube::core::NamespaceResourceScope;
use lbcf_controller::Options;
use lbcf_controller::api::{
    BackendGroup, BackendRecord, Bind, LoadBalancer, LoadBalancerDriver, ServiceMode,
};
use lbcf_e2e::manifests::{self, BIND, CLASS, DRIVER, GROUP, LB, NAMESPACE, SERVICE, SYSTEM};
use lbcf_e2e::{CONTROLLER, DriverProxy, World, until};
use serde_json::{Value, json};
use std::time::Duration;
use tokio::task::JoinHandle;
use tokio::time::Instant;

/// So long nothing happens before everything counts as being at rest: longer than the back-offs of the controller.
const QUIET: Duration = Duration::from_millis(300);
/// The longest that is waited for rest: what fails is tried again for ever.
const LONGEST: Duration = Duration::from_millis(1500);

/// The objects that are changed.
pub(super) fn targets() -> Vec<Target> {
    let of = |kind, namespace, name| Target {
        kind,
        namespace,
        name,
    };
    let driver = ApiResource::erase::<LoadBalancerDriver>(&());
    let group = ApiResource::erase::<BackendGroup>(&());
    let bind = ApiResource::erase::<Bind>(&());
    vec![
        of(driver, SYSTEM, DRIVER),
        of(ApiResource::erase::<LoadBalancer>(&()), NAMESPACE, LB),
        of(group.clone(), NAMESPACE, GROUP),
        of(group.clone(), NAMESPACE, "nodes"),
        of(group.clone(), NAMESPACE, "endpoints"),
        of(group, NAMESPACE, "static"),
        of(bind.clone(), NAMESPACE, BIND),
        of(bind, NAMESPACE, "bind-of-service"),
        // One of the group of pods.
        of(ApiResource::erase::<BackendRecord>(&()), NAMESPACE, ""),
    ]
}

#[derive(Debug, Clone)]
pub(super) struct Target {
    pub(super) kind: ApiResource,
    pub(super) namespace: &'static str,
    pub(super) name: &'static str,
}

pub(super) struct Scene {
    pub(super) world: World,
    pub(super) proxy: DriverProxy,
    pub(super) controller: JoinHandle<()>,
}

impl Scene {
    pub(super) async fn start() -> Self {
        Self::with(World::quick()).await
    }

    pub(super) async fn with(options: Options) -> Self {
        let mut world = World::new().await;
        let proxy = world.start_proxy().await;
        let controller = world.start(options);
        world.create_class_driver(ServiceMode::Endpoints).await;
        world.create_pods(2).await;
        world.create(&manifests::service(SERVICE, 30080)).await;
        world
            .create(&manifests::balanced_service("balanced", Some(CLASS), &[80]))
            .await;
        for lb in [LB, "nodes-lb", "endpoints-lb", "static-lb"] {
            let mut new = manifests::load_balancer(lb);
            new.spec.attributes = [("name", lb)].into();
            world.create(&new).await;
        }
        world.create(&manifests::group(GROUP, &[LB])).await;
        world
            .create(&manifests::service_group("nodes", SERVICE, &["nodes-lb"]))
            .await;
        world
            .create(&manifests::endpoint_group(
                "endpoints",
                SERVICE,
                &["endpoints-lb"],
            ))
            .await;
        let mut addresses = manifests::group("static", &["static-lb"]);
        addresses.spec.pods = None;
        addresses.spec.static_addresses = vec!["1.1.1.1:80".into(), "2.2.2.2:80".into()];
        world.create(&addresses).await;
        world.create(&manifests::bind(BIND, &["left"])).await;
        let bind = manifests::service_bind(
            "bind-of-service",
            SERVICE,
            ServiceMode::NodePort,
            &["right"],
        );
        world.create(&bind).await;
        let scene = Self {
            world,
            proxy,
            controller,
        };
        scene.world.until_records(14).await;
        until("everything is ready", async || {
            let state = scene.state().await.to_string();
            (!state.contains(r#"["Ready","False""#)).then_some(())
        })
        .await;
        scene.rest().await;
        scene
    }

    pub(super) fn api(&self, target: &Target) -> Api<DynamicObject> {
        Api::namespaced_with(self.world.client(), target.namespace, &target.kind)
    }

    /// A target; the name of a record follows from what it is for.
    pub(super) async fn get(&self, target: &Target) -> DynamicObject {
        let mut name = target.name.to_owned();
        if name.is_empty() {
            let records: Vec<BackendRecord> = self.world.all().await;
            let mut of_pods = records.into_iter().filter(|it| it.spec.lb_name == LB);
            let first = of_pods.next().and_then(|it| it.metadata.name);
            name = first.expect("the group has records");
        }
        self.api(target).get(&name).await.expect("it exists")
    }

    /// Waits until nothing has happened for a time.
    pub(super) async fn rest(&self) {
        let deadline = Instant::now() + LONGEST;
        let (mut before, mut since) = (self.activity(), Instant::now());
        while since.elapsed() < QUIET && Instant::now() < deadline {
            tokio::time::sleep(QUIET / 20).await;
            let now = self.activity();
            if now != before {
                (before, since) = (now, Instant::now());
            }
        }
    }

    /// Writes and calls of the controller so far.
    fn activity(&self) -> (u64, usize) {
        let requests = self.world.cluster.requests();
        let writes = requests.count(|key| key.user_agent == CONTROLLER && key.is_write());
        (writes, self.proxy.count())
    }

    /// Cloud and objects, without what differs each time: identities, versions and times.
    pub(super) async fn state(&self) -> Value {
        let cloud = self.world.cloud.observe();
        let lbs = cloud.load_balancers.iter();
        let ids: Vec<&String> = lbs.flat_map(|lb| lb.lb_info.values()).collect();
        let mut lbs = serde_json::to_value(&cloud.load_balancers).unwrap();
        sort(&mut lbs);
        let objects = json!({
            "drivers": self.of::<LoadBalancerDriver>().await,
            "loadBalancers": self.of::<LoadBalancer>().await,
            "groups": self.of::<BackendGroup>().await,
            "binds": self.of::<Bind>().await,
            "records": self.of::<BackendRecord>().await,
            "services": self.of::<Service>().await,
            "pods": self.of::<Pod>().await,
        });
        let mut text = json!({"cloud": lbs, "objects": objects}).to_string();
        for id in ids {
            text = text.replace(id.as_str(), "ID");
        }
        serde_json::from_str(&text).unwrap()
    }

    async fn of<K: Resource<DynamicType = (), Scope = NamespaceResourceScope>>(&self) -> Value {
        let kind = ApiResource::erase::<K>(&());
        let all: Api<DynamicObject> = Api::all_with(self.world.client(), &kind);
        let objects = all.list(&ListParams::default()).await.unwrap().items;
        let objects = objects.into_iter().map(|object| {
            let name = object.metadata.name.filter(|_| kind.kind != "BackendRecord");
            let (spec, mut status) = (&object.data["spec"], object.data["status"].clone());
            simplify(&mut status);
            json!({"name": name, "spec": spec, "status": status, "finalizers": object.metadata.finalizers})
        });
        let mut objects = Value::Array(objects.collect());
        sort(&mut objects);
        objects
    }
}

/// Leaves out generations and times, and what conditions say beyond their reason.
fn simplify(status: &mut Value) {
    match status {
        Value::Object(fields) => {
            fields.retain(|name, _| !name.ends_with("Time") && name != "observedGeneration");
            fields.values_mut().for_each(simplify);
            if let (Some(type_), Some(reason)) = (fields.get("type"), fields.get("reason")) {
                *status = json!([type_, fields["status"], reason]);
            }
        }
        Value::Array(items) => {
            items.iter_mut().for_each(simplify);
            // What was wrong once and is not any longer.
            items.retain(|condition| condition[2] != "Resolved");
        }
        _ => {}
    }
}

fn sort(list: &mut Value) {
    let items = list.as_array_mut().expect("a list");
    items.sort_by_cached_key(Value::to_string);
}

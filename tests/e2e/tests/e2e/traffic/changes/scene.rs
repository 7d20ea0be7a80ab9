//! What a change is made in: pods that are registered in one way or another, and a cloud that takes its time.

use super::super::{http_load_balancer, serving_pod};
use k8s_openapi::api::core::v1::Pod;
use lbcf_controller::Options;
use lbcf_controller::api::{Bind, ServiceMode, StringMap};
use lbcf_e2e::manifests::{self, BIND, CLASS, GROUP, LB, SERVICE};
use lbcf_e2e::{DriverProxy, ProxiedCall, ProxyAction, World, scrambled};
use mock_driver::{Traffic, TrafficOptions};
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;
use tokio::task::JoinHandle;

/// The longest time that the cloud takes for a call, in milliseconds.
const SLOW: u64 = 500;
pub(super) const OUTAGE: Duration = Duration::from_millis(1500);
pub(super) const BLUE: [&str; 2] = ["web-0", "web-1"];
pub(super) const GREEN: [&str; 2] = ["green-0", "green-1"];
/// A load balancer without backends.
pub(super) const OTHER_LB: &str = "other-lb";

/// What has registered the blue pods.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Before {
    Group,
    GroupByName,
    /// And another one has registered the green pods.
    TwoGroups,
    GroupOfService,
    Bind,
    /// A Bind at a load balancer that exists, and that a LoadBalancer is about, too.
    BindAndLoadBalancer,
    /// A Service of the driver's class.
    ClassService,
}

pub(super) struct Scene {
    _traffic: Traffic,
    pub(super) world: World,
    proxy: DriverProxy,
    options: Options,
    controller: JoinHandle<()>,
    seed: u64,
    /// That of the clients.
    pub(super) excused: Arc<AtomicBool>,
}

impl Scene {
    /// Registers the blue pods; green ones are there, too. From then on the cloud is slow.
    pub(super) async fn start(before: Before, seed: u64, options: Options) -> Self {
        let mut world = World::with_pod_traffic().await;
        let proxy = world.start_proxy().await;
        let scene = Self {
            _traffic: Traffic::start(&world.cloud, TrafficOptions::default()),
            controller: world.start(options.clone()),
            world,
            proxy,
            options,
            seed,
            excused: Arc::default(),
        };
        let world = &scene.world;
        match before {
            Before::ClassService => world.create_class_driver(ServiceMode::Endpoints).await,
            _ => world.create_driver().await,
        }
        for (app, names) in [("web", BLUE), ("green", GREEN)] {
            for name in names {
                world.create(&pod(app, name)).await;
            }
        }
        scene.register(before).await;
        scene.slow_unless(|_| None);
        scene
    }

    async fn register(&self, before: Before) {
        let world = &self.world;
        let mut load_balancer = http_load_balancer(LB, "80");
        if before == Before::BindAndLoadBalancer {
            load_balancer.spec.lb_spec = existing();
        }
        world.create(&load_balancer).await;
        world.create(&http_load_balancer(OTHER_LB, "80")).await;
        let mut service = manifests::service(SERVICE, 30_080);
        if before == Before::ClassService {
            service = manifests::balanced_service(SERVICE, Some(CLASS), &[80]);
            let ports = service.spec.as_mut().unwrap().ports.as_mut().unwrap();
            ports[0].target_port = serde_json::from_value(json!(80)).unwrap();
        }
        world.create(&service).await;
        let mut group = manifests::group(GROUP, &[LB]);
        match before {
            Before::Group | Before::ClassService => {}
            Before::GroupByName => {
                let pods = group.spec.pods.as_mut().unwrap();
                pods.by_label = None;
                pods.by_name = BLUE.map(str::to_owned).to_vec();
            }
            Before::TwoGroups => {
                let mut other = manifests::group("other", &[LB]);
                let labels = other.spec.pods.as_mut().unwrap().by_label.as_mut().unwrap();
                labels.selector.insert("app".into(), "green".into());
                world.create(&other).await;
            }
            Before::GroupOfService => {
                group = manifests::endpoint_group(GROUP, SERVICE, &[LB]);
                // A name only selects: the number stays.
                group.spec.service.as_mut().unwrap().port =
                    serde_json::from_value(json!({"port": 80, "protocol": "TCP"})).unwrap();
            }
            Before::Bind | Before::BindAndLoadBalancer => {
                world.create(&bind(load_balancer.spec.lb_spec)).await;
            }
        }
        if !matches!(
            before,
            Before::Bind | Before::BindAndLoadBalancer | Before::ClassService
        ) {
            world.create(&group).await;
        }
        let green = usize::from(before == Before::TwoGroups) * GREEN.len();
        world.until_registered(BLUE.len() + green).await;
    }

    /// The cloud takes its time for each call from now on that nothing else happens to.
    pub(super) fn slow_unless(
        &self,
        other: impl Fn(&ProxiedCall) -> Option<ProxyAction> + Send + Sync + 'static,
    ) {
        let seed = self.seed;
        self.proxy.rule(move |call| {
            let number = u64::try_from(call.number).unwrap();
            let slow = Duration::from_millis(scrambled(seed, number) % SLOW);
            other(call).unwrap_or(ProxyAction::Delay(slow))
        });
    }

    /// The same happens to every call for a while.
    pub(super) async fn outage(&self, action: ProxyAction) {
        self.slow_unless(move |_| Some(action.clone()));
        tokio::time::sleep(OUTAGE).await;
        self.slow_unless(|_| None);
    }

    /// A part of the time that the cloud takes for a call, by seed.
    pub(super) async fn moment(&self, number: u64) {
        let moment = scrambled(!self.seed, number) % SLOW;
        tokio::time::sleep(Duration::from_millis(moment)).await;
    }

    /// Waits until the cloud has carried out a call that was sent before.
    pub(super) async fn one_call(&self) {
        tokio::time::sleep(Duration::from_millis(SLOW)).await;
    }

    /// Kills the controller; others may be started.
    pub(super) async fn kill_controller(&mut self) {
        self.controller.abort();
        let _ = (&mut self.controller).await;
    }

    pub(super) async fn restart_controller(&mut self) {
        self.kill_controller().await;
        self.controller = self.world.start(self.options.clone());
    }
}

/// The pod of an app, which serves on two ports.
pub(super) fn pod(app: &str, name: &str) -> Pod {
    let mut pod = serving_pod(name);
    let labels = pod.metadata.labels.get_or_insert_default();
    labels.insert("app".into(), app.into());
    let containers = &mut pod.spec.as_mut().unwrap().containers;
    let ports = json!([{"containerPort": 80}, {"containerPort": 81}]);
    containers[0].ports = serde_json::from_value(ports).unwrap();
    pod
}

pub(super) fn bind(lb_spec: StringMap) -> Bind {
    let mut bind = manifests::bind(BIND, &["lb"]);
    bind.spec.load_balancers[0].spec = lb_spec;
    bind
}

/// A load balancer that the cloud has from the start.
pub(super) fn existing() -> StringMap {
    StringMap::from([("lbID", "lb-1234"), ("lblID", "lbl-2234")])
}

//! Services of type LoadBalancer, whose class a driver has.

mod addresses;
mod azure;
mod bad_input;
mod fields;
mod life;
mod others;

use k8s_openapi::api::core::v1::{Event, LoadBalancerIngress, Service};
use lbcf_controller::api::{BackendGroup, LoadBalancer, ServiceMode};
use lbcf_controller::names::{ANNOTATION_SERVICE_CLASS, FINALIZER_SERVICE};
use lbcf_e2e::manifests::{self, SERVICE};
use lbcf_e2e::{World, until, until_is};
use std::collections::{BTreeMap, BTreeSet};
use tokio::task::JoinHandle;

/// A world with a driver that has the class, and a controller.
async fn setup(mode: ServiceMode) -> (World, JoinHandle<()>) {
    let world = World::new().await;
    let controller = world.start(World::quick());
    world.create_class_driver(mode).await;
    (world, controller)
}

async fn create_pods(world: &World, pods: usize) {
    for number in 0..pods {
        let pod = manifests::pod(&format!("web-{number}"));
        world.create(&pod).await;
    }
}

async fn service(world: &World) -> Service {
    world.get::<Service>(SERVICE).await
}

fn ingress_of(service: &Service) -> Vec<LoadBalancerIngress> {
    let status = service.status.clone().unwrap_or_default();
    status
        .load_balancer
        .and_then(|it| it.ingress)
        .unwrap_or_default()
}

fn finalizers(service: &Service) -> Vec<String> {
    service.metadata.finalizers.clone().unwrap_or_default()
}

/// Waits until the Service's status has an address for each of these ports.
async fn until_ports(world: &World, ports: &[i32]) {
    until_is("ports in the status", ports.to_vec(), async || {
        let ingress = ingress_of(&service(world).await);
        let ports = ingress
            .into_iter()
            .flat_map(|it| it.ports.unwrap_or_default());
        let mut ports: Vec<i32> = ports.map(|port| port.port).collect();
        ports.sort_unstable();
        ports
    })
    .await;
}

/// Waits until each of these listeners has as many targets.
async fn until_listeners(world: &World, expected: &[(&str, usize)]) {
    let expected: BTreeMap<String, usize> = expected
        .iter()
        .map(|&(port, count)| (port.to_owned(), count))
        .collect();
    until_is("targets of listeners", expected, async || {
        let lbs: Vec<LoadBalancer> = world.all().await;
        let observed = world.cloud.observe().load_balancers;
        let found = lbs.iter().filter_map(|lb| {
            let info = &lb.status.as_ref()?.lb_info;
            let id = info.get("lbID")?;
            let in_cloud = observed.iter().find(|it| it.lb_info["lbID"] == *id)?;
            Some((
                lb.spec.lb_spec["lbListenerPort"].clone(),
                in_cloud.backends.len(),
            ))
        });
        let found: BTreeMap<String, usize> = found.collect();
        // Nothing else is in the cloud.
        if found.len() == observed.len() {
            found
        } else {
            BTreeMap::new()
        }
    })
    .await;
}

/// Waits until neither the cloud nor the cluster has anything of the Service, which stays.
async fn until_released(world: &World) {
    until("the service is released", async || {
        let service = service(world).await;
        let annotations = service.metadata.annotations.clone().unwrap_or_default();
        let is_marked = annotations.contains_key(ANNOTATION_SERVICE_CLASS)
            || finalizers(&service).contains(&FINALIZER_SERVICE.to_owned());
        let is_released = !is_marked
            && ingress_of(&service).is_empty()
            && world.all::<LoadBalancer>().await.is_empty()
            && world.all::<BackendGroup>().await.is_empty()
            && world.cloud.observe().load_balancers.is_empty();
        is_released.then_some(())
    })
    .await;
}

/// The reasons of a Service's events.
async fn reasons(world: &World) -> BTreeSet<String> {
    let events = world.all::<Event>().await.into_iter();
    let of_service = events.filter(|event| {
        event.involved_object.kind.as_deref() == Some("Service")
            && event.involved_object.name.as_deref() == Some(SERVICE)
    });
    of_service.filter_map(|event| event.reason).collect()
}

/// Waits until the Service has a Warning whose message contains this.
async fn until_warned(world: &World, text: &str) {
    until(&format!("a warning of {text:?}"), async || {
        let mut events = world.all::<Event>().await.into_iter();
        let found = events.any(|event| {
            event.reason.as_deref() == Some("SyncLoadBalancerFailed")
                && event.type_.as_deref() == Some("Warning")
                && event.message.unwrap_or_default().contains(text)
        });
        found.then_some(())
    })
    .await;
}

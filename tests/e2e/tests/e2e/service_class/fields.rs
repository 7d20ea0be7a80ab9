//! What the fields of a Service and of its class lead to.

use super::{
    create_pods, ingress_of, service, setup, until_listeners, until_ports, until_released,
};
use k8s_openapi::api::core::v1::{Pod, Service};
use lbcf_controller::api::{
    BackendGroup, LoadBalancer, LoadBalancerDriver, LoadBalancersOfService, ServiceMode,
};
use lbcf_e2e::manifests::{self, CLASS, DRIVER, NAMESPACE, NODES, SERVICE, SYSTEM};
use lbcf_e2e::{World, until, until_is};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Changes the class before there is a Service.
async fn change_class(world: &World, class: Value) {
    let patch = json!({"spec": {"serviceClass": class}});
    world
        .patch::<LoadBalancerDriver>(SYSTEM, DRIVER, patch)
        .await;
}

async fn delete_all(world: &World) {
    world.delete::<Service>(NAMESPACE, SERVICE).await;
    world.until_deleted::<Service>(NAMESPACE, SERVICE).await;
    world.delete_basics().await;
}

/// Waits until the only load balancer in the cloud has this attribute.
async fn until_attribute(world: &World, name: &str, expected: &str) {
    until(&format!("{name} is {expected}"), async || {
        let observed = world.cloud.observe().load_balancers;
        let lb = observed.first()?;
        (lb.attributes.get(name).map(String::as_str) == Some(expected)).then_some(())
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn u16_d75_traffic_that_stays_on_its_node_reaches_only_nodes_with_pods() {
    let (world, _controller) = setup(ServiceMode::NodePort).await;
    let fields = json!({"externalTrafficPolicy": "traffic"});
    change_class(&world, json!({ "serviceFields": fields })).await;
    create_pods(&world, 1).await;
    let mut new = manifests::balanced_service(SERVICE, Some(CLASS), &[80]);
    new.spec.as_mut().unwrap().external_traffic_policy = Some("Local".to_owned());
    world.create(&new).await;
    until_listeners(&world, &[("80", 1)]).await;
    until_attribute(&world, "traffic", "Local").await;
    let pod = world.get::<Pod>("web-0").await;
    let node = pod.spec.unwrap().node_name.unwrap();
    let (_, address) = NODES.into_iter().find(|(name, _)| *name == node).unwrap();
    assert_eq!(world.targets()[0].0, address);

    let cluster = json!({"spec": {"externalTrafficPolicy": "Cluster"}});
    world.patch::<Service>(NAMESPACE, SERVICE, cluster).await;
    until_listeners(&world, &[("80", 2)]).await;
    until_attribute(&world, "traffic", "Cluster").await;
    let local = json!({"spec": {"externalTrafficPolicy": "Local"}});
    world.patch::<Service>(NAMESPACE, SERVICE, local).await;
    until_listeners(&world, &[("80", 1)]).await;
    world.delete::<Pod>(NAMESPACE, "web-0").await;
    until_listeners(&world, &[("80", 0)]).await;
    delete_all(&world).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn e3_d75_a_service_of_two_families_has_the_endpoints_of_both() {
    let (world, _controller) = setup(ServiceMode::Endpoints).await;
    let fields = json!({"ipFamilies": "families", "ipFamilyPolicy": "policy"});
    change_class(&world, json!({ "serviceFields": fields })).await;
    let mut new = manifests::balanced_service(SERVICE, Some(CLASS), &[80]);
    let spec = new.spec.as_mut().unwrap();
    spec.selector = None;
    spec.ip_families = Some(vec!["IPv4".to_owned(), "IPv6".to_owned()]);
    spec.ip_family_policy = Some("PreferDualStack".to_owned());
    world.create(&new).await;
    for (family, address) in [("IPv4", "10.9.0.1"), ("IPv6", "fd00::9")] {
        let endpoints = manifests::endpoints([address]);
        let mut slice = manifests::endpoint_slice(&family.to_lowercase(), SERVICE, &endpoints);
        family.clone_into(&mut slice.address_type);
        slice.ports.as_mut().unwrap()[0].name = Some("p80".to_owned());
        world.create(&slice).await;
    }
    world.until_bound(&["10.9.0.1:8080", "fd00::9:8080"]).await;
    // A cluster of one family stores only that.
    let stored = service(&world).await.spec.unwrap();
    let families = stored.ip_families.unwrap_or_default().join(",");
    until_attribute(&world, "families", &families).await;
    until_attribute(&world, "policy", &stored.ip_family_policy.unwrap()).await;
    delete_all(&world).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d72_d74_one_load_balancer_has_the_backends_of_all_ports_of_a_service() {
    let (world, _controller) = setup(ServiceMode::Endpoints).await;
    let mut class = manifests::service_class(ServiceMode::Endpoints);
    class.load_balancers = Some(LoadBalancersOfService::PerService);
    class.lb_spec = [
        ("lbVpcID", "vpc-12345678"),
        ("lbListenerPort", "80"),
        ("lbListenerProtocol", "TCP"),
    ]
    .into();
    class.parameters = [("weight", "50"), ("listenerPort", "$(port)")].into();
    change_class(&world, serde_json::to_value(class).unwrap()).await;
    create_pods(&world, 2).await;
    let mut new = manifests::balanced_service(SERVICE, Some(CLASS), &[80, 443]);
    let ports = new.spec.as_mut().unwrap().ports.as_mut().unwrap();
    ports[1].target_port = serde_json::from_value(json!(8443)).unwrap();
    world.create(&new).await;
    until_ports(&world, &[80, 443]).await;
    let ingress = ingress_of(&service(&world).await);
    assert_eq!(ingress.len(), 1, "{ingress:?}");
    // The driver learns from the parameters which port a backend belongs to.
    let ports_of_listeners = || {
        let mut found: BTreeMap<String, usize> = BTreeMap::new();
        let observed = world.cloud.observe().load_balancers;
        for backend in observed.iter().flat_map(|lb| &lb.backends) {
            let port = backend.parameters["listenerPort"].clone();
            *found.entry(port).or_default() += 1;
        }
        (observed.len(), found)
    };
    let both = [("80".to_owned(), 2), ("443".to_owned(), 2)].into();
    until_is("backends by port", (1, both), async || ports_of_listeners()).await;
    assert_eq!(world.all::<LoadBalancer>().await.len(), 1);
    assert_eq!(world.all::<BackendGroup>().await.len(), 2);

    let one = manifests::balanced_service(SERVICE, Some(CLASS), &[80]);
    let one = json!({"spec": {"ports": one.spec.unwrap().ports}});
    world.patch::<Service>(NAMESPACE, SERVICE, one).await;
    let left = [("80".to_owned(), 2)].into();
    until_is("backends by port", (1, left), async || ports_of_listeners()).await;
    until_ports(&world, &[80]).await;
    let id = |ingress: Vec<_>| serde_json::to_value(ingress).unwrap()[0]["hostname"].clone();
    let kept = ingress_of(&service(&world).await);
    assert_eq!(id(kept), id(ingress), "the load balancer stays");
    let cluster_ip = json!({"spec": {"type": "ClusterIP", "loadBalancerClass": null}});
    world.patch::<Service>(NAMESPACE, SERVICE, cluster_ip).await;
    until_released(&world).await;
    delete_all(&world).await;
}

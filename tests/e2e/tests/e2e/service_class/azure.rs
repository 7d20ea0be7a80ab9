//! An annotated Service on the Azure-like cloud, as users of Azure write it.

use super::{create_pods, ingress_of, service};
use k8s_openapi::api::core::v1::Service;
use lbcf_controller::api::{IngressKeys, LoadBalancerDriver, ServiceClass, ServiceMode, StringMap};
use lbcf_e2e::manifests::{self, CLASS, DRIVER, NAMESPACE, SERVICE, SYSTEM};
use lbcf_e2e::{World, until, until_is};
use mock_driver::azure::{AzureApi, AzureState};
use mock_driver::{Cloud, MockOptions, MockServer};
use serde_json::json;
use std::time::Duration;

const PREFIX: &str = "service.beta.kubernetes.io/";
const ANNOTATIONS: [&str; 8] = [
    "azure-load-balancer-internal",
    "azure-load-balancer-internal-subnet",
    "azure-load-balancer-mode",
    "azure-dns-label-name",
    "azure-shared-securityrule",
    "azure-load-balancer-resource-group",
    "azure-allowed-service-tags",
    "azure-load-balancer-tcp-idle-timeout",
];

fn class() -> ServiceClass {
    let attribute = |name: &str| (format!("{PREFIX}{name}"), name.to_owned());
    ServiceClass {
        name: CLASS.to_owned(),
        mode: Some(ServiceMode::Endpoints),
        lb_spec: StringMap::from([
            ("service", "$(namespace)/$(name)"),
            ("port", "$(port)"),
            ("protocol", "$(protocol)"),
        ]),
        attributes: ANNOTATIONS.into_iter().map(attribute).collect(),
        ingress: Some(IngressKeys {
            hostname: None,
            ip: Some("address".to_owned()),
        }),
        ..ServiceClass::default()
    }
}

/// The load balancers with the number of their backends.
fn backends(state: &AzureState) -> Vec<(String, usize)> {
    let all = state.load_balancers.iter();
    all.map(|(id, it)| {
        let pools = it.resource.pools.values();
        let members = pools.map(|pool| pool.members.len()).sum();
        (id.name.clone(), members)
    })
    .collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a13_a26_a28_a29_an_annotated_service_is_served_flipped_and_removed() {
    let world = World::new().await;
    let cloud = Cloud::azure();
    let any = "127.0.0.1:0".parse().unwrap();
    let mock = MockServer::start(cloud.clone(), any, MockOptions::default());
    let mock = mock.await.unwrap();
    let api = AzureApi::new(cloud, Duration::ZERO);
    let _controller = world.start(World::quick());
    let mut driver = manifests::driver(&mock.url());
    driver.spec.service_class = Some(class());
    world.create(&driver).await;
    create_pods(&world, 2).await;

    let mut new = manifests::balanced_service(SERVICE, Some(CLASS), &[80]);
    let annotations = [
        ("azure-dns-label-name", "shop"),
        ("azure-shared-securityrule", "true"),
    ];
    let annotations =
        annotations.map(|(name, value)| (format!("{PREFIX}{name}"), value.to_owned()));
    new.metadata.annotations = Some(annotations.into());
    world.create(&new).await;
    let primary = [("kubernetes".to_owned(), 2)];
    until_is("backends", primary.to_vec(), async || {
        backends(&api.state())
    })
    .await;
    let state = api.state();
    let public_ip = &state.public_ips.values().next().unwrap().resource;
    assert_eq!(public_ip.dns_label.as_deref(), Some("shop"));
    assert_eq!(public_ip.tags["service"], format!("{NAMESPACE}/{SERVICE}"));
    let address = public_ip.address.clone();
    until_is("the address", Some(address), async || {
        let ingress = ingress_of(&service(&world).await);
        ingress.into_iter().next()?.ip
    })
    .await;

    let key = format!("{PREFIX}azure-load-balancer-internal");
    let internal = json!({"metadata": {"annotations": {key: "true"}}});
    world.patch::<Service>(NAMESPACE, SERVICE, internal).await;
    let flipped = [("kubernetes-internal".to_owned(), 2)];
    until_is("backends", flipped.to_vec(), async || {
        backends(&api.state())
    })
    .await;
    assert!(api.state().public_ips.is_empty());

    world.delete::<Service>(NAMESPACE, SERVICE).await;
    world.until_deleted::<Service>(NAMESPACE, SERVICE).await;
    until("nothing is left in the cloud", async || {
        let state = api.state();
        let rules = state.security_groups.values();
        let rules: usize = rules.map(|group| group.resource.rules.len()).sum();
        let left = state.load_balancers.len() + state.public_ips.len() + rules;
        (left == 0).then_some(())
    })
    .await;
    world.delete::<LoadBalancerDriver>(SYSTEM, DRIVER).await;
    mock.stop().await;
}

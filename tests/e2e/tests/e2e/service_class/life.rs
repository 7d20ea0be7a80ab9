//! From creation to deletion.

use super::{
    create_pods, finalizers, ingress_of, reasons, service, setup, until_listeners, until_ports,
    until_released,
};
use k8s_openapi::api::core::v1::Service;
use lbcf_controller::api::{BackendGroup, LoadBalancer, ServiceMode};
use lbcf_controller::names::{ANNOTATION_SERVICE_CLASS, FINALIZER_SERVICE};
use lbcf_e2e::manifests::{self, CHARGE_TYPE, CLASS, NAMESPACE, SERVICE};
use lbcf_e2e::{World, until};
use serde_json::json;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d72_d73_d74_a_service_has_load_balancers_targets_and_addresses_until_it_is_deleted() {
    let (world, _controller) = setup(ServiceMode::Endpoints).await;
    create_pods(&world, 3).await;
    let new = manifests::balanced_service(SERVICE, Some(CLASS), &[80, 443]);
    world.create(&new).await;
    until_listeners(&world, &[("80", 3), ("443", 3)]).await;
    until_ports(&world, &[80, 443]).await;
    let stored = service(&world).await;
    assert_eq!(finalizers(&stored), [FINALIZER_SERVICE]);
    let annotations = stored.metadata.annotations.as_ref().unwrap();
    assert_eq!(annotations[ANNOTATION_SERVICE_CLASS], CLASS);
    let lbs: Vec<LoadBalancer> = world.all().await;
    for entry in ingress_of(&stored) {
        let hostname = entry.hostname.unwrap();
        let mut lbs = lbs.iter();
        let lb = lbs.find(|lb| lb.status.as_ref().unwrap().lb_info["lbID"] == hostname);
        let port = &entry.ports.unwrap()[0];
        assert_eq!(
            lb.unwrap().spec.lb_spec["lbListenerPort"],
            port.port.to_string()
        );
        assert_eq!((port.protocol.as_str(), entry.ip), ("TCP", None));
    }
    until("the events are written", async || {
        let reasons = reasons(&world).await;
        let expected = ["EnsuredLoadBalancer", "EnsuringLoadBalancer"].map(str::to_owned);
        (reasons == expected.into()).then_some(())
    })
    .await;
    world.until_settled().await;

    world.delete::<Service>(NAMESPACE, SERVICE).await;
    world.until_deleted::<Service>(NAMESPACE, SERVICE).await;
    assert!(world.cloud.observe().load_balancers.is_empty());
    assert!(world.all::<LoadBalancer>().await.is_empty());
    assert!(world.all::<BackendGroup>().await.is_empty());
    until("the events are written", async || {
        let reasons = reasons(&world).await;
        let are_there = ["DeletingLoadBalancer", "DeletedLoadBalancer"];
        are_there
            .iter()
            .all(|it| reasons.contains(*it))
            .then_some(())
    })
    .await;
    assert!(!reasons(&world).await.contains("SyncLoadBalancerFailed"));
    world.delete_basics().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d72_at_rest_a_service_costs_no_write_and_what_a_user_edits_one() {
    let (world, _controller) = setup(ServiceMode::NodePort).await;
    create_pods(&world, 1).await;
    let mut new = manifests::balanced_service(SERVICE, Some(CLASS), &[80]);
    let charge = (CHARGE_TYPE.to_owned(), "MONTHLY".to_owned());
    new.metadata.annotations = Some([charge].into());
    world.create(&new).await;
    // Both nodes.
    until_listeners(&world, &[("80", 2)]).await;
    until_ports(&world, &[80]).await;
    world.until_settled().await;
    assert_eq!(
        world.cloud.observe().load_balancers[0].attributes["chargeType"],
        "MONTHLY"
    );

    let before = world.cost();
    let lb = world.all::<LoadBalancer>().await.remove(0);
    let name = lb.metadata.name.clone().unwrap();
    let edited = json!({"spec": {"attributes": {"chargeType": "FREE"}}});
    world.patch::<LoadBalancer>(NAMESPACE, &name, edited).await;
    until("the attribute is back", async || {
        let lb = world.get::<LoadBalancer>(&name).await;
        let status = lb.status.as_ref()?;
        (lb.spec == lbs_spec(&world).await && status.has_synced(&lb.spec.attributes)).then_some(())
    })
    .await;
    let group = world.all::<BackendGroup>().await.remove(0);
    let group_name = group.metadata.name.clone().unwrap();
    world.set_weight::<BackendGroup>(&group_name, "7").await;
    until("the weight is back", async || {
        let stored = world.get::<BackendGroup>(&group_name).await;
        let weights = world
            .targets()
            .into_iter()
            .all(|(_, weight)| weight == "50");
        (stored.spec == group.spec && weights).then_some(())
    })
    .await;
    world.until_settled().await;
    assert_eq!(
        world.cost_since(&before).writes("services"),
        0,
        "only the edited objects are written"
    );
    let stored = world.all::<LoadBalancer>().await.remove(0).metadata;
    let since = stored.generation.unwrap() - lb.metadata.generation.unwrap();
    assert_eq!(since, 2, "the edit and one write");
    let stored = world.all::<BackendGroup>().await.remove(0).metadata;
    let since = stored.generation.unwrap() - group.metadata.generation.unwrap();
    assert_eq!(since, 2, "the edit and one write");
    // Attributes follow the annotation.
    let annotation = json!({"metadata": {"annotations": {CHARGE_TYPE: "TRAFFIC"}}});
    world.patch::<Service>(NAMESPACE, SERVICE, annotation).await;
    until("the cloud has the attribute", async || {
        let observed = world.cloud.observe().load_balancers;
        (observed[0].attributes["chargeType"] == "TRAFFIC").then_some(())
    })
    .await;
    world.delete::<Service>(NAMESPACE, SERVICE).await;
    world.until_deleted::<Service>(NAMESPACE, SERVICE).await;
    world.delete_basics().await;
}

async fn lbs_spec(world: &World) -> lbcf_controller::api::LoadBalancerSpec {
    let mut lb = world.all::<LoadBalancer>().await.remove(0);
    lb.spec.attributes = [("chargeType", "MONTHLY")].into();
    lb.spec
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d73_ports_come_and_go_and_a_service_of_another_type_has_nothing() {
    let (world, _controller) = setup(ServiceMode::Endpoints).await;
    create_pods(&world, 2).await;
    let new = manifests::balanced_service(SERVICE, Some(CLASS), &[80, 443]);
    world.create(&new).await;
    until_listeners(&world, &[("80", 2), ("443", 2)]).await;
    let ports = |ports: &[i32]| {
        let other = manifests::balanced_service(SERVICE, Some(CLASS), ports);
        json!({"spec": {"ports": other.spec.unwrap().ports}})
    };
    world
        .patch::<Service>(NAMESPACE, SERVICE, ports(&[80, 81]))
        .await;
    until_listeners(&world, &[("80", 2), ("81", 2)]).await;
    until_ports(&world, &[80, 81]).await;

    let cluster_ip = json!({"spec": {"type": "ClusterIP", "loadBalancerClass": null}});
    world.patch::<Service>(NAMESPACE, SERVICE, cluster_ip).await;
    until_released(&world).await;
    let again = json!({"spec": {"type": "LoadBalancer", "loadBalancerClass": CLASS}});
    world.patch::<Service>(NAMESPACE, SERVICE, again).await;
    until_listeners(&world, &[("80", 2), ("81", 2)]).await;
    until_ports(&world, &[80, 81]).await;
    world.delete::<Service>(NAMESPACE, SERVICE).await;
    world.until_deleted::<Service>(NAMESPACE, SERVICE).await;
    world.delete_basics().await;
}

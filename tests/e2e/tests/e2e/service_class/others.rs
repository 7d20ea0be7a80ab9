//! Services of other controllers.

use super::{create_pods, setup, until_listeners, until_ports};
use k8s_openapi::api::core::v1::Service;
use lbcf_controller::api::{LoadBalancer, ServiceMode};
use lbcf_controller::names::FINALIZER_SERVICE;
use lbcf_e2e::manifests::{self, CLASS, NAMESPACE, SERVICE};
use serde_json::json;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d73_services_without_the_class_are_never_written() {
    let (world, _controller) = setup(ServiceMode::Endpoints).await;
    create_pods(&world, 1).await;
    let before = world.cost();
    let others = [("default", None), ("other", Some("example.com/other"))];
    for (name, class) in others {
        let mut other = manifests::balanced_service(name, class, &[80]);
        // That controller's.
        other.metadata.finalizers = Some(vec![FINALIZER_SERVICE.to_owned()]);
        world.create(&other).await;
        let ingress = json!({"loadBalancer": {"ingress": [{"ip": "192.0.2.1"}]}});
        world
            .patch_status::<Service>(NAMESPACE, name, ingress)
            .await;
        world.delete::<Service>(NAMESPACE, name).await;
    }
    let cluster_ip = json!({"spec": {"type": "ClusterIP", "loadBalancerClass": null}});
    world.patch::<Service>(NAMESPACE, "other", cluster_ip).await;
    // The controller has seen them before this one, which costs it three writes.
    let own = manifests::balanced_service(SERVICE, Some(CLASS), &[80]);
    world.create(&own).await;
    until_listeners(&world, &[("80", 1)]).await;
    until_ports(&world, &[80]).await;
    let cost = world.cost_since(&before);
    let writes = cost.writes("services");
    assert_eq!(writes, 2, "the marks and the address of its own: {cost:?}");
    for (name, _) in others {
        let other = world.get::<Service>(name).await;
        assert_eq!(
            other.metadata.finalizers,
            Some(vec![FINALIZER_SERVICE.to_owned()])
        );
        let none = json!({"metadata": {"finalizers": null}});
        world.patch::<Service>(NAMESPACE, name, none).await;
    }
    assert_eq!(world.all::<LoadBalancer>().await.len(), 1);
    world.delete::<Service>(NAMESPACE, SERVICE).await;
    world.until_deleted::<Service>(NAMESPACE, SERVICE).await;
    world.delete_basics().await;
}

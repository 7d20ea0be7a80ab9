//! Endpoints that are pods, in the slices that the cluster makes.

use k8s_openapi::api::core::v1::Pod;
use kube::api::DeleteParams;
use lbcf_controller::api::{BackendGroup, BackendRecord, DeregisterPolicy, DeregisterWebhook};
use lbcf_e2e::manifests::{self, DRIVER, GROUP, LB, NAMESPACE, SERVICE};
use lbcf_e2e::{CONTROLLER, World, until};
use mock_driver::KEEP_REGISTERED;
use serde_json::json;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn e13_the_pods_of_a_headless_service_are_registered_as_pods_are() {
    let (world, proxy, _controller) = World::behind_proxy(World::quick()).await;
    let mut service = manifests::service_without_selector(SERVICE);
    let spec = service.spec.as_mut().unwrap();
    spec.cluster_ip = Some("None".into());
    spec.selector = Some([("app".to_owned(), "web".to_owned())].into());
    world.create(&service).await;
    world
        .create(&manifests::endpoint_group(GROUP, SERVICE, &[LB]))
        .await;
    world.create_pods(2).await;
    world.until_pods(2).await;
    world.until_counts(GROUP, [2; 4]).await;
    for call in proxy.calls_of("generateBackendAddr") {
        let (pod, endpoint) = (&call.body["podBackend"], &call.body["endpointBackend"]);
        assert_eq!(pod["pod"]["status"]["podIP"], endpoint["address"]);
        assert_eq!(pod["pod"]["spec"]["nodeName"], endpoint["nodeName"]);
        assert_eq!(
            pod["port"],
            json!({"port": 8080, "portNumber": 8080, "protocol": "TCP"})
        );
        assert_eq!(endpoint["port"], 8080);
    }
    let records: Vec<BackendRecord> = world.all().await;
    for record in &records {
        let pod = record.spec.pod_backend.as_ref().unwrap();
        let labels = record.metadata.labels.as_ref().unwrap();
        assert_eq!(labels["lbcf.tkestack.io/backend-pod"], pod.name);
        assert_eq!(labels["lbcf.tkestack.io/backend-service"], SERVICE);
    }
    // One that is not ready is deregistered, one that is replaced gets another record.
    world.set_ready("web-0", false).await;
    world.until_targets(&["web-1"], "50").await;
    world.until_counts(GROUP, [2, 1, 2, 1]).await;
    world.set_ready("web-0", true).await;
    world.delete::<Pod>(NAMESPACE, "web-1").await;
    world.until_pods(1).await;
    world.until_counts(GROUP, [1; 4]).await;
    world.create(&manifests::pod("web-1")).await;
    world.until_pods(2).await;
    world.until_counts(GROUP, [2; 4]).await;
    world.delete_basics().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn e13_a_pod_that_is_gone_at_once_is_not_waited_for() {
    if lbcf_e2e::needs_embedded("slices that follow at once") {
        return;
    }
    let (world, _proxy, _controller) = World::behind_proxy(lbcf_controller::Options {
        endpoint_grace_period: std::time::Duration::from_secs(3600),
        ..World::quick()
    })
    .await;
    world.create(&manifests::service(SERVICE, 30080)).await;
    world
        .create(&manifests::endpoint_group(GROUP, SERVICE, &[LB]))
        .await;
    world.create_pods(2).await;
    world.until_pods(2).await;
    let force = DeleteParams::default().grace_period(0);
    world
        .api::<Pod>(NAMESPACE)
        .delete("web-0", &force)
        .await
        .unwrap();
    world.until_targets(&["web-1"], "50").await;
    world.until_counts(GROUP, [1; 4]).await;
    world.delete_basics().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d62_the_deregister_policies_are_about_the_pods_behind_endpoints() {
    let (world, _proxy, _controller) = World::behind_proxy(World::quick()).await;
    world.create(&manifests::service(SERVICE, 30080)).await;
    let mut group = manifests::endpoint_group(GROUP, SERVICE, &[LB]);
    group.spec.deregister_policy = Some(DeregisterPolicy::Webhook);
    group.spec.deregister_webhook = Some(DeregisterWebhook {
        driver_name: DRIVER.into(),
        failure_policy: None,
    });
    for name in ["web-0", "web-1", "web-2"] {
        let mut pod = manifests::pod(name);
        if name == "web-0" {
            let keep = [(KEEP_REGISTERED.to_owned(), "true".to_owned())];
            pod.metadata.annotations = Some(keep.into());
        }
        world.create(&pod).await;
    }
    world.create(&group).await;
    world.until_pods(3).await;
    world.until_counts(GROUP, [3; 4]).await;
    world.set_ready("web-0", false).await;
    world.set_ready("web-1", false).await;
    world.until_targets(&["web-0", "web-2"], "50").await;
    world.until_counts(GROUP, [3, 2, 3, 2]).await;
    // A pod that runs stays, one that is being deleted does not.
    let policy = json!({"spec": {"deregisterPolicy": "IfNotRunning", "deregisterWebhook": null}});
    world.patch::<BackendGroup>(NAMESPACE, GROUP, policy).await;
    world.set_ready("web-2", false).await;
    until("the endpoint is not ready", async || {
        let group = world.get::<BackendGroup>(GROUP).await;
        let ready = group
            .status?
            .conditions
            .into_iter()
            .find(|it| it.type_ == "Ready")?;
        (ready.reason == "EndpointsNotReady").then_some(())
    })
    .await;
    world.delete::<Pod>(NAMESPACE, "web-0").await;
    world.until_targets(&["web-2"], "50").await;
    let policy = json!({"spec": {"deregisterPolicy": "IfNotReady"}});
    world.patch::<BackendGroup>(NAMESPACE, GROUP, policy).await;
    world.until_targets(&[], "50").await;
    let writes = world.cluster.requests();
    assert!(writes.writes_by(CONTROLLER) > 0);
    world.delete_basics().await;
}

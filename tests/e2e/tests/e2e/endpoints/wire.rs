//! What a driver receives of an endpoint.

use lbcf_controller::api::BackendRecord;
use lbcf_e2e::World;
use lbcf_e2e::manifests::{self, GROUP, LB, SERVICE};
use serde_json::json;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn e5_e11_e12_e13_e18_d69_an_endpoint_without_a_pod_is_sent_with_all_that_is_known_of_it() {
    let (world, proxy, _controller) = World::behind_proxy(World::quick()).await;
    world
        .create(&manifests::service_without_selector(SERVICE))
        .await;
    let mut slice = manifests::endpoint_slice(
        "by-hand",
        SERVICE,
        &json!([{
            "addresses": ["10.9.0.1", "10.9.0.2"], "nodeName": "lbcf-e2e-1", "zone": "zone-a",
            "hostname": "db-0", "conditions": {"ready": true},
            "hints": {"forZones": [{"name": "zone-a"}, {"name": "zone-b"}]},
        }]),
    );
    let port = &mut slice.ports.as_mut().unwrap()[0];
    port.app_protocol = Some("example.com/custom".into());
    world.create(&slice).await;
    world
        .create(&manifests::endpoint_group(GROUP, SERVICE, &[LB]))
        .await;
    world.until_bound(&["10.9.0.1:8080"]).await;
    world.until_counts(GROUP, [1; 4]).await;
    let calls = proxy.calls_of("generateBackendAddr");
    let body = &calls[0].body;
    assert_eq!(calls.len(), 1);
    assert_eq!(
        [&body["podBackend"], &body["serviceBackend"]],
        [&json!(null); 2]
    );
    assert_eq!(
        body["endpointBackend"],
        json!({
            "address": "10.9.0.1", "port": 8080, "protocol": "TCP", "addressType": "IPv4",
            "nodeName": "lbcf-e2e-1", "zone": "zone-a", "hostname": "db-0",
            "forZones": ["zone-a", "zone-b"], "appProtocol": "example.com/custom",
            "serving": true, "terminating": false,
            "service": {
                "namespace": manifests::NAMESPACE, "name": SERVICE, "portName": "http",
                "port": {"port": 80, "portNumber": 80, "protocol": "TCP"},
            },
        })
    );
    let records: Vec<BackendRecord> = world.all().await;
    let endpoint = records[0].spec.endpoint_backend.clone().unwrap();
    assert_eq!(
        (endpoint.address.as_str(), endpoint.service.as_str()),
        ("10.9.0.1", SERVICE)
    );
    assert_eq!(records[0].spec.pod_backend, None);
    world.delete_basics().await;
}

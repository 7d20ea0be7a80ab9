use super::*;
use crate::admission::tests::fixture::{driver, load_balancer, object, with};
use crate::drivers::CallCounts;
use crate::index::StoreEvent;
use crate::process::metrics::Metrics;
use crate::process::options::Options;
use http_body_util::Full;
use kube::api::PostParams;
use kube::client::Body;
use local_cluster::{LocalCluster, LocalClusterOptions};
use serde_json::json;
use tokio::time::Instant;

fn context(client: Client) -> Context {
    Context::new(
        client,
        Options::default(),
        CallCounts::default(),
        Metrics::new(),
    )
    .0
}

fn lb() -> LoadBalancer {
    object(load_balancer("lb"))
}

fn key() -> ObjectKey {
    ObjectKey::new("ns", "lb")
}

/// An API server that answers every request with this status, or never.
fn answering(status: Option<u16>) -> Client {
    let service = tower::service_fn(move |_: axum::http::Request<Body>| async move {
        let Some(status) = status else {
            return std::future::pending().await;
        };
        let body = json!({"kind": "Status", "apiVersion": "v1", "status": "Failure", "message": "broken", "code": status,
            "reason": if status == 404 { "NotFound" } else { "" }});
        axum::http::Response::builder()
            .status(status)
            .body(Full::new(axum::body::Bytes::from(body.to_string())))
    });
    Client::new(service, "default")
}

async fn cluster() -> LocalCluster {
    let cluster = LocalCluster::start(LocalClusterOptions::default())
        .await
        .unwrap();
    let client = cluster.client_as("test");
    let crds = Api::all(client.clone());
    for crd in crate::api::crds() {
        crds.create(&PostParams::default(), &crd).await.unwrap();
    }
    let namespaces: Api<k8s_openapi::api::core::v1::Namespace> = Api::all(client);
    let namespace = object(json!({"metadata": {"name": "ns"}}));
    namespaces
        .create(&PostParams::default(), &namespace)
        .await
        .unwrap();
    cluster
}

#[tokio::test]
async fn u28_what_the_index_does_not_know_yet_is_asked_of_the_api_server() {
    let cluster = cluster().await;
    let context = context(cluster.client_as("admission"));
    assert!(context.load_balancer(&key()).await.unwrap().is_none());
    let drivers: Api<LoadBalancerDriver> =
        Api::namespaced(cluster.client_as("test"), "kube-system");
    drivers
        .create(&PostParams::default(), &object(driver("lbcf-d")))
        .await
        .unwrap();
    let lbs: Api<LoadBalancer> = Api::namespaced(cluster.client_as("test"), "ns");
    lbs.create(&PostParams::default(), &lb()).await.unwrap();
    assert!(context.load_balancer(&key()).await.unwrap().is_some());
    assert!(
        context
            .driver(&ObjectKey::new("kube-system", "lbcf-d"))
            .await
            .unwrap()
            .is_some()
    );
}

#[tokio::test]
async fn what_the_index_knows_costs_no_request_unless_it_would_lead_to_a_no() {
    let context = context(answering(Some(500)));
    context.apply::<LoadBalancer>(StoreEvent::Apply(lb()));
    context.apply::<LoadBalancerDriver>(StoreEvent::Apply(object(driver("lbcf-d"))));
    assert!(context.load_balancer(&key()).await.unwrap().is_some());
    let driver_key = ObjectKey::new("kube-system", "lbcf-d");
    assert!(context.driver(&driver_key).await.unwrap().is_some());

    let going = with(
        load_balancer("lb"),
        [
            ("/metadata/deletionTimestamp", json!("2026-01-01T00:00:00Z")),
            ("/metadata/resourceVersion", json!("2")),
            ("/metadata/finalizers", json!(["f"])),
        ],
    );
    context.apply::<LoadBalancer>(StoreEvent::Apply(object(going)));
    assert!(context.load_balancer(&key()).await.is_err());
    let draining = with(
        driver("lbcf-d"),
        [
            (
                "/metadata/labels",
                json!({"lbcf.tkestack.io/driver-draining": "true"}),
            ),
            ("/metadata/resourceVersion", json!("2")),
        ],
    );
    context.apply::<LoadBalancerDriver>(StoreEvent::Apply(object(draining)));
    assert!(context.driver(&driver_key).await.is_err());
}

#[tokio::test]
async fn u28_a_failure_is_not_taken_for_absence() {
    for status in [403, 500] {
        let error = context(answering(Some(status)))
            .load_balancer(&key())
            .await
            .unwrap_err();
        assert!(matches!(error, LookupError::Request(_)), "{error}");
        assert!(
            crate::process::text::in_full(&error).contains("broken"),
            "{error}"
        );
    }
}

#[tokio::test(start_paused = true)]
async fn u28_the_api_server_is_not_waited_for_for_ever() {
    let begin = Instant::now();
    let error = context(answering(None))
        .load_balancer(&key())
        .await
        .unwrap_err();
    assert!(matches!(error, LookupError::Timeout(_)), "{error}");
    assert_eq!(begin.elapsed(), LOOKUP_TIMEOUT);
}

#[tokio::test]
async fn a_name_that_is_none_gets_into_no_path() {
    let context = context(answering(Some(500)));
    for name in ["", "../../secrets/x", "a/b", "A", "lb?watch=true"] {
        assert!(
            context
                .load_balancer(&ObjectKey::new("ns", name))
                .await
                .unwrap()
                .is_none(),
            "{name}"
        );
    }
}

#[tokio::test]
async fn d12_load_balancers_and_records_of_a_driver_are_its_users() {
    let context = context(answering(Some(500)));
    context.apply::<LoadBalancer>(StoreEvent::Apply(lb()));
    context.apply::<BackendRecord>(StoreEvent::Apply(object(json!({
        "apiVersion": "lbcf.tkestack.io/v1beta1",
        "kind": "BackendRecord",
        "metadata": {"name": "r", "namespace": "other"},
        "spec": {"lbDriver": "lbcf-d", "lbName": "lb"},
    }))));
    assert_eq!(
        context
            .users_of_driver(&ObjectKey::new("kube-system", "lbcf-d"))
            .await,
        ["LoadBalancer ns/lb", "BackendRecord other/r"]
    );
    assert_eq!(
        context
            .users_of_driver(&ObjectKey::new("ns", "lbcf-d"))
            .await,
        [""; 0]
    );
}

#[tokio::test]
async fn a_user_that_is_gone_before_the_index_knows_does_not_keep_its_driver() {
    let context = context(answering(Some(404)));
    context.apply::<LoadBalancer>(StoreEvent::Apply(lb()));
    let driver = ObjectKey::new("kube-system", "lbcf-d");
    assert_eq!(context.users_of_driver(&driver).await, [""; 0]);
}

#[tokio::test(start_paused = true)]
async fn a_look_up_that_fails_once_is_tried_again() {
    let asked = Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    let service = tower::service_fn(move |_: axum::http::Request<Body>| {
        let first = count.fetch_add(1, std::sync::atomic::Ordering::SeqCst) == 0;
        async move {
            let (status, body) = if first {
                let body = json!({"kind": "Status", "status": "Failure", "message": "broken", "code": 500});
                (500, body)
            } else {
                (200, load_balancer("lb"))
            };
            axum::http::Response::builder()
                .status(status)
                .body(Full::new(axum::body::Bytes::from(body.to_string())))
        }
    });
    let context = context(Client::new(service, "default"));
    assert!(context.load_balancer(&key()).await.unwrap().is_some());
    assert_eq!(asked.load(std::sync::atomic::Ordering::SeqCst), 2);
}

#[tokio::test]
async fn d33_a_namespace_is_read_live() {
    let cluster = cluster().await;
    let reader = context(cluster.client_as("admission"));
    assert!(!reader.is_namespace_deleting("ns").await.unwrap());
    let mut kept = lb();
    kept.metadata.finalizers = Some(vec!["example.com/hold".into()]);
    let lbs: Api<LoadBalancer> = Api::namespaced(cluster.client_as("test"), "ns");
    lbs.create(&PostParams::default(), &kept).await.unwrap();
    let namespaces: Api<Namespace> = Api::all(cluster.client_as("test"));
    namespaces.delete("ns", &Default::default()).await.unwrap();
    for namespace in ["ns", "gone"] {
        assert!(reader.is_namespace_deleting(namespace).await.unwrap());
    }
    let forbidden = context(answering(Some(403)));
    assert!(forbidden.is_namespace_deleting("ns").await.is_err());
}

//! What differs between a cluster and the cloud, on the page and under `/_mock`.

use crate::support::{Mock, backend, sample};
use axum::body::Body;
use axum::http::StatusCode;
use http_body_util::BodyExt;
use lbcf_driver_sdk::webhook::StringMap;
use mock_driver::{
    ClusterBackend, ClusterLoadBalancer, ClusterReader, ClusterView, Endpoint, MockOptions,
    ObjectReference, Target,
};
use serde_json::json;
use std::sync::{Arc, Mutex};

/// A cluster of which a test decides what is known.
#[derive(Debug)]
struct Known(Mutex<Result<ClusterView, String>>);

impl ClusterReader for Known {
    fn read(&self) -> Result<ClusterView, String> {
        self.0.lock().unwrap().clone()
    }
}

fn mock(known: Result<ClusterView, String>) -> Mock {
    let mut mock = Mock::new();
    mock.start_driver(MockOptions {
        cluster: Some(Arc::new(Known(Mutex::new(known)))),
        ..MockOptions::default()
    });
    mock
}

fn object(name: &str) -> ObjectReference {
    ObjectReference {
        kind: "BackendRecord".into(),
        namespace: "shop".into(),
        name: name.into(),
    }
}

/// A record of an address at the sample load balancer.
fn record(address: &str) -> ClusterBackend {
    ClusterBackend {
        object: object("web-0"),
        lb_info: serde_json::from_value(sample()).unwrap(),
        address: address.into(),
        is_registered: true,
        ..ClusterBackend::default()
    }
}

fn one_record(address: &str) -> ClusterView {
    ClusterView {
        backends: vec![record(address)],
        ..ClusterView::default()
    }
}

async fn page(mock: &Mock) -> String {
    let response = mock.response("GET", "/", Body::empty()).await;
    assert_eq!(response.status(), StatusCode::OK);
    let body = response.into_body().collect().await.unwrap().to_bytes();
    String::from_utf8(body.to_vec()).unwrap()
}

#[tokio::test]
async fn d81_a_backend_that_is_gone_is_shown_until_it_is_back() {
    let mock = mock(Ok(one_record("10.0.0.7:80")));
    let shown = page(&mock).await;
    for part in [
        "BackendRecord shop/web-0",
        "registered, but not in the cloud",
        "lb-1234 · lbl-2234",
        "10.0.0.7:80",
    ] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
    let (status, listed) = mock.send("GET", "/_mock/differences", Body::empty()).await;
    let expected = json!({"differences": [{
        "kind": "backendNotInCloud",
        "object": {"kind": "BackendRecord", "namespace": "shop", "name": "web-0"},
        "lbInfo": sample(),
        "address": "10.0.0.7:80",
    }]});
    assert_eq!((status, listed), (StatusCode::OK, expected));
    let bound = backend(&sample(), "10.0.0.7:80", json!({}));
    mock.succ("ensureBackend", bound).await;
    let shown = page(&mock).await;
    let agree = "Cluster and cloud agree about 0 load balancers and 1 backend.";
    assert!(shown.contains(agree), "{shown}");
    let (_, listed) = mock.send("GET", "/_mock/differences", Body::empty()).await;
    assert_eq!(listed, json!({"differences": []}));
}

#[tokio::test]
async fn d81_a_cluster_that_cannot_be_read_is_no_difference() {
    let mock = mock(Err("binds: connection refused".into()));
    let shown = page(&mock).await;
    let why = "Cannot read the cluster: binds: connection refused";
    assert!(
        shown.contains(why) && shown.contains("lb-1234"),
        "the rest is shown: {shown}"
    );
    let (status, error) = mock.send("GET", "/_mock/differences", Body::empty()).await;
    assert_eq!(status, StatusCode::SERVICE_UNAVAILABLE);
    let expected = json!({"error": "cannot read the cluster: binds: connection refused"});
    assert_eq!(error, expected);
}

#[tokio::test]
async fn d81_without_a_cluster_there_is_nothing_to_compare() {
    let mock = Mock::new();
    assert!(!page(&mock).await.contains("Cluster and cloud"));
    let (status, error) = mock.send("GET", "/_mock/differences", Body::empty()).await;
    assert_eq!(status, StatusCode::NOT_FOUND);
    let text = error["error"].as_str().unwrap();
    assert!(text.contains("--kubeconfig"), "{text}");
}

#[tokio::test]
async fn d81_long_lists_of_differences_end() {
    let record = |number| record(&format!("10.0.0.7:{number}"));
    let mock = mock(Ok(ClusterView {
        backends: (0..101).map(record).collect(),
        ..ClusterView::default()
    }));
    let shown = page(&mock).await;
    let rows = shown.matches("registered, but not in the cloud").count();
    assert_eq!(rows, 100);
    assert!(shown.contains("and 1 more"), "{shown}");
    let (_, listed) = mock.send("GET", "/_mock/differences", Body::empty()).await;
    assert_eq!(listed["differences"].as_array().unwrap().len(), 101);
}

/// Whatever the cluster names, the page has no element of it.
#[tokio::test]
async fn markup_in_every_field_of_the_cluster_is_shown_as_text() {
    let evil = "\"><script>alert(1)</script>'&";
    let object = ObjectReference {
        kind: evil.into(),
        namespace: evil.into(),
        name: evil.into(),
    };
    let lb_info = [("lbID", evil), (evil, evil)].map(|(key, value)| (key.into(), value.into()));
    let in_cloud = ClusterLoadBalancer {
        object: object.clone(),
        lb_info: serde_json::from_value(sample()).unwrap(),
        attributes: [(evil.into(), evil.into())].into(),
        ..ClusterLoadBalancer::default()
    };
    let elsewhere = ClusterLoadBalancer {
        lb_info: lb_info.clone().into(),
        ..in_cloud.clone()
    };
    let bound = ClusterBackend {
        object: object.clone(),
        parameters: [(evil.into(), evil.into()), ("weight".into(), evil.into())].into(),
        ..record("10.0.0.7:80")
    };
    let gone = ClusterBackend {
        object,
        lb_info: lb_info.into(),
        ..record(evil)
    };
    let known = ClusterView {
        load_balancers: vec![in_cloud, elsewhere],
        backends: vec![bound, gone],
    };
    let mock = mock(Ok(known));
    let mut bound = backend(&sample(), "10.0.0.7:80", json!({}));
    bound["recordID"] = json!(evil);
    mock.succ("ensureBackend", bound).await;
    let by_hand = Target {
        weight: 1,
        parameters: StringMap::new(),
        record_id: Some(evil.into()),
    };
    let endpoint = Endpoint {
        load_balancer: "lb-1234".into(),
        listener: "lbl-2234".into(),
        domain: None,
        url: None,
    };
    mock.cloud.bind(&endpoint, evil, by_hand).unwrap();
    let shown = page(&mock).await;
    assert!(!shown.contains("<script>"), "{shown}");
    let section = shown.split("id=\"differences\"").nth(1).unwrap();
    let section = section.split("</section>").next().unwrap();
    let escaped = "&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;";
    for kind in [
        "load balancer is not in the cloud",
        "attributes differ",
        "registered, but not in the cloud",
        "in the cloud, but no record names it",
        "parameters differ",
    ] {
        let row = section.split("<tr>").find(|row| row.contains(kind));
        let row = row.unwrap_or_else(|| panic!("{kind}: {section}"));
        assert!(row.matches(escaped).count() >= 3, "{kind}: {row}");
    }
    let why = self::mock(Err(evil.into()));
    assert!(!page(&why).await.contains("<script>"));
}

//! The mock's own metrics at `/metrics` (d82).

use crate::support::{Mock, backend, create, order, sample};
use axum::body::Body;
use axum::http::StatusCode;
use http_body_util::BodyExt;
use mock_driver::{ListenerProtocol, Quotas, Traffic, TrafficOptions};
use serde_json::json;
use std::collections::BTreeMap;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};
use tokio::time::Instant;

/// The series of the mock's own metrics.
async fn metrics(mock: &Mock) -> BTreeMap<String, u64> {
    let response = mock.response("GET", "/metrics", Body::empty()).await;
    assert_eq!(response.status(), StatusCode::OK);
    let body = response.into_body().collect().await.unwrap().to_bytes();
    let text = String::from_utf8(body.to_vec()).unwrap();
    assert!(
        text.contains("lbcf_driver_calls_total"),
        "the SDK's, too: {text}"
    );
    let series = text.lines().filter(|line| line.starts_with("lbcf_mock_"));
    series
        .map(|line| {
            let (name, value) = line.rsplit_once(' ').unwrap();
            let name = name.strip_prefix("lbcf_mock_").unwrap();
            (name.to_owned(), value.parse().unwrap())
        })
        .collect()
}

/// The value of one series; 0, if it is not there.
async fn metric(mock: &Mock, name: &str) -> u64 {
    metrics(mock).await.get(name).copied().unwrap_or_default()
}

#[tokio::test]
async fn d82_what_the_cloud_has_and_may_have_is_measured() {
    let mock = Mock::with_stages_of(Duration::from_secs(1));
    mock.cloud.set_quotas(Quotas {
        load_balancers: Some(5),
        ..Quotas::default()
    });
    mock.call("createLoadBalancer", create("1", order())).await;
    let endpoint = mock
        .cloud
        .add_listener("lb-1234", ListenerProtocol::Udp, 53, None);
    endpoint.unwrap();
    for address in ["10.0.0.1:80", "10.0.0.2:80"] {
        let bound = backend(&sample(), address, json!({}));
        mock.succ("ensureBackend", bound).await;
    }
    let by_hand = json!({"lbInfo": sample(), "addr": "192.0.2.7:80"});
    mock.post("observe/foreign", by_hand).await;
    let found = metrics(&mock).await;
    let expected = [
        ("load_balancers{state=\"created\"}", 3),
        ("load_balancers{state=\"creating\"}", 1),
        ("listeners{protocol=\"HTTP\"}", 0),
        ("listeners{protocol=\"HTTPS\"}", 0),
        ("listeners{protocol=\"TCP\"}", 3),
        ("listeners{protocol=\"UDP\"}", 1),
        ("targets{bound_by=\"driver\"}", 2),
        ("targets{bound_by=\"hand\"}", 1),
        ("quota_used{quota=\"max-load-balancers\"}", 4),
        ("quota_limit{quota=\"max-load-balancers\"}", 5),
        ("quota_used{quota=\"max-backends\"}", 3),
    ];
    for (name, value) in expected {
        assert_eq!(found.get(name), Some(&value), "{name}: {found:?}");
    }
    let limits = found.keys().filter(|name| name.starts_with("quota_limit"));
    assert_eq!(limits.count(), 1, "only what is limited: {found:?}");
    let calls = "quota_used{quota=\"max-calls-per-second\"}";
    assert_eq!(found[calls], 4, "{found:?}");
    mock.clock.advance(Duration::from_secs(1));
    assert_eq!(metric(&mock, calls).await, 0, "of this second");
    let traffic = found.keys().any(|name| name.starts_with("traffic_"));
    assert!(!traffic, "there is no data plane: {found:?}");
}

#[tokio::test]
async fn d82_calls_and_faults_are_counted_through_restarts_and_resets() {
    let mut mock = Mock::new();
    let fault = json!({"match": {"webhook": "ensureBackend", "times": 1}, "action": {"fail": {}}});
    mock.post("faults", fault).await;
    let bound = || backend(&sample(), "10.0.0.1:80", json!({}));
    mock.rejected("ensureBackend", bound()).await;
    mock.succ("ensureBackend", bound()).await;
    let in_band = json!({"mock.lbcf/fault": "malformed"});
    let body = backend(&sample(), "10.0.0.2:80", in_band).to_string();
    mock.response("POST", "/ensureBackend", body.into())
        .await
        .into_body()
        .collect()
        .await
        .unwrap();
    mock.post("reset", json!({})).await;
    mock.restart_driver(Duration::ZERO);
    let found = metrics(&mock).await;
    let series = |name: &str| {
        let all = found.iter().filter(|(series, _)| series.starts_with(name));
        all.map(|(series, value)| format!("{} {value}", &series[name.len()..]))
            .collect::<Vec<_>>()
    };
    assert_eq!(
        series("calls_total"),
        [
            "{outcome=\"Fail\",webhook=\"ensureBackend\"} 1",
            "{outcome=\"Malformed\",webhook=\"ensureBackend\"} 1",
            "{outcome=\"Succ\",webhook=\"ensureBackend\"} 1",
        ]
    );
    assert_eq!(
        series("faults_applied_total"),
        ["{action=\"fail\"} 1", "{action=\"malformed\"} 1"]
    );
}

/// What a driver responds is no label.
#[tokio::test]
async fn d82_the_number_of_series_is_bounded() {
    let mock = Mock::new();
    for number in 0..20 {
        let status = format!("S{number}");
        let body = json!({"status": status}).to_string();
        let fault = json!({"action": {"httpStatus": {"code": 200, "body": body}}});
        let rules = Body::from(json!([fault]).to_string());
        let replaced = mock.send("PUT", "/_mock/faults", rules).await;
        assert_eq!(replaced.0, StatusCode::OK, "{}", replaced.1);
        let address = format!("10.0.0.{number}:80");
        let reply = mock
            .call("ensureBackend", backend(&sample(), &address, json!({})))
            .await;
        assert_eq!(reply["status"], status);
    }
    let found = metrics(&mock).await;
    let other = "calls_total{outcome=\"other\",webhook=\"ensureBackend\"}";
    assert_eq!(found.get(other), Some(&20), "{found:?}");
}

#[tokio::test]
async fn d82_traffic_is_counted_and_a_closed_listener_takes_nothing_back() {
    let mock = Mock::new();
    let _traffic = Traffic::start(&mock.cloud, TrafficOptions::default());
    let backends = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = backends.local_addr().unwrap().to_string();
    let bound = || backend(&sample(), &address, json!({}));
    mock.succ("ensureBackend", bound()).await;
    let listens = mock.cloud.traffic()["lb-1234"].listeners[0]
        .listens
        .unwrap();
    let client = TcpStream::connect(listens).await.unwrap();
    let accepted = backends.accept().await.unwrap();
    let open = "traffic_open_connections{protocol=\"TCP\"}";
    let connections = "traffic_connections_total{protocol=\"TCP\"}";
    let draining = "traffic_draining_targets{protocol=\"TCP\"}";
    let found = metrics(&mock).await;
    for (name, value) in [(open, 1), (connections, 1), (draining, 0)] {
        assert_eq!(found.get(name), Some(&value), "{name}: {found:?}");
    }
    let reply = mock.call("deregisterBackend", bound()).await;
    assert_eq!(reply["status"], "Running", "{reply}");
    assert_eq!(metric(&mock, draining).await, 1);
    drop((client, accepted));
    until_is(&mock, open, 0).await;
    until_is(&mock, draining, 0).await;

    let refused = TcpStream::connect(listens).await.unwrap();
    until_is(&mock, "traffic_failed_total{protocol=\"TCP\"}", 1).await;
    drop(refused);
    mock.cloud
        .restore(&serde_json::from_value(json!({})).unwrap())
        .unwrap();
    until_is(&mock, open, 0).await;
    let found = metrics(&mock).await;
    assert_eq!(found["listeners{protocol=\"TCP\"}"], 0);
    assert_eq!(found[connections], 2, "{found:?}");
}

async fn until_is(mock: &Mock, name: &str, value: u64) {
    let deadline = Instant::now() + Duration::from_secs(60);
    while metric(mock, name).await != value {
        assert!(Instant::now() < deadline, "{name} is not {value}");
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
}

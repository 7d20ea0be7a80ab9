//! Drivers that are healthy, unhealthy, or do not serve `healthz`.

use super::*;
use crate::api::LoadBalancerDriverSpec;
use crate::drivers::CallCounts;
use crate::process::driver_addresses::DriverAddresses;
use crate::process::leader::LeaseGuard;
use crate::process::metrics::{Metrics, Snapshot};
use crate::process::options::Options;
use axum::Router;
use axum::http::StatusCode;
use axum::routing::{get, post};
use tokio::net::TcpListener;

struct Probe {
    drivers: Drivers,
    driver: LoadBalancerDriver,
    counts: CallCounts,
    metrics: Metrics,
}

impl Probe {
    fn of(url: &str) -> Self {
        let options = Options {
            driver_addresses_of_tenants: DriverAddresses::everything(),
            ..Options::default()
        };
        Self::with(options, url)
    }

    fn with(options: Options, url: &str) -> Self {
        let (counts, metrics) = (CallCounts::default(), Metrics::new());
        let guard = LeaseGuard::none();
        let drivers = Drivers::new(&options, counts.clone(), metrics.clone(), guard);
        let mut driver = LoadBalancerDriver::new("d", LoadBalancerDriverSpec::default());
        driver.metadata.namespace = Some("ns".to_owned());
        driver.spec.url = url.to_owned();
        Self {
            drivers,
            driver,
            counts,
            metrics,
        }
    }

    async fn of_server(router: Router) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self::of(&url)
    }

    /// The condition's status, reason and message.
    async fn found(&self) -> (ConditionStatus, String, String) {
        let health = self.drivers.probe(&self.driver).await.unwrap();
        let condition = health.condition(Some(3));
        assert_eq!(condition.type_, "Healthy");
        assert_eq!(condition.observed_generation, Some(3));
        assert_eq!(
            health.is_unhealthy(),
            condition.status == ConditionStatus::False
        );
        (condition.status, condition.reason, condition.message)
    }

    fn metric(&self, begin: &str) -> Vec<String> {
        let nothing = Snapshot {
            queue: Vec::new(),
            unregistered: 0,
            leads: true,
        };
        let text = self.metrics.render(&nothing).unwrap();
        let lines = text.lines().filter(|line| line.starts_with(begin));
        lines.map(str::to_owned).collect()
    }
}

fn responding(status: u16, body: &'static str) -> Router {
    let status = StatusCode::from_u16(status).unwrap();
    Router::new().route("/healthz", post(move || async move { (status, body) }))
}

#[tokio::test]
async fn d50_b156_a_driver_says_whether_it_is_healthy() {
    let healthy = Probe::of_server(responding(200, r#"{"healthy":true}"#)).await;
    let expected = (ConditionStatus::True, String::new(), String::new());
    assert_eq!(healthy.found().await, expected);
    assert_eq!(
        healthy.metric("lbcf_driver_healthy{"),
        [r#"lbcf_driver_healthy{driver_name="ns/d"} 1"#]
    );
    let unhealthy = Probe::of_server(responding(200, r#"{"healthy":false}"#)).await;
    let (status, reason, _) = unhealthy.found().await;
    assert_eq!(
        (status, reason.as_str()),
        (ConditionStatus::False, "Unhealthy")
    );
    assert_eq!(
        unhealthy.metric("lbcf_driver_healthy{"),
        [r#"lbcf_driver_healthy{driver_name="ns/d"} 0"#]
    );
    // b145
    assert_eq!(
        unhealthy.metric("webhook_fails{"),
        [r#"webhook_fails{driver_name="ns/d",webhook_name="healthz"} 1"#]
    );
    // No object caused the calls.
    assert!(healthy.counts.snapshot().is_empty());
}

#[tokio::test]
async fn d50_d24_a_driver_without_healthz_is_neither_healthy_nor_unhealthy() {
    let only_get = Router::new().route("/healthz", get(|| async { "ok" }));
    for (router, reason) in [
        (Router::new(), "HealthzNotServed"),
        (only_get, "HealthzNotServed"),
        (responding(501, ""), "HealthzNotServed"),
        (responding(200, "ok"), "InvalidResponse"),
        (responding(200, r#"{"healthy":"yes"}"#), "InvalidResponse"),
        (responding(400, "what?"), "InvalidResponse"),
        (responding(302, ""), "InvalidResponse"),
    ] {
        let probe = Probe::of_server(router).await;
        let found = probe.found().await;
        assert_eq!(found.0, ConditionStatus::Unknown, "{found:?}");
        assert_eq!(found.1, reason, "{found:?}");
        assert!(!found.2.is_empty());
        assert_eq!(probe.found().await, found, "it finds the same again");
        for metric in ["lbcf_driver_healthy{", "webhook_errors{", "webhook_calls{"] {
            assert_eq!(probe.metric(metric), Vec::<String>::new());
        }
    }
}

#[tokio::test]
async fn d50_a_driver_that_does_not_respond_or_responds_with_a_servers_error_is_unhealthy() {
    // Bound, so that nothing else takes the port, and not listening.
    let refusing = tokio::net::TcpSocket::new_v4().unwrap();
    refusing.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let free = format!("http://{}", refusing.local_addr().unwrap());
    let unreachable = Probe::of(&free);
    let not_a_url = Probe::of("no url");
    let failing = Probe::of_server(responding(500, "a different text each time")).await;
    let down = Probe::of_server(responding(503, "")).await;
    for (probe, told) in [
        (unreachable, "cannot reach the driver"),
        (not_a_url, "spec.url"),
        (failing, "HTTP status 500"),
        (down, "HTTP status 503"),
    ] {
        let found = probe.found().await;
        assert_eq!(found.0, ConditionStatus::False, "{found:?}");
        assert_eq!(found.1, "WebhookError", "{found:?}");
        assert!(found.2.contains(told), "{found:?}");
        assert!(!found.2.contains("each time"), "{found:?}");
        assert_eq!(probe.metric("webhook_errors{").len(), 1);
    }
}

/// The options, and the namespace and URL of the driver, which is on this machine.
#[tokio::test]
async fn d106_drivers_are_called_at_the_addresses_that_the_operator_allows() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let router = responding(200, r#"{"healthy":true}"#);
    tokio::spawn(async move { axum::serve(listener, router).await });
    let (here, named) = (
        format!("http://127.0.0.1:{port}"),
        format!("http://localhost:{port}"),
    );
    let listed = |list: &str| Options {
        driver_addresses_of_tenants: list.parse().unwrap(),
        ..Options::default()
    };
    let of_system = Options {
        driver_addresses: DriverAddresses::any(),
        ..Options::default()
    };
    let replaced = Options {
        connect_to: [("driver.shop".to_owned(), here.clone())].into(),
        ..Options::default()
    };
    let refused =
        "127.0.0.1 is not allowed with http (--driver-addresses-of-tenants of the controller)";
    let of_system_refused =
        "127.0.0.1 is not allowed with http (--driver-addresses of the controller)";
    for (options, namespace, url, refusal) in [
        (Options::default(), "shop", &here, Some(refused)),
        (
            Options::default(),
            "shop",
            &named,
            Some("is not allowed with http"),
        ),
        (Options::default(), "kube-system", &here, None),
        (of_system, "kube-system", &here, Some(of_system_refused)),
        (listed("any,http://127.0.0.0/8"), "shop", &here, None),
        (
            listed("any,https://127.0.0.0/8"),
            "shop",
            &here,
            Some(refused),
        ),
        (replaced, "shop", &"http://driver.shop".to_owned(), None),
    ] {
        let mut probe = Probe::with(options, url);
        probe.driver.metadata.namespace = Some(namespace.to_owned());
        let (status, reason, message) = probe.found().await;
        match refusal {
            None => assert_eq!(status, ConditionStatus::True, "{url}: {message}"),
            Some(refusal) => {
                assert_eq!(
                    (status, reason.as_str()),
                    (ConditionStatus::False, "WebhookError")
                );
                assert!(message.contains(refusal), "{url}: {message}");
            }
        }
    }
}

#[tokio::test]
async fn d106_answers_of_other_servers_are_not_quoted() {
    for (status, body) in [
        (200, "private"),
        (200, r#"{"healthy":"private"}"#),
        (403, "private"),
        (403, r#"{"status":"Failure","message":"private"}"#),
    ] {
        let probe = Probe::of_server(responding(status, body)).await;
        let error = probe
            .drivers
            .call(&probe.driver, &Healthz {})
            .await
            .unwrap_err();
        for text in [in_full(&error), probe.found().await.2] {
            assert!(!text.contains("private"), "{text}");
        }
    }
}

#[tokio::test(start_paused = true)]
async fn d50_b10_a_driver_that_hangs_is_waited_for_only_briefly() {
    let hangs = Router::new().route("/healthz", post(std::future::pending::<String>));
    let mut probe = Probe::of_server(hangs).await;
    let began = Instant::now();
    let found = probe.found().await;
    assert_eq!(found.0, ConditionStatus::False, "{found:?}");
    assert!(found.2.contains("within 5s"), "{found:?}");
    // A shorter timeout of its own applies.
    probe.driver.spec.webhooks = vec![crate::api::WebhookConfig {
        name: "healthz".to_owned(),
        timeout: Some("1s".to_owned()),
    }];
    assert!(probe.found().await.2.contains("within 1s"));
    assert!(began.elapsed() >= PROBE_TIMEOUT);
}

#[tokio::test]
async fn d118_what_a_driver_says_about_itself_is_known_short_and_clean() {
    let known = |specification: &str, features: &[&str]| {
        let health = DriverHealth::healthy().with_abilities(specification, features);
        health.abilities
    };
    for (status, body, expected) in [
        (404, "", known("", &[])),
        (503, "", None),
        (200, r#"{"healthy":true}"#, known("", &[])),
        (
            200,
            r#"{"healthy":false,"specification":"1","features":["x","reasons","cancel","pages"]}"#,
            known("1", &["cancel", "pages", "reasons"]),
        ),
        (
            200,
            r#"{"healthy":true,"specification":" 1\n2026 ERROR forged\u001b"}"#,
            known("1 2026 ERROR forged", &[]),
        ),
        (
            200,
            r#"{"healthy":true,"specification":"öööööööööööööööööööööööööööööööööö"}"#,
            known(&format!("{}…", "ö".repeat(32)), &[]),
        ),
        (
            200,
            r#"{"healthy":true,"specification":null}"#,
            known("", &[]),
        ),
        (200, r#"{"healthy":true,"features":"pages"}"#, None),
    ] {
        let probe = Probe::of_server(responding(status, body)).await;
        let health = probe.drivers.probe(&probe.driver).await.unwrap();
        assert_eq!(health.abilities, expected, "{body}");
    }
}

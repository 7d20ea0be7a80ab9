//! A conforming driver with modifications, and runs of the kit against it.

use axum::Router;
use axum::body::{Body, Bytes, to_bytes};
use axum::http::{Method, Request, StatusCode, header};
use axum::response::{IntoResponse, Response};
use lbcf_conformance::Suite;
use lbcf_conformance::check::Feature;
use lbcf_conformance::fixture::{Fixture, LoadBalancerSample};
use lbcf_conformance::report::{CheckResult, Report, Status};
use lbcf_conformance::settings::Settings;
use lbcf_driver_sdk::webhook::StringMap;
use mock_driver::{ClbDriver, Cloud, KEEP_REGISTERED, MockOptions};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::time::Duration;
use tower::ServiceExt as _;

const LARGEST: usize = 16 << 20;

#[derive(Debug, Clone)]
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) body: Value,
}

impl Reply {
    /// HTTP 200 with this body.
    pub(crate) const fn ok(body: Value) -> Self {
        Self { status: 200, body }
    }

    /// Another status, with the text that frameworks write.
    pub(crate) fn http(status: u16) -> Self {
        let body = json!({"detail": "something is wrong"});
        Self { status, body }
    }
}

impl IntoResponse for Reply {
    fn into_response(self) -> Response {
        let json = [(header::CONTENT_TYPE, "application/json")];
        let status = StatusCode::from_u16(self.status).unwrap();
        (status, json, self.body.to_string()).into_response()
    }
}

#[derive(Debug, Clone)]
pub(crate) struct Inner(Router);

impl Inner {
    pub(crate) const fn of(router: Router) -> Self {
        Self(router)
    }

    /// Calls it; a request that is null has no body.
    pub(crate) async fn call(&self, webhook: &str, request: &Value) -> Reply {
        let body = match request {
            Value::Null => Body::empty(),
            request => Body::from(request.to_string()),
        };
        let request = Request::post(format!("/{webhook}")).body(body).unwrap();
        let response = self.0.clone().oneshot(request).await.unwrap();
        let status = response.status().as_u16();
        let body = read(response.into_body()).await;
        let body = serde_json::from_slice(&body).unwrap_or_default();
        Reply { status, body }
    }
}

async fn read(body: Body) -> Bytes {
    to_bytes(body, LARGEST).await.unwrap()
}

/// A driver that handles webhooks itself, and may call `inner`.
pub(crate) fn driver<F, A>(inner: Router, answer: F) -> Router
where
    F: Fn(Inner, String, Value) -> A + Clone + Send + Sync + 'static,
    A: Future<Output = Reply> + Send + 'static,
{
    Router::new().fallback(move |request: Request<Body>| async move {
        if request.method() != Method::POST {
            return inner.oneshot(request).await.unwrap();
        }
        let webhook = request.uri().path().trim_start_matches('/').to_owned();
        // Checks close connections in the middle of a request.
        let Ok(body) = to_bytes(request.into_body(), LARGEST).await else {
            return StatusCode::BAD_REQUEST.into_response();
        };
        let body = serde_json::from_slice(&body).unwrap_or_default();
        answer(Inner(inner), webhook, body).await.into_response()
    })
}

/// A conforming driver whose responses to one webhook are modified.
pub(crate) fn answering<F>(inner: Router, webhook: &'static str, change: F) -> Router
where
    F: Fn(&Value, &mut Reply) + Clone + Send + Sync + 'static,
{
    driver(inner, move |inner, called, request| {
        let change = change.clone();
        async move {
            let mut reply = inner.call(&called, &request).await;
            if called == webhook {
                change(&request, &mut reply);
            }
            reply
        }
    })
}

/// The conforming driver: the mock, with an attribute that cannot be changed.
pub(crate) fn right() -> Router {
    with_charge_type(mock(Duration::ZERO))
}

/// The mock with this duration of creations.
pub(crate) fn mock(stage_duration: Duration) -> Router {
    let options = MockOptions {
        stage_duration,
        // They would be whole seconds.
        name_delays: false,
        ..MockOptions::default()
    };
    mock_driver::router(ClbDriver::new(Cloud::with_samples(), options))
}

fn with_charge_type(inner: Router) -> Router {
    answering(inner, "validateLoadBalancer", |request, reply| {
        let charged = |map: &str| request[map]["chargeType"].clone();
        if request["operation"] == "Update" && charged("attributes") != charged("oldAttributes") {
            let msg = "attributes.chargeType cannot be changed";
            *reply = Reply::ok(json!({"succ": false, "msg": msg}));
        }
    })
}

pub(crate) fn map<const N: usize>(entries: [(&str, &str); N]) -> StringMap {
    let owned = entries.map(|(key, value)| (key.to_owned(), value.to_owned()));
    StringMap::from(owned)
}

/// The fixture of the conforming driver.
pub(crate) fn fixture() -> Fixture {
    let mut fixture = Fixture {
        features: Some(BTreeSet::from([
            Feature::PodBackends,
            Feature::ServiceBackends,
            Feature::EndpointBackends,
            Feature::StaticBackends,
            Feature::UpdateAttributes,
            Feature::UpdateParameters,
            Feature::JudgePodDeregister,
            Feature::ListBackends,
        ])),
        ..Fixture::default()
    };
    let load_balancer = &mut fixture.load_balancer;
    load_balancer.valid = vec![LoadBalancerSample {
        lb_spec: map([
            ("lbVpcID", "vpc-12345678"),
            ("lbListenerPort", "{{number}}"),
            ("lbListenerProtocol", "TCP"),
        ]),
        attributes: map([("chargeType", "TRAFFIC"), ("bandwidth", "1")]),
        reason: String::new(),
    }];
    load_balancer.invalid = vec![LoadBalancerSample {
        lb_spec: map([("lbVpcID", "vpc-12345678")]),
        attributes: StringMap::new(),
        reason: "no listener".to_owned(),
    }];
    load_balancer.update.attributes = Some(map([("chargeType", "TRAFFIC"), ("bandwidth", "2")]));
    load_balancer.update.forbidden = vec![map([("chargeType", "PREPAID"), ("bandwidth", "1")])];
    let backend = &mut fixture.backend;
    backend.parameters.valid = vec![map([("weight", "50")])];
    backend.parameters.invalid = vec![map([("weight", "-1")])];
    backend.parameters.update = Some(map([("weight", "80")]));
    let kept = json!({"metadata": {"annotations": {KEEP_REGISTERED: "true"}}});
    backend.pod_template = kept.as_object().cloned();
    fixture
}

/// The fixture with only these features.
pub(crate) fn fixture_with<const N: usize>(features: [Feature; N]) -> Fixture {
    Fixture {
        features: Some(BTreeSet::from(features)),
        ..fixture()
    }
}

/// Settings for only these checks.
pub(crate) fn only(checks: &str) -> Settings {
    Settings {
        only: checks.split(',').map(str::to_owned).collect(),
        wait: Duration::from_secs(5),
        ..Settings::default()
    }
}

/// Runs these checks with an observer.
pub(crate) async fn judged(router: Router, fixture: Fixture, checks: &str) -> Report {
    let suite = Suite::of_router(router)
        .fixture(fixture)
        .settings(only(checks))
        .observe_path("_mock/observe");
    suite.run().await.unwrap()
}

/// Runs these checks without an observer.
pub(crate) async fn run_without_observer(router: Router, fixture: Fixture, checks: &str) -> Report {
    let suite = Suite::of_router(router)
        .fixture(fixture)
        .settings(only(checks));
    suite.run().await.unwrap()
}

/// The result of a check.
pub(crate) fn result<'a>(report: &'a Report, id: &str) -> &'a CheckResult {
    report
        .results
        .iter()
        .find(|result| result.id == id)
        .unwrap()
}

/// The ids of checks with a status.
pub(crate) fn ids(report: &Report, status: Status) -> Vec<&str> {
    let results = report.results.iter();
    results
        .filter(|result| result.status == status)
        .map(|result| result.id.as_str())
        .collect()
}

/// The ids of a group's checks that passed; none may have failed.
pub(crate) fn passed(report: &Report) -> Vec<&str> {
    let failed: Vec<_> = report
        .results
        .iter()
        .filter(|result| result.status == Status::Failed)
        .map(|result| (&result.id, &result.reason))
        .collect();
    assert!(failed.is_empty(), "{failed:#?}");
    assert_eq!(report.left_behind, Vec::<String>::new());
    ids(report, Status::Passed)
}

/// Requires that the driver fails this check with these texts.
pub(crate) async fn fails(router: Router, id: &str, expected: &str, got: &str) {
    fails_with(router, fixture(), id, expected, got).await;
}

/// [`fails`] with another fixture.
pub(crate) async fn fails_with(
    router: Router,
    fixture: Fixture,
    id: &str,
    expected: &str,
    got: &str,
) {
    let report = judged(router, fixture, id).await;
    let result = result(&report, id);
    assert_eq!(result.status, Status::Failed, "{id}: {}", result.reason);
    let failure = result.failure.as_ref().unwrap();
    assert!(
        failure.expected.contains(expected),
        "{id}: expected {:?}",
        failure.expected
    );
    assert!(failure.got.contains(got), "{id}: got {:?}", failure.got);
}

//! A driver with defects, and the requests of the tests.

use crate::support::{self, Mock, order};
use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, Request, StatusCode, header};
use http_body_util::BodyExt;
use lbcf_defective_driver::{Defect, DefectPace, Defects};
use mock_driver::{ClbDriver, Endpoint, MockOptions, Target};
use serde_json::{Value, json};
use std::time::Duration;
use tower::ServiceExt;

/// How long each of a creation's stages takes where it has any.
const STAGE: Duration = Duration::from_secs(1);

/// A driver with or without defects.
pub(crate) struct Trial {
    pub(crate) mock: Mock,
    defects: Vec<Defect>,
    stage_duration: Duration,
}

pub(crate) struct Reply {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Value,
}

impl Reply {
    pub(crate) fn has_status(&self, status: &str) -> bool {
        self.status == StatusCode::OK && self.body["status"] == status
    }

    pub(crate) fn is_crash(&self) -> bool {
        self.status == StatusCode::INTERNAL_SERVER_ERROR
    }

    pub(crate) fn media_type(&self) -> &str {
        let value = self.headers.get(header::CONTENT_TYPE);
        value.map_or("", |value| value.to_str().unwrap())
    }
}

impl Trial {
    /// Creates load balancers at once.
    pub(crate) fn new(defects: &[Defect]) -> Self {
        Self::with(defects, Duration::ZERO)
    }

    /// Creates load balancers in stages.
    pub(crate) fn staged(defects: &[Defect]) -> Self {
        Self::with(defects, STAGE)
    }

    fn with(defects: &[Defect], stage_duration: Duration) -> Self {
        let mut trial = Self {
            mock: Mock::new(),
            defects: defects.to_vec(),
            stage_duration,
        };
        trial.restart();
        trial
    }

    /// Restarts the driver without its memory; the cloud stays.
    pub(crate) fn restart(&mut self) {
        let options = MockOptions {
            stage_duration: self.stage_duration,
            ..MockOptions::default()
        };
        let defects = Defects::new(self.defects.clone()).pace(DefectPace {
            // Longer than any test takes on a slow machine.
            early: Duration::from_secs(3600),
            ..DefectPace::default()
        });
        let driver = ClbDriver::new(self.mock.cloud.clone(), options);
        self.mock.router = mock_driver::router_with(driver, defects);
    }

    /// Lets all creations complete.
    pub(crate) fn let_stages_pass(&self) {
        self.mock.clock.advance(10 * STAGE);
    }

    pub(crate) async fn send(&self, request: Request<Body>) -> Reply {
        let response = self.mock.router.clone().oneshot(request).await.unwrap();
        let (head, body) = response.into_parts();
        // A body that breaks off is no reply, whatever its status.
        let (status, body) = match body.collect().await {
            Ok(body) => (head.status, body.to_bytes()),
            Err(_) => (StatusCode::BAD_GATEWAY, Bytes::new()),
        };
        Reply {
            status,
            headers: head.headers,
            body: serde_json::from_slice(&body).unwrap_or_default(),
        }
    }

    /// Sends any bytes to a path.
    pub(crate) async fn post(&self, path: &str, body: impl Into<Body>) -> Reply {
        let request = Request::post(path);
        let request = request.header(header::CONTENT_TYPE, "application/json");
        self.send(request.body(body.into()).unwrap()).await
    }

    pub(crate) async fn call(&self, webhook: &str, body: Value) -> Reply {
        self.post(&format!("/{webhook}"), body.to_string()).await
    }

    /// The status of an operation's reply.
    pub(crate) async fn status(&self, webhook: &str, body: Value) -> String {
        let reply = self.call(webhook, body).await;
        match reply.body["status"].as_str() {
            Some(status) if reply.status == StatusCode::OK => status.to_owned(),
            _ => reply.status.as_u16().to_string(),
        }
    }

    pub(crate) async fn succ(&self, webhook: &str, body: Value) -> bool {
        self.status(webhook, body).await == "Succ"
    }

    pub(crate) async fn fails(&self, webhook: &str, body: Value) -> bool {
        self.status(webhook, body).await == "Fail"
    }

    /// How many of this many equal calls fail.
    pub(crate) async fn failures(&self, times: usize, webhook: &str, body: Value) -> usize {
        let mut failures = 0;
        for _ in 0..times {
            failures += usize::from(!self.succ(webhook, body.clone()).await);
        }
        failures
    }

    /// A new load balancer for the object with this uid.
    pub(crate) async fn create(&self, uid: &str) -> Value {
        let reply = self.call("createLoadBalancer", create(uid)).await;
        assert!(reply.has_status("Succ"), "{}", reply.body);
        reply.body["lbInfo"].clone()
    }

    /// A load balancer with backends of these names.
    pub(crate) async fn with_backends(&self, addresses: &[&str]) -> Value {
        let lb_info = self.create("1").await;
        for address in addresses {
            let request = backend("ensureBackend", &lb_info, address, "50");
            assert!(self.succ("ensureBackend", request).await);
        }
        lb_info
    }

    /// Binds a target by hand.
    pub(crate) fn bind_foreign(&self, lb_info: &Value) {
        let target = Target {
            weight: 1,
            parameters: [("owner".to_owned(), "somebody".to_owned())].into(),
            record_id: None,
        };
        let bound = self.mock.cloud.bind(&endpoint(lb_info), "foreign", target);
        assert!(bound.is_ok());
    }

    /// The number of instances that drivers have created.
    pub(crate) fn made(&self) -> usize {
        let state = self.mock.cloud.state();
        let made = |it: &&mock_driver::LoadBalancerState| it.client_token.is_some();
        state.load_balancers.iter().filter(made).count()
    }

    /// Addresses and weights of the load balancer's targets.
    pub(crate) async fn targets(&self, lb_info: &Value) -> Vec<(String, Option<String>)> {
        let observed = self.observe(lb_info).await;
        let backends = observed["backends"].as_array().cloned().unwrap_or_default();
        let text = |value: &Value| value.as_str().map(str::to_owned);
        backends
            .iter()
            .map(|it| {
                (
                    text(&it["addr"]).unwrap(),
                    text(&it["parameters"]["weight"]),
                )
            })
            .collect()
    }

    pub(crate) async fn addresses(&self, lb_info: &Value) -> Vec<String> {
        let targets = self.targets(lb_info).await;
        targets.into_iter().map(|(address, _)| address).collect()
    }

    pub(crate) async fn attributes(&self, lb_info: &Value) -> Value {
        self.observe(lb_info).await["attributes"].clone()
    }

    /// The load balancer at `/_mock/observe`; `null` where it is not listed.
    pub(crate) async fn observe(&self, lb_info: &Value) -> Value {
        let observation = self.mock.observe().await;
        let load_balancers = observation["loadBalancers"].as_array().unwrap();
        let found = load_balancers.iter().find(|it| it["lbInfo"] == *lb_info);
        found.cloned().unwrap_or_default()
    }
}

pub(crate) fn endpoint(lb_info: &Value) -> Endpoint {
    Endpoint {
        load_balancer: lb_info["lbID"].as_str().unwrap().to_owned(),
        listener: lb_info["lblID"].as_str().unwrap().to_owned(),
        domain: None,
        url: None,
    }
}

/// A `createLoadBalancer`, named like its object.
pub(crate) fn create(uid: &str) -> Value {
    let mut request = support::create(uid, order());
    request["lbSpec"]["name"] = uid.into();
    request["dryRun"] = false.into();
    request
}

pub(crate) fn create_http(uid: &str) -> Value {
    let mut request = create(uid);
    request["lbSpec"]["lbListenerProtocol"] = "HTTP".into();
    request
}

/// A `createLoadBalancer` that cannot succeed.
pub(crate) fn create_invalid(uid: &str) -> Value {
    let mut request = create(uid);
    request["lbSpec"] = json!({"name": uid});
    request
}

pub(crate) fn delete(uid: &str, lb_info: &Value) -> Value {
    let mut request = support::delete(uid, lb_info.clone());
    request["dryRun"] = false.into();
    request
}

/// An `ensureLoadBalancer` with the attributes that it was created with, or others.
pub(crate) fn ensure(lb_info: &Value, charge: &str) -> Value {
    json!({
        "recordID": "ensureLoadBalancer(1)",
        "retryID": "r",
        "dryRun": false,
        "lbInfo": lb_info,
        "attributes": {"chargeType": charge},
    })
}

/// The `chargeType` of [`create`].
pub(crate) const CHARGE: &str = "TRAFFIC_POSTPAID_BY_HOUR";

/// An `ensureBackend` or `deregisterBackend`.
pub(crate) fn backend(webhook: &str, lb_info: &Value, address: &str, weight: &str) -> Value {
    json!({
        "recordID": format!("{webhook}({address})"),
        "retryID": "r",
        "dryRun": false,
        "lbInfo": lb_info,
        "backendAddr": address,
        "parameters": {"weight": weight},
        "injectedInfo": null,
    })
}

/// The identity of a load balancer that does not exist.
pub(crate) fn unknown() -> Value {
    json!({"lbID": "lb-x", "lblID": "lbl-x"})
}

/// The request with another value in one field.
pub(crate) fn but(mut request: Value, field: &str, value: impl Into<Value>) -> Value {
    request[field] = value.into();
    request
}

/// The request without a field.
pub(crate) fn without(mut request: Value, field: &str) -> Value {
    request.as_object_mut().unwrap().remove(field);
    request
}

//! A mock to call, and bodies to call it with.

use axum::Router;
use axum::body::Body;
use axum::http::{Request, StatusCode};
use axum::response::Response;
use http_body_util::BodyExt;
use mock_driver::{ClbDriver, Clock, Cloud, MockOptions};
use serde_json::{Value, json};
use std::time::Duration;
use tower::ServiceExt;

/// A mock in this process, with a clock that the test advances.
pub(crate) struct Mock {
    pub(crate) cloud: Cloud,
    pub(crate) clock: Clock,
    pub(crate) router: Router,
}

impl Mock {
    /// Creates load balancers at once.
    pub(crate) fn new() -> Self {
        Self::with_stages_of(Duration::ZERO)
    }

    pub(crate) fn with_stages_of(stage_duration: Duration) -> Self {
        let clock = Clock::manual();
        let cloud = Cloud::with_samples().with_clock(clock.clone());
        let mut mock = Self {
            router: Router::new(),
            cloud,
            clock,
        };
        mock.restart_driver(stage_duration);
        mock
    }

    /// Starts a new driver for the same cloud, without the memory of the old one.
    pub(crate) fn restart_driver(&mut self, stage_duration: Duration) {
        self.start_driver(MockOptions {
            stage_duration,
            ..MockOptions::default()
        });
    }

    /// Starts a new driver for the same cloud with these options.
    pub(crate) fn start_driver(&mut self, options: MockOptions) {
        self.router = mock_driver::router(ClbDriver::new(self.cloud.clone(), options));
    }

    pub(crate) async fn send(&self, method: &str, path: &str, body: Body) -> (StatusCode, Value) {
        let response = self.response(method, path, body).await;
        let status = response.status();
        let body = response.into_body().collect().await.unwrap().to_bytes();
        (status, serde_json::from_slice(&body).unwrap())
    }

    pub(crate) async fn response(&self, method: &str, path: &str, body: Body) -> Response {
        let request = Request::builder().method(method).uri(path);
        let request = request.body(body).unwrap();
        self.router.clone().oneshot(request).await.unwrap()
    }

    /// One of the mock's own endpoints.
    pub(crate) async fn post(&self, path: &str, body: Value) -> (StatusCode, Value) {
        let body = Body::from(body.to_string());
        self.send("POST", &format!("/_mock/{path}"), body).await
    }

    /// Calls a webhook, whose status code must be 200 (WIRE-01).
    pub(crate) async fn call(&self, webhook: &str, body: Value) -> Value {
        let body = Body::from(body.to_string());
        let (status, reply) = self.send("POST", &format!("/{webhook}"), body).await;
        assert_eq!(status, StatusCode::OK, "{reply}");
        reply
    }

    /// Calls a webhook that must succeed.
    pub(crate) async fn succ(&self, webhook: &str, body: Value) -> Value {
        let reply = self.call(webhook, body).await;
        let good = reply["status"] == "Succ" || reply["succ"] == true;
        assert!(good, "{webhook}: {reply}");
        reply
    }

    /// Calls a webhook that must fail or reject, and returns the message.
    pub(crate) async fn rejected(&self, webhook: &str, body: Value) -> String {
        let reply = self.call(webhook, body).await;
        let bad = reply["status"] == "Fail" || reply["succ"] == false;
        assert!(bad, "{webhook}: {reply}");
        reply["msg"].as_str().unwrap().to_owned()
    }

    /// Starts a call and disconnects, like a controller after its timeout.
    pub(crate) async fn abort(&self, webhook: &str, body: Value) {
        let call = self.call(webhook, body);
        tokio::pin!(call);
        // One poll is enough to hand the request over.
        let _ = poll_once(call.as_mut()).await;
    }

    pub(crate) async fn observe(&self) -> Value {
        self.send("GET", "/_mock/observe", Body::empty()).await.1
    }

    /// The addresses registered to the only load balancer that LBCF has.
    pub(crate) async fn addresses(&self) -> Vec<String> {
        let observation = self.observe().await;
        let backends = observation["loadBalancers"][0]["backends"].as_array();
        backends
            .unwrap()
            .iter()
            .map(|backend| backend["addr"].as_str().unwrap().to_owned())
            .collect()
    }
}

/// Polls once and gives up.
pub(crate) async fn poll_once<F: Future + Unpin>(mut future: F) -> Option<F::Output> {
    std::future::poll_fn(|context| {
        std::task::Poll::Ready(match std::pin::Pin::new(&mut future).poll(context) {
            std::task::Poll::Ready(output) => Some(output),
            std::task::Poll::Pending => None,
        })
    })
    .await
}

/// The identity of the samples' existing load balancer.
pub(crate) fn sample() -> Value {
    json!({"lbID": "lb-1234", "lblID": "lbl-2234"})
}

/// The samples' order of a new load balancer.
pub(crate) fn order() -> Value {
    json!({"lbVpcID": "vpc-12345678", "lbListenerPort": "80", "lbListenerProtocol": "TCP"})
}

/// A `createLoadBalancer` for the object with this uid.
pub(crate) fn create(uid: &str, lb_spec: Value) -> Value {
    json!({
        "recordID": format!("createLoadBalancer({uid})"),
        "retryID": "r",
        "lbSpec": lb_spec,
        "attributes": {"chargeType": "TRAFFIC_POSTPAID_BY_HOUR"},
    })
}

/// A `deleteLoadBalancer` for the object with this uid.
pub(crate) fn delete(uid: &str, lb_info: Value) -> Value {
    json!({
        "recordID": format!("deleteLoadBalancer({uid})"),
        "retryID": "r",
        "lbInfo": lb_info,
    })
}

/// An `ensureBackend` or `deregisterBackend` of this address.
pub(crate) fn backend(lb_info: &Value, addr: &str, parameters: Value) -> Value {
    json!({
        "recordID": format!("ensureBackend({addr})"),
        "retryID": "r",
        "lbInfo": lb_info,
        "backendAddr": addr,
        "parameters": parameters,
        "injectedInfo": null,
    })
}

/// A `generateBackendAddr` for a pod.
pub(crate) fn pod_address(ip: &str, port: u16) -> Value {
    json!({
        "recordID": "generateBackendAddr(1)",
        "retryID": "r",
        "lbInfo": sample(),
        "lbAttributes": null,
        "parameters": null,
        "podBackend": {
            "pod": {"metadata": {"name": "web-0", "namespace": "default"}, "status": {"podIP": ip}},
            "port": {"portNumber": port},
        },
        "serviceBackend": null,
    })
}

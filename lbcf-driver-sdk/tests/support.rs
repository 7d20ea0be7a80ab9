//! A driver whose hooks wait for the test, and helpers to call it.

use axum::Router;
use axum::body::Body;
use axum::http::{Request, Response, StatusCode, header};
use http_body_util::BodyExt;
use lbcf_driver_sdk::request::{
    CreateLoadBalancer, DeregisterBackend, EnsureBackend, GenerateBackendAddr, ValidateBackend,
};
use lbcf_driver_sdk::server::DriverRouter;
use lbcf_driver_sdk::webhook::{LoadBalancer, StringMap, WebhookInfo};
use lbcf_driver_sdk::{Driver, HookError, Rejection};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::sync::Semaphore;
use tower::ServiceExt;

/// The types of a driver that takes the wire's maps unchanged, and load balancers that need nothing.
macro_rules! takes_maps {
    () => {
        type LbSpec = lbcf_driver_sdk::webhook::StringMap;
        type LbInfo = lbcf_driver_sdk::webhook::StringMap;
        type Attributes = lbcf_driver_sdk::webhook::StringMap;
        type Parameters = lbcf_driver_sdk::webhook::StringMap;
        type BackendAddr = String;
    };
    (deletes nothing) => {
        takes_maps!();

        async fn delete_load_balancer(
            &self,
            _: lbcf_driver_sdk::request::DeleteLoadBalancer<Self>,
        ) -> Result<(), lbcf_driver_sdk::HookError> {
            Ok(())
        }
    };
    (creates nothing) => {
        takes_maps!(deletes nothing);

        async fn create_load_balancer(
            &self,
            _: lbcf_driver_sdk::request::CreateLoadBalancer<Self>,
        ) -> Result<lbcf_driver_sdk::webhook::StringMap, lbcf_driver_sdk::HookError> {
            Ok(lbcf_driver_sdk::webhook::StringMap::new())
        }
    };
}
pub(crate) use takes_maps;

/// The log of the hooks, and permits for them to continue.
#[derive(Debug)]
pub(crate) struct HookGate {
    /// `begin <what>` and `end <what>`, in order.
    log: Mutex<Vec<String>>,
    changed: tokio::sync::watch::Sender<usize>,
    /// A hook with the parameter `wait…` needs one permit to end.
    pub(crate) go: Semaphore,
}

impl HookGate {
    fn note(&self, line: String) {
        self.log.lock().unwrap().push(line);
        self.changed.send_modify(|lines| *lines += 1);
    }

    pub(crate) fn log(&self) -> Vec<String> {
        self.log.lock().unwrap().clone()
    }

    /// Waits until the log has this many lines.
    pub(crate) async fn lines(&self, count: usize) {
        let mut changed = self.changed.subscribe();
        tokio::time::timeout(
            Duration::from_secs(20),
            changed.wait_for(|lines| *lines >= count),
        )
        .await
        .unwrap_or_else(|_| panic!("only {:?}", self.log()))
        .unwrap();
    }
}

/// The parameter `do` controls `ensureBackend`.
#[derive(Debug, Clone)]
pub(crate) struct Actor(pub(crate) Arc<HookGate>);

pub(crate) fn actor() -> (Actor, Arc<HookGate>) {
    let stage = Arc::new(HookGate {
        log: Mutex::default(),
        changed: tokio::sync::watch::Sender::new(0),
        go: Semaphore::new(0),
    });
    (Actor(Arc::clone(&stage)), stage)
}

impl Actor {
    async fn act(&self, name: &str, what: Option<&String>) {
        self.0.note(format!("begin {name}"));
        if what.is_some_and(|what| what.starts_with("wait")) {
            self.0.go.acquire().await.unwrap().forget();
        }
        self.0.note(format!("end {name}"));
    }
}

impl Driver for Actor {
    takes_maps!(deletes nothing);

    async fn create_load_balancer(
        &self,
        request: CreateLoadBalancer<Self>,
    ) -> Result<StringMap, HookError> {
        self.act("create", request.attributes.get("do")).await;
        Ok(request.lb_spec)
    }

    async fn generate_backend_addr(
        &self,
        request: GenerateBackendAddr<Self>,
    ) -> Result<String, HookError> {
        let pod = request
            .pod_backend
            .ok_or_else(|| HookError::fail("pods only"))?;
        Ok(pod.pod.name)
    }

    async fn ensure_backend(&self, request: EnsureBackend<Self>) -> Result<StringMap, HookError> {
        let parameters = &request.parameters;
        let mut name = request.backend_addr.clone();
        if let Some(weight) = parameters.get("weight") {
            name = format!("{name} {weight}");
        }
        self.act(&name, parameters.get("do")).await;
        match parameters.get("do").map(String::as_str) {
            Some("fail") => Err(HookError::fail("the cloud refused")
                .retry_after(Duration::from_millis(1500))
                .because("quota exceeded")),
            Some("panic" | "wait, then panic") => panic!("on purpose"),
            _ => Ok(StringMap::from([("seen".into(), request.retry_id)])),
        }
    }

    async fn deregister_backend(&self, request: DeregisterBackend<Self>) -> Result<(), HookError> {
        let parameters = request.parameters.unwrap_or_default();
        self.act("deregister", parameters.get("do")).await;
        Ok(())
    }

    async fn validate_backend(&self, request: ValidateBackend<Self>) -> Result<(), Rejection> {
        self.act("validate", request.parameters.get("do")).await;
        match request.parameters.get("do").map(String::as_str) {
            Some("panic") => panic!("on purpose"),
            Some("refuse") => Err(Rejection::new("weight: \"101\": not from 0 to 100")),
            _ => Ok(()),
        }
    }

    fn accepts_dry_run(&self) -> bool {
        true
    }

    fn serial_key(
        &self,
        webhook: WebhookInfo,
        load_balancer: LoadBalancer<&StringMap, &StringMap>,
    ) -> Option<String> {
        if !webhook.changes_load_balancer() {
            return None;
        }
        let key = load_balancer.either().get("id").cloned();
        assert_ne!(key.as_deref(), Some("panic"), "on purpose");
        key
    }
}

/// The driver in a router with a deadline of 8 s.
pub(crate) fn stage() -> (Router, Arc<HookGate>) {
    let (actor, stage) = actor();
    (DriverRouter::new(actor).build(), stage)
}

/// The body of an `ensureBackend` call.
pub(crate) fn ensure(retry_id: &str, parameters: Value) -> Value {
    json!({
        "recordID": "ensureBackend(1)", "retryID": retry_id, "lbInfo": null,
        "backendAddr": "a", "parameters": parameters, "injectedInfo": null,
    })
}

pub(crate) async fn send(router: &Router, request: Request<Body>) -> Response<Body> {
    router.clone().oneshot(request).await.unwrap()
}

/// Sends a POST and returns the JSON of the response, whose content type is checked.
pub(crate) async fn post(
    router: &Router,
    path: &str,
    body: impl Into<Body>,
) -> (StatusCode, Value) {
    let request = Request::post(path).body(body.into()).unwrap();
    read(send(router, request).await).await
}

pub(crate) async fn read(response: Response<Body>) -> (StatusCode, Value) {
    let status = response.status();
    assert_eq!(response.headers()[header::CONTENT_TYPE], "application/json");
    let body = response.into_body().collect().await.unwrap().to_bytes();
    (status, serde_json::from_slice(&body).unwrap())
}

/// Sends a POST and asserts the status 200.
pub(crate) async fn ok(router: &Router, path: &str, body: &Value) -> Value {
    let (status, answer) = post(router, path, body.to_string()).await;
    assert_eq!(status, StatusCode::OK, "{answer}");
    answer
}

/// [`call`] as a task.
pub(crate) fn spawn_ok(
    router: &Router,
    path: &'static str,
    body: Value,
) -> tokio::task::JoinHandle<Value> {
    let router = router.clone();
    tokio::spawn(async move { ok(&router, path, &body).await })
}

/// Serves the router on a free port.
pub(crate) async fn serve(router: Router) -> std::net::SocketAddr {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(async move { axum::serve(listener, router).await });
    address
}

/// The same cases in every run, without regression files: a failing case becomes a test.
pub(crate) fn cases(count: u32) -> proptest::test_runner::Config {
    proptest::test_runner::Config {
        rng_seed: proptest::test_runner::RngSeed::Fixed(1),
        failure_persistence: None,
        ..proptest::test_runner::Config::with_cases(count)
    }
}

//! Dry runs do not reach a driver that does not support them.

use crate::support::{ok, post, stage, takes_maps};
use axum::http::StatusCode;
use lbcf_driver_sdk::request::{
    CreateLoadBalancer, DeleteLoadBalancer, DeregisterBackend, EnsureBackend, EnsureLoadBalancer,
    GenerateBackendAddr, ListBackends, ListedBackend, ValidateBackend, ValidateLoadBalancer,
};
use lbcf_driver_sdk::server::router;
use lbcf_driver_sdk::webhook::{ALL, Class, JudgePodDeregister, KubernetesObject, StringMap};
use lbcf_driver_sdk::{Driver, HookError, Rejection};
use serde_json::{Value, json};
use std::sync::{Arc, Mutex};

/// Records its calls by webhook. It does not override `accepts_dry_run`.
struct Asked(Arc<Mutex<Vec<&'static str>>>);

impl Asked {
    fn note<T>(&self, webhook: &'static str, answer: T) -> T {
        self.0.lock().unwrap().push(webhook);
        answer
    }
}

impl Driver for Asked {
    takes_maps!();

    async fn validate_load_balancer(&self, _: ValidateLoadBalancer<Self>) -> Result<(), Rejection> {
        self.note("validateLoadBalancer", Ok(()))
    }
    async fn create_load_balancer(
        &self,
        _: CreateLoadBalancer<Self>,
    ) -> Result<StringMap, HookError> {
        self.note("createLoadBalancer", Ok(StringMap::new()))
    }
    async fn ensure_load_balancer(&self, _: EnsureLoadBalancer<Self>) -> Result<(), HookError> {
        self.note("ensureLoadBalancer", Ok(()))
    }
    async fn delete_load_balancer(&self, _: DeleteLoadBalancer<Self>) -> Result<(), HookError> {
        self.note("deleteLoadBalancer", Ok(()))
    }
    async fn validate_backend(&self, _: ValidateBackend<Self>) -> Result<(), Rejection> {
        self.note("validateBackend", Ok(()))
    }
    async fn generate_backend_addr(
        &self,
        _: GenerateBackendAddr<Self>,
    ) -> Result<String, HookError> {
        self.note("generateBackendAddr", Ok("a".into()))
    }
    async fn ensure_backend(&self, _: EnsureBackend<Self>) -> Result<StringMap, HookError> {
        self.note("ensureBackend", Ok(StringMap::new()))
    }
    async fn deregister_backend(&self, _: DeregisterBackend<Self>) -> Result<(), HookError> {
        self.note("deregisterBackend", Ok(()))
    }
    async fn judge_pod_deregister(
        &self,
        request: JudgePodDeregister,
    ) -> Result<Vec<KubernetesObject>, Rejection> {
        self.note("judgePodDeregister", Ok(request.not_ready_pods))
    }
    async fn list_backends(
        &self,
        _: ListBackends<Self>,
    ) -> Result<Vec<ListedBackend<Self>>, HookError> {
        self.note("listBackends", Ok(Vec::new()))
    }
}

fn body(dry_run: bool) -> Value {
    let pod = json!({"metadata": {"name": "pod"}});
    json!({
        "recordID": "r", "dryRun": dry_run, "operation": "Create", "notReadyPods": [], "backendAddr": "a",
        "podBackend": {"pod": pod, "port": {"port": 80}},
    })
}

#[tokio::test]
async fn no_dry_run_reaches_a_driver_without_support_except_for_decisions() {
    let asked = Arc::new(Mutex::new(Vec::new()));
    let router = router(Asked(Arc::clone(&asked)));
    for webhook in ALL {
        let path = format!("/{}", webhook.name);
        let answer = ok(&router, &path, &body(true)).await;
        let reached = std::mem::take(&mut *asked.lock().unwrap());
        match webhook.class {
            Class::Operation => {
                assert_eq!(answer["status"], "Fail", "{path}");
                let message = answer["msg"].as_str().unwrap();
                let expected = format!("{}: dryRun: true: ", webhook.name);
                assert!(message.starts_with(&expected), "{message}");
                assert_eq!(reached, [""; 0]);
                // The same calls without dry run.
                let answer = ok(&router, &path, &body(false)).await;
                assert_eq!(answer["status"], "Succ", "{path}");
                let reached = std::mem::take(&mut *asked.lock().unwrap());
                assert_eq!(reached, [webhook.name]);
            }
            Class::Verdict => {
                assert_eq!(answer["succ"], true, "{path}");
                assert_eq!(reached, [webhook.name]);
            }
            Class::Health => assert_eq!(answer["healthy"], true),
        }
    }
}

#[tokio::test]
async fn dry_runs_reach_a_driver_that_supports_them() {
    let (router, stage) = stage();
    let body = json!({"recordID": "r", "dryRun": true, "backendAddr": "a"});
    assert_eq!(ok(&router, "/ensureBackend", &body).await["status"], "Succ");
    assert_eq!(stage.log(), ["begin a", "end a"]);
}

struct Breaks;

impl Driver for Breaks {
    takes_maps!(creates nothing);

    async fn generate_backend_addr(
        &self,
        _: GenerateBackendAddr<Self>,
    ) -> Result<String, HookError> {
        Ok("a".into())
    }
    async fn ensure_backend(&self, _: EnsureBackend<Self>) -> Result<StringMap, HookError> {
        Ok(StringMap::new())
    }
    async fn deregister_backend(&self, _: DeregisterBackend<Self>) -> Result<(), HookError> {
        Ok(())
    }
    fn accepts_dry_run(&self) -> bool {
        panic!("on purpose")
    }
}

#[tokio::test]
async fn a_panic_in_accepts_dry_run_is_a_500_and_nothing_is_done() {
    let router = router(Breaks);
    let body = json!({"recordID": "r", "dryRun": true}).to_string();
    let (status, _) = post(&router, "/ensureBackend", body).await;
    assert_eq!(status, StatusCode::INTERNAL_SERVER_ERROR);
}

//! A cluster and drivers that say what a test wants, and requests as an API server sends them.

use super::http;
use super::known::{Known, LookupError};
use super::table::{Action, HOOKS, Operation};
use crate::api::{LoadBalancer, LoadBalancerDriver};
use crate::drivers::DriverError;
use crate::key::ObjectKey;
use axum::body::{Body, to_bytes};
use axum::http::{Request, StatusCode};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use kube::Resource;
use lbcf_driver_sdk::client::CallError;
use lbcf_driver_sdk::webhook::Webhook;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tower::ServiceExt;

/// What a driver does when it is called.
#[derive(Debug, Clone)]
pub(super) enum Behaviour {
    Refuses(&'static str),
    IsDown,
    TakesLong(Duration),
}

/// One call that a driver got.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Call {
    pub(super) driver: String,
    pub(super) webhook: &'static str,
    pub(super) request: Value,
}

#[derive(Debug, Default)]
pub(super) struct World {
    drivers: HashMap<ObjectKey, Arc<LoadBalancerDriver>>,
    load_balancers: HashMap<ObjectKey, Arc<LoadBalancer>>,
    behaviour: HashMap<(String, &'static str), Behaviour>,
    pub(super) users: Vec<String>,
    pub(super) lookups_fail: bool,
    pub(super) lookups_hang: bool,
    pub(super) dry_run: bool,
    calls: Mutex<Vec<Call>>,
}

pub(super) fn object<K: DeserializeOwned>(object: Value) -> K {
    serde_json::from_value(object).unwrap()
}

/// A driver of the whole cluster.
pub(super) fn driver(name: &str) -> Value {
    json!({
        "apiVersion": "lbcf.tkestack.io/v1beta1",
        "kind": "LoadBalancerDriver",
        "metadata": {"name": name, "namespace": if name.starts_with("lbcf-") { "kube-system" } else { "ns" }},
        "spec": {"driverType": "Webhook", "url": "http://driver.kube-system.svc"},
    })
}

pub(super) fn load_balancer(name: &str) -> Value {
    json!({
        "apiVersion": "lbcf.tkestack.io/v1beta1",
        "kind": "LoadBalancer",
        "metadata": {"name": name, "namespace": "ns"},
        "spec": {"lbDriver": "lbcf-d", "lbSpec": {"lbID": name}},
    })
}

pub(super) fn group() -> Value {
    json!({
        "apiVersion": "lbcf.tkestack.io/v1beta1",
        "kind": "BackendGroup",
        "metadata": {"name": "group", "namespace": "ns"},
        "spec": {
            "loadBalancers": ["lb"],
            "pods": {"ports": [{"port": 80, "protocol": "TCP"}], "byLabel": {"selector": {"app": "web"}}},
            "parameters": {"weight": "50"},
        },
    })
}

pub(super) fn bind() -> Value {
    json!({
        "apiVersion": "lbcf.tkestack.io/v1",
        "kind": "Bind",
        "metadata": {"name": "bind", "namespace": "ns"},
        "spec": {
            "loadBalancers": [
                {"name": "foo", "driver": "lbcf-d", "spec": {"lbID": "lb-foo"}, "attributes": {"payment": "by-hour"}},
                {"name": "bar", "driver": "lbcf-e", "spec": {"lbID": "lb-bar"}},
            ],
            "pods": {"ports": [{"port": 8000, "protocol": "tcp"}], "byLabel": {"selector": {"k8s-app": "test"}}},
            "parameters": {"weight": "100"},
        },
    })
}

/// An object with some of its fields, named by JSON pointers, set to something else; null takes
/// them away.
pub(super) fn with<const N: usize>(mut object: Value, changes: [(&str, Value); N]) -> Value {
    for (pointer, value) in changes {
        let (parent, field) = pointer.rsplit_once('/').unwrap();
        let parent = object.pointer_mut(parent).unwrap();
        let field = field.replace("~1", "/");
        match parent {
            Value::Array(list) => list[field.parse::<usize>().unwrap()] = value,
            parent if value.is_null() => {
                parent.as_object_mut().unwrap().remove(&field);
            }
            parent => parent[field] = value,
        }
    }
    object
}

impl World {
    /// The drivers `lbcf-d` and `lbcf-e`, and the load balancer `ns/lb`, which is created.
    pub(super) fn usual() -> Self {
        let created = with(
            load_balancer("lb"),
            [(
                "/status",
                json!({"lbInfo": {"id": "1"}, "conditions": [{"type": "Created", "status": "True"}]}),
            )],
        );
        Self::default()
            .with_driver(driver("lbcf-d"))
            .with_driver(driver("lbcf-e"))
            .with_load_balancer(created)
    }

    pub(super) fn with_driver(mut self, driver: Value) -> Self {
        let driver: LoadBalancerDriver = object(driver);
        self.drivers
            .insert(ObjectKey::of(&driver), Arc::new(driver));
        self
    }

    pub(super) fn with_load_balancer(mut self, lb: Value) -> Self {
        let lb: LoadBalancer = object(lb);
        self.load_balancers.insert(ObjectKey::of(&lb), Arc::new(lb));
        self
    }

    pub(super) fn when(
        mut self,
        driver: &str,
        webhook: &'static str,
        behaviour: Behaviour,
    ) -> Self {
        self.behaviour
            .insert((driver.to_owned(), webhook), behaviour);
        self
    }

    /// The calls since this was asked last.
    pub(super) fn calls(&self) -> Vec<Call> {
        let mut calls = std::mem::take(&mut *self.calls.lock().unwrap());
        calls.sort_by_key(|call| (call.webhook, call.driver.clone()));
        calls
    }

    async fn lookup<T: Clone>(
        &self,
        of: &HashMap<ObjectKey, T>,
        key: &ObjectKey,
    ) -> Result<Option<T>, LookupError> {
        if self.lookups_hang {
            std::future::pending::<()>().await;
        }
        if self.lookups_fail {
            return Err(LookupError::Timeout(Duration::from_secs(5)));
        }
        Ok(of.get(key).cloned())
    }
}

impl Known for World {
    async fn driver(
        &self,
        key: &ObjectKey,
    ) -> Result<Option<Arc<LoadBalancerDriver>>, LookupError> {
        self.lookup(&self.drivers, key).await
    }

    async fn load_balancer(
        &self,
        key: &ObjectKey,
    ) -> Result<Option<Arc<LoadBalancer>>, LookupError> {
        self.lookup(&self.load_balancers, key).await
    }

    async fn users_of_driver(&self, _: &ObjectKey) -> Vec<String> {
        self.users.clone()
    }

    async fn call<W: Webhook>(
        &self,
        driver: &LoadBalancerDriver,
        request: &W::Request,
    ) -> Result<W::Response, DriverError> {
        let name = driver.meta().name.clone().unwrap();
        let webhook = W::INFO.name;
        self.calls.lock().unwrap().push(Call {
            driver: name.clone(),
            webhook,
            request: serde_json::to_value(request).unwrap(),
        });
        let answer = match self.behaviour.get(&(name, webhook)) {
            None => json!({"succ": true}),
            Some(Behaviour::Refuses(message)) => json!({"succ": false, "msg": message}),
            Some(Behaviour::IsDown) => {
                return Err(DriverError::Call {
                    driver: ObjectKey::of(driver),
                    webhook,
                    source: CallError::Unreachable("connection refused".into()),
                });
            }
            Some(Behaviour::TakesLong(time)) => {
                tokio::time::sleep(*time).await;
                json!({"succ": true})
            }
        };
        Ok(serde_json::from_value(answer).unwrap())
    }

    fn is_dry_run(&self) -> bool {
        self.dry_run
    }
}

/// A question as the API server asks it.
pub(super) fn review(operation: &str, object: &Value, old: &Value) -> Value {
    let of = if object.is_null() { old } else { object };
    let (group, version) = of["apiVersion"].as_str().unwrap().split_once('/').unwrap();
    json!({
        "apiVersion": "admission.k8s.io/v1",
        "kind": "AdmissionReview",
        "request": {
            "uid": "uid-1",
            "kind": {"group": group, "version": version, "kind": of["kind"]},
            "resource": {"group": group, "version": version, "resource": "whatever"},
            "name": of["metadata"]["name"],
            "namespace": of["metadata"]["namespace"],
            "operation": operation,
            "userInfo": {"username": "admin", "groups": ["system:masters"]},
            "object": object,
            "oldObject": old,
            "dryRun": false,
            "options": {"kind": "CreateOptions", "apiVersion": "meta.k8s.io/v1"},
        },
    })
}

/// Sends bytes; gives status and body.
pub(super) async fn send(world: &Arc<World>, request: Request<Body>) -> (StatusCode, String) {
    let response = http::routes(world).oneshot(request).await.unwrap();
    let status = response.status();
    let body = to_bytes(response.into_body(), usize::MAX).await.unwrap();
    (status, String::from_utf8(body.to_vec()).unwrap())
}

/// Asks a webhook; gives `response`.
pub(super) async fn ask(world: &Arc<World>, path: &str, review: &Value) -> Value {
    let request = Request::post(format!("{path}?timeout=10s"))
        .header("content-type", "application/json")
        .body(Body::from(review.to_string()))
        .unwrap();
    let (status, body) = send(world, request).await;
    assert_eq!(status, StatusCode::OK, "{body}");
    let mut answer: Value = serde_json::from_str(&body).unwrap();
    assert_eq!(answer["apiVersion"], "admission.k8s.io/v1");
    assert_eq!(answer["kind"], "AdmissionReview");
    assert_eq!(answer["response"]["uid"], review["request"]["uid"]);
    answer["response"].take()
}

/// Where a kind is mutated and validated.
pub(super) fn paths(object: &Value) -> (&'static str, &'static str) {
    let of_kind = |mutates: bool| {
        HOOKS
            .iter()
            .find(|hook| {
                hook.kind.names().kind == object["kind"]
                    && (hook.action == Action::Mutate) == mutates
            })
            .unwrap()
            .path
    };
    (of_kind(true), of_kind(false))
}

/// The object with the patch of a response applied.
pub(super) fn patched(object: &Value, response: &Value) -> Value {
    assert_eq!(response["allowed"], true);
    let mut object = object.clone();
    if let Some(patch) = response["patch"].as_str() {
        assert_eq!(response["patchType"], "JSONPatch");
        let patch: json_patch::Patch =
            serde_json::from_slice(&BASE64_STANDARD.decode(patch).unwrap()).unwrap();
        json_patch::patch(&mut object, &patch).unwrap();
    }
    object
}

/// What a response says: nothing where it allows.
pub(super) fn verdict(response: &Value) -> Result<(), String> {
    if response["allowed"] == true {
        assert!(response.get("status").is_none());
        return Ok(());
    }
    assert!(response["status"]["code"].as_u64().unwrap() >= 400);
    Err(response["status"]["message"].as_str().unwrap().to_owned())
}

/// Stores an object, as an API server without schemas would; gives what is stored.
async fn store(
    world: &Arc<World>,
    operation: Operation,
    new: &Value,
    old: &Value,
) -> Result<Value, String> {
    let (mutate, validate) = paths(new);
    let operation = operation.as_str();
    let response = ask(world, mutate, &review(operation, new, old)).await;
    let new = patched(new, &response);
    let again = ask(world, mutate, &review(operation, &new, old)).await;
    assert!(again.get("patch").is_none(), "mutation is not idempotent");
    let response = ask(world, validate, &review(operation, &new, old)).await;
    verdict(&response).map(|()| new)
}

pub(super) async fn create(world: &Arc<World>, object: &Value) -> Result<Value, String> {
    store(world, Operation::Create, object, &Value::Null).await
}

/// `old` as it is stored.
pub(super) async fn update(world: &Arc<World>, old: &Value, new: &Value) -> Result<Value, String> {
    store(world, Operation::Update, new, old).await
}

pub(super) async fn delete(world: &Arc<World>, object: &Value) -> Result<(), String> {
    let (_, validate) = paths(object);
    let review = review("DELETE", &Value::Null, object);
    verdict(&ask(world, validate, &review).await)
}

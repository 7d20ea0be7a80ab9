//! A cluster and drivers with the behaviour that a test sets, and requests as an API server sends them.

use crate::admission::cluster_reader::{ClusterReader, LookupError};
use crate::admission::server::routes;
use crate::admission::table::{Action, HOOKS, Operation};
use crate::api::{LoadBalancer, LoadBalancerDriver, ObjectKey};
use crate::drivers::DriverError;
use axum::body::{Body, to_bytes};
use axum::http::{Request, StatusCode};
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use kube::Resource;
use lbcf_driver_client::CallError;
use lbcf_driver_sdk::webhook::Webhook;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tower::ServiceExt;

/// What a driver does when it is called.
#[derive(Debug, Clone)]
pub(in crate::admission) enum Behaviour {
    Refuses(&'static str),
    IsDown,
    TakesLong(Duration),
}

/// One call that a driver got.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::admission) struct RecordedCall {
    pub(in crate::admission) driver: String,
    pub(in crate::admission) webhook: &'static str,
    pub(in crate::admission) request: Value,
}

#[derive(Debug, Default)]
pub(in crate::admission) struct World {
    drivers: HashMap<ObjectKey, Arc<LoadBalancerDriver>>,
    load_balancers: HashMap<ObjectKey, Arc<LoadBalancer>>,
    behaviour: HashMap<(String, &'static str), Behaviour>,
    pub(in crate::admission) users: Vec<String>,
    /// Whether every namespace is being deleted.
    pub(in crate::admission) namespaces_deleting: bool,
    pub(in crate::admission) lookups_fail: bool,
    pub(in crate::admission) lookups_hang: bool,
    pub(in crate::admission) dry_run: bool,
    calls: Mutex<Vec<RecordedCall>>,
}

pub(in crate::admission) fn object<K: DeserializeOwned>(object: Value) -> K {
    serde_json::from_value(object).unwrap()
}

/// A driver of the whole cluster.
pub(in crate::admission) fn driver(name: &str) -> Value {
    json!({
        "apiVersion": "lbcf.tkestack.io/v1beta1",
        "kind": "LoadBalancerDriver",
        "metadata": {"name": name, "namespace": if name.starts_with("lbcf-") { "kube-system" } else { "ns" }},
        "spec": {"driverType": "Webhook", "url": "http://driver.kube-system.svc"},
    })
}

pub(in crate::admission) fn load_balancer(name: &str) -> Value {
    json!({
        "apiVersion": "lbcf.tkestack.io/v1beta1",
        "kind": "LoadBalancer",
        "metadata": {"name": name, "namespace": "ns"},
        "spec": {"lbDriver": "lbcf-d", "lbSpec": {"lbID": name}},
    })
}

pub(in crate::admission) fn group() -> Value {
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

pub(in crate::admission) fn bind() -> Value {
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

/// An object with some of its fields, named by JSON pointers, set to other values; null removes
/// them.
pub(in crate::admission) fn with<const N: usize>(
    mut object: Value,
    changes: [(&str, Value); N],
) -> Value {
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
    pub(in crate::admission) fn usual() -> Self {
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

    pub(in crate::admission) fn with_driver(mut self, driver: Value) -> Self {
        let driver: LoadBalancerDriver = object(driver);
        self.drivers
            .insert(ObjectKey::of(&driver), Arc::new(driver));
        self
    }

    pub(in crate::admission) fn with_load_balancer(mut self, lb: Value) -> Self {
        let lb: LoadBalancer = object(lb);
        self.load_balancers.insert(ObjectKey::of(&lb), Arc::new(lb));
        self
    }

    pub(in crate::admission) fn when(
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
    pub(in crate::admission) fn calls(&self) -> Vec<RecordedCall> {
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

impl ClusterReader for World {
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

    async fn is_namespace_deleting(&self, _: &str) -> Result<bool, LookupError> {
        let namespaces = HashMap::from([(ObjectKey::default(), self.namespaces_deleting)]);
        let found = self.lookup(&namespaces, &ObjectKey::default()).await?;
        Ok(found.unwrap_or_default())
    }

    async fn call<W: Webhook>(
        &self,
        driver: &LoadBalancerDriver,
        request: &W,
    ) -> Result<W::Response, DriverError> {
        let name = driver.meta().name.clone().unwrap();
        let webhook = W::INFO.name;
        self.calls.lock().unwrap().push(RecordedCall {
            driver: name.clone(),
            webhook,
            request: serde_json::to_value(request).unwrap(),
        });
        let response = match self.behaviour.get(&(name, webhook)) {
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
        Ok(serde_json::from_value(response).unwrap())
    }

    fn is_dry_run(&self) -> bool {
        self.dry_run
    }
}

/// An `AdmissionReview` as the API server sends it.
pub(in crate::admission) fn review(operation: &str, object: &Value, old: &Value) -> Value {
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

/// Sends a request; returns the status and the body.
pub(in crate::admission) async fn send(
    world: &Arc<World>,
    request: Request<Body>,
) -> (StatusCode, String) {
    let response = routes(world).oneshot(request).await.unwrap();
    let status = response.status();
    let body = to_bytes(response.into_body(), usize::MAX).await.unwrap();
    (status, String::from_utf8(body.to_vec()).unwrap())
}

/// Calls a webhook; returns `response`.
pub(in crate::admission) async fn ask(world: &Arc<World>, path: &str, review: &Value) -> Value {
    let request = Request::post(format!("{path}?timeout=10s"))
        .header("content-type", "application/json")
        .body(Body::from(review.to_string()))
        .unwrap();
    let (status, body) = send(world, request).await;
    assert_eq!(status, StatusCode::OK, "{body}");
    let mut reply: Value = serde_json::from_str(&body).unwrap();
    assert_eq!(reply["apiVersion"], "admission.k8s.io/v1");
    assert_eq!(reply["kind"], "AdmissionReview");
    assert_eq!(reply["response"]["uid"], review["request"]["uid"]);
    reply["response"].take()
}

/// Where a kind is mutated and validated.
pub(in crate::admission) fn paths(object: &Value) -> (&'static str, &'static str) {
    let of_kind = |mutates: bool| {
        HOOKS
            .iter()
            .find(|hook| {
                hook.kind.resource().kind == object["kind"]
                    && (hook.action == Action::Mutate) == mutates
            })
            .unwrap()
            .path
    };
    (of_kind(true), of_kind(false))
}

/// The object with the patch of a response applied.
pub(in crate::admission) fn patched(object: &Value, response: &Value) -> Value {
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

/// The message of a response that denies.
pub(in crate::admission) fn verdict(response: &Value) -> Result<(), String> {
    if response["allowed"] == true {
        assert!(response.get("status").is_none());
        return Ok(());
    }
    assert!(response["status"]["code"].as_u64().unwrap() >= 400);
    Err(response["status"]["message"].as_str().unwrap().to_owned())
}

/// Stores an object, as an API server without schemas would; returns the stored object.
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

pub(in crate::admission) async fn create(
    world: &Arc<World>,
    object: &Value,
) -> Result<Value, String> {
    store(world, Operation::Create, object, &Value::Null).await
}

/// `old` as it is stored.
pub(in crate::admission) async fn update(
    world: &Arc<World>,
    old: &Value,
    new: &Value,
) -> Result<Value, String> {
    store(world, Operation::Update, new, old).await
}

pub(in crate::admission) async fn delete(world: &Arc<World>, object: &Value) -> Result<(), String> {
    let (_, validate) = paths(object);
    let review = review("DELETE", &Value::Null, object);
    verdict(&ask(world, validate, &review).await)
}

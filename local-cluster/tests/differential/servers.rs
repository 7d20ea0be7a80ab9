//! The two servers in step: scenarios are played on both, and their responses compared.

use std::time::Duration;

use axum::response::Response as HttpResponse;
use kube::config::Kubeconfig;
use local_cluster::{LocalCluster, ServerHandle};
use serde_json::{Value, json};

use super::compare::{Counterparts, Difference, differences};
use super::kinds::CRDS;
use super::side::{Response, Side};
use super::step::Step;
use crate::fixture::DEADLINE;
use crate::webhook::{self, WebhookCall, Webhooks};

/// How often a read is repeated while it differs: a cache may be a little older. One of an object that the
/// server completes on its own is repeated more often.
const READS: [u32; 2] = [4, 40];
const PAUSE: Duration = Duration::from_millis(25);
const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
const BINDINGS: &str = "/apis/rbac.authorization.k8s.io/v1/clusterrolebindings";
const WIDGETS: &str = "/apis/diff.example.com/v1/namespaces/default/widgets?dryRun=All";

pub(super) struct Servers {
    real: Side,
    local: Side,
    scenarios: u32,
    /// What ends with the test.
    _running: (Webhooks, ServerHandle),
}

/// A step whose responses differ.
pub(super) struct Found {
    pub(super) index: usize,
    pub(super) differences: Vec<Difference>,
}

impl Servers {
    /// Prepares both servers: the definitions, the admission webhooks, and no controllers.
    pub(super) async fn new(real: Kubeconfig, cluster: &LocalCluster) -> Self {
        let server = cluster.serve("127.0.0.1:0".parse().unwrap()).await.unwrap();
        let local = Kubeconfig::from_yaml(&server.kubeconfig()).unwrap();
        let webhooks = Webhooks::start(review).await;
        let hooks = [
            ("Mutating", "mutate"),
            ("Validating", "warn"),
            ("Validating", "deny"),
        ];
        let hooks = hooks.map(|(which, name)| (which, configuration(&webhooks, which, name)));
        let mut servers = Self {
            real: Side::connect(real).await,
            local: Side::connect(local).await,
            scenarios: 0,
            _running: (webhooks, server),
        };
        servers.stop_controllers().await;
        let crds: Vec<Value> = serde_json::from_str(CRDS).unwrap();
        for crd in &crds {
            servers.create(DEFINITIONS, crd).await;
        }
        for (which, hook) in &hooks {
            let path = webhook::configurations(which);
            let former = format!("{path}/{}", hook["metadata"]["name"].as_str().unwrap());
            servers.real.send(&request("DELETE", &former, None)).await;
            servers.create(&path, hook).await;
        }
        // The servers follow definitions and configurations soon, not at once.
        servers
            .until("/apis/diff.example.com/v1/gauges", None, 200)
            .await;
        let denied = json!({
            "apiVersion": "diff.example.com/v1", "kind": "Widget", "spec": {"size": 1},
            "metadata": {"name": "denied", "labels": {"hook": "deny"}},
        });
        servers.until(WIDGETS, Some(&denied), 403).await;
        servers
    }

    /// Withdraws the permissions of the real server's controllers, so that nothing writes but requests.
    async fn stop_controllers(&mut self) {
        let list = self.real.send(&request("GET", BINDINGS, None)).await;
        let items = list.body["items"].as_array().unwrap().iter();
        let names = items.filter_map(|item| item["metadata"]["name"].as_str());
        for name in names.filter(|name| name.starts_with("system:controller:")) {
            let path = format!("{BINDINGS}/{name}");
            self.real.send(&request("DELETE", &path, None)).await;
        }
    }

    /// Repeats a read, or the creation of an object, until both servers respond with this code.
    async fn until(&mut self, path: &str, body: Option<&Value>, code: u16) {
        let request = request(if body.is_some() { "POST" } else { "GET" }, path, body);
        for side in [&mut self.real, &mut self.local] {
            let polling = async {
                while side.send(&request).await.status != code {
                    tokio::time::sleep(PAUSE).await;
                }
            };
            tokio::time::timeout(DEADLINE, polling).await.unwrap();
        }
    }

    /// Creates an object on both servers, unless it exists.
    async fn create(&mut self, path: &str, body: &Value) {
        for response in self.send(&request("POST", path, Some(body))).await {
            assert!([201, 409].contains(&response.status), "{}", response.body);
        }
    }

    async fn send(&mut self, step: &Step) -> [Response; 2] {
        let (real, local) = tokio::join!(self.real.send(step), self.local.send(step));
        [real, local]
    }

    /// Plays a scenario in a namespace of its own, until a write has had different effects. Returns the
    /// number of steps that were played.
    pub(super) async fn play(&mut self, steps: &[Step]) -> (usize, Vec<Found>) {
        self.scenarios += 1;
        let namespace = format!("d{}-{}", std::process::id(), self.scenarios);
        let object = |kind: &str, name: &str| json!({"apiVersion": "v1", "kind": kind, "metadata": {"name": name}});
        self.create("/api/v1/namespaces", &object("Namespace", &namespace))
            .await;
        // Pods are admitted with it only.
        let accounts = format!("/api/v1/namespaces/{namespace}/serviceaccounts");
        self.create(&accounts, &object("ServiceAccount", "default"))
            .await;
        for side in [&mut self.real, &mut self.local] {
            let list = side.send(&request("GET", &accounts, None)).await;
            let version = list.body["metadata"]["resourceVersion"].as_str();
            side.begin(&namespace, version.unwrap());
        }
        let mut found = Vec::new();
        let mut counterparts = Counterparts::default();
        for (index, step) in steps.iter().enumerate() {
            let differences = self.differences(step, &mut counterparts).await;
            let differs = !differences.is_empty();
            if differs {
                found.push(Found { index, differences });
            }
            if differs && !step.is_read() {
                return (index + 1, found);
            }
        }
        (steps.len(), found)
    }

    async fn differences(
        &mut self,
        step: &Step,
        counterparts: &mut Counterparts,
    ) -> Vec<Difference> {
        let mut left = if step.is_read() {
            READS[usize::from(step.settles)]
        } else {
            1
        };
        loop {
            let responses = self.send(step).await;
            let found = differences(step, &responses[0], &responses[1], counterparts);
            let unsettled = step.settles && responses.iter().any(is_unsettled);
            left -= 1;
            if left == 0 || found.is_empty() && !unsettled {
                return found;
            }
            tokio::time::sleep(PAUSE).await;
        }
    }
}

/// The server has not yet written the status of a definition.
fn is_unsettled(response: &Response) -> bool {
    let conditions = &response.body["status"]["conditions"];
    response.body["kind"] == "CustomResourceDefinition" && conditions.get(0).is_none()
}

/// A request that is not part of a scenario.
fn request(method: &str, path: &str, body: Option<&Value>) -> Step {
    Step {
        method: method.to_owned(),
        path: path.to_owned(),
        content_type: "application/json".to_owned(),
        accept: "application/json".to_owned(),
        body: body.map(Value::to_string).unwrap_or_default(),
        ..Step::default()
    }
}

/// Webhooks for the widgets whose label `hook` has their name.
fn configuration(webhooks: &Webhooks, which: &str, name: &str) -> Value {
    let resources = ["widgets", "widgets/status"];
    let rule = json!({
        "operations": ["CREATE", "UPDATE"], "apiGroups": ["diff.example.com"],
        "apiVersions": ["*"], "resources": resources,
    });
    let change = json!({"objectSelector": {"matchLabels": {"hook": name}}, "rules": [rule]});
    let webhook = webhooks.webhook("differential.example.com", &format!("/{name}"), change);
    webhook::configuration(which, &format!("differential-{name}"), &[webhook])
}

fn review(call: &WebhookCall) -> HttpResponse {
    match call.path.as_str() {
        "/mutate" => call.patch(json!([
            {"op": "add", "path": "/metadata/labels/mutated", "value": "yes"},
            {"op": "add", "path": "/spec/replicas", "value": 4},
        ])),
        "/deny" => call.deny(json!({"message": "denied", "code": 403})),
        _ => {
            let warning = format!("warned at {}", call.at("/operation"));
            call.respond(json!({"response": {"warnings": [warning]}}))
        }
    }
}

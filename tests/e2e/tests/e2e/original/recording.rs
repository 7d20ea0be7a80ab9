//! The recording of `left.jsonl`, as it would be in a world's cluster and cloud. `README.md` says what it has.

use k8s_openapi::api::core::v1::Pod;
use kube::ResourceExt;
use kube::api::{Api, ApiResource, DynamicObject, ListParams, PostParams};
use kube::core::GroupVersionKind;
use lbcf_controller::names;
use lbcf_driver_client::DriverClient;
use lbcf_e2e::manifests::{self, NAMESPACE, NODES};
use lbcf_e2e::{World, until_is};
use local_cluster::annotations::POD_IP;
use serde_json::{Value, json};
use std::collections::BTreeMap;

const LEFT: &str = include_str!("left.jsonl");
const PODS: usize = 20;
const KINDS: [&str; 5] = [
    "LoadBalancerDriver",
    "LoadBalancer",
    "BackendGroup",
    "Bind",
    "BackendRecord",
];

pub(super) fn is_record(object: &Value) -> bool {
    object["kind"] == "BackendRecord"
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap()
}

/// Creates the pods, the nodes and the Service, with the addresses that they had.
pub(super) async fn create_surroundings(world: &World) {
    for number in 0..PODS {
        let mut pod = manifests::pod(&format!("w-{number}"));
        let address = format!("10.244.0.{}", number + 1);
        *pod.labels_mut() = BTreeMap::from([("k".to_owned(), "v".to_owned())]);
        *pod.annotations_mut() = BTreeMap::from([(POD_IP.to_owned(), address)]);
        world.create(&pod).await;
    }
    until_is("ready pods", PODS, async || {
        let pods = pods(world).await;
        let conditions = pods.into_iter().filter_map(|pod| pod.status?.conditions);
        let mut conditions: Vec<_> = conditions.flatten().collect();
        conditions.retain(|it| it.type_ == "Ready" && it.status == "True");
        conditions.len()
    })
    .await;
    // The group `gs` selects all nodes.
    for (node, _) in NODES {
        world.label_node_excluded(node, Some("")).await;
    }
    world.create_node("n0", "10.0.0.1").await;
    world.create_node("n1", "10.0.0.2").await;
    world.create(&manifests::service("svc", 30080)).await;
}

async fn pods(world: &World) -> Vec<Pod> {
    let api = world.api::<Pod>(NAMESPACE);
    api.list(&ListParams::default()).await.unwrap().items
}

/// The recorded objects, owners first, with this world's namespace, driver and names of records: those of
/// `g` contain the uids of pods (b45).
pub(super) async fn recorded(world: &World) -> Vec<Value> {
    let pods = pods(world).await;
    let uid = |name: &str| {
        pods.iter()
            .find(|pod| pod.name_any() == name)
            .unwrap()
            .uid()
    };
    let objects = LEFT.lines().map(|line| {
        let mut object: Value = serde_json::from_str(line).unwrap();
        object["metadata"]["namespace"] = NAMESPACE.into();
        if object["kind"] == "LoadBalancerDriver" {
            object["spec"]["url"] = world.driver_url().into();
        }
        if object["metadata"]["labels"][names::LABEL_BACKEND_GROUP] == "g" {
            let pod = uid(text(&object["spec"]["podBackend"]["name"])).unwrap();
            let lb = text(&object["spec"]["lbName"]);
            object["metadata"]["name"] = names::pod_record_name(lb, "g", &pod, 80, "TCP").into();
        }
        object
    });
    let mut objects: Vec<Value> = objects.collect();
    objects.sort_by_key(is_record);
    objects
}

fn api(world: &World, kind: &str) -> Api<DynamicObject> {
    let version = if kind == "Bind" { "v1" } else { "v1beta1" };
    let kind = GroupVersionKind::gvk("lbcf.tkestack.io", version, kind);
    Api::namespaced_with(world.client(), NAMESPACE, &ApiResource::from_gvk(&kind))
}

/// Creates the objects with their status. Those that own others come first.
pub(super) async fn store(world: &World, objects: Vec<Value>) -> Vec<Value> {
    let (mut stored, mut uids) = (Vec::new(), Vec::<(String, String)>::new());
    for object in objects {
        let mut object = object.to_string();
        for (recorded, current) in &uids {
            object = object.replace(recorded, current);
        }
        let mut object: Value = serde_json::from_str(&object).unwrap();
        let kind = text(&object["kind"]).to_owned();
        let api = api(world, &kind);
        world.cluster.adapt(&kind, &mut object);
        let metadata = object["metadata"].as_object_mut().unwrap();
        metadata.remove("resourceVersion");
        let uid = text(&metadata.remove("uid").unwrap()).to_owned();
        let status = object.as_object_mut().unwrap().remove("status");
        let params = PostParams::default();
        let created = serde_json::from_value(object).unwrap();
        let mut created = api.create(&params, &created).await.unwrap();
        if let Some(status) = status {
            created.data["status"] = status;
            created = api
                .replace_status(&created.name_any(), &params, &created)
                .await
                .unwrap();
        }
        uids.push((uid, created.uid().unwrap()));
        stored.push(serde_json::to_value(created).unwrap());
    }
    stored
}

/// All objects of the namespace, each as [`recorded`] has them.
pub(super) async fn current(world: &World) -> Vec<Value> {
    let mut found = Vec::new();
    for kind in KINDS {
        for object in api(world, kind).list(&ListParams::default()).await.unwrap() {
            let mut object = serde_json::to_value(object).unwrap();
            object["kind"] = kind.into();
            found.push(object);
        }
    }
    found
}

/// A load balancer of a LoadBalancer or a Bind.
struct Lb {
    name: String,
    /// What its recordIDs contain.
    id: String,
    spec: Value,
    info: Value,
}

fn load_balancers(objects: &[Value]) -> Vec<Lb> {
    let mut found = Vec::new();
    for object in objects {
        let (metadata, spec, status) = (&object["metadata"], &object["spec"], &object["status"]);
        let (name, uid) = (text(&metadata["name"]), text(&metadata["uid"]));
        if object["kind"] == "LoadBalancer" {
            found.push(Lb {
                name: name.to_owned(),
                id: uid.to_owned(),
                spec: spec["lbSpec"].clone(),
                info: status["lbInfo"].clone(),
            });
        }
        for entry in status["loadBalancerStatuses"]
            .as_array()
            .into_iter()
            .flatten()
        {
            let name = text(&entry["name"]);
            let mut specs = spec["loadBalancers"].as_array().unwrap().iter();
            found.push(Lb {
                name: name.to_owned(),
                id: format!("{uid}-{name}"),
                spec: specs.find(|it| it["name"] == name).unwrap()["spec"].clone(),
                info: entry["lbInfo"].clone(),
            });
        }
    }
    found
}

/// Repeats the calls that led to these objects.
pub(super) async fn register(world: &World, objects: &[Value]) {
    let driver = DriverClient::new(&world.driver_url()).unwrap();
    let call = async |webhook: &str, request: Value| -> Value {
        let response = driver.raw_call(webhook, request.to_string()).await;
        serde_json::from_slice(&response.unwrap().body).unwrap()
    };
    let mut lbs = load_balancers(objects);
    // The cloud counts.
    lbs.sort_by_key(|lb| text(&lb.info["lbID"]).to_owned());
    for Lb { id, spec, info, .. } in lbs {
        let request = json!({
            "recordID": format!("createLoadBalancer({id})"), "retryID": "1",
            "lbSpec": spec, "attributes": {},
        });
        assert_eq!(call("createLoadBalancer", request).await["lbInfo"], info);
    }
    for record in objects.iter().filter(|object| is_record(object)) {
        let request = json!({
            "recordID": format!("ensureBackend({})", text(&record["metadata"]["uid"])), "retryID": "1",
            "lbInfo": record["spec"]["lbInfo"], "parameters": record["spec"]["parameters"],
            "backendAddr": record["status"]["backendAddr"], "injectedInfo": null,
        });
        assert_eq!(call("ensureBackend", request).await["status"], "Succ");
    }
}

/// The objects with the names of load balancers in the place of the numbers in their IDs, which depend on
/// the order of their creation.
pub(super) fn without_numbers(objects: &[Value]) -> Vec<Value> {
    let mut named = serde_json::to_string(objects).unwrap();
    for lb in load_balancers(objects) {
        let id = lb.info["lbID"].as_str().unwrap_or_default();
        if let Some(number) = id.strip_prefix("lb-") {
            named = named.replace(&format!("-{number}\""), &format!("-{}\"", lb.name));
        }
    }
    serde_json::from_str(&named).unwrap()
}

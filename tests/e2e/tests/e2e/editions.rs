//! Manifests of earlier editions, one in each file of `editions/`: converted, they are accepted with
//! strict field validation, and everything in them is registered in the cloud.

use k8s_openapi::api::core::v1::{Namespace, Pod, Service};
use kube::ResourceExt;
use kube::api::{Api, ApiResource, DynamicObject, Patch, PatchParams, PostParams};
use kube::core::GroupVersionKind;
use lbcf_controller::api::{
    BackendGroup, BackendRecord, Bind, Condition, ConditionStatus, LoadBalancer, LoadBalancerDriver,
};
use lbcf_controller::conversion::{ManifestFile, convert};
use lbcf_controller::{Options, names};
use lbcf_e2e::{World, kill, until, until_is};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

const STOREFRONT: &str = "storefront";
/// The namespace of objects without one.
const DEFAULT: &str = "default";

fn files() -> Vec<ManifestFile> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/e2e/editions");
    let entries = fs::read_dir(folder).unwrap();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    let file = |path: PathBuf| ManifestFile {
        name: path.file_name().unwrap().to_str().unwrap().to_owned(),
        text: fs::read_to_string(path).unwrap(),
    };
    paths.into_iter().map(file).collect()
}

/// The converted objects by the names of their files. They are in the order in which kubectl would
/// apply them: drivers, load balancers, Binds and groups, records.
fn converted() -> Vec<(String, Value)> {
    let files = files();
    let converted = convert(&files, Some(&"crew=plaza".parse().unwrap())).unwrap();
    for change in &converted.changes {
        println!("{change}");
    }
    let documents: Vec<&str> = converted.yaml.split("---\n").skip(1).collect();
    assert_eq!((files.len(), documents.len()), (21, 21));
    let names = files.into_iter().map(|file| file.name);
    let parse = |text: &str| serde_saphyr::from_str::<Value>(text).unwrap();
    names.zip(documents.into_iter().map(parse)).collect()
}

fn is_record(object: &Value) -> bool {
    object["kind"] == "BackendRecord"
}

fn namespace(object: &Value) -> &str {
    object["metadata"]["namespace"].as_str().unwrap_or(DEFAULT)
}

fn name(object: &Value) -> &str {
    object["metadata"]["name"].as_str().unwrap()
}

/// What `kubectl apply` does.
async fn apply(world: &World, object: &Value) -> Result<(), String> {
    let api_version = object["apiVersion"].as_str().unwrap();
    let (group, version) = api_version.split_once('/').unwrap();
    let kind = GroupVersionKind::gvk(group, version, object["kind"].as_str().unwrap());
    let resource = ApiResource::from_gvk(&kind);
    let api: Api<DynamicObject> =
        Api::namespaced_with(world.client(), namespace(object), &resource);
    let params = PatchParams::apply("kubectl").validation_strict();
    let applied = api
        .patch(name(object), &params, &Patch::Apply(object))
        .await;
    applied.map(drop).map_err(|error| error.to_string())
}

/// A world whose controller finds every driver of the manifests at the mock's address.
async fn world() -> (World, Options) {
    let world = World::bare().await;
    let host = |name: &str| format!("{name}.kube-system.svc.cluster.local");
    let options = Options {
        connect_to: BTreeMap::from(["harbor", "pier"].map(|name| (host(name), world.driver_url()))),
        ..World::quick()
    };
    world.install_admission().await;
    let namespaces: Api<Namespace> = Api::all(world.client());
    for name in [STOREFRONT, "workshop"] {
        let object = serde_json::from_value(json!({"metadata": {"name": name}})).unwrap();
        let created = namespaces.create(&PostParams::default(), &object).await;
        created.unwrap();
    }
    (world, options)
}

/// The objects that the manifests refer to and that are not among them.
async fn create_surroundings(world: &World) {
    for (node, labels) in [
        ("lbcf-e2e-1", json!({"zone": "north", "pool": "edge"})),
        ("lbcf-e2e-2", json!({"zone": "north"})),
    ] {
        let patch = json!({"metadata": {"labels": labels}});
        world.patch_node(node, patch).await;
    }
    let service = json!({
        "metadata": {"name": "sails", "namespace": STOREFRONT},
        "spec": {
            "type": "NodePort", "selector": {"crew": "sail"},
            "ports": [{"port": 80, "protocol": "TCP", "nodePort": 30080}],
        },
    });
    let service: Service = serde_json::from_value(service).unwrap();
    world.create(&service).await;
    for (namespace, name) in [
        (STOREFRONT, "sail-0"),
        (STOREFRONT, "sail-1"),
        (STOREFRONT, "deck-0"),
        (DEFAULT, "plaza-0"),
        (DEFAULT, "plaza-1"),
    ] {
        create_pod(world, namespace, name).await;
    }
    let driver = json!({
        "metadata": {"name": "judge", "namespace": DEFAULT},
        "spec": {"driverType": "Webhook", "url": world.driver_url()},
    });
    let driver: LoadBalancerDriver = serde_json::from_value(driver).unwrap();
    world.create(&driver).await;
}

async fn create_load_balancers(world: &World) {
    for (number, (namespace, name)) in [
        (DEFAULT, "plaza-one"),
        (DEFAULT, "plaza-two"),
        ("kube-system", "lbcf-promenade"),
    ]
    .into_iter()
    .enumerate()
    {
        let scope = if namespace == DEFAULT {
            json!(null)
        } else {
            json!(["*"])
        };
        let lb = json!({
            "metadata": {"name": name, "namespace": namespace},
            "spec": {"lbDriver": "lbcf-pier", "scope": scope, "lbSpec": {
                "lbVpcID": "vpc-plaza", "lbListenerProtocol": "TCP",
                "lbListenerPort": (9000 + number).to_string(),
            }},
        });
        let lb: LoadBalancer = serde_json::from_value(lb).unwrap();
        world.create(&lb).await;
    }
}

/// A pod whose label `crew` is its name without the number.
async fn create_pod(world: &World, namespace: &str, name: &str) -> Pod {
    let (crew, _) = name.rsplit_once('-').unwrap();
    let pod = json!({
        "metadata": {"name": name, "namespace": namespace, "labels": {"crew": crew}},
        "spec": {"containers": [{"name": "main", "image": "registry.example/main:1"}]},
    });
    let pod: Pod = serde_json::from_value(pod).unwrap();
    world.create(&pod).await
}

/// Waits until the controller reports that an object is in use in the cloud.
async fn until_registered(world: &World, file: &str, object: &Value) {
    let what = format!("{file}: {} {} is registered", object["kind"], name(object));
    until(&what, async || {
        let (namespace, name) = (namespace(object), name(object));
        let is_registered = match object["kind"].as_str().unwrap() {
            "LoadBalancerDriver" => {
                let driver = world.api::<LoadBalancerDriver>(namespace).get(name).await;
                is_true(&driver.unwrap().status?.conditions, "Accepted")
            }
            "LoadBalancer" => {
                let lb = world.api::<LoadBalancer>(namespace).get(name).await;
                is_true(&lb.unwrap().status?.conditions, "Created")
            }
            "BackendGroup" => {
                let group = world.api::<BackendGroup>(namespace).get(name).await;
                let status = group.unwrap().status?;
                status.backends > 0 && status.registered_backends == status.backends
            }
            "Bind" => {
                let bind = world.api::<Bind>(namespace).get(name).await.unwrap();
                let records: Vec<BackendRecord> = world.all().await;
                let mut records = records.into_iter().filter(|record| {
                    let owners = record.metadata.owner_references.iter().flatten();
                    let mut uids = owners.map(|owner| Some(&owner.uid));
                    uids.any(|uid| uid == bind.metadata.uid.as_ref())
                });
                let first = records.next()?;
                is_registered(&first) && records.all(|record| is_registered(&record))
            }
            "BackendRecord" => {
                let api = world.api::<BackendRecord>(namespace);
                is_registered(&api.get_opt(name).await.unwrap()?)
            }
            other => panic!("{other}"),
        };
        is_registered.then_some(())
    })
    .await;
}

fn is_true(conditions: &[Condition], type_: &str) -> bool {
    let mut conditions = conditions.iter();
    conditions.any(|it| it.type_ == type_ && it.status == ConditionStatus::True)
}

fn is_registered(record: &BackendRecord) -> bool {
    let status = record.status.as_ref();
    status.is_some_and(|status| is_true(&status.conditions, "Registered"))
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d20_d21_b58_manifests_of_every_edition_are_converted_applied_and_registered() {
    if lbcf_e2e::needs_embedded("manifests for the namespaces default and kube-system") {
        return;
    }
    let (world, options) = world().await;
    let controller = world
        .start_admitting("lbcf-controller", options.clone())
        .await;
    create_surroundings(&world).await;
    let manifests = converted();
    let (records, others): (Vec<_>, Vec<_>) = manifests
        .into_iter()
        .partition(|(_, object)| is_record(object));
    assert_eq!((records.len(), others.len()), (2, 19));
    let (mut refused, mut has_load_balancers) = (Vec::new(), false);
    for (file, object) in &others {
        if object["kind"] == "Bind" && !std::mem::replace(&mut has_load_balancers, true) {
            create_load_balancers(&world).await;
        }
        if let Err(error) = apply(&world, object).await {
            refused.push(format!("{file}: {error}"));
        }
    }
    assert!(refused.is_empty(), "{}", refused.join("\n"));
    for (file, object) in &others {
        until_registered(&world, file, object).await;
    }
    // Pods, nodes and addresses, times ports, times load balancers.
    let service = 1 + 2;
    let pods = 1 + 2 + 1 + 2;
    let judged = 2 * 2 * 2 + 2;
    let (fixed, several, bind) = (2 + 2, 2 * 2 * 2, 2 * 2);
    let all = service + pods + judged + fixed + several + bind;
    until_is("targets in the cloud", all, async || world.targets_count()).await;

    // The owners of the records are there, but no pods: the controller creates no records.
    for (_, record) in &records {
        create_owner(&world, record).await;
    }
    kill(controller.task).await;
    let mut applied = Vec::new();
    for (file, mut record) in records {
        take_place(&world, &mut record).await;
        apply(&world, &record).await.unwrap();
        applied.push((file, record));
    }
    let _controller = world.start(options);
    for (file, record) in &applied {
        until_registered(&world, file, record).await;
        let api = world.api::<BackendRecord>(namespace(record));
        let now = api.get(name(record)).await.unwrap();
        // Its owner has replaced it by one of its own (d110).
        let is_signed = now.annotations().contains_key(names::ANNOTATION_SIGNATURE);
        assert!(is_signed, "{file}");
    }
    let all = all + applied.len();
    until_is("targets in the cloud", all, async || world.targets_count()).await;
}

/// Creates the group of a record, which selects the record's pod.
async fn create_owner(world: &World, record: &Value) {
    let spec = &record["spec"];
    let group = json!({
        "metadata": {
            "name": record["metadata"]["ownerReferences"][0]["name"],
            "namespace": namespace(record),
        },
        "spec": {
            "loadBalancers": [spec["lbName"]],
            "pods": {
                "ports": [spec["podBackend"]["port"]],
                "byName": [spec["podBackend"]["name"]],
            },
            "parameters": spec["parameters"],
        },
    });
    let group: BackendGroup = serde_json::from_value(group).unwrap();
    world.create(&group).await;
}

/// Creates the pod of a record, and gives the record the identity that it has for this pod and group.
/// Both depend on UIDs, which the API server assigns.
async fn take_place(world: &World, record: &mut Value) {
    let namespace = namespace(record).to_owned();
    let text = |pointer: &str| record.pointer(pointer).unwrap().as_str().unwrap();
    let pod = text("/spec/podBackend/name");
    let pod_uid = create_pod(world, &namespace, pod)
        .await
        .metadata
        .uid
        .unwrap();
    until("the pod is ready", async || {
        let pod = world.api::<Pod>(&namespace).get(pod).await.unwrap();
        let mut conditions = pod.status?.conditions.into_iter().flatten();
        let is_ready = conditions.any(|it| it.type_ == "Ready" && it.status == "True");
        is_ready.then_some(())
    })
    .await;
    let group = text("/metadata/ownerReferences/0/name");
    let port = &record["spec"]["podBackend"]["port"];
    let number = i32::try_from(port["port"].as_i64().unwrap()).unwrap();
    let lb = text("/spec/lbName");
    let name = names::pod_record_name(lb, group, &pod_uid, number, "TCP");
    let owner = world.api::<BackendGroup>(&namespace).get(group).await;
    let uid = owner.unwrap().metadata.uid;
    record["metadata"]["name"] = json!(name);
    record["metadata"]["ownerReferences"][0]["uid"] = json!(uid);
}

//! What a tenant writes in its namespace changes nothing of another's (ADR 13).

use k8s_openapi::api::core::v1::{ConfigMap, Event, Secret};
use kube::api::Api;
use kube::{Client, Resource, ResourceExt};
use lbcf_controller::api::{
    BackendGroup, BackendRecord, Bind, LoadBalancer, NamespacedKind, StringMap, crds, reasons,
};
use lbcf_e2e::manifests::{self, BIND, GROUP, LB, NAMESPACE, OWN_DRIVER};
use lbcf_e2e::{DriverProxy, World, until, until_is};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;

const GREEN: &str = "lbcf-e2e-green";

/// The texts in specs that name something outside of the object: in its namespace, in kube-system, or in the cloud.
const ELSEWHERE: &str = "
    LoadBalancerDriver url serviceClass.name
    LoadBalancer lbDriver lbSpec.* scope.[]
    BackendGroup lbName loadBalancers.[] deregisterWebhook.driverName pods.byName.[] pods.byLabel.except.[]
    BackendGroup pods.byLabel pods.byLabel.selector.* service.name service.nodeSelector.* service.zones.[] static.[]
    BackendRecord lbDriver lbName lbInfo.* staticAddr podBackend.name serviceBackend.name serviceBackend.nodeName
    BackendRecord endpointBackend.service endpointBackend.address
    Bind loadBalancers.[].driver loadBalancers.[].spec.* deregisterWebhook.driverName pods.byName.[] pods.byLabel.except.[]
    Bind pods.byLabel pods.byLabel.selector.* service.name service.nodeSelector.* service.zones.[]
";

/// The other texts: settings of the object itself.
const OWN: [&str; 20] = [
    "acceptDryRunCall",
    "addressFamilies.[]",
    "addressType",
    "annotations",
    "attributes.*",
    "deregisterPolicy",
    "driverType",
    "failurePolicy",
    "groupParameters",
    "ingress",
    "lbAttributes.*",
    "minPeriod",
    "mode",
    "name",
    "parameters.*",
    "policy",
    "policyAnnotations",
    "protocol",
    "serviceClass",
    "timeout",
];

/// The paths of all texts below a schema.
fn texts(schema: &Value, path: &str, found: &mut BTreeSet<String>) {
    let below = |step: &str| match path {
        "" => step.to_owned(),
        path => format!("{path}.{step}"),
    };
    for (name, property) in schema["properties"].as_object().into_iter().flatten() {
        texts(property, &below(name), found);
    }
    for (step, inner) in [("[]", "items"), ("*", "additionalProperties")] {
        if schema[inner].is_object() {
            texts(&schema[inner], &below(step), found);
        }
    }
    let is_text =
        schema["type"] == "string" || schema["x-kubernetes-preserve-unknown-fields"] == true;
    if is_text || schema["x-kubernetes-int-or-string"] == true {
        found.insert(path.to_owned());
    }
}

#[test]
fn every_text_of_a_spec_is_known_to_name_something_elsewhere_or_not() {
    let mut elsewhere: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for line in ELSEWHERE.lines().filter(|line| !line.trim().is_empty()) {
        let mut words = line.split_whitespace();
        elsewhere
            .entry(words.next().unwrap())
            .or_default()
            .extend(words);
    }
    for crd in crds() {
        let kind = crd.spec.names.kind.as_str();
        let version = serde_json::to_value(&crd.spec.versions[0]).unwrap();
        let mut found = BTreeSet::new();
        texts(
            &version["schema"]["openAPIV3Schema"]["properties"]["spec"],
            "",
            &mut found,
        );
        let named = &elsewhere[kind];
        let unknown = found.iter().filter(|path| {
            let is_own =
                |own: &&str| path.split('.').any(|step| step == *own) || path.ends_with(*own);
            !named.contains(path.as_str()) && !OWN.iter().any(is_own)
        });
        let unknown: Vec<_> = unknown.collect();
        assert!(
            unknown.is_empty(),
            "{kind}: does it name something elsewhere? {unknown:?}"
        );
        let gone: Vec<_> = named
            .iter()
            .filter(|path| !found.contains(**path))
            .collect();
        assert!(gone.is_empty(), "{kind} has no such texts: {gone:?}");
    }
}

/// All objects of LBCF in the namespace, with their versions.
async fn objects(world: &World) -> BTreeMap<String, Value> {
    async fn of<K>(world: &World, objects: &mut BTreeMap<String, Value>)
    where
        K: NamespacedKind + Serialize + DeserializeOwned + Clone + Debug,
    {
        let list = world
            .api::<K>(NAMESPACE)
            .list(&Default::default())
            .await
            .unwrap();
        let named = list
            .items
            .iter()
            .map(|it| (it.name_any(), serde_json::to_value(it).unwrap()));
        objects.extend(named);
    }
    let mut objects = BTreeMap::new();
    of::<LoadBalancer>(world, &mut objects).await;
    of::<BackendGroup>(world, &mut objects).await;
    of::<BackendRecord>(world, &mut objects).await;
    of::<Bind>(world, &mut objects).await;
    objects
}

/// Names the objects that are not as they were.
async fn assert_unchanged(world: &World, before: &BTreeMap<String, Value>) {
    let now = objects(world).await;
    let names = before.keys().chain(now.keys());
    let changed = names.filter(|name| before.get(*name) != now.get(*name));
    let changed: BTreeMap<_, _> = changed
        .map(|name| (name, (before.get(name), now.get(name))))
        .collect();
    assert!(
        changed.is_empty(),
        "{}",
        serde_json::to_string_pretty(&changed).unwrap()
    );
}

/// Registers a pod of the tenant: the controller has then seen what was written before.
async fn until_seen(world: &World, number: usize) {
    let group = format!("fence-{number}");
    let mut object = manifests::group(&group, &["fence"]);
    object.metadata.namespace = Some(GREEN.into());
    object
        .spec
        .pods
        .as_mut()
        .unwrap()
        .by_label
        .as_mut()
        .unwrap()
        .selector = BTreeMap::from([("fence".to_owned(), number.to_string())]);
    let mut pod = manifests::pod(&group);
    pod.metadata.namespace = Some(GREEN.into());
    pod.metadata.labels = Some(BTreeMap::from([("fence".to_owned(), number.to_string())]));
    world.create(&object).await;
    world.create(&pod).await;
    until(&format!("{group} is registered"), async || {
        let group = world.api::<BackendGroup>(GREEN).get(&group).await.unwrap();
        (group.status?.registered_backends == 1).then_some(())
    })
    .await;
}

/// Waits until the tenant has its permissions, and only these.
async fn until_allowed(tenant: &Client) {
    let list = async |namespace: &str| {
        let api = Api::<BackendRecord>::namespaced(tenant.clone(), namespace);
        api.list(&Default::default()).await
    };
    until("the tenant may list its records", async || {
        list(GREEN).await.ok()
    })
    .await;
    assert!(list(NAMESPACE).await.is_err());
    let secrets = Api::<Secret>::namespaced(tenant.clone(), GREEN);
    assert!(secrets.list(&Default::default()).await.is_err());
}

/// What the tenant writes, by its own users or its own controllers, to reach another's load balancer and backends.
async fn attack(world: &World, lb_info: &StringMap, records: Vec<BackendRecord>) {
    let own = |lb: &str| {
        let mut lb = manifests::load_balancer(lb);
        lb.metadata.namespace = Some(GREEN.into());
        lb
    };
    world.create(&own("fence")).await;
    // The same load balancer in the cloud, and a driver of the other namespace.
    let mut same = own("same");
    same.spec.lb_spec = lb_info.clone();
    world.create(&same).await;
    let mut other = own("other-driver");
    other.spec.lb_driver = OWN_DRIVER.into();
    world.create(&other).await;
    // Its load balancer by name, its pods by name, label and address.
    let group = |name: &str| {
        let mut group = manifests::group(name, &[LB, "same", "other-driver"]);
        group.metadata.namespace = Some(GREEN.into());
        group
    };
    world.create(&group(GROUP)).await;
    let mut named = group("named");
    named.spec.pods.as_mut().unwrap().by_label = None;
    named.spec.pods.as_mut().unwrap().by_name = vec!["web-0".into(), "web-1".into()];
    world.create(&named).await;
    let mut addresses = group("addresses");
    addresses.spec.pods = None;
    addresses.spec.static_addresses = world.bound();
    world.create(&addresses).await;
    let mut bind = manifests::bind(BIND, &["a"]);
    bind.metadata.namespace = Some(GREEN.into());
    bind.spec.load_balancers[0].spec = lb_info.clone();
    world.create(&bind).await;
    let mut owner = ConfigMap::default();
    owner.metadata.name = Some("owner".to_owned());
    owner.metadata.namespace = Some(GREEN.to_owned());
    let owner = world
        .create(&owner)
        .await
        .controller_owner_ref(&())
        .unwrap();
    // Records with the identity, the owner, the labels and the signature of the other's.
    for (number, record) in records.into_iter().enumerate() {
        let mut forged = record.clone();
        forged.metadata.namespace = Some(GREEN.into());
        forged.metadata.resource_version = None;
        forged.metadata.uid = None;
        forged.metadata.creation_timestamp = None;
        match number {
            0 => forged.metadata.owner_references = None,
            1 => {}
            // Another controller's, which no group or Bind decides about.
            _ => forged.metadata.owner_references = Some(vec![owner.clone()]),
        }
        world.create(&forged).await;
        let name = forged.name_any();
        // The controller has deleted those of groups that do not have them.
        let status = json!({"status": record.status});
        let patch = kube::api::Patch::Merge(status);
        let api = world.api::<BackendRecord>(GREEN);
        let _ = api.patch_status(&name, &Default::default(), &patch).await;
    }
}

/// Waits until the controller has decided about what has to be refused.
async fn until_refused(world: &World, proxy: &DriverProxy, lb_info: &Value) {
    until(
        "the load balancer and the records are refused",
        async || {
            assert_calls_apart(proxy, lb_info);
            let lb = world.api::<LoadBalancer>(GREEN).get("same").await.unwrap();
            let lb = lb.status?.conditions;
            // The tenant may have written over the conditions of its records.
            let events = world.all::<Event>().await.into_iter();
            let reason =
                |it: &Event| it.reason.as_deref() == Some(reasons::NOT_CREATED_BY_CONTROLLER);
            let refused = events.filter(reason);
            let is_refused = lb
                .iter()
                .any(|it| it.reason == reasons::OWNED_BY_OTHER_NAMESPACE);
            (is_refused && refused.count() >= 2).then_some(())
        },
    )
    .await;
}

/// No call for the tenant's objects is about the other's load balancer, but the one that asks for it.
fn assert_calls_apart(proxy: &DriverProxy, lb_info: &Value) {
    for call in proxy.calls() {
        let is_of_tenant = call.body["namespace"] == GREEN;
        assert!(!is_of_tenant || call.body["lbInfo"] != *lb_info, "{call:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_tenant_writes_changes_nothing_of_another() {
    let (mut world, proxy, _controller) = World::behind_proxy(World::quick()).await;
    world.create_pods(2).await;
    world.create(&manifests::group(GROUP, &[LB])).await;
    world.create(&manifests::bind(BIND, &["a"])).await;
    until_is("backends", 4, async || world.targets_count()).await;
    world.until_counts(GROUP, [2; 4]).await;
    until("the Bind has its counts", async || {
        let bind = world.api::<Bind>(NAMESPACE).get(BIND).await.unwrap();
        let conditions = bind.status?.conditions;
        (conditions
            .iter()
            .any(|it| it.reason == reasons::ALL_REGISTERED))
        .then_some(())
    })
    .await;
    world.create_namespace(GREEN).await;
    let before = objects(&world).await;
    let lb_info = before[LB]["status"]["lbInfo"].clone();
    assert!(lb_info.is_object());

    let records: Vec<BackendRecord> = world.all().await;
    let identity = serde_json::from_value(lb_info.clone()).unwrap();
    let tenant = world.client_of_tenant(GREEN).await;
    until_allowed(&tenant).await;
    let operator = world.act_by(tenant.clone());
    attack(&world, &identity, records).await;
    world.act_by(operator.clone());
    until_refused(&world, &proxy, &lb_info).await;
    until_seen(&world, 1).await;
    assert_unchanged(&world, &before).await;
    assert_calls_apart(&proxy, &lb_info);

    world.act_by(tenant);
    let changed = json!({"spec": {"parameters": {"weight": "1"}}});
    for group in [GROUP, "named", "addresses"] {
        world
            .patch::<BackendGroup>(GREEN, group, changed.clone())
            .await;
    }
    let records = world
        .api::<BackendRecord>(GREEN)
        .list(&Default::default())
        .await
        .unwrap();
    for record in records {
        world
            .delete::<BackendRecord>(GREEN, &record.name_any())
            .await;
    }
    for lb in ["same", "other-driver"] {
        world.delete::<LoadBalancer>(GREEN, lb).await;
    }
    world.delete::<Bind>(GREEN, BIND).await;
    for group in [GROUP, "named", "addresses"] {
        world.delete::<BackendGroup>(GREEN, group).await;
    }
    world.act_by(operator);
    until_seen(&world, 2).await;
    world.until_deleted::<Bind>(GREEN, BIND).await;
    world.until_deleted::<LoadBalancer>(GREEN, "same").await;
    assert_unchanged(&world, &before).await;
    assert_calls_apart(&proxy, &lb_info);
    // Those of the other tenant, and two of its own.
    until_is("backends", 4 + 2, async || world.targets_count()).await;
}

//! What `plan` foresees is what happens: the calls of drivers and the writes, for changes of fields and of whole objects.

use super::scene::{Scene, Target};
use super::{all_cases, changes, set_spec};
use crate::concurrently::run_concurrently;
use k8s_openapi::api::core::v1::{Pod, Service};
use kube::Client;
use kube::api::{Api, ApiResource, DeleteParams, DynamicObject, Patch, PatchParams};
use lbcf_cli::Drivers;
use lbcf_cli::plan::rehearse;
use lbcf_controller::Options;
use lbcf_controller::api::{BackendGroup, Bind, LoadBalancer, LoadBalancerDriver};
use lbcf_e2e::manifests::{self, BIND, DRIVER, GROUP, LB, NAMESPACE, SERVICE, SYSTEM};
use lbcf_e2e::{CONTROLLER, World, needs_embedded, sample, scrambled};
use lbcf_inspect::{Cluster, Scope};
use local_cluster::RequestCounts;
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;
use tokio::time::Instant;

/// How many changes are tried, and how many of them in the normal run.
const CHANGES: usize = 200;
const SAMPLE: usize = 4;
const SCENES: usize = 8;
/// The longest that it may take until what is planned has happened.
const DEADLINE: Duration = Duration::from_secs(60);

/// Changes of the kinds that lose no requests (`traffic::changes`): an object, and what is merged into it, or null for its
/// deletion.
const OBJECTS: [(&str, &str, &str); 14] = [
    (
        "Pod",
        "web-0",
        r#"{"metadata": {"labels": {"app": "other"}}}"#,
    ),
    ("Pod", "web-0", "null"),
    (
        "Service",
        SERVICE,
        r#"{"spec": {"selector": {"app": "other"}}}"#,
    ),
    ("Service", SERVICE, "null"),
    (
        "Service",
        "balanced",
        r#"{"spec": {"selector": {"app": "other"}}}"#,
    ),
    ("Service", "balanced", "null"),
    (
        "LoadBalancer",
        LB,
        r#"{"spec": {"attributes": {"chargeType": "MONTHLY"}}}"#,
    ),
    ("LoadBalancer", LB, "null"),
    (
        "BackendGroup",
        GROUP,
        r#"{"spec": {"parameters": {"weight": "80"}}}"#,
    ),
    (
        "BackendGroup",
        GROUP,
        r#"{"spec": {"loadBalancers": ["static-lb"]}}"#,
    ),
    ("BackendGroup", GROUP, "null"),
    (
        "BackendGroup",
        "static",
        r#"{"spec": {"static": ["1.1.1.1:80", "3.3.3.3:80"]}}"#,
    ),
    (
        "Bind",
        BIND,
        r#"{"spec": {"parameters": {"weight": "80"}}}"#,
    ),
    ("Bind", BIND, "null"),
];

/// A change of an object.
#[derive(Debug, Clone)]
enum Change {
    /// One of the changes of its fields, by its number.
    Field(Target, usize),
    /// A row of [`OBJECTS`].
    Object(usize),
}

/// What is done to an object.
#[derive(Debug, Clone)]
enum Deed {
    SetSpec(Value),
    Merge(Value),
    Delete,
}

impl Deed {
    /// True if it is accepted.
    async fn act(&self, api: &Api<DynamicObject>, name: &str) -> bool {
        match self {
            Self::SetSpec(spec) => set_spec(api, name, spec).await.is_ok(),
            Self::Merge(patch) => {
                let (params, patch) = (PatchParams::default(), Patch::Merge(patch));
                api.patch(name, &params, &patch).await.is_ok()
            }
            Self::Delete => api.delete(name, &DeleteParams::default()).await.is_ok(),
        }
    }
}

/// The calls that concern one backend or one load balancer, in their order.
type Calls = BTreeMap<String, Vec<String>>;

/// What a change causes.
#[derive(Debug, Default, PartialEq)]
struct Effects {
    is_refused: bool,
    calls: Calls,
    /// Creations and deletions by resource, and what else is written.
    created_and_deleted: BTreeMap<String, u64>,
    written: BTreeSet<String>,
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d127_exhaustive_what_is_planned_is_what_happens() {
    if needs_embedded("plans") {
        return;
    }
    let of_fields = all_cases().await.into_iter();
    // Few changes of the others call drivers.
    let of_fields = of_fields
        .filter(|it| !["LoadBalancerDriver", "BackendRecord"].contains(&&*it.target.kind.kind));
    let mut of_fields: Vec<_> = of_fields
        .map(|it| Change::Field(it.target, it.number))
        .collect();
    of_fields.sort_by_cached_key(|it| scrambled(1, hash(&format!("{it:?}"))));
    of_fields.truncate(CHANGES - OBJECTS.len());
    let of_objects = (0..OBJECTS.len()).map(Change::Object);
    let cases = sample("plans", of_objects.chain(of_fields), SAMPLE);
    let chunks = cases.chunks(cases.len().div_ceil(SCENES));
    let chunks: Vec<_> = chunks.map(<[Change]>::to_vec).collect();
    let outcomes = run_concurrently(chunks, compare_all).await.concat();
    let findings: Vec<_> = outcomes.iter().filter_map(|it| it.as_ref().err()).collect();
    let effective = outcomes.iter().filter(|it| **it == Ok(true)).count();
    eprintln!("plans: {effective} of {} call drivers", outcomes.len());
    assert!(effective > 0);
    assert!(
        findings.is_empty(),
        "{} findings: {findings:#?}",
        findings.len()
    );
}

/// Objects whose driver accepts dry runs, so that plans know what it refuses.
async fn start() -> Scene {
    // It only delays what is planned.
    let scene = Scene::with(Options {
        endpoint_grace_period: Duration::ZERO,
        ..World::quick()
    });
    let scene = scene.await;
    let accepts = json!({"spec": {"acceptDryRunCall": true}});
    let world = &scene.world;
    world
        .patch::<LoadBalancerDriver>(SYSTEM, DRIVER, accepts)
        .await;
    scene.rest().await;
    scene
}

/// A number that depends only on the text.
fn hash(text: &str) -> u64 {
    let step = |hash: u64, byte: u8| hash.wrapping_mul(31).wrapping_add(byte.into());
    text.bytes().fold(0, step)
}

/// Whether each change calls drivers, or how the plan is wrong.
async fn compare_all(cases: Vec<Change>) -> Vec<Result<bool, String>> {
    let mut scene = start().await;
    let mut before = scene.state().await;
    let mut outcomes = Vec::new();
    for case in cases {
        let (target, what) = match &case {
            Change::Field(target, _) => (target.clone(), String::new()),
            Change::Object(row) => (target(OBJECTS[*row]), OBJECTS[*row].2.to_owned()),
        };
        let object = scene.get(&target).await;
        let (what, deed) = match (&case, serde_json::from_str(&what)) {
            (Change::Field(_, number), _) => {
                let (path, spec) = changes(&target, &object).swap_remove(*number);
                (format!("spec{path} in {spec}"), Deed::SetSpec(spec))
            }
            (_, Ok(Value::Null)) => (what, Deed::Delete),
            (_, patch) => (what, Deed::Merge(patch.unwrap())),
        };
        let name = object.metadata.name.as_deref().unwrap_or_default();
        let planned = planned(&scene, &target, name, &deed).await;
        let happened = happened(&scene, &target, name, &deed, &planned).await;
        outcomes.push(match planned == happened {
            true => Ok(!planned.calls.is_empty()),
            false => Err(format!(
                "{} {name}: {what}:\n planned {planned:#?}\nhappened {happened:#?}",
                target.kind.kind
            )),
        });
        // Some changes cannot be taken back.
        let _ = set_spec(&scene.api(&target), name, &object.data["spec"]).await;
        scene.rest().await;
        if scene.state().await != before {
            drop(scene);
            scene = start().await;
            before = scene.state().await;
        }
    }
    outcomes
}

fn target((kind, name, _): (&'static str, &'static str, &str)) -> Target {
    let kind = match kind {
        "Pod" => ApiResource::erase::<Pod>(&()),
        "Service" => ApiResource::erase::<Service>(&()),
        "LoadBalancer" => ApiResource::erase::<LoadBalancer>(&()),
        "BackendGroup" => ApiResource::erase::<BackendGroup>(&()),
        _ => ApiResource::erase::<Bind>(&()),
    };
    Target {
        kind,
        namespace: NAMESPACE,
        name,
    }
}

async fn planned(scene: &Scene, target: &Target, name: &str, deed: &Deed) -> Effects {
    let known = load_balancers(scene);
    let cluster = Cluster::read(&scene.world.client(), &Scope::All).await;
    let (cluster, drivers) = (cluster.unwrap(), Drivers::default());
    let change = async |client: Client| {
        let api = Api::namespaced_with(client, target.namespace, &target.kind);
        deed.act(&api, name).await
    };
    let rehearsed = rehearse(&cluster, &[], &drivers, change).await;
    let (plan, changed) = rehearsed.unwrap();
    assert_eq!(plan.notes, [""; 0]);
    let calls = plan.calls.iter().map(|it| (&*it.webhook, &it.request));
    effects(deed, changed, calls, &plan.writes, &known)
}

/// What happens until the scene is at rest, or, on a machine that is slow, as much as is planned.
async fn happened(
    scene: &Scene,
    target: &Target,
    name: &str,
    deed: &Deed,
    planned: &Effects,
) -> Effects {
    let known = load_balancers(scene);
    let (calls, writes) = (scene.proxy.count(), scene.world.cluster.requests());
    let changed = deed.act(&scene.api(target), name).await;
    let deadline = Instant::now() + DEADLINE;
    loop {
        scene.rest().await;
        let writes = scene.world.cluster.requests().since(&writes);
        let calls = scene.proxy.calls().split_off(calls);
        let calls = calls.iter().map(|it| (&*it.webhook, &it.body));
        let happened = effects(deed, changed, calls, &writes, &known);
        if happened == *planned || Instant::now() > deadline {
            return happened;
        }
    }
}

/// The identities of load balancers that exist.
fn load_balancers(scene: &Scene) -> BTreeSet<String> {
    let lbs = scene.world.cloud.observe().load_balancers;
    let infos = lbs
        .iter()
        .map(|lb| serde_json::to_value(&lb.lb_info).unwrap());
    infos.map(|it| it.to_string()).collect()
}

fn effects<'a>(
    deed: &Deed,
    changed: bool,
    calls: impl Iterator<Item = (&'a str, &'a Value)>,
    writes: &RequestCounts,
    known: &BTreeSet<String>,
) -> Effects {
    let mut effects = Effects {
        is_refused: !changed,
        ..Effects::default()
    };
    for (webhook, request) in calls {
        let (subject, call) = described(webhook, request, known);
        let of_subject = effects.calls.entry(subject).or_default();
        // What fails is repeated sooner or later.
        if of_subject.last() != Some(&call) {
            of_subject.push(call);
        }
    }
    for (key, count) in writes.iter() {
        let is_own = key.user_agent == CONTROLLER && key.is_write() && !key.is_event();
        let what = format!("{} {}", key.verb, key.resource);
        // The garbage collector may be first.
        let is_orphan = key.verb == "delete" && matches!(deed, Deed::Delete);
        match key.verb {
            _ if !is_own || is_orphan || key.subresource == "status" => {}
            "create" | "delete" => drop(effects.created_and_deleted.insert(what, count)),
            _ => drop(effects.written.insert(what)),
        }
    }
    effects
}

/// What a call is about, and the call without what differs each time.
fn described(webhook: &str, request: &Value, known: &BTreeSet<String>) -> (String, String) {
    let lb = match &request["lbInfo"] {
        Value::Null => String::new(),
        lb if known.contains(&lb.to_string()) => lb.to_string(),
        _ => "new".to_owned(),
    };
    let backend = [
        "/backendAddr",
        "/podBackend/pod/metadata/name",
        "/serviceBackend/nodeName",
        "/endpointBackend/address",
    ];
    let backend = backend.iter().find_map(|it| request.pointer(it)?.as_str());
    let subject = format!(
        "{lb} {} {}",
        request["lbSpec"],
        plain(backend.unwrap_or_default())
    );
    let settings = ["parameters", "attributes"].map(|it| request[it].to_string());
    (subject, format!("{webhook} {}", settings.join(" ")))
}

/// An address of the mock as others write it, as it is assumed for a load balancer that does not exist yet.
fn plain(backend: &str) -> String {
    match serde_json::from_str::<Value>(backend) {
        Ok(address) if address.is_object() => {
            format!(
                "{}:{}",
                address["ip"].as_str().unwrap_or_default(),
                address["port"]
            )
        }
        _ => backend.to_owned(),
    }
}

#[tokio::test]
async fn d127_a_user_who_may_read_one_namespace_gets_a_plan_with_what_it_assumes() {
    if needs_embedded("plans") {
        return;
    }
    let scene = Scene::start().await;
    let tenant = scene.world.client_of_tenant(NAMESPACE).await;
    let scope = Scope::Namespace(NAMESPACE.to_owned());
    let cluster = Cluster::read(&tenant, &scope).await.unwrap();
    let change = async |client: Client| {
        let groups: Api<BackendGroup> = Api::namespaced(client, NAMESPACE);
        let patch = Patch::Merge(json!({"spec": {"parameters": {"weight": "80"}}}));
        groups.patch(GROUP, &PatchParams::default(), &patch).await
    };
    let rehearsed = rehearse(&cluster, &[], &Drivers::default(), change).await;
    let (plan, changed) = rehearsed.unwrap();
    changed.unwrap();
    let mut calls: Vec<_> = plan.calls.iter().map(|it| &*it.webhook).collect();
    calls.sort_unstable();
    assert_eq!(calls, ["ensureBackend", "ensureBackend", "validateBackend"]);
    let notes = plan.notes.join("\n");
    for expected in [
        "not seen: loadbalancerdrivers in namespace kube-system",
        "LoadBalancerDriver kube-system/lbcf-clb may not be seen, and is assumed to exist",
    ] {
        assert!(notes.contains(expected), "{notes}");
    }
}

#[tokio::test]
async fn d127_a_rehearsal_calls_no_driver_for_real_whatever_the_manifests_say_about_it() {
    if needs_embedded("plans") {
        return;
    }
    let scene = Scene::start().await;
    let cluster = Cluster::read(&scene.world.client(), &Scope::All).await;
    let elsewhere = serde_json::to_value(manifests::driver("http://elsewhere.invalid"));
    let elsewhere = serde_json::from_value(elsewhere.unwrap()).unwrap();
    let change = async |client: Client| {
        let groups: Api<BackendGroup> = Api::namespaced(client, NAMESPACE);
        let patch = Patch::Merge(json!({"spec": {"parameters": {"weight": "80"}}}));
        groups.patch(GROUP, &PatchParams::default(), &patch).await
    };
    let before = scene.proxy.count();
    let drivers = Drivers::default();
    let rehearsed = rehearse(&cluster.unwrap(), &[elsewhere], &drivers, change).await;
    let (plan, changed) = rehearsed.unwrap();
    changed.unwrap();
    let ensured = plan.calls.iter().filter(|it| it.webhook == "ensureBackend");
    assert_eq!(ensured.count(), 2, "{:?}", plan.notes);
    let called = scene.proxy.calls().split_off(before);
    let called: BTreeSet<_> = called.iter().map(|it| &*it.webhook).collect();
    assert_eq!(called, BTreeSet::from(["validateBackend"]));
}

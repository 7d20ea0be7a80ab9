//! Every field of the five kinds is changed and changed back, with values chosen by its schema: afterwards cloud and cluster are
//! as before, and what was accepted has changed something, or is known to change what happens later.

mod plan;
mod scene;
mod schema;

use crate::concurrently::run_concurrently;
use kube::api::{Api, DynamicObject, Patch, PatchParams};
use lbcf_controller::api::crds;
use lbcf_e2e::{is_exhaustive, is_remote, sample};
use scene::{Scene, Target, targets};
use schema::Change;
use serde_json::{Value, json};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tokio::time::Instant;

/// How many changes are tried in the normal run; see [`sample`].
const SAMPLE: usize = 32;
/// How many scenes share them.
const SCENES: usize = 8;
/// The longest that it may take until everything is as before.
const DEADLINE: Duration = Duration::from_secs(60);

/// Where a change may have no effect: a part of its path, and why.
const WITHOUT_EFFECT: [(&str, &str); 19] = [
    (".deregisterPolicy", "until a pod is unready"),
    (".deregisterWebhook", "until a pod is unready"),
    (".minRegistered", "until a gated pod is registered"),
    (".ensurePolicy", "until its period ends"),
    (".except[+]", "until a pod has this name"),
    (".addressFamilies[+]", "all endpoints are of this one"),
    (".service.mode", "NodePort is the default"),
    (".service.port.", "no name, and 0, are none"),
    ("[twice]", "it is the same once more"),
    (".pods.port.", "ignored where there are ports (b23)"),
    (".portNumber", "ignored where there is a port (b24)"),
    (".acceptDryRunCall", "until a controller runs dry"),
    (".webhooks[-]", "until it would be called"),
    (".serviceClass.name", "a Service keeps what it has (d73)"),
    (".serviceClass.lbSpec", "until one is created (d72)"),
    (".serviceClass.loadBalancers", "the Service has one port"),
    (".serviceClass.attributes", "until a Service has it"),
    (".serviceClass.policyAnnotations", "until a Service has it"),
    (".serviceClass.ingress", "until a driver returns it"),
];

/// What came of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Outcome {
    Refused,
    /// It was stored as before.
    Same,
    Effective,
    /// It is known to have no effect; the number of its row.
    WithoutEffect(usize),
}

/// One of the changes of an object, by its number: the object is another one in each scene.
#[derive(Debug, Clone)]
struct Case {
    target: Target,
    number: usize,
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d126_a_change_of_any_field_that_is_changed_back_leaves_nothing() {
    count_panics();
    let cases = sample("changes by schema", all_cases().await, SAMPLE);
    let scenes = if is_remote() { 1 } else { SCENES };
    let chunks = cases
        .chunks(cases.len().div_ceil(scenes))
        .map(<[Case]>::to_vec);
    let outcomes = run_concurrently(chunks.collect::<Vec<_>>(), try_all).await;
    let outcomes = outcomes.concat();
    let findings: Vec<&String> = outcomes.iter().filter_map(|it| it.as_ref().err()).collect();
    for outcome in [Outcome::Refused, Outcome::Same, Outcome::Effective] {
        let count = outcomes.iter().filter(|it| **it == Ok(outcome)).count();
        eprintln!("changes by schema: {count} {outcome:?}");
    }
    for (row, (path, why)) in WITHOUT_EFFECT.iter().enumerate() {
        let is_used = outcomes.contains(&Ok(Outcome::WithoutEffect(row)));
        assert!(
            is_used || !is_exhaustive(),
            "no change of {path} needs: {why}"
        );
    }
    assert_eq!(PANICS.load(Ordering::Relaxed), 0, "something panicked");
    assert!(
        findings.is_empty(),
        "{} findings: {findings:#?}",
        findings.len()
    );
}

/// Every change of every target.
async fn all_cases() -> Vec<Case> {
    let scene = Scene::start().await;
    let mut cases = Vec::new();
    for target in targets() {
        let count = changes(&target, &scene.get(&target).await).len();
        let target = |number| (target.clone(), number);
        let all = (0..count).map(target);
        cases.extend(all.map(|(target, number)| Case { target, number }));
    }
    cases
}

/// The changes of a target's spec.
fn changes(target: &Target, object: &DynamicObject) -> Vec<Change> {
    let mut crds = crds().into_iter();
    let crd = crds.find(|crd| crd.spec.names.kind == target.kind.kind);
    let crd = serde_json::to_value(crd.expect("a CRD")).unwrap();
    let schema = &crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"];
    schema::changes(&schema["properties"]["spec"], &object.data["spec"])
}

/// Panics of tasks, such as a controller's, which repeats what panicked; those of tests are on threads of their own.
static PANICS: AtomicUsize = AtomicUsize::new(0);

fn count_panics() {
    let report = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |panic| {
        if std::thread::current().name() == Some("tokio-rt-worker") {
            PANICS.fetch_add(1, Ordering::Relaxed);
        }
        report(panic);
    }));
}

async fn try_all(cases: Vec<Case>) -> Vec<Result<Outcome, String>> {
    let mut scene = Scene::start().await;
    let mut before = scene.state().await;
    let mut outcomes = Vec::new();
    for case in cases {
        let object = scene.get(&case.target).await;
        let (path, spec) = changes(&case.target, &object).swap_remove(case.number);
        let kind = &case.target.kind.kind;
        let what = format!("{kind} {}: spec{path} in {spec}", case.target.name);
        let outcome = try_one(&scene, &before, &case.target, object, &path, spec).await;
        if outcome.is_err() {
            // Another cluster than the embedded one has one world at a time.
            drop(scene);
            scene = Scene::start().await;
            before = scene.state().await;
        }
        outcomes.push(outcome.map_err(|finding| format!("{what}: {finding}")));
    }
    outcomes
}

async fn try_one(
    scene: &Scene,
    before: &Value,
    target: &Target,
    object: DynamicObject,
    path: &str,
    spec: Value,
) -> Result<Outcome, String> {
    let api = scene.api(target);
    let name = &object.metadata.name.clone().unwrap_or_default();
    let generation = object.metadata.generation;
    let original = &object.data["spec"];
    let calls = scene.proxy.count();
    match set_spec(&api, name, &spec).await {
        Ok(changed) if changed.metadata.generation == generation => return Ok(Outcome::Same),
        Ok(_) => {}
        Err(kube::Error::Api(status)) if (400..500).contains(&status.code) => {
            let names = path.split(['.', '[', ']']).filter(|it| !it.is_empty());
            // It replaces `lbName`.
            let mut names = names.chain(path.contains("lbName").then_some("loadBalancers"));
            return match names.any(|name| status.message.contains(name)) {
                true => Ok(Outcome::Refused),
                false => Err(format!("it is refused for: {}", status.message)),
            };
        }
        Err(error) => return Err(format!("it is refused: {error}")),
    }
    scene.rest().await;
    let is_effective = scene.proxy.count() > calls
        || without_specs(scene.state().await) != without_specs(before.clone());
    let deadline = Instant::now() + DEADLINE;
    match set_spec(&api, name, original).await {
        Ok(_) => {}
        // A record may have been replaced.
        Err(kube::Error::Api(status)) if status.is_not_found() => {}
        Err(error) => return Err(format!("it cannot be changed back: {error}")),
    }
    loop {
        let after = scene.state().await;
        if after == *before {
            break;
        }
        if scene.controller.is_finished() {
            return Err("the controller ended".into());
        }
        if Instant::now() > deadline {
            return Err(format!(
                "it is not as before: {}",
                differences(before, &after)
            ));
        }
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    if is_effective {
        return Ok(Outcome::Effective);
    }
    let mut rows = WITHOUT_EFFECT.iter();
    let row = rows.position(|(part, _)| path.contains(part));
    let row = row.ok_or("it is accepted and changes nothing")?;
    Ok(Outcome::WithoutEffect(row))
}

async fn set_spec(
    api: &Api<DynamicObject>,
    name: &str,
    spec: &Value,
) -> kube::Result<DynamicObject> {
    let patch = json!([{"op": "replace", "path": "/spec", "value": spec}]);
    let patch = Patch::Json::<()>(serde_json::from_value(patch).unwrap());
    api.patch(name, &PatchParams::default(), &patch).await
}

/// What the controller made of it: the change itself is no effect.
fn without_specs(mut state: Value) -> Value {
    for objects in state["objects"].as_object_mut().into_iter().flatten() {
        for object in objects.1.as_array_mut().into_iter().flatten() {
            object["spec"] = Value::Null;
        }
    }
    state
}

/// The objects and load balancers that differ.
fn differences(before: &Value, after: &Value) -> String {
    let parts = |state: &Value| {
        let objects = state["objects"].as_object().into_iter().flatten();
        let lists = objects.map(|(_, list)| list.clone());
        let lists = lists.chain([state["cloud"].clone()]);
        lists
            .flat_map(|list| list.as_array().cloned().unwrap_or_default())
            .collect::<Vec<_>>()
    };
    let (before, after) = (parts(before), parts(after));
    let only = |these: &[Value], those: &[Value]| {
        let only = these.iter().filter(|it| !those.contains(it));
        only.map(|it| format!("\n  {it}")).collect::<String>()
    };
    format!(
        "before{}\n after{}",
        only(&before, &after),
        only(&after, &before)
    )
}

//! The manifests allow exactly what the controller does (b160, u51).

use k8s_openapi::api::core::v1::Service;
use kube::api::DeleteParams;
use lbcf_controller::api::{
    BackendGroup, Bind, DeregisterPolicy, DeregisterWebhook, LoadBalancer, LoadBalancerDriver,
    ServiceMode,
};
use lbcf_controller::{LeaderElection, Options};

use lbcf_e2e::manifests::{self, CLASS, DRIVER, GROUP, LB, NAMESPACE, SERVICE, SYSTEM};
use lbcf_e2e::{World, until};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// A verb and `group/resource/subresource`, without empty parts.
type Permission = (String, String);

/// The permissions that `deploy/controller/rbac.yaml` grants.
fn allowed() -> BTreeSet<Permission> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../deploy/controller/rbac.yaml");
    let yaml = std::fs::read_to_string(path).unwrap();
    let mut allowed = BTreeSet::new();
    for document in yaml.split("\n---\n") {
        let document: Value = serde_saphyr::from_str(document).unwrap();
        for rule in document["rules"].as_array().into_iter().flatten() {
            let words = |field: &str| {
                let words = rule[field].as_array().cloned().unwrap_or_default();
                words
                    .into_iter()
                    .map(|word| word.as_str().unwrap().to_owned())
                    .collect::<Vec<_>>()
            };
            for group in words("apiGroups") {
                for resource in words("resources") {
                    let what = [group.as_str(), &resource]
                        .into_iter()
                        .filter(|word| !word.is_empty());
                    let what = what.collect::<Vec<_>>().join("/");
                    allowed.extend(words("verbs").into_iter().map(|verb| (verb, what.clone())));
                }
            }
        }
    }
    allowed
}

/// The permissions that the controller's requests needed.
fn used(world: &World) -> BTreeSet<Permission> {
    let mut used = BTreeSet::new();
    world.cluster.requests().count(|key| {
        if key.user_agent == "lbcf-controller" {
            let what = [key.resource.as_str(), &key.subresource].into_iter();
            let what = what
                .filter(|word| !word.is_empty())
                .collect::<Vec<_>>()
                .join("/");
            used.insert((key.verb.to_owned(), what));
        }
        false
    });
    used
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn u51_b160_the_manifests_allow_exactly_what_the_controller_does() {
    let world = World::bare().await;
    world.install_admission().await;
    let options = Options {
        leader_election: Some(LeaderElection::new(SYSTEM, "one")),
        ..World::options()
    };
    let _controller = world.start_admitting("lbcf-controller", options).await;
    // An object of every kind.
    world.create_class_driver(ServiceMode::Endpoints).await;
    world.create(&manifests::load_balancer(LB)).await;
    world
        .create(&manifests::gated(manifests::pod("web-0")))
        .await;
    world.create(&manifests::pod("web-1")).await;
    let mut group = manifests::group(GROUP, &[LB]);
    group.spec.deregister_policy = Some(DeregisterPolicy::Webhook);
    group.spec.deregister_webhook = Some(DeregisterWebhook {
        driver_name: DRIVER.into(),
        failure_policy: None,
    });
    world.create(&group).await;
    // A Service whose class a driver has; one of its objects is edited.
    let service = manifests::balanced_service(SERVICE, Some(CLASS), &[80]);
    world.create(&service).await;
    let service = until("the service has a load balancer and a group", async || {
        let lbs = world.all::<LoadBalancer>().await.into_iter();
        lbs.filter_map(|lb| lb.metadata.name)
            .find(|name| name != LB)?;
        let groups = world.all::<BackendGroup>().await.into_iter();
        let mut names = groups.filter_map(|group| group.metadata.name);
        names.find(|name| name != GROUP)
    })
    .await;
    world.set_weight::<BackendGroup>(&service, "1").await;
    let bind: Bind = serde_json::from_value(json!({
        "metadata": {"name": "bind", "namespace": NAMESPACE},
        "spec": {
            "loadBalancers": [{"name": "a", "driver": DRIVER, "spec": {
                "lbVpcID": "vpc-12345678", "lbListenerPort": "81", "lbListenerProtocol": "TCP",
            }}],
            "pods": {"ports": [{"port": 80, "protocol": "tcp"}], "byName": ["web-0"]},
        },
    }))
    .unwrap();
    world.create(&bind).await;
    until("everything is registered", async || {
        (world.targets_count() == 5).then_some(())
    })
    .await;
    world.until_counts(GROUP, [2; 4]).await;
    world.set_ready("web-1", false).await;
    until("the driver was called about a pod", async || {
        world
            .calls()
            .contains_key("judgePodDeregister")
            .then_some(())
    })
    .await;
    // Admission reads its namespace.
    let drivers = world.api::<LoadBalancerDriver>(SYSTEM);
    let denied = drivers.delete(DRIVER, &DeleteParams::default()).await;
    assert!(denied.is_err(), "it is in use");
    world.set_weight::<BackendGroup>(GROUP, "70").await;
    world.delete::<Service>(NAMESPACE, SERVICE).await;
    world.until_deleted::<Service>(NAMESPACE, SERVICE).await;
    world.delete::<Bind>(NAMESPACE, "bind").await;
    world.until_deleted::<Bind>(NAMESPACE, "bind").await;
    world.delete::<BackendGroup>(NAMESPACE, GROUP).await;
    world.delete::<LoadBalancer>(NAMESPACE, LB).await;
    world.until_deleted::<LoadBalancer>(NAMESPACE, LB).await;

    let (allowed, used) = (allowed(), used(&world));
    let forbidden: Vec<_> = used.difference(&allowed).collect();
    assert!(
        forbidden.is_empty(),
        "the manifests must allow {forbidden:?}"
    );
    // Needed, but not in this test: conflicts, repeated events, renewal of the lease and of
    // certificates, backends of services, live reads before the watch has caught up, and owner
    // references, for which API servers check a permission without a request.
    let rare: BTreeSet<Permission> = [
        ("get", "lbcf.tkestack.io/backendgroups"),
        ("get", "lbcf.tkestack.io/backendrecords"),
        ("get", "lbcf.tkestack.io/binds"),
        ("get", "lbcf.tkestack.io/loadbalancers"),
        ("get", "lbcf.tkestack.io/loadbalancerdrivers"),
        ("patch", "events"),
        ("patch", "lbcf.tkestack.io/binds"),
        ("update", "secrets"),
        ("update", "coordination.k8s.io/leases"),
        ("get", "services"),
        ("update", "lbcf.tkestack.io/backendgroups/finalizers"),
        ("update", "lbcf.tkestack.io/binds/finalizers"),
    ]
    .map(|(verb, what)| (verb.to_owned(), what.to_owned()))
    .into();
    let unused: Vec<_> = allowed
        .difference(&used)
        .filter(|one| !rare.contains(*one))
        .collect();
    assert!(unused.is_empty(), "nothing needs {unused:?}");
}

/// The YAML files below a folder.
fn manifests_below(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap();
    let paths = entries.map(|entry| entry.unwrap().path());
    let found = paths.flat_map(|path| match path.is_dir() {
        true => manifests_below(&path),
        false => vec![path],
    });
    let is_yaml = |path: &PathBuf| {
        path.extension()
            .is_some_and(|it| it == "yaml" || it == "yml")
    };
    found.filter(is_yaml).collect()
}

#[test]
fn d110_no_manifest_lets_users_write_records() {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
    let folders = ["deploy", "examples", "lbcf-cli/templates"].map(|it| root.join(it));
    let mut roles = 0;
    for path in folders.iter().flat_map(|folder| manifests_below(folder)) {
        let yaml = std::fs::read_to_string(&path).unwrap();
        for document in yaml
            .split("\n---\n")
            .filter(|it| it.contains("rbac.authorization.k8s.io"))
        {
            let role: Value = serde_saphyr::from_str(document).unwrap();
            for rule in role["rules"].as_array().into_iter().flatten() {
                roles += 1;
                let has = |field: &str, words: &[&str]| {
                    let listed = rule[field].as_array().into_iter().flatten();
                    listed
                        .filter_map(Value::as_str)
                        .any(|it| words.contains(&it))
                };
                let is_of_records = has(
                    "resources",
                    &["backendrecords", "backendrecords/status", "*", "*/*"],
                );
                let writes = has(
                    "verbs",
                    &[
                        "create",
                        "update",
                        "patch",
                        "delete",
                        "deletecollection",
                        "*",
                    ],
                );
                let is_controllers = role["metadata"]["name"] == "lbcf-controller";
                assert!(
                    !(is_of_records && writes) || is_controllers,
                    "{}: {role}",
                    path.display()
                );
            }
        }
    }
    assert!(roles > 10, "only {roles} rules were read");
}

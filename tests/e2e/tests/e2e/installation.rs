//! Installing the controller with its admission webhooks, in whatever order.

use kube::api::{Api, ApiResource, DynamicObject, Patch, PatchParams, PostParams};
use kube::core::GroupVersionKind;
use lbcf_controller::admission::{Endpoint, configurations_yaml};
use lbcf_controller::api::{LoadBalancerDriver, crds_yaml};
use lbcf_controller::{Health, LeaderElection, Options};
use lbcf_e2e::manifests::{self, SYSTEM};
use lbcf_e2e::{AdmittingController, CONTROLLER, World, until};
use local_cluster::{ErrorResponse, Fault, RequestFilter, Verb};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::time::Duration;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The commands in docs/install.md that install the controller on a cluster.
fn commands() -> Vec<String> {
    let document = fs::read_to_string(root().join("docs/install.md")).unwrap();
    let blocks = document.split("```sh\n").skip(1);
    let mut blocks = blocks.filter_map(|rest| rest.split("```").next());
    let install = blocks.find(|block| block.contains("kubectl apply -k deploy/"));
    let lines = install.expect("the document installs it").lines();
    let lines = lines.map(str::trim).filter(|line| !line.is_empty());
    lines.map(str::to_owned).collect()
}

/// The manifests of a folder, in the order in which kubectl applies them.
fn manifests_in(folder: &str) -> String {
    let entries = fs::read_dir(root().join(folder)).unwrap();
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.unwrap().path()).collect();
    paths.retain(|path| !path.ends_with("kustomization.yaml"));
    paths.sort();
    let texts = paths.iter().map(|path| fs::read_to_string(path).unwrap());
    texts.collect::<Vec<_>>().join("\n---\n")
}

/// What `kubectl apply` does with a stream of documents.
async fn apply(world: &World, yaml: &str) {
    for document in yaml.split("---\n").filter(|text| !text.trim().is_empty()) {
        let object: Value = serde_saphyr::from_str(document).unwrap();
        let api_version = object["apiVersion"].as_str().unwrap();
        let (group, version) = api_version.split_once('/').unwrap_or(("", api_version));
        let kind = GroupVersionKind::gvk(group, version, object["kind"].as_str().unwrap());
        let resource = ApiResource::from_gvk(&kind);
        let api: Api<DynamicObject> = match object["metadata"]["namespace"].as_str() {
            Some(namespace) => Api::namespaced_with(world.client(), namespace, &resource),
            None => Api::all_with(world.client(), &resource),
        };
        let params = PatchParams::apply("kubectl").validation_strict();
        let name = object["metadata"]["name"].as_str().unwrap();
        let applied = api.patch(name, &params, &Patch::Apply(&object)).await;
        applied.unwrap_or_else(|error| panic!("{} {name}: {error}", kind.kind));
    }
}

/// Whether the API server accepts a new object and admission has mutated it. It is not stored.
async fn is_admitted(world: &World) -> Result<bool, String> {
    let params = PostParams {
        dry_run: true,
        ..PostParams::default()
    };
    let drivers = world.api::<LoadBalancerDriver>(SYSTEM);
    let driver = manifests::driver("http://driver.example");
    let created = drivers.create(&params, &driver).await;
    let created = created.map_err(|error| error.to_string())?;
    Ok(!created.spec.webhooks.is_empty())
}

async fn until_admitted(world: &World) {
    until("admission mutates objects", async || {
        is_admitted(world)
            .await
            .ok()
            .filter(|is_admitted| *is_admitted)
    })
    .await;
}

fn elected(identity: &str) -> Options {
    Options {
        leader_election: Some(LeaderElection::new(SYSTEM, identity)),
        ..World::options()
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d49_in_the_order_of_the_document_nothing_is_refused_once_the_controller_is_ready() {
    /// The number of writes after the controller is ready.
    const WRITES: usize = 50;
    if lbcf_e2e::needs_embedded("deploy/controller without an image") {
        return;
    }
    let world = World::bare().await;
    let health: OnceLock<Health> = OnceLock::new();
    let is_ready = || health.get().is_some_and(|health| health.ready().is_ok());
    let (refused, admitted) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let writing = async {
        loop {
            let was_ready = is_ready();
            match is_admitted(&world).await {
                Ok(is_admitted) if was_ready => {
                    assert!(is_admitted, "an object is stored without admission");
                    admitted.fetch_add(1, SeqCst);
                }
                Err(error) if was_ready => panic!("refused by a ready controller: {error}"),
                Ok(_) => {}
                Err(_) => {
                    refused.fetch_add(1, SeqCst);
                }
            }
        }
    };
    let installing = async {
        let mut replicas: Vec<AdmittingController> = Vec::new();
        for command in commands() {
            println!("{command}");
            match command.as_str() {
                // kubectl applies the webhook configurations last; here they come first, and refuse everything.
                "kubectl apply -k deploy/" => {
                    apply(&world, &crds_yaml().unwrap()).await;
                    let yaml = configurations_yaml(&Endpoint::default(), None).unwrap();
                    apply(&world, &yaml).await;
                    until("nothing is stored that is not validated", async || {
                        (refused.load(SeqCst) > 0).then_some(())
                    })
                    .await;
                    apply(&world, &manifests_in("deploy/controller")).await;
                    // Its two replicas. The local cluster's Service forwards to the second one.
                    for identity in ["one", "two"] {
                        let client = world.cluster.client_as(CONTROLLER);
                        let started = world.launch_admitting(client, elected(identity), Vec::new());
                        replicas.push(started.await);
                    }
                    let _ = health.set(replicas[1].health.clone());
                }
                "kubectl -n kube-system rollout status deployment/lbcf-controller" => {
                    for replica in &replicas {
                        replica.until_ready().await;
                    }
                }
                other => panic!("this test does not know the command {other}"),
            }
        }
        assert_eq!(replicas.len(), 2, "the document deploys the controller");
        until("objects are written afterwards", async || {
            (admitted.load(SeqCst) >= WRITES).then_some(())
        })
        .await;
    };
    tokio::select! {
        () = writing => {}
        () = installing => {}
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d49_webhook_configurations_that_come_after_the_controller_get_its_ca_at_once() {
    /// If the configurations were read every two minutes, this many rounds would take longer than the
    /// deadline.
    const ROUNDS: usize = 4;
    const DEADLINE: Duration = Duration::from_secs(300);
    let world = World::bare().await;
    // Ready without them, so that they can be installed last.
    let controller = world.start_admitting(CONTROLLER, World::options()).await;
    let rounds = async {
        for _ in 0..ROUNDS {
            world.install_admission().await;
            until_admitted(&world).await;
            controller.until_ready().await;
            assert_eq!(is_admitted(&world).await, Ok(true));
            world.uninstall_admission().await;
        }
    };
    let rounds = tokio::time::timeout(DEADLINE, rounds).await;
    rounds.expect("the configurations get the CA before the deadline");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d49_readyz_names_the_configuration_that_lacks_the_ca_and_what_to_do() {
    if lbcf_e2e::needs_embedded("failing requests") {
        return;
    }
    let world = World::bare().await;
    let controller = world.start_admitting(CONTROLLER, World::options()).await;
    let patches = RequestFilter::default()
        .verbs([Verb::Patch])
        .resource("admissionregistration.k8s.io/validatingwebhookconfigurations")
        .user_agent(CONTROLLER);
    let forbidden = ErrorResponse::new(403, "Forbidden", "cannot patch resource");
    let forbidden = world
        .cluster
        .faults()
        .inject(Fault::abort(forbidden).of(patches));
    world.install_admission().await;
    let problem = until("it is not ready, and knows why", async || {
        let problem = controller.health.ready().err()?;
        problem.contains("cannot patch resource").then_some(problem)
    })
    .await;
    for part in [
        "ValidatingWebhookConfiguration lbcf-validate lacks",
        "deploy/controller/rbac.yaml",
    ] {
        assert!(problem.contains(part), "{problem}");
    }
    let refused = is_admitted(&world).await.unwrap_err();
    assert!(refused.contains("failed calling webhook"), "{refused}");
    assert!(controller.health.alive().is_ok());
    drop(forbidden);
    controller.until_ready().await;
    assert_eq!(is_admitted(&world).await, Ok(true));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d49_a_controller_outside_the_cluster_serves_admission_at_a_url() {
    if lbcf_e2e::needs_embedded("an API server on this machine; elsewhere all worlds use a URL") {
        return;
    }
    let world = World::bare().await;
    let client = world.cluster.client_as(CONTROLLER);
    let names = vec!["127.0.0.1".to_owned()];
    let controller = world
        .launch_admitting(client, World::options(), names)
        .await;
    let url = format!("https://{}", controller.addr);
    world.install_admission_at(&Endpoint::Url(url)).await;
    until_admitted(&world).await;
    controller.until_ready().await;
}

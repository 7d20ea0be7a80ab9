//! Worlds on a cluster outside this process: they leave it as they found it.

use crate::scenario::Scenario;
use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::api::core::v1::Secret;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::Client;
use kube::api::{Api, ListParams, Patch, PatchParams, PostParams};
use lbcf_controller::api::{Bind, LoadBalancerDriver, crds};
use lbcf_e2e::manifests::{self, BIND, SYSTEM};
use lbcf_e2e::{
    CONTROLLER, RemoteCluster, World, inventory, is_remote, kill, needs_embedded, until,
};
use local_cluster::{LocalCluster, LocalClusterOptions, RequestCounts, ServerHandle};
use serde_json::json;
use std::collections::BTreeSet;
use std::io::{BufRead, BufReader};
use std::net::{Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;
use tokio::task::{JoinError, LocalSet};

/// What most of these tests need, in the words of [`needs_embedded`].
const OWN_CLUSTER: &str = "a cluster of its own";
const HOUR: Duration = Duration::from_secs(3600);

/// A cluster behind a socket, which runs pods so late that only the tests' kubelet does.
struct Served {
    cluster: LocalCluster,
    _server: ServerHandle,
    kubeconfig: PathBuf,
}

impl Served {
    async fn start() -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let options = LocalClusterOptions {
            pod_ready_delay: HOUR,
            pod_termination_delay: HOUR,
            ..LocalClusterOptions::default()
        };
        let cluster = LocalCluster::start(options).await.unwrap();
        let addr = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let server = cluster.serve(addr).await.unwrap();
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("lbcf-e2e-kubeconfig-{}-{number}", std::process::id());
        let kubeconfig = std::env::temp_dir().join(name);
        server.write_kubeconfig(&kubeconfig).unwrap();
        Self {
            cluster,
            _server: server,
            kubeconfig,
        }
    }

    /// As another process connects, which does not wait for the worlds of this one.
    fn connect(&self) -> RemoteCluster {
        RemoteCluster::connect(&self.kubeconfig)
    }

    fn client(&self) -> Client {
        self.cluster.client_as("owner")
    }

    async fn inventory(&self) -> BTreeSet<String> {
        inventory(&self.kubeconfig).await
    }

    /// Why no world can use the cluster.
    async fn refusal(&self) -> String {
        let cluster = self.connect();
        let refused = spawn(async move { drop(World::on(&cluster).await) }).await;
        let panic = refused.expect_err("it is refused").into_panic();
        panic.downcast_ref::<String>().expect("a message").clone()
    }

    async fn create_crds(&self) {
        let api: Api<CustomResourceDefinition> = Api::all(self.client());
        for crd in crds() {
            api.create(&PostParams::default(), &crd).await.unwrap();
        }
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.kubeconfig);
    }
}

/// Runs something that may panic.
async fn spawn(task: impl Future<Output = ()> + 'static) -> Result<(), JoinError> {
    let tasks = LocalSet::new();
    let task = tasks.spawn_local(task);
    tasks.run_until(task).await
}

/// Creates something of every kind, outside the world's namespace, too.
async fn use_everything(world: &World) {
    world.install_admission().await;
    let _admitting = world.start_admitting(CONTROLLER, World::quick()).await;
    world.create_namespace("lbcf-e2e-second").await;
    world.apply_basics(2).await;
    world.create(&manifests::bind(BIND, &["left"])).await;
    world.create(&manifests::service("web", 30080)).await;
    world.create_node("more", "192.168.101.1").await;
    world.until_records(4).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_world_removes_everything_when_its_test_ends_and_when_it_panics() {
    if needs_embedded(OWN_CLUSTER) {
        return;
    }
    let served = Served::start().await;
    let before = served.inventory().await;
    let cluster = served.connect();
    let world = World::on(&cluster).await;
    use_everything(&world).await;
    assert_ne!(served.inventory().await, before);
    drop(world);
    assert_eq!(served.inventory().await, before);

    let panicked = spawn(async move {
        let world = World::on(&cluster).await;
        use_everything(&world).await;
        panic!("as a test that fails");
    });
    assert!(panicked.await.unwrap_err().is_panic());
    assert_eq!(served.inventory().await, before);
}

/// Names the kubeconfig for [`a_run_that_is_killed`].
const KILLED: &str = "LBCF_E2E_KILLED";
const READY: &str = "ready to be killed";

/// In a process of its own, which [`what_a_killed_run_has_left_is_removed_by_the_next_one`] kills.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_that_is_killed() {
    let Some(kubeconfig) = std::env::var_os(KILLED) else {
        return;
    };
    let world = World::on(&RemoteCluster::connect(kubeconfig.as_ref())).await;
    use_everything(&world).await;
    println!("{READY}");
    std::future::pending::<()>().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_a_killed_run_has_left_is_removed_by_the_next_one() {
    if needs_embedded(OWN_CLUSTER) {
        return;
    }
    let served = Served::start().await;
    let before = served.inventory().await;
    let mut killed = Command::new(std::env::current_exe().unwrap())
        .args(["remote::a_run_that_is_killed", "--exact", "--nocapture"])
        .env(KILLED, &served.kubeconfig)
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let output = BufReader::new(killed.stdout.take().unwrap());
    let is_ready = tokio::task::spawn_blocking(move || {
        let mut lines = output.lines().map_while(Result::ok);
        lines.any(|line| line.contains(READY))
    });
    let is_ready = is_ready.await.unwrap();
    killed.kill().unwrap();
    killed.wait().unwrap();
    assert!(is_ready, "the other process failed");
    assert_ne!(served.inventory().await, before);

    let world = World::on(&served.connect()).await;
    assert!(world.all::<LoadBalancerDriver>().await.is_empty());
    assert_eq!(world.all::<Bind>().await.len(), 0);
    drop(world);
    assert_eq!(served.inventory().await, before);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn crds_that_existed_before_stay_and_other_versions_of_them_are_refused() {
    if needs_embedded(OWN_CLUSTER) {
        return;
    }
    let served = Served::start().await;
    served.create_crds().await;
    let before = served.inventory().await;
    drop(World::on(&served.connect()).await);
    assert_eq!(served.inventory().await, before);

    let name = "binds.lbcf.tkestack.io";
    let api: Api<CustomResourceDefinition> = Api::all(served.client());
    let short = Patch::Merge(json!({"spec": {"names": {"shortNames": ["b"]}}}));
    let changed = api.patch(name, &PatchParams::default(), &short).await;
    let changed = changed.unwrap();
    let refusal = served.refusal().await;
    let expected = format!("another version of the CRD {name}");
    assert!(refusal.contains(&expected), "{refusal}");
    assert_eq!(served.inventory().await, before);
    assert_eq!(api.get(name).await.unwrap().spec, changed.spec);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cluster_that_uses_lbcf_is_refused_and_stays_as_it_is() {
    if needs_embedded(OWN_CLUSTER) {
        return;
    }
    let served = Served::start().await;
    served.create_crds().await;
    let mut driver = manifests::driver("http://driver.example");
    driver.metadata.namespace = Some("default".to_owned());
    let api: Api<LoadBalancerDriver> = Api::namespaced(served.client(), "default");
    until("the kind is served", async || {
        api.create(&PostParams::default(), &driver).await.ok()
    })
    .await;
    let node = serde_json::from_value(json!({"metadata": {"name": "lbcf-e2e-1"}}));
    let nodes: Api<k8s_openapi::api::core::v1::Node> = Api::all(served.client());
    nodes
        .create(&PostParams::default(), &node.unwrap())
        .await
        .unwrap();
    let before = served.inventory().await;
    let refusal = served.refusal().await;
    for found in ["objects of the kind LoadBalancerDriver", "node lbcf-e2e-1"] {
        assert!(refusal.contains(found), "{refusal}");
    }
    assert_eq!(served.inventory().await, before);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_cluster_that_another_run_uses_is_refused() {
    if needs_embedded(OWN_CLUSTER) {
        return;
    }
    let served = Served::start().await;
    let leases: Api<Lease> = Api::namespaced(served.client(), SYSTEM);
    let theirs = json!({
        "metadata": {"name": "lbcf-e2e"}, "spec": {"holderIdentity": "another process"},
    });
    let theirs = serde_json::from_value(theirs).unwrap();
    leases
        .create(&PostParams::default(), &theirs)
        .await
        .unwrap();
    let renewing = tokio::spawn(async move {
        for number in 0.. {
            let patch = Patch::Merge(json!({"spec": {"leaseTransitions": number}}));
            let params = PatchParams::default();
            leases.patch("lbcf-e2e", &params, &patch).await.unwrap();
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    });
    let refusal = served.refusal().await;
    assert!(refusal.contains("another run of the tests"), "{refusal}");
    renewing.abort();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn requests_are_counted_as_the_api_server_counts_them() {
    if needs_embedded(OWN_CLUSTER) {
        return;
    }
    let served = Served::start().await;
    let world = World::on(&served.connect()).await;
    let controller = world.start_controller();
    world.apply_basics(3).await;
    world.until_records(3).await;
    world.delete_basics().await;
    kill(controller).await;
    let of_controller = |counts: RequestCounts| {
        let counts = counts
            .iter()
            .filter(|(key, _)| key.user_agent == CONTROLLER);
        let counts = counts.map(|(key, count)| (key.clone(), count));
        // A watch may be sent when the controller is killed.
        let counts = counts.filter(|(key, _)| key.verb != "watch");
        counts.collect::<RequestCounts>()
    };
    until("all requests have arrived", async || {
        let (sent, received) = (world.cluster.requests(), served.cluster.requests());
        (of_controller(sent) == of_controller(received)).then_some(())
    })
    .await;
    assert!(world.cluster.requests().writes_by(CONTROLLER) >= 3 * (2 + 2));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn controllers_have_only_the_permissions_of_the_manifest() {
    let world = World::bare().await;
    let may = async |user: &str| {
        let secrets: Api<Secret> = Api::namespaced(world.client_as(user), SYSTEM);
        match secrets.list(&ListParams::default()).await {
            Ok(_) => true,
            Err(kube::Error::Api(status)) if status.code == 403 => false,
            Err(error) => panic!("{error}"),
        }
    };
    assert!(may("test").await);
    // The embedded cluster authorises everybody.
    assert_eq!(may(CONTROLLER).await, !is_remote());
}

/// What the tests with failing requests and killed controllers run on the embedded cluster, before they disturb it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_scenario_without_failures_loses_and_leaves_nothing() {
    if !is_remote() {
        return;
    }
    for scenario in Scenario::ALL {
        println!("{scenario:?}");
        let world = World::new().await;
        let _controller = world.start(scenario.options());
        scenario.run(&world).await;
    }
}

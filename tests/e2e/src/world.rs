//! A cluster, a cloud with its driver, and controllers.

use crate::admitting::Admitting;
use crate::front::Front;
use crate::manifests::{self, GROUP, LB, NAMESPACE, SYSTEM};
use http::Request;
use http_body_util::BodyExt;
use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::api::core::v1::{Namespace, Pod};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::Client;
use kube::api::{Api, DeleteParams, ListParams, Patch, PatchParams, PostParams};
use kube::runtime::wait::{await_condition, conditions};
use lbcf_controller::api::{
    BackendGroup, BackendRecord, Bind, LoadBalancer, LoadBalancerDriver, NamespacedKind as Kind,
    WebhookConfig, crds,
};
use lbcf_controller::names;
use lbcf_controller::{Backoff, CallCounts, Controller, LeaderElection, Options};
use lbcf_driver_sdk::webhook::{ALL, WebhookInfo};
use local_cluster::{LocalCluster, LocalClusterOptions};
use mock_driver::{ClbDriver, Cloud, MockOptions, MockServer};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::fmt::Debug;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::LazyLock;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::Instant;
use tower::ServiceExt;

/// How long anything may take. Nothing does, unless it is broken or the machine is very busy; or much
/// goes wrong on purpose: a watch that breaks again and again is taken up again after 30 s at last.
const DEADLINE: Duration = Duration::from_secs(100);
/// How long a look waits for the next one: the first time, and at the most.
const FIRST_PAUSE: Duration = Duration::from_millis(2);
const LONGEST_PAUSE: Duration = Duration::from_millis(20);

/// A cluster with LBCF's kinds and admission webhooks, a cloud, and the cloud's driver.
pub struct World {
    /// The cluster.
    pub cluster: LocalCluster,
    /// The cloud.
    pub cloud: Cloud,
    /// The cloud's driver; none while it is down.
    pub mock: Option<MockServer>,
    /// Where the driver is served, also when it is down.
    pub driver_addr: SocketAddr,
    /// How long each of the driver's webhooks may take; 10 s where it is not set.
    pub webhook_timeout: Option<Duration>,
    /// The servers of drivers that have a front.
    fronts: JoinSet<std::io::Result<()>>,
    /// A replica that never leads and goes on admitting whatever becomes of the controllers.
    standby: Option<Admitting>,
    client: Client,
}

impl Debug for World {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("World")
            .field("driver_addr", &self.driver_addr)
            .finish_non_exhaustive()
    }
}

impl World {
    /// A world in which pods get ready at once and load balancers are made at once.
    pub async fn new() -> Self {
        Self::with(MockOptions::default()).await
    }

    /// A world with a cloud of another pace.
    pub async fn with(mock_options: MockOptions) -> Self {
        let mut world = Self::bare_with(mock_options).await;
        world.install_admission().await;
        world.standby = Some(world.start_standby().await);
        world
    }

    /// A world in which nobody has installed the admission webhooks: for tests that count every call
    /// of the driver, have it fail from the start, or want what admission refuses.
    pub async fn bare() -> Self {
        Self::bare_with(MockOptions::default()).await
    }

    /// The same with a cloud of another pace.
    pub async fn bare_with(mock_options: MockOptions) -> Self {
        let cluster = LocalCluster::start(LocalClusterOptions {
            pod_ready_delay: Duration::from_millis(1),
            pod_termination_delay: Duration::from_millis(1),
            ..LocalClusterOptions::default()
        })
        .await
        .expect("the cluster starts");
        let client = cluster.client_as("test");
        let kinds: Api<CustomResourceDefinition> = Api::all(client.clone());
        // Making them is a good part of a world's cost.
        static CRDS: LazyLock<Vec<CustomResourceDefinition>> = LazyLock::new(crds);
        for crd in &*CRDS {
            kinds
                .create(&PostParams::default(), crd)
                .await
                .expect("the CRD is accepted");
            let name = crd.metadata.name.clone().expect("it has a name");
            let established =
                await_condition(kinds.clone(), &name, conditions::is_crd_established());
            tokio::time::timeout(DEADLINE, established)
                .await
                .expect("the CRD is established in time")
                .expect("the CRD is established");
        }
        let namespaces: Api<Namespace> = Api::all(client.clone());
        namespaces
            .create(&PostParams::default(), &manifests::namespace())
            .await
            .expect("the namespace is accepted");
        let cloud = Cloud::with_samples();
        let mock = start_mock(
            &cloud,
            SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
            mock_options,
        )
        .await;
        Self {
            cluster,
            cloud,
            driver_addr: mock.addr(),
            webhook_timeout: None,
            fronts: JoinSet::new(),
            standby: None,
            mock: Some(mock),
            client,
        }
    }

    /// The driver's URL.
    #[must_use]
    pub fn driver_url(&self) -> String {
        format!("http://{}", self.driver_addr)
    }

    /// Puts a driver of the same cloud in the driver's place, with a front before it.
    pub async fn put_front(&mut self) -> Front {
        self.put_front_with(MockOptions::default()).await
    }

    /// The same, for a cloud of another pace.
    pub async fn put_front_with(&mut self, options: MockOptions) -> Front {
        self.stop_driver().await;
        let front = Front::default();
        let driver = ClbDriver::new(self.cloud.clone(), options);
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
            .await
            .expect("a free port");
        self.driver_addr = listener.local_addr().expect("it has an address");
        let router = front.before(mock_driver::router(driver));
        self.fronts
            .spawn(async move { axum::serve(listener, router).await });
        front
    }

    /// The test's own client.
    #[must_use]
    pub fn client(&self) -> Client {
        self.client.clone()
    }

    /// The options of the tests' controllers: a cluster's, with short waits.
    #[must_use]
    pub fn options() -> Options {
        let wait = Duration::from_millis(20);
        Options {
            backoff: Backoff {
                min: wait,
                step: wait,
                max: Duration::from_millis(200),
            },
            poll_interval: wait,
            ..Options::default()
        }
    }

    /// The same with shorter waits still, for tests that wait for the group's counts.
    #[must_use]
    pub fn quick() -> Options {
        Options {
            status_interval: Duration::from_millis(20),
            ..Self::options()
        }
    }

    /// Starts a replica that serves admission and waits for a lead that nobody gives up.
    async fn start_standby(&self) -> Admitting {
        const LONG: Duration = Duration::from_secs(3600);
        let election = LeaderElection {
            name: "standby".to_owned(),
            lease_duration: LONG,
            renew_deadline: LONG / 2,
            retry_period: LONG / 4,
            ..LeaderElection::new(SYSTEM, "standby")
        };
        let lease = json!({
            "metadata": {"name": election.name, "namespace": SYSTEM},
            "spec": {
                "holderIdentity": "nobody", "leaseDurationSeconds": LONG.as_secs(),
                "acquireTime": "2026-01-01T00:00:00.000000Z", "renewTime": "2026-01-01T00:00:00.000000Z",
            },
        });
        let leases: Api<Lease> = Api::namespaced(self.client(), SYSTEM);
        let lease = serde_json::from_value(lease).expect("it is a lease");
        leases
            .create(&PostParams::default(), &lease)
            .await
            .expect("the lease is accepted");
        let options = Options {
            leader_election: Some(election),
            ..Self::options()
        };
        self.start_admitting("standby", options).await
    }

    /// Starts a controller. Aborting the task kills it; dropping the handle leaves it running.
    pub fn start_controller(&self) -> JoinHandle<()> {
        self.start_controller_with(self.cluster.client_as("lbcf-controller"), Self::options())
    }

    /// Starts a controller on a client of its own.
    pub fn start_controller_with(&self, client: Client, options: Options) -> JoinHandle<()> {
        let controller = Controller::new(client, options);
        tokio::spawn(async move {
            let ended = controller.run(std::future::pending()).await;
            ended.expect("the controller goes on");
        })
    }

    /// Starts a controller that counts the calls that it tries.
    pub fn start_counting_controller(&self, options: Options) -> (JoinHandle<()>, CallCounts) {
        let counts = CallCounts::default();
        let client = self.cluster.client_as("lbcf-controller");
        let controller = Controller::with_counts(client, options, counts.clone());
        let running = tokio::spawn(async move {
            let ended = controller.run(std::future::pending()).await;
            ended.expect("the controller goes on");
        });
        (running, counts)
    }

    /// Stops the driver: it refuses connections.
    pub async fn stop_driver(&mut self) {
        if let Some(mock) = self.mock.take() {
            mock.stop().await;
        }
    }

    /// Starts the driver again where it was.
    pub async fn start_driver(&mut self) {
        self.mock = Some(start_mock(&self.cloud, self.driver_addr, MockOptions::default()).await);
    }

    /// Creates the driver's object.
    pub async fn create_driver(&self) {
        let mut driver = manifests::driver(&self.driver_url());
        if let Some(timeout) = self.webhook_timeout {
            let config = |webhook: &WebhookInfo| WebhookConfig {
                name: webhook.name.to_owned(),
                timeout: Some(format!("{}ms", timeout.as_millis())),
            };
            driver.spec.webhooks = ALL.iter().map(config).collect();
        }
        self.create(&driver).await;
    }

    /// Creates the driver, the load balancer, `web-0` and so on, and the group.
    pub async fn apply_basics(&self, pods: usize) {
        self.create_driver().await;
        self.create(&manifests::load_balancer(LB)).await;
        for number in 0..pods {
            self.create(&manifests::pod(&format!("web-{number}"))).await;
        }
        self.create(&manifests::group(GROUP, &[LB])).await;
    }

    /// Deletes what [`Self::apply_basics`] made, in the order in which a careful person would, and
    /// waits until it is gone.
    pub async fn delete_basics(&self) {
        self.delete::<BackendGroup>(NAMESPACE, GROUP).await;
        self.delete::<LoadBalancer>(NAMESPACE, LB).await;
        self.until_gone::<LoadBalancer>(NAMESPACE, LB).await;
        self.delete::<LoadBalancerDriver>(SYSTEM, manifests::DRIVER)
            .await;
        self.until_nothing_left().await;
    }

    /// The API of a kind, as the test's own client sees it.
    pub fn api<K: Kind>(&self, namespace: &str) -> Api<K> {
        Api::namespaced(self.client.clone(), namespace)
    }

    /// Creates an object.
    pub async fn create<K: Kind>(&self, object: &K) -> K {
        let namespace = object.meta().namespace.clone().unwrap_or_default();
        self.api::<K>(&namespace)
            .create(&PostParams::default(), object)
            .await
            .expect("the object is accepted")
    }

    /// Changes an object by a merge patch.
    pub async fn patch<K: Kind>(&self, namespace: &str, name: &str, patch: Value) -> K {
        self.api::<K>(namespace)
            .patch(name, &PatchParams::default(), &Patch::Merge(patch))
            .await
            .expect("the patch is accepted")
    }

    /// Lets nobody new use a driver, as admission asks for before it may be deleted.
    async fn drain(&self, namespace: &str, name: &str) {
        let label = json!({"metadata": {"labels": {names::LABEL_DRIVER_DRAINING: "true"}}});
        let drivers = self.api::<LoadBalancerDriver>(namespace);
        let patched = drivers
            .patch(name, &PatchParams::default(), &Patch::Merge(label))
            .await;
        match patched {
            Ok(_) => {}
            Err(kube::Error::Api(status)) if status.is_not_found() => {}
            Err(error) => panic!("draining {name}: {error}"),
        }
    }

    /// Changes an object's status by a merge patch.
    pub async fn patch_status<K: Kind>(&self, namespace: &str, name: &str, status: Value) -> K {
        let patch = Patch::Merge(json!({ "status": status }));
        self.api::<K>(namespace)
            .patch_status(name, &PatchParams::default(), &patch)
            .await
            .expect("the patch is accepted")
    }

    /// Deletes an object, if it is there.
    pub async fn delete<K: Kind>(&self, namespace: &str, name: &str) {
        if K::kind(&()) == "LoadBalancerDriver" {
            self.drain(namespace, name).await;
        }
        let api = self.api::<K>(namespace);
        until("the object may be deleted", async || {
            match api.delete(name, &DeleteParams::default()).await {
                Ok(_) => Some(()),
                Err(kube::Error::Api(status)) if status.is_not_found() => Some(()),
                // Where admission could not make sure, people try again.
                Err(kube::Error::Api(status)) if status.message.contains("using it") => None,
                Err(error) => panic!("deleting {name}: {error}"),
            }
        })
        .await;
    }

    /// Makes a pod ready or not.
    pub async fn set_ready(&self, pod: &str, ready: bool) {
        let status = if ready { "True" } else { "False" };
        let patch = json!({"status": {"conditions": [{"type": "Ready", "status": status}]}});
        self.api::<Pod>(NAMESPACE)
            .patch_status(pod, &PatchParams::default(), &Patch::Strategic(patch))
            .await
            .expect("the pod's status is accepted");
    }

    /// Everything of a kind.
    pub async fn all<K: Kind>(&self) -> Vec<K> {
        let all: Api<K> = Api::all(self.client.clone());
        all.list(&ListParams::default())
            .await
            .expect("it can be listed")
            .items
    }

    /// The pods' addresses and weights that the cloud has, sorted.
    #[must_use]
    pub fn targets(&self) -> Vec<(String, String)> {
        let mut targets: Vec<_> = self
            .cloud
            .observe()
            .load_balancers
            .into_iter()
            .flat_map(|lb| lb.backends)
            .map(|backend| {
                let addr: Value =
                    serde_json::from_str(&backend.addr).expect("the mock's addresses are JSON");
                let ip = addr["ip"]
                    .as_str()
                    .expect("an address has an ip")
                    .to_owned();
                (
                    ip,
                    backend
                        .parameters
                        .get("weight")
                        .cloned()
                        .unwrap_or_default(),
                )
            })
            .collect();
        targets.sort();
        targets
    }

    /// How many backends the cloud has.
    #[must_use]
    pub fn targets_count(&self) -> usize {
        let lbs = self.cloud.observe().load_balancers;
        lbs.iter().map(|lb| lb.backends.len()).sum()
    }

    /// Waits until just these pods are targets, each with this weight.
    pub async fn until_targets(&self, pods: &[&str], weight: &str) {
        let mut expected = Vec::new();
        for pod in pods {
            let ip = until(&format!("{pod} has an address"), async || {
                let pod = self
                    .api::<Pod>(NAMESPACE)
                    .get_opt(pod)
                    .await
                    .expect("pods can be got");
                pod.and_then(|pod| pod.status?.pod_ip)
            })
            .await;
            expected.push((ip, weight.to_owned()));
        }
        expected.sort();
        until(&format!("the targets are {expected:?}"), async || {
            (self.targets() == expected).then_some(())
        })
        .await;
    }

    /// Waits until every record says that it is registered, as of its present generation, and the
    /// group counts them all.
    pub async fn until_settled(&self) {
        until("everything is settled", async || {
            let records: Vec<BackendRecord> = self.all().await;
            let is_settled = |record: &BackendRecord| {
                record.metadata.deletion_timestamp.is_none()
                    && record.status.as_ref().is_some_and(|status| {
                        status.conditions.iter().any(|condition| {
                            condition.type_ == "Registered"
                                && condition.observed_generation == record.metadata.generation
                        })
                    })
            };
            let groups: Vec<BackendGroup> = self.all().await;
            let counted: i32 = groups
                .iter()
                .filter_map(|group| Some(group.status.as_ref()?.registered_records))
                .sum();
            let is_counted = usize::try_from(counted) == Ok(records.len());
            (records.iter().all(is_settled) && is_counted).then_some(())
        })
        .await;
    }

    /// Waits until a group says that all its backends are registered.
    pub async fn until_settled_group(&self, name: &str) {
        until(&format!("{name} is settled"), async || {
            let group: BackendGroup = self.api(NAMESPACE).get(name).await.ok()?;
            let status = group.status?;
            (status.backends > 0 && status.backends == status.registered_backends).then_some(())
        })
        .await;
    }

    /// Waits until an object is gone.
    pub async fn until_gone<K: Kind>(&self, namespace: &str, name: &str) {
        until(&format!("{name} is gone"), async || {
            let object = self
                .api::<K>(namespace)
                .get_opt(name)
                .await
                .expect("it can be got");
            object.is_none().then_some(())
        })
        .await;
    }

    /// Waits until neither cloud nor cluster holds anything of LBCF.
    pub async fn until_nothing_left(&self) {
        until("nothing is left", async || {
            let is_empty = self.cloud.observe().load_balancers.is_empty()
                && self.all::<BackendRecord>().await.is_empty()
                && self.all::<BackendGroup>().await.is_empty()
                && self.all::<LoadBalancer>().await.is_empty()
                && self.all::<Bind>().await.is_empty()
                && self.all::<LoadBalancerDriver>().await.is_empty();
            is_empty.then_some(())
        })
        .await;
    }

    /// The webhooks that the driver got, in their order.
    pub async fn journal(&self) -> Vec<String> {
        let driver = ClbDriver::new(self.cloud.clone(), MockOptions::default());
        let request = Request::get("/_mock/requests")
            .body(String::new())
            .expect("a request");
        let answer = mock_driver::router(driver)
            .oneshot(request)
            .await
            .expect("an answer");
        let body = answer
            .into_body()
            .collect()
            .await
            .expect("a body")
            .to_bytes();
        let body: Value = serde_json::from_slice(&body).expect("JSON");
        let entries = body["requests"].as_array().expect("a list");
        let webhook = |entry: &Value| entry["webhook"].as_str().expect("a name").to_owned();
        entries.iter().map(webhook).collect()
    }

    /// How often each webhook reached the driver.
    #[must_use]
    pub fn calls(&self) -> BTreeMap<&'static str, u64> {
        self.cloud.calls().as_map().clone()
    }
}

async fn start_mock(cloud: &Cloud, addr: SocketAddr, options: MockOptions) -> MockServer {
    MockServer::start(cloud.clone(), addr, options)
        .await
        .expect("the mock starts")
}

/// Waits until what is seen is what is expected.
pub async fn until_is<T: PartialEq + Debug>(what: &str, expected: T, look: impl AsyncFn() -> T) {
    let (deadline, mut pause) = (Instant::now() + DEADLINE, FIRST_PAUSE);
    loop {
        let seen = look().await;
        if seen == expected {
            return;
        }
        assert!(
            Instant::now() < deadline,
            "not within {}s: {what}\n expected: {expected:?}\n      seen: {seen:?}",
            DEADLINE.as_secs()
        );
        tokio::time::sleep(pause).await;
        pause = (pause * 3 / 2).min(LONGEST_PAUSE);
    }
}

/// Waits until something is there.
pub async fn until<T>(what: &str, look: impl AsyncFn() -> Option<T>) -> T {
    until_within(DEADLINE, what, look).await
}

/// Waits until something is there, but no longer than this.
pub async fn until_within<T>(
    patience: Duration,
    what: &str,
    look: impl AsyncFn() -> Option<T>,
) -> T {
    let (deadline, mut pause) = (Instant::now() + patience, FIRST_PAUSE);
    loop {
        if let Some(found) = look().await {
            return found;
        }
        assert!(
            Instant::now() < deadline,
            "not within {}s: {what}",
            patience.as_secs()
        );
        tokio::time::sleep(pause).await;
        pause = (pause * 3 / 2).min(LONGEST_PAUSE);
    }
}

impl Drop for World {
    fn drop(&mut self) {
        if let Some(standby) = &self.standby {
            standby.task.abort();
        }
    }
}

//! The test environment: a cluster, a cloud with its driver, and controllers.

use crate::admission::AdmittingController;
use crate::cluster::Cluster;
use crate::cost::CONTROLLER;
use crate::manifests::{self, SYSTEM};
use crate::proxy::DriverProxy;
use crate::remote::{PREFIX, RemoteCluster, STANDBY, create_namespace};
use crate::stored::{ClusterService, Storage};
use crate::wait::{DEADLINE, until};
use k8s_openapi::api::coordination::v1::Lease;
use k8s_openapi::api::core::v1::Namespace;
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::Client;
use kube::api::{Api, PostParams};
use kube::runtime::wait::{await_condition, conditions};
use lbcf_controller::api::{Bind, crds};
use lbcf_controller::{Backoff, CallCounts, Controller, DriverAddresses, LeaderElection, Options};
use local_cluster::{LocalCluster, LocalClusterOptions};
use mock_driver::{ClbDriver, Cloud, MockOptions, MockServer};
use serde_json::{Value, json};
use std::fmt::Debug;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{LazyLock, Mutex, PoisonError};
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::task::{AbortHandle, JoinHandle, JoinSet};

/// A cluster with LBCF's kinds and admission webhooks, a cloud, and the cloud's driver.
pub struct World {
    /// Dropped first: the next world on a remote cluster must not be served by these.
    controllers: RunningControllers,
    /// The cluster, with counts of requests by their `User-Agent`.
    pub cluster: Cluster,
    /// The cloud, whose state tests assert on.
    pub cloud: Cloud,
    /// The cloud's driver; `None` while it is down.
    pub mock: Option<MockServer>,
    /// The address of the driver, also while it is down.
    pub driver_addr: SocketAddr,
    /// The timeout of each of the driver's webhooks; `None` is the default of 10 s.
    pub webhook_timeout: Option<Duration>,
    proxies: JoinSet<std::io::Result<()>>,
    /// A replica that never leads and serves admission while controllers are killed and restarted.
    standby: Option<AdmittingController>,
    pub(crate) client: Client,
    /// Where the cluster is stored; `None` keeps it in memory.
    storage: Option<Storage>,
}

/// Controllers that end with the world.
#[derive(Default)]
struct RunningControllers(Mutex<Vec<AbortHandle>>);

impl Drop for RunningControllers {
    fn drop(&mut self) {
        let started = self.0.get_mut().unwrap_or_else(PoisonError::into_inner);
        started.iter().for_each(AbortHandle::abort);
    }
}

impl Debug for World {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("World")
            .field("driver_addr", &self.driver_addr)
            .finish_non_exhaustive()
    }
}

/// Generating them is a good part of a world's cost.
static CRDS: LazyLock<Vec<CustomResourceDefinition>> = LazyLock::new(crds);

impl World {
    /// A world in which pods become ready and load balancers are created without delay.
    pub async fn new() -> Self {
        Self::with(MockOptions::default()).await
    }

    /// A world whose cloud has other options.
    pub async fn with(mock_options: MockOptions) -> Self {
        let mut world = Self::bare_with(mock_options).await;
        world.install_admission().await;
        world.standby = Some(world.start_standby().await);
        world
    }

    /// A world without admission webhooks: for tests that count every call of the driver, need the
    /// driver to fail from the start, or create what admission rejects.
    pub async fn bare() -> Self {
        Self::bare_with(MockOptions::default()).await
    }

    /// A world without admission webhooks, with a load balancer, and a controller whose calls go through a proxy.
    pub async fn behind_proxy(options: Options) -> (Self, DriverProxy, JoinHandle<()>) {
        let mut world = Self::bare().await;
        // A call that fails costs a write, and on a starved machine those of ten seconds do fail.
        world.webhook_timeout = Some(Duration::from_secs(60));
        let proxy = world.start_proxy().await;
        let controller = world.start(options);
        world.create_driver().await;
        world.create(&manifests::load_balancer(manifests::LB)).await;
        (world, proxy, controller)
    }

    /// A world without admission webhooks, whose pods serve HTTP on the ports of their containers.
    pub async fn with_pod_traffic() -> Self {
        let options = LocalClusterOptions {
            pod_traffic: true,
            ..Cluster::options()
        };
        let cluster = Cluster::start_embedded(options).await;
        let client = cluster.client_as("test");
        Self::of_cluster(cluster, client, MockOptions::default(), &CRDS).await
    }

    /// A world without admission webhooks, whose cluster can be backed up and restored.
    pub async fn stored() -> Self {
        let storage = Storage::new();
        let cluster = Cluster::Embedded(storage.start(Cluster::options()).await);
        let client = storage.client_as("test");
        let mut world = Self::of_cluster(cluster, client, MockOptions::default(), &CRDS).await;
        world.storage = Some(storage);
        world
    }

    /// Like [`Self::new`], with a cluster that can be backed up and restored.
    pub async fn stored_with_admission() -> Self {
        let mut world = Self::stored().await;
        world.install_admission().await;
        world.standby = Some(world.start_standby().await);
        world
    }

    /// A world without admission webhooks, whose CRDs have neither limits nor rules, as those of
    /// earlier versions: for tests that store what is refused now, and for periods that are too short
    /// for real clusters.
    pub async fn without_rules() -> Self {
        let cluster = Cluster::start_embedded(Cluster::options()).await;
        let client = cluster.client_as("test");
        let crds = crds_without_rules();
        Self::of_cluster(cluster, client, MockOptions::default(), &crds).await
    }

    /// Replaces the CRDs of [`Self::without_rules`] by today's, and waits until they are in force.
    pub async fn upgrade_crds(&self) {
        let kinds: Api<CustomResourceDefinition> = Api::all(self.client());
        for mut crd in crds() {
            let name = crd.metadata.name.clone().expect("it has a name");
            let stored = kinds.get(&name).await.expect("it is stored");
            crd.metadata.resource_version = stored.metadata.resource_version;
            kinds
                .replace(&name, &PostParams::default(), &crd)
                .await
                .expect("the CRD is accepted");
        }
        // The last of them.
        let binds: Api<Bind> = Api::namespaced(self.client(), manifests::NAMESPACE);
        let dry_run = PostParams {
            dry_run: true,
            ..PostParams::default()
        };
        until("the rules are in force", async || {
            let refused = binds.create(&dry_run, &manifests::bind("rules", &[])).await;
            refused.is_err().then_some(())
        })
        .await;
    }

    /// Like [`Self::bare`], on a cluster outside this process.
    pub async fn on(cluster: &RemoteCluster) -> Self {
        let cluster = Cluster::Remote(Box::new(cluster.begin().await));
        let client = cluster.client_as("test");
        Self::of_cluster(cluster, client, MockOptions::default(), &CRDS).await
    }

    async fn bare_with(mock_options: MockOptions) -> Self {
        let cluster = Cluster::start().await;
        let client = cluster.client_as("test");
        Self::of_cluster(cluster, client, mock_options, &CRDS).await
    }

    async fn of_cluster(
        cluster: Cluster,
        client: Client,
        mock_options: MockOptions,
        crds: &[CustomResourceDefinition],
    ) -> Self {
        // All worlds of a remote cluster share them.
        if let Cluster::Embedded(_) = &cluster {
            create_crds(&client, crds).await;
            let namespaces: Api<Namespace> = Api::all(client.clone());
            namespaces
                .create(
                    &PostParams::default(),
                    &manifests::namespace(manifests::NAMESPACE),
                )
                .await
                .expect("the namespace is accepted");
        }
        let cloud = Cloud::with_samples();
        let addr = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let mock = start_mock(&cloud, addr, mock_options).await;
        Self {
            controllers: RunningControllers::default(),
            cluster,
            cloud,
            driver_addr: mock.addr(),
            webhook_timeout: None,
            proxies: JoinSet::new(),
            standby: None,
            mock: Some(mock),
            client,
            storage: None,
        }
    }

    /// Backs up the cluster of [`Self::stored`], which is down meanwhile. Versions that it stores
    /// from now on are newer than those that it stores when it is restored.
    pub async fn back_up(&mut self) {
        self.restart(Storage::back_up).await;
        // Each start advances the versions.
        self.restart(|_| {}).await;
    }

    /// Restores the backup. `while_down` is called while the cluster is down.
    pub async fn restore(&mut self, while_down: impl FnOnce()) {
        self.restart(|storage| {
            while_down();
            storage.restore();
        })
        .await;
    }

    async fn restart(&mut self, while_down: impl FnOnce(&Storage)) {
        let storage = self.storage.as_ref().expect("the cluster is stored");
        let placeholder = LocalCluster::start(LocalClusterOptions {
            run_pods: false,
            ..LocalClusterOptions::default()
        });
        let placeholder = placeholder.await.expect("the cluster starts");
        let placeholder = Cluster::Embedded(placeholder);
        let cluster = std::mem::replace(&mut self.cluster, placeholder);
        storage.stop(cluster.into_embedded()).await;
        while_down(storage);
        self.cluster = Cluster::Embedded(storage.start(Cluster::options()).await);
        if let Some(standby) = &self.standby {
            self.send_admission_to(standby.addr);
        }
    }

    /// The replica that serves admission and never leads, if there is one.
    #[must_use]
    pub const fn standby(&self) -> Option<&AdmittingController> {
        self.standby.as_ref()
    }

    /// Replaces the replica that serves admission, which does not notice that the cluster was restored.
    pub async fn restart_standby(&mut self) {
        if let Some(standby) = self.standby.take() {
            standby.task.abort();
            self.standby = Some(self.start_standby().await);
        }
    }

    /// The way of a client of this name to the cluster; that to a stored one outlives restarts.
    #[must_use]
    pub fn service_as(&self, user_agent: &str) -> ClusterService {
        match &self.storage {
            Some(storage) => storage.service_as(user_agent),
            None => ClusterService::of(&self.cluster, user_agent),
        }
    }

    /// A client whose requests are counted by this name. That of a stored cluster outlives restarts.
    #[must_use]
    pub fn client_as(&self, user_agent: &str) -> Client {
        match &self.storage {
            Some(storage) => storage.client_as(user_agent),
            None => self.cluster.client_as(user_agent),
        }
    }

    /// Creates a namespace, whose name has to begin as [`manifests::NAMESPACE`] does.
    pub async fn create_namespace(&self, name: &str) {
        assert!(name.starts_with(PREFIX), "{name} would not be deleted");
        create_namespace(&self.client(), name).await;
    }

    /// The URL of the driver or of its proxy.
    #[must_use]
    pub fn driver_url(&self) -> String {
        format!("http://{}", self.driver_addr)
    }

    /// Replaces the driver by another one of the same cloud, behind a proxy.
    pub async fn start_proxy(&mut self) -> DriverProxy {
        self.start_proxy_with(MockOptions::default()).await
    }

    /// Like [`Self::start_proxy`], with other options of the cloud.
    pub async fn start_proxy_with(&mut self, options: MockOptions) -> DriverProxy {
        self.stop_driver().await;
        let proxy = DriverProxy::default();
        let driver = ClbDriver::new(self.cloud.clone(), options);
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))
            .await
            .expect("a free port");
        self.driver_addr = listener.local_addr().expect("it has an address");
        let router = proxy.wrap(mock_driver::router(driver));
        self.proxies
            .spawn(async move { axum::serve(listener, router).await });
        proxy
    }

    /// The test's own client.
    #[must_use]
    pub fn client(&self) -> Client {
        self.client.clone()
    }

    /// The defaults of a controller, with short delays. Drivers are not asked whether they are healthy,
    /// so that the calls and writes of a test follow from what it does.
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
            // On a busy machine every driver takes its time.
            address_timeout: Duration::from_secs(3600),
            driver_health_period: None,
            driver_addresses_of_tenants: DriverAddresses::everything(),
            readiness_brake: Duration::ZERO,
            ..Options::default()
        }
    }

    /// [`Self::options`] with a status interval of 20 ms, for tests that wait for a group's counts.
    #[must_use]
    pub fn quick() -> Options {
        Options {
            status_interval: Duration::from_millis(20),
            ..Self::options()
        }
    }

    /// Starts a replica that serves admission and never leads: the lease it waits for does not
    /// expire within the test.
    async fn start_standby(&self) -> AdmittingController {
        const LONG: Duration = Duration::from_secs(3600);
        let election = LeaderElection {
            name: STANDBY.to_owned(),
            lease_duration: LONG,
            renew_deadline: LONG / 2,
            retry_period: LONG / 4,
            ..LeaderElection::new(SYSTEM, STANDBY)
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
        match leases.create(&PostParams::default(), &lease).await {
            Ok(_) => {}
            // It is started again.
            Err(kube::Error::Api(status)) if status.code == 409 => {}
            Err(error) => panic!("the lease is not accepted: {error}"),
        }
        let options = Options {
            leader_election: Some(election),
            ..Self::options()
        };
        let standby = self.start_admitting(STANDBY, options).await;
        self.until_admission_is_trusted().await;
        standby
    }

    /// Starts a controller. Aborting the task kills it; dropping the handle leaves it running until the
    /// world ends.
    pub fn start_controller(&self) -> JoinHandle<()> {
        self.start(Self::options())
    }

    /// Starts a controller with other options.
    pub fn start(&self, options: Options) -> JoinHandle<()> {
        self.start_controller_with(self.client_as(CONTROLLER), options)
    }

    /// Starts a controller with its own client and options.
    pub fn start_controller_with(&self, client: Client, options: Options) -> JoinHandle<()> {
        self.run(Controller::new(client, options))
    }

    /// Starts a controller that counts the webhook calls it attempts.
    pub fn start_counting_controller(&self, options: Options) -> (JoinHandle<()>, CallCounts) {
        let counts = CallCounts::default();
        let client = self.cluster.client_as(CONTROLLER);
        let controller = Controller::with_counts(client, options, counts.clone());
        (self.run(controller), counts)
    }

    fn run(&self, controller: Controller) -> JoinHandle<()> {
        let task = run_controller(controller);
        let started = self.controllers.0.lock();
        let mut started = started.unwrap_or_else(PoisonError::into_inner);
        started.push(task.abort_handle());
        task
    }

    /// Stops the driver, which then refuses connections.
    pub async fn stop_driver(&mut self) {
        if let Some(mock) = self.mock.take() {
            mock.stop().await;
        }
    }

    /// Starts the driver again at the same address.
    pub async fn start_driver(&mut self) {
        self.mock = Some(start_mock(&self.cloud, self.driver_addr, MockOptions::default()).await);
    }
}

impl Drop for World {
    fn drop(&mut self) {
        if let Some(standby) = &self.standby {
            standby.task.abort();
        }
    }
}

fn crds_without_rules() -> Vec<CustomResourceDefinition> {
    fn strip(schema: &mut Value) {
        match schema {
            Value::Object(map) => {
                for key in [
                    "x-kubernetes-validations",
                    "maxLength",
                    "maxItems",
                    "maxProperties",
                ] {
                    map.remove(key);
                }
                map.values_mut().for_each(strip);
            }
            Value::Array(list) => list.iter_mut().for_each(strip),
            _ => {}
        }
    }
    let stripped = CRDS.iter().map(|crd| {
        let mut crd = serde_json::to_value(crd).expect("a CRD is JSON");
        strip(&mut crd);
        serde_json::from_value(crd).expect("it stays a CRD")
    });
    stripped.collect()
}

async fn create_crds(client: &Client, crds: &[CustomResourceDefinition]) {
    let kinds: Api<CustomResourceDefinition> = Api::all(client.clone());
    for crd in crds {
        kinds
            .create(&PostParams::default(), crd)
            .await
            .expect("the CRD is accepted");
        let name = crd.metadata.name.clone().expect("it has a name");
        let established = await_condition(kinds.clone(), &name, conditions::is_crd_established());
        tokio::time::timeout(DEADLINE, established)
            .await
            .expect("the CRD is established in time")
            .expect("the CRD is established");
    }
}

/// Ends a task, and returns when nothing of it runs any more.
pub async fn kill<T>(task: JoinHandle<T>) {
    task.abort();
    let _ = task.await;
}

fn run_controller(controller: Controller) -> JoinHandle<()> {
    tokio::spawn(async move {
        let ended = controller.run(std::future::pending()).await;
        ended.expect("the controller runs until it is killed");
    })
}

async fn start_mock(cloud: &Cloud, addr: SocketAddr, options: MockOptions) -> MockServer {
    MockServer::start(cloud.clone(), addr, options)
        .await
        .expect("the mock starts")
}

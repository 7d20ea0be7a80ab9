//! What users run: cluster, driver and controller as processes of their own with default flags, over
//! sockets.
//!
//! This process creates the pods, asks the mock which webhooks it received, and reads memory and processor
//! time of the others.

use crate::TIMEOUT;
use crate::driver_metrics::{DriverMetrics, client_of, text};
use crate::process::LbcfProcess;
use crate::table::{self, Figures};
use crate::workload::Workload;
use futures::StreamExt;
use k8s_openapi::api::core::v1::{Namespace, Pod, Service};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{Api, DeleteParams, ListParams, Patch, PatchParams, PostParams};
use kube::config::{KubeConfigOptions, Kubeconfig};
use kube::{Client, Config, ResourceExt};
use lbcf_controller::api::{
    BackendGroup, BackendRecord, Conditions, LoadBalancer, LoadBalancerDriver, StringMap,
    condition_types,
};
use lbcf_e2e::manifests::{self, NAMESPACE, SYSTEM};
use lbcf_e2e::until_within;
use mock_driver::JournalEntry;
use serde_json::{Value, json};
use std::collections::HashMap;
use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use tokio::time::sleep;

/// Pods of which the readiness changes while latencies are measured.
const CHANGED_PODS: usize = 500;
const CHANGES_PER_SECOND: u32 = 50;
/// How many pods are NotReady at a time: each for 2 s.
const NOT_READY_PODS: usize = 50;
/// How long a process has for what it does when everything is done, such as events and freeing memory.
const REST: Duration = Duration::from_secs(3);
const ANY_PORT: &str = "127.0.0.1:0";
/// The pause between two looks at the driver's calls.
const POLL: Duration = Duration::from_millis(5);

pub(super) struct Measurement {
    pub(super) workload: Workload,
    pub(super) lbcf: PathBuf,
    pub(super) controller_flags: String,
    pub(super) mock_flags: String,
    /// How many pods are created that no group selects.
    pub(super) other_pods: usize,
    /// An lbcf whose controller is measured before.
    pub(super) before: Option<PathBuf>,
    pub(super) is_real: bool,
}

impl Measurement {
    pub(super) async fn of_all(&self, sizes: &[usize]) {
        let mut columns = Vec::new();
        for &pods in sizes {
            if let Some(before) = &self.before {
                let figures = self.measure(before, pods).await;
                columns.push((format!("{pods} before"), figures));
            }
            let figures = self.measure(&self.lbcf, pods).await;
            columns.push((pods.to_string(), figures));
        }
        table::print(&columns);
    }

    /// Registers and deregisters alone.
    pub(super) async fn of_limits(&self, pods: usize) -> Figures {
        let system = System::start(self, &self.lbcf).await;
        let mut figures = Figures::default();
        system.create_pods(pods, 0).await;
        system.register(pods, &mut figures).await;
        system.deregister(pods, &mut figures).await;
        figures
    }

    async fn measure(&self, controller: &Path, pods: usize) -> Figures {
        let mut system = System::start(self, controller).await;
        system.measure(pods, self.other_pods).await
    }

    fn start_cluster(&self, kubeconfig: &Path) -> LbcfProcess {
        if self.is_real {
            return LbcfProcess::real_cluster(kubeconfig);
        }
        let path = kubeconfig.to_str().expect("its path is text");
        let arguments = ["local-cluster", "--listen", ANY_PORT, "--with-crds"];
        let arguments = [&arguments[..], &["--kubeconfig", path]].concat();
        LbcfProcess::serve(&self.lbcf, &arguments).0
    }
}

struct System {
    // Ended in this order.
    controller: LbcfProcess,
    driver: LbcfProcess,
    cluster: LbcfProcess,
    client: Client,
    /// Of the driver's server.
    mock: Client,
    /// Of the controller's metrics.
    health: Client,
    folder: PathBuf,
    workload: Workload,
}

impl System {
    async fn start(measurement: &Measurement, of_controller: &Path) -> Self {
        let lbcf = &measurement.lbcf;
        let folder = std::env::temp_dir().join(format!("lbcf-scale-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a temporary folder");
        let kubeconfig = folder.join("kubeconfig");
        let path = kubeconfig.to_str().expect("its path is text");
        let cluster = measurement.start_cluster(&kubeconfig);
        let mock = ["mock-driver", "--listen", ANY_PORT];
        let flags = measurement.mock_flags.split_whitespace();
        let mock: Vec<&str> = mock.into_iter().chain(flags).collect();
        let (driver, driver_url) = LbcfProcess::serve(lbcf, &mock);
        let health_address = free_address();
        let arguments = ["controller", "--kubeconfig", path];
        let health_flag = ["--health-address", health_address.as_str()];
        let flags: Vec<&str> = measurement.controller_flags.split_whitespace().collect();
        let config = Kubeconfig::read_from(&kubeconfig).expect("a kubeconfig");
        let config = Config::from_custom_kubeconfig(config, &KubeConfigOptions::default()).await;
        let client = Client::try_from(config.expect("a kubeconfig")).expect("a client");
        if measurement.is_real {
            create_crds(&client).await;
        }
        let controller = LbcfProcess::start(
            of_controller,
            &[&arguments[..], &health_flag[..], &flags[..]].concat(),
        );
        let system = Self {
            cluster,
            driver,
            controller,
            client,
            mock: client_of(&driver_url),
            health: client_of(&format!("http://{health_address}")),
            folder,
            workload: measurement.workload,
        };
        let is_azure = measurement.mock_flags.contains("azure");
        system.prepare(&driver_url, is_azure).await;
        system
    }

    /// Creates the load balancer, and waits until it exists in the cloud.
    async fn prepare(&self, driver_url: &str, is_azure: bool) {
        let params = PostParams::default();
        let namespaces: Api<Namespace> = Api::all(self.client.clone());
        let created = namespaces
            .create(&params, &manifests::namespace(NAMESPACE))
            .await;
        created.expect("the namespace is accepted");
        let drivers: Api<LoadBalancerDriver> = Api::namespaced(self.client.clone(), SYSTEM);
        let created = drivers
            .create(&params, &manifests::driver(driver_url))
            .await;
        created.expect("the driver is accepted");
        let lbs: Api<LoadBalancer> = Api::namespaced(self.client.clone(), NAMESPACE);
        for mut lb in self.workload.load_balancers() {
            if is_azure {
                lb.spec.lb_spec = [("service", "default/web"), ("port", "80")].into();
                lb.spec.attributes = StringMap::default();
            }
            let created = lbs.create(&params, &lb).await;
            created.expect("the load balancer is accepted");
        }
        let services: Api<Service> = Api::namespaced(self.client.clone(), NAMESPACE);
        for service in self.workload.services() {
            let created = services.create(&params, &service).await;
            created.expect("the service is accepted");
        }
        until_within(TIMEOUT, "the load balancers are created", async || {
            let all = lbs.list(&ListParams::default()).await.expect("they exist");
            let is_created = |lb: &LoadBalancer| {
                let status = lb.status.as_ref();
                status.is_some_and(|it| it.conditions.is_true(condition_types::CREATED))
            };
            all.items.iter().all(is_created).then_some(())
        })
        .await;
    }

    async fn measure(&mut self, pods: usize, other_pods: usize) -> Figures {
        let mut figures = Figures::default();
        sleep(REST).await;
        let idle = self.controller.resident();
        figures.add("controller, idle", mb(idle), "MB");
        self.create_pods(pods, other_pods).await;
        sleep(REST).await;
        let known = self.controller.resident();
        let per =
            |count: usize, from: u64, to: u64| to.saturating_sub(from) as f64 / count as f64 / 1e3;
        let per_pod = per(pods + other_pods, idle, known);
        figures.add("controller, a pod known", per_pod, "kB");
        self.register(pods, &mut figures).await;
        let registered = self.controller.resident();
        let per_backend = per(pods, known, registered);
        figures.add("controller, a backend registered", per_backend, "kB");
        figures.add("controller, all registered", mb(registered), "MB");
        self.change_weight(pods, &mut figures).await;
        self.change_pods(pods.min(CHANGED_PODS), &mut figures).await;
        self.deregister(pods, &mut figures).await;
        figures.add(
            "controller, after deregistering, of before",
            self.controller.resident() as f64 / known as f64,
            "x",
        );
        figures
    }

    /// Creates pods for the group, and others that it does not select.
    async fn create_pods(&self, pods: usize, other_pods: usize) {
        let api: Api<Pod> = Api::namespaced(self.client.clone(), NAMESPACE);
        let create = |number| {
            let api = api.clone();
            async move {
                let mut pod = Workload::pod(number);
                if number >= pods {
                    pod.metadata.labels = None;
                }
                let created = api.create(&PostParams::default(), &pod).await;
                created.expect("the pod is accepted");
            }
        };
        let creating = futures::stream::iter(0..pods + other_pods).map(create);
        creating.buffer_unordered(16).collect::<Vec<()>>().await;
        until_within(TIMEOUT, "all pods are ready", async || {
            let list = api.list(&ListParams::default()).await.expect("pods");
            list.items.iter().all(is_ready).then_some(())
        })
        .await;
    }

    async fn register(&self, pods: usize, figures: &mut Figures) {
        let groups = self.groups();
        let before = self.activity().await;
        let began = Instant::now();
        for group in self.workload.groups() {
            let created = groups.create(&PostParams::default(), &group).await;
            created.expect("the group is accepted");
        }
        self.until_calls("ensureBackend", &before, pods).await;
        let took = began.elapsed();
        until_within(TIMEOUT, "the groups count them", async || {
            let list = groups.list(&ListParams::default()).await.expect("groups");
            let counts = list.items.into_iter().filter_map(|group| group.status);
            let count: i32 = counts.map(|status| status.registered_backends).sum();
            (usize::try_from(count) == Ok(pods)).then_some(())
        })
        .await;
        sleep(REST).await;
        let after = self.activity().await;
        figures.add("registering", took.as_secs_f64(), "s");
        let rate = pods as f64 / took.as_secs_f64();
        figures.add("registered", rate, "backends/s");
        figures.add(
            "registering, batch",
            after.driver.batch("ensureBackend", &before.driver),
            "",
        );
        figures.add(
            "registering, failed",
            after.driver.failed("ensureBackend", &before.driver),
            "calls",
        );
        let names = [
            "controller, processor time of registering",
            "cluster, processor time of registering",
            "mock-driver, processor time of registering",
            "requests to the API server",
        ];
        after.add_costs(figures, names, &before, pods);
    }

    async fn change_weight(&self, pods: usize, figures: &mut Figures) {
        let groups = self.groups();
        let before = self.activity().await;
        let began = Instant::now();
        let weight = Patch::Merge(json!({"spec": {"parameters": {"weight": "60"}}}));
        for group in self.workload.groups() {
            let name = group.name_any();
            let patched = groups.patch(&name, &PatchParams::default(), &weight).await;
            patched.expect("the change is accepted");
        }
        self.until_calls("ensureBackend", &before, pods).await;
        figures.add("changing all weights", began.elapsed().as_secs_f64(), "s");
        sleep(REST).await;
        let after = self.activity().await;
        let names = [
            "controller, processor time of a weight",
            "cluster, processor time of a weight",
            "mock-driver, processor time of a weight",
            "requests of a weight",
        ];
        after.add_costs(figures, names, &before, pods);
    }

    /// Changes the readiness of pods at a fixed rate: each becomes NotReady and, 2 s later, Ready again.
    /// The latency is that from the API server's response to the end of the call of ensureBackend.
    async fn change_pods(&self, pods: usize, figures: &mut Figures) {
        let api: Api<Pod> = Api::namespaced(self.client.clone(), NAMESPACE);
        let mut since = 0;
        new_calls(&self.mock, &mut since).await;
        let calls = tokio::spawn(watch_ensured(self.mock.clone(), since, pods));
        let mut ready_at = HashMap::new();
        let mut ticks = tokio::time::interval(Duration::from_secs(1) / CHANGES_PER_SECOND);
        for number in 0..pods + NOT_READY_PODS {
            if number < pods {
                ticks.tick().await;
                set_ready(&api, &format!("web-{number}"), false).await;
            }
            if let Some(earlier) = number.checked_sub(NOT_READY_PODS) {
                ticks.tick().await;
                let name = format!("web-{earlier}");
                set_ready(&api, &name, true).await;
                ready_at.insert(name, Instant::now());
            }
        }
        let ensured = tokio::time::timeout(TIMEOUT, calls).await;
        let ensured = ensured
            .expect("all are registered in time")
            .expect("no panic");
        let records: Api<BackendRecord> = Api::namespaced(self.client.clone(), NAMESPACE);
        let records = records.list(&ListParams::default()).await.expect("records");
        let mut latencies: Vec<Duration> = records
            .items
            .iter()
            .filter_map(|record| {
                let ready_at = ready_at.get(&record.spec.pod_backend.as_ref()?.name)?;
                let uid = record.metadata.uid.as_ref()?;
                let ensured_at = ensured.get(&format!("ensureBackend({uid})"))?;
                Some(ensured_at.saturating_duration_since(*ready_at))
            })
            .collect();
        assert_eq!(latencies.len(), pods, "each pod was registered again");
        latencies.sort();
        for (name, percent) in [
            ("from Ready to registered, 50 changes a second, p50", 50),
            ("from Ready to registered, 50 changes a second, p99", 99),
        ] {
            let latency = latencies[(pods * percent / 100).min(pods - 1)];
            figures.add(name, latency.as_secs_f64() * 1e3, "ms");
        }
    }

    async fn deregister(&self, pods: usize, figures: &mut Figures) {
        let groups = self.groups();
        sleep(REST).await;
        let before = self.activity().await;
        let began = Instant::now();
        for group in self.workload.groups() {
            let name = group.name_any();
            let deleted = groups.delete(&name, &DeleteParams::default()).await;
            deleted.expect("the group is deleted");
        }
        self.until_calls("deregisterBackend", &before, pods).await;
        figures.add("deregistering", began.elapsed().as_secs_f64(), "s");
        sleep(REST).await;
        let after = self.activity().await;
        figures.add(
            "deregistering, batch",
            after.driver.batch("deregisterBackend", &before.driver),
            "",
        );
        figures.add(
            "deregistering, failed",
            after.driver.failed("deregisterBackend", &before.driver),
            "calls",
        );
        let names = [
            "controller, processor time of deregistering",
            "cluster, processor time of deregistering",
            "mock-driver, processor time of deregistering",
            "requests of deregistering",
        ];
        after.add_costs(figures, names, &before, pods);
    }

    fn groups(&self) -> Api<BackendGroup> {
        Api::namespaced(self.client.clone(), NAMESPACE)
    }

    async fn activity(&self) -> Activity {
        Activity {
            cpu: [&self.controller, &self.cluster, &self.driver].map(LbcfProcess::cpu_time),
            requests: self.requests().await,
            calls: calls(&self.mock).await,
            driver: DriverMetrics::read(&self.mock).await,
        }
    }

    /// Waits until the driver has received so many more calls of a webhook.
    async fn until_calls(&self, webhook: &str, before: &Activity, count: usize) {
        let of = |calls: &Value| calls["counts"][webhook].as_u64().unwrap_or_default();
        let target = of(&before.calls) + count as u64;
        let began = Instant::now();
        while of(&calls(&self.mock).await) < target {
            assert!(
                began.elapsed() < TIMEOUT,
                "{webhook}: not within {TIMEOUT:?}"
            );
            sleep(POLL).await;
        }
    }

    /// The controller's requests to the API server so far, watches and events included.
    async fn requests(&self) -> f64 {
        let metrics = text(&self.health, "/metrics").await;
        let lines = metrics.lines();
        let counts = lines.filter(|line| line.starts_with("rest_client_requests_total{"));
        counts
            .filter_map(|line| line.rsplit(' ').next()?.parse::<f64>().ok())
            .sum()
    }
}

impl Drop for System {
    fn drop(&mut self) {
        // What remains is in the folder for temporary files.
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

struct Activity {
    /// Of controller, cluster and driver.
    cpu: [Duration; 3],
    requests: f64,
    calls: Value,
    driver: DriverMetrics,
}

impl Activity {
    /// Adds the processor time of each process, and the requests to the API server, since `before`.
    fn add_costs(
        &self,
        figures: &mut Figures,
        names: [&'static str; 4],
        before: &Self,
        pods: usize,
    ) {
        let [cpu @ .., requests] = names;
        for (name, (after, before)) in cpu.into_iter().zip(self.cpu.iter().zip(before.cpu)) {
            let took = (*after - before).as_secs_f64() * 1e3;
            figures.add(name, took / pods as f64, "ms a backend");
        }
        let count = (self.requests - before.requests) / pods as f64;
        figures.add(requests, count, "a backend");
    }
}

/// When each record's call of ensureBackend after the call `since` was first seen, for so many of them.
async fn watch_ensured(mock: Client, mut since: u64, count: usize) -> HashMap<String, Instant> {
    let mut ensured = HashMap::new();
    while ensured.len() < count {
        sleep(POLL).await;
        let records = new_calls(&mock, &mut since).await;
        let now = Instant::now();
        for record in records {
            ensured.entry(record).or_insert(now);
        }
    }
    ensured
}

/// The recordIDs of the calls of ensureBackend after `since`, which becomes the last of them.
async fn new_calls(mock: &Client, since: &mut u64) -> Vec<String> {
    let path = format!("/_mock/requests?webhook=ensureBackend&since={since}");
    let mut calls: Value = parsed(&text(mock, &path).await);
    let entries = calls["requests"].take();
    let entries: Vec<JournalEntry> = serde_json::from_value(entries).expect("a journal");
    *since = entries.last().map_or(*since, |entry| entry.sequence);
    entries.into_iter().map(|entry| entry.record_id).collect()
}

/// Creates LBCF's kinds, and waits until they are served.
async fn create_crds(client: &Client) {
    let api: Api<CustomResourceDefinition> = Api::all(client.clone());
    for crd in lbcf_controller::api::crds() {
        let created = api.create(&PostParams::default(), &crd).await;
        created.expect("the definition is accepted");
    }
    let records: Api<BackendRecord> = Api::all(client.clone());
    until_within(TIMEOUT, "the kinds are served", async || {
        records.list(&ListParams::default()).await.ok().map(drop)
    })
    .await;
}

async fn set_ready(api: &Api<Pod>, name: &str, ready: bool) {
    let status = if ready { "True" } else { "False" };
    let patch = json!({"status": {"conditions": [{"type": "Ready", "status": status}]}});
    let patch = Patch::Strategic(patch);
    let patched = api
        .patch_status(name, &PatchParams::default(), &patch)
        .await;
    patched.expect("the pod's status is accepted");
}

fn is_ready(pod: &Pod) -> bool {
    let status = pod.status.iter();
    let mut conditions = status.flat_map(|status| status.conditions.iter().flatten());
    conditions.any(|condition| condition.type_ == "Ready" && condition.status == "True")
}

/// How many webhook calls the mock received. None of them is after the last possible one.
async fn calls(mock: &Client) -> Value {
    let path = format!("/_mock/requests?since={}", u64::MAX);
    parsed(&text(mock, &path).await)
}

fn parsed(text: &str) -> Value {
    serde_json::from_str(text).expect("JSON")
}

/// An address that was free a moment ago.
fn free_address() -> String {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
    listener.local_addr().expect("an address").to_string()
}

fn mb(bytes: u64) -> f64 {
    bytes as f64 / 1e6
}

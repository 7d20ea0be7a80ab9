//! Several controllers of one cluster: one leads, and the next one continues where it ended.

use axum::Router;
use axum::routing::post;
use k8s_openapi::api::coordination::v1::{Lease, LeaseSpec};
use k8s_openapi::jiff::Timestamp;
use kube::api::{Patch, PatchParams};
use lbcf_controller::api::{Conditions, LoadBalancer};
use lbcf_controller::{Controller, Health, LeaderElection, Options, RunError};
use lbcf_e2e::manifests::{self, LB, SYSTEM};
use lbcf_e2e::{World, kill, leads, until};
use serde_json::json;
use std::net::Ipv4Addr;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::{Semaphore, oneshot};
use tokio::task::JoinHandle;

const LEASE_DURATION: Duration = Duration::from_secs(6);

/// The options of one of several controllers.
pub(crate) fn options(name: &str) -> Options {
    Options {
        leader_election: Some(LeaderElection {
            // Long enough for a machine that is busy with other tests.
            lease_duration: LEASE_DURATION,
            renew_deadline: Duration::from_secs(5),
            retry_period: Duration::from_millis(100),
            ..LeaderElection::new(SYSTEM, name)
        }),
        // Longer than any deadline of the tests.
        stop_timeout: Duration::from_secs(3600),
        ..World::options()
    }
}

/// One of several controllers.
pub(crate) struct Candidate {
    pub(crate) health: Health,
    stop: oneshot::Sender<()>,
    pub(crate) task: JoinHandle<Result<(), RunError>>,
}

impl Candidate {
    pub(crate) fn start(world: &World, name: &str) -> Self {
        Self::with_options(world, name, options(name))
    }

    pub(crate) fn with_options(world: &World, name: &str, options: Options) -> Self {
        let controller = Controller::new(world.client_as(name), options);
        let health = controller.health();
        let (stop, stopped) = oneshot::channel();
        let task = tokio::spawn(controller.run(async move {
            let _ = stopped.await;
        }));
        Self { health, stop, task }
    }

    pub(crate) async fn until_ready(&self) {
        until("the controller is ready", async || self.health.ready().ok()).await;
    }

    /// Stops it, and waits until it has ended.
    pub(crate) async fn stop(self) {
        self.stop.send(()).expect("it runs");
        self.task.await.expect("no panic").expect("it was asked to");
    }

    fn leads(&self) -> bool {
        leads(&self.health)
    }

    pub(crate) async fn until_leader(&self) {
        until("the controller leads", async || self.leads().then_some(())).await;
    }
}

pub(crate) async fn lease(world: &World) -> LeaseSpec {
    let lease = world.api::<Lease>(SYSTEM).get("lbcf-controller").await;
    let spec = lease.expect("the lease exists").spec;
    spec.expect("it has a spec")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn u43_only_the_leader_reconciles_and_the_next_one_continues_where_it_was_killed() {
    let world = World::new().await;
    let one = Candidate::start(&world, "one");
    one.until_leader().await;
    let two = Candidate::start(&world, "two");
    two.until_ready().await;
    world.settle_basics(2).await;
    assert!(one.leads() && !two.leads());
    assert_eq!(world.cluster.requests().writes_by("two"), 0);

    kill(one.task).await;
    world.create(&manifests::pod("web-2")).await;
    world.until_pods(3).await;
    world.until_settled().await;
    assert!(two.leads());
    let calls = world.calls();
    assert_eq!(
        (calls["ensureBackend"], calls["createLoadBalancer"]),
        (3, 1),
        "nothing was done twice"
    );
    world.delete_basics().await;
    two.stop().await;
    assert_eq!(lease(&world).await.holder_identity.as_deref(), Some(""));
}

/// A driver whose `createLoadBalancer` is held until it is released.
struct HeldDriver {
    url: String,
    called: Arc<Semaphore>,
    release: Arc<Semaphore>,
    server: JoinHandle<()>,
}

impl HeldDriver {
    async fn start() -> Self {
        let (called, release) = (Arc::new(Semaphore::new(0)), Arc::new(Semaphore::new(0)));
        let (calls, released) = (Arc::clone(&called), Arc::clone(&release));
        let create = async move || {
            calls.add_permits(1);
            let _ = released.acquire().await;
            json!({"status": "Succ", "msg": "", "lbInfo": {"id": "1"}}).to_string()
        };
        let router = Router::new().route("/createLoadBalancer", post(create));
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let server = tokio::spawn(async move {
            axum::serve(listener, router).await.unwrap();
        });
        Self {
            url,
            called,
            release,
            server,
        }
    }

    /// A leader that has a call in flight, and another controller that waits for the lease.
    async fn with_controllers(world: &World) -> (Self, Candidate, Candidate) {
        let driver = Self::start().await;
        let one = Candidate::start(world, "one");
        one.until_leader().await;
        let two = Candidate::start(world, "two");
        two.until_ready().await;
        world.create(&manifests::driver(&driver.url)).await;
        world.create(&manifests::load_balancer(LB)).await;
        driver.called.acquire().await.unwrap().forget();
        (driver, one, two)
    }
}

impl Drop for HeldDriver {
    fn drop(&mut self) {
        self.server.abort();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_leader_that_stops_completes_its_calls_before_the_next_one_starts() {
    let world = World::bare().await;
    let (driver, one, two) = HeldDriver::with_controllers(&world).await;
    one.stop.send(()).expect("it runs");
    until("it reports that it is stopping", async || {
        one.health.ready().err()
    })
    .await;
    // It renews its lease for longer than the lease lasts.
    let stopping = Timestamp::now();
    until(
        "the lease is renewed after it would have expired",
        async || {
            let renewed = lease(&world).await.renew_time?.0;
            let since = Duration::try_from(renewed.duration_since(stopping)).ok()?;
            (since > LEASE_DURATION).then_some(())
        },
    )
    .await;
    assert_eq!(lease(&world).await.holder_identity.as_deref(), Some("one"));
    assert!(!one.task.is_finished() && !two.leads());

    driver.release.add_permits(1000);
    one.task.await.expect("no panic").expect("it was asked to");
    let lb = world.get::<LoadBalancer>(LB).await;
    let status = lb.status.expect("its status was written");
    assert!(status.conditions.is_true("Created"), "by the first");
    two.until_leader().await;
    two.task.abort();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_leader_that_loses_its_lease_ends_without_completing_its_calls() {
    let world = World::bare().await;
    let (_driver, one, _two) = HeldDriver::with_controllers(&world).await;
    let theirs = json!({"spec": {"holderIdentity": "usurper", "leaseDurationSeconds": 600}});
    world
        .patch::<Lease>(SYSTEM, "lbcf-controller", theirs)
        .await;
    // Neither the call that is held nor the stop timeout delays the end.
    let ended = one.task.await.expect("no panic");
    let error = ended.expect_err("it was not asked to");
    assert!(matches!(error, RunError::LostLease(_)), "{error:?}");
    assert!(error.to_string().contains("usurper"), "{error}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn invalid_times_of_an_election_are_named() {
    let world = World::new().await;
    let options = Options {
        leader_election: Some(LeaderElection {
            retry_period: Duration::from_secs(60),
            ..LeaderElection::new(SYSTEM, "one")
        }),
        ..World::options()
    };
    let controller = Controller::new(world.cluster.client_as("one"), options);
    let error = controller.run(std::future::pending()).await.unwrap_err();
    assert!(
        error.to_string().contains("--leader-elect-retry-period"),
        "{error}"
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn other_writers_may_change_the_leases_labels() {
    let world = World::new().await;
    let one = Candidate::start(&world, "one");
    one.until_leader().await;
    for number in 0..20 {
        let patch = json!({"metadata": {"labels": {"number": number.to_string()}}});
        world
            .api::<Lease>(SYSTEM)
            .patch(
                "lbcf-controller",
                &PatchParams::default(),
                &Patch::Merge(patch),
            )
            .await
            .unwrap();
    }
    world.register_basics(1).await;
    assert!(one.leads() && !one.task.is_finished());
    one.task.abort();
}

//! Elections against an API server in this process, in time that passes only while all tasks wait.

use super::{Election, LeaderElection, Leadership, LostLease};
use http::{Method, Request, Response, StatusCode};
use jiff::Timestamp;
use k8s_openapi::api::coordination::v1::{Lease, LeaseSpec};
use k8s_openapi::apimachinery::pkg::apis::meta::v1::MicroTime;
use kube::Client;
use kube::api::{Api, DeleteParams, ObjectMeta, Patch, PatchParams, PostParams};
use local_cluster::{InProcess, LocalCluster, LocalClusterOptions};
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;
use tokio::sync::{oneshot, watch};
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep, timeout};
use tower::Service;

const NAMESPACE: &str = "kube-system";
const NAME: &str = "lbcf-controller";

async fn cluster() -> LocalCluster {
    LocalCluster::start(LocalClusterOptions::default())
        .await
        .unwrap()
}

fn leases(cluster: &LocalCluster) -> Api<Lease> {
    Api::namespaced(cluster.client_as("test"), NAMESPACE)
}

async fn lease(cluster: &LocalCluster) -> LeaseSpec {
    leases(cluster).get(NAME).await.unwrap().spec.unwrap()
}

/// A lease that another process did not release.
async fn leave_lease(cluster: &LocalCluster, renew_time: Timestamp) {
    let lease = Lease {
        metadata: ObjectMeta {
            name: Some(NAME.into()),
            ..ObjectMeta::default()
        },
        spec: Some(LeaseSpec {
            holder_identity: Some("gone".into()),
            lease_duration_seconds: Some(15),
            acquire_time: Some(MicroTime(renew_time)),
            renew_time: Some(MicroTime(renew_time)),
            lease_transitions: Some(3),
            ..LeaseSpec::default()
        }),
    };
    leases(cluster)
        .create(&PostParams::default(), &lease)
        .await
        .unwrap();
}

/// A process that takes part.
struct Candidate {
    leadership: watch::Receiver<Leadership>,
    stop: oneshot::Sender<()>,
    task: JoinHandle<Result<(), LostLease>>,
}

impl Candidate {
    fn start(client: Client, identity: &str) -> Self {
        let config = LeaderElection::new(NAMESPACE, identity);
        let election = Election::new(client, config).unwrap();
        let leadership = election.leadership();
        let (stop, stopped) = oneshot::channel();
        let task = tokio::spawn(election.run(async move {
            let _ = stopped.await;
        }));
        Self {
            leadership,
            stop,
            task,
        }
    }

    fn of(cluster: &LocalCluster, identity: &str) -> Self {
        Self::start(cluster.client_as(identity), identity)
    }

    fn leads(&self) -> bool {
        self.leadership.borrow().is_leader()
    }

    /// Waits until it leads; gives when.
    async fn until_leader(&mut self) -> Instant {
        timeout(
            Duration::from_secs(600),
            self.leadership.wait_for(Leadership::is_leader),
        )
        .await
        .expect("it gets the lead")
        .unwrap();
        Instant::now()
    }

    /// Waits until it lost the lead; gives when and why.
    async fn until_lost(self) -> (Instant, String) {
        let ended = timeout(Duration::from_secs(600), self.task).await;
        let lost = ended.expect("it ends").unwrap().unwrap_err();
        assert!(!self.leadership.borrow().is_leader());
        (Instant::now(), lost.to_string())
    }

    async fn kill(self) {
        self.task.abort();
        assert!(self.task.await.unwrap_err().is_cancelled());
    }

    async fn stop(self) {
        self.stop.send(()).unwrap();
        self.task.await.unwrap().unwrap();
    }
}

/// What a client's API server does.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Mood {
    Well,
    /// It answers that it cannot.
    Refusing,
    /// It does not answer.
    Silent,
    /// It writes what it is asked to, and the answer gets lost.
    Lossy,
}

#[derive(Clone)]
struct Moody {
    inner: InProcess,
    mood: Arc<Mutex<Mood>>,
}

impl Moody {
    fn client(cluster: &LocalCluster, identity: &str) -> (Client, Arc<Mutex<Mood>>) {
        let mood = Arc::new(Mutex::new(Mood::Well));
        let inner = cluster.service().named(identity);
        let moody = Self {
            inner,
            mood: Arc::clone(&mood),
        };
        (Client::new(moody, "default"), mood)
    }
}

type InProcessResponse = <InProcess as Service<Request<kube::client::Body>>>::Response;

impl Service<Request<kube::client::Body>> for Moody {
    type Response = InProcessResponse;
    type Error = std::convert::Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<InProcessResponse, Self::Error>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Self::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: Request<kube::client::Body>) -> Self::Future {
        let mood = *self.mood.lock().unwrap();
        match mood {
            Mood::Lossy if request.method() == Method::GET => Box::pin(self.inner.call(request)),
            Mood::Well => Box::pin(self.inner.call(request)),
            Mood::Refusing => Box::pin(async {
                let mut answer = Response::new(axum::body::Body::from("no"));
                *answer.status_mut() = StatusCode::INTERNAL_SERVER_ERROR;
                Ok(answer)
            }),
            Mood::Silent => Box::pin(std::future::pending()),
            Mood::Lossy => {
                let done = self.inner.call(request);
                Box::pin(async move {
                    let _ = done.await;
                    std::future::pending().await
                })
            }
        }
    }
}

#[tokio::test(start_paused = true)]
async fn one_of_many_leads() {
    let cluster = cluster().await;
    let candidates: Vec<_> = (0..5)
        .map(|number| Candidate::of(&cluster, &format!("candidate-{number}")))
        .collect();
    for _ in 0..60 {
        sleep(Duration::from_secs(1)).await;
        let leaders = candidates.iter().filter(|one| one.leads()).count();
        assert_eq!(leaders, 1);
    }
    let lease = lease(&cluster).await;
    let leader = candidates.iter().position(Candidate::leads).unwrap();
    assert_eq!(
        lease.holder_identity,
        Some(format!("candidate-{leader}")),
        "the lease names the leader"
    );
    assert_eq!(lease.lease_transitions, Some(0));
    let follower = candidates.iter().find(|one| !one.leads()).unwrap();
    assert_eq!(
        *follower.leadership.borrow(),
        Leadership::Follower {
            holder: lease.holder_identity
        },
        "the others know who"
    );
}

#[tokio::test(start_paused = true)]
async fn a_killed_leader_is_followed_after_its_lease_and_not_before() {
    let cluster = cluster().await;
    let mut first = Candidate::of(&cluster, "first");
    first.until_leader().await;
    let mut second = Candidate::of(&cluster, "second");
    sleep(Duration::from_secs(31)).await;
    let renewed_before = Instant::now();
    first.kill().await;
    let taken_at = second.until_leader().await;
    let waited = taken_at - renewed_before;
    // The last renewal was up to two seconds before the end, and was seen up to two seconds later.
    let range = Duration::from_secs(13)..=Duration::from_secs(17);
    assert!(range.contains(&waited), "{waited:?}");
    let lease = lease(&cluster).await;
    assert_eq!(lease.holder_identity.as_deref(), Some("second"));
    assert_eq!(lease.lease_transitions, Some(1));
}

#[tokio::test(start_paused = true)]
async fn a_leader_that_stops_is_followed_at_the_next_look() {
    let cluster = cluster().await;
    let mut first = Candidate::of(&cluster, "first");
    first.until_leader().await;
    let mut second = Candidate::of(&cluster, "second");
    sleep(Duration::from_secs(31)).await;
    let stopped_at = Instant::now();
    first.stop().await;
    let free = lease(&cluster).await;
    assert_eq!(free.holder_identity.as_deref(), Some(""));
    assert_eq!(free.lease_duration_seconds, Some(1));
    let waited = second.until_leader().await - stopped_at;
    assert!(waited <= Duration::from_secs(2), "{waited:?}");
    assert_eq!(lease(&cluster).await.lease_transitions, Some(1));
}

#[tokio::test(start_paused = true)]
async fn a_follower_that_stops_leaves_the_lease_alone() {
    let cluster = cluster().await;
    let mut first = Candidate::of(&cluster, "first");
    first.until_leader().await;
    let second = Candidate::of(&cluster, "second");
    sleep(Duration::from_secs(5)).await;
    second.stop().await;
    let lease = lease(&cluster).await;
    assert_eq!(lease.holder_identity.as_deref(), Some("first"));
    sleep(Duration::from_secs(60)).await;
    assert!(first.leads());
}

#[tokio::test(start_paused = true)]
async fn an_outage_shorter_than_the_renew_deadline_changes_nothing() {
    // It was renewed a second before. A call that hangs takes half of the deadline.
    for (mood, millis) in [
        (Mood::Refusing, 6_500),
        (Mood::Silent, 5_500),
        (Mood::Lossy, 5_500),
    ] {
        let cluster = cluster().await;
        let (client, api_server) = Moody::client(&cluster, "first");
        let mut first = Candidate::start(client, "first");
        first.until_leader().await;
        let second = Candidate::of(&cluster, "second");
        sleep(Duration::from_secs(21)).await;
        *api_server.lock().unwrap() = mood;
        sleep(Duration::from_millis(millis)).await;
        *api_server.lock().unwrap() = Mood::Well;
        for _ in 0..60 {
            sleep(Duration::from_secs(1)).await;
            assert!(first.leads() && !second.leads(), "{mood:?}");
        }
        assert_eq!(lease(&cluster).await.lease_transitions, Some(0));
    }
}

#[tokio::test(start_paused = true)]
async fn an_outage_longer_than_the_renew_deadline_ends_the_lead_before_another_takes_it() {
    for mood in [Mood::Refusing, Mood::Silent, Mood::Lossy] {
        let cluster = cluster().await;
        let (client, api_server) = Moody::client(&cluster, "first");
        let mut first = Candidate::start(client, "first");
        first.until_leader().await;
        let mut second = Candidate::of(&cluster, "second");
        sleep(Duration::from_secs(21)).await;
        *api_server.lock().unwrap() = mood;
        let failed_at = Instant::now();
        let (lost_at, why) = first.until_lost().await;
        assert!(!second.leads());
        let waited = lost_at - failed_at;
        let range = Duration::from_secs(8)..=Duration::from_secs(10);
        assert!(range.contains(&waited), "{mood:?}: {waited:?}");
        assert!(why.contains("not renewed within 10s"), "{why}");
        let taken_at = second.until_leader().await;
        let apart = taken_at - lost_at;
        assert!(apart >= Duration::from_secs(4), "{mood:?}: {apart:?}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_write_whose_response_was_lost_grants_no_leadership_until_the_lease_is_read() {
    let cluster = cluster().await;
    let (client, api_server) = Moody::client(&cluster, "first");
    *api_server.lock().unwrap() = Mood::Lossy;
    let began = Instant::now();
    let mut first = Candidate::start(client, "first");
    sleep(Duration::from_secs(4)).await;
    assert_eq!(
        lease(&cluster).await.holder_identity.as_deref(),
        Some("first")
    );
    assert!(!first.leads());
    *api_server.lock().unwrap() = Mood::Well;
    let waited = first.until_leader().await - began;
    assert!(waited < Duration::from_millis(5_100), "{waited:?}");
    assert_eq!(lease(&cluster).await.lease_transitions, Some(0));
}

#[tokio::test(start_paused = true)]
async fn a_clock_that_is_wrong_changes_nothing() {
    for time in [
        "1970-01-01T00:00:00Z".parse().unwrap(),
        Timestamp::now(),
        "9999-01-01T00:00:00Z".parse().unwrap(),
    ] {
        let cluster = cluster().await;
        leave_lease(&cluster, time).await;
        let began = Instant::now();
        let mut candidate = Candidate::of(&cluster, "us");
        let waited = candidate.until_leader().await - began;
        let range = Duration::from_secs(15)..Duration::from_millis(15_100);
        assert!(range.contains(&waited), "{time}: {waited:?}");
        assert_eq!(lease(&cluster).await.lease_transitions, Some(4));
    }
}

#[tokio::test(start_paused = true)]
async fn a_leader_that_sees_another_holder_ends_at_once() {
    let cluster = cluster().await;
    let mut first = Candidate::of(&cluster, "first");
    first.until_leader().await;
    sleep(Duration::from_secs(21)).await;
    let patch = serde_json::json!({"spec": {"holderIdentity": "usurper"}});
    leases(&cluster)
        .patch(NAME, &PatchParams::default(), &Patch::Merge(patch))
        .await
        .unwrap();
    let began = Instant::now();
    let (lost_at, why) = first.until_lost().await;
    assert!(lost_at - began <= Duration::from_secs(2));
    assert!(
        why.contains("kube-system/lbcf-controller: usurper holds the lease"),
        "{why}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_lease_that_was_deleted_is_made_again_by_its_holder() {
    let cluster = cluster().await;
    let mut first = Candidate::of(&cluster, "first");
    first.until_leader().await;
    let patch = serde_json::json!({"metadata": {"labels": {"somebody": "else"}}});
    leases(&cluster)
        .patch(NAME, &PatchParams::default(), &Patch::Merge(patch))
        .await
        .unwrap();
    sleep(Duration::from_secs(5)).await;
    leases(&cluster)
        .delete(NAME, &DeleteParams::default())
        .await
        .unwrap();
    sleep(Duration::from_secs(5)).await;
    assert!(first.leads(), "another's change and deletion do no harm");
    let lease = lease(&cluster).await;
    assert_eq!(lease.holder_identity.as_deref(), Some("first"));
}

#[tokio::test(start_paused = true)]
async fn letting_go_gets_by_an_api_server_that_fails_and_does_not_wait_for_ever() {
    let cluster = cluster().await;
    let (client, api_server) = Moody::client(&cluster, "first");
    let mut first = Candidate::start(client, "first");
    first.until_leader().await;
    *api_server.lock().unwrap() = Mood::Refusing;
    let healed = Arc::clone(&api_server);
    let healing = tokio::spawn(async move {
        sleep(Duration::from_secs(2)).await;
        *healed.lock().unwrap() = Mood::Well;
    });
    first.stop().await;
    healing.await.unwrap();
    assert_eq!(lease(&cluster).await.holder_identity.as_deref(), Some(""));

    *api_server.lock().unwrap() = Mood::Well;
    let (client, api_server) = Moody::client(&cluster, "second");
    let mut second = Candidate::start(client, "second");
    second.until_leader().await;
    *api_server.lock().unwrap() = Mood::Silent;
    let began = Instant::now();
    second.stop().await;
    assert!(began.elapsed() <= Duration::from_secs(5));
}

#[tokio::test(start_paused = true)]
async fn a_namespace_that_is_not_there_is_no_end() {
    let cluster = cluster().await;
    let config = LeaderElection::new("nowhere", "us");
    let election = Election::new(cluster.client(), config).unwrap();
    let leadership = election.leadership();
    let task = tokio::spawn(election.run(std::future::pending()));
    sleep(Duration::from_secs(60)).await;
    assert!(!task.is_finished() && !leadership.borrow().is_leader());
    task.abort();
}

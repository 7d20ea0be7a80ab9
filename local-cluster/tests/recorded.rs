//! Replays recorded exchanges with a real API server.
//!
//! Every request is sent over HTTP to a fresh cluster, in order. Status, headers and body must be
//! the recorded ones, except for generated values (see [`compare`]) and the differences of
//! [`known`], each of which must still occur.

mod compare;
mod exchange;
mod known;
mod play;
mod values;
mod webhooks;

use std::time::Duration;

use local_cluster::{LocalCluster, LocalClusterOptions};

use self::exchange::{Exchange, read};
use self::known::{KnownDifference, KnownDifferences};
use self::play::Player;
use self::values::Values;
use crate::fixture::{call, eventually};
use crate::tables::json;

const CRDS: &str = include_str!("recorded/crds.json");
const DEFINITIONS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";
/// The total time to wait for controllers: a read that differs is repeated.
const MAX_WAIT: Duration = Duration::from_secs(3);
const PAUSE: Duration = Duration::from_millis(20);

/// A cluster as recorded: nothing binds or runs pods.
async fn bare_cluster() -> LocalCluster {
    let options = LocalClusterOptions {
        nodes: Vec::new(),
        run_pods: false,
        ..LocalClusterOptions::default()
    };
    LocalCluster::start(options).await.unwrap()
}

async fn define(cluster: &LocalCluster) {
    let list = json(CRDS);
    for definition in list["items"].as_array().unwrap() {
        let (status, message) = call(cluster, "POST", DEFINITIONS, Some(definition.clone())).await;
        assert_eq!(status, 201, "{message}");
    }
    let served = || async {
        let group = "/apis/lbcf.tkestack.io/v1beta1";
        let (status, found) = call(cluster, "GET", group, None).await;
        let count = found["resources"].as_array().map_or(0, Vec::len);
        (status == 200 && count == 6).then_some(())
    };
    eventually("the definitions are served", served).await;
}

/// Replays all exchanges and fails with all differences.
async fn replay(cluster: &LocalCluster, exchanges: &[Exchange], known: &[KnownDifference]) {
    let server = cluster.serve("127.0.0.1:0".parse().unwrap()).await.unwrap();
    let mut player = Player::new(server.url()).await;
    let allowed = KnownDifferences::new(known);
    let mut report = Vec::new();
    let mut patience = MAX_WAIT;
    for exchange in exchanges {
        if exchange.step.contains("unreachable") {
            player.end_webhooks().await;
        }
        let unknown = loop {
            let unknown = allowed.unknown(&exchange.step, player.differences(exchange).await);
            let again = exchange.request.method == "GET" && !patience.is_zero();
            if unknown.is_empty() || !again {
                break unknown;
            }
            patience = patience.saturating_sub(PAUSE);
            tokio::time::sleep(PAUSE).await;
        };
        if !unknown.is_empty() {
            let (step, request) = (&exchange.step, &exchange.request);
            report.push(format!("{step}  ({} {})", request.method, request.path));
            report.extend(unknown.iter().take(30).map(|d| format!("    {d}")));
        }
    }
    report.extend(allowed.unseen());
    server.shutdown().await;
    assert!(report.is_empty(), "\n{}", report.join("\n"));
}

#[tokio::test]
async fn requests_get_recorded_responses() {
    let cluster = bare_cluster().await;
    define(&cluster).await;
    let exchanges = read(include_str!("recorded/http.jsonl"));
    assert_eq!(exchanges.len(), 113);
    replay(&cluster, &exchanges, &[]).await;
}

#[tokio::test]
async fn requests_of_kubectl_get_recorded_responses() {
    let cluster = bare_cluster().await;
    let exchanges = read(include_str!("recorded/kubectl.jsonl"));
    assert_eq!(exchanges.len(), 253);
    replay(&cluster, &exchanges, known::KUBECTL).await;
}

/// Requests of the module `differential` that once had other responses here.
#[tokio::test]
async fn requests_that_differed_get_recorded_responses() {
    let options = LocalClusterOptions {
        nodes: Vec::new(),
        run_controllers: false,
        ..LocalClusterOptions::default()
    };
    let cluster = LocalCluster::start(options).await.unwrap();
    let exchanges = read(include_str!("recorded/differential.jsonl"));
    replay(&cluster, &exchanges, &[]).await;
}

#[tokio::test]
async fn definitions_are_described_as_recorded() {
    let cluster = bare_cluster().await;
    define(&cluster).await;
    let path = "/openapi/v3/apis/lbcf.tkestack.io/v1beta1";
    let (status, live) = call(&cluster, "GET", path, None).await;
    assert_eq!(status, 200);
    let recorded = include_str!("recorded/openapi-v3-lbcf-group.json");
    let recorded = json(recorded);
    let found = compare::bodies(&recorded, &live, &Values::default());
    let allowed = KnownDifferences::new(known::OPENAPI);
    let mut report = allowed.unknown("", found);
    report.extend(allowed.unseen());
    assert!(report.is_empty(), "\n{}", report.join("\n"));
}

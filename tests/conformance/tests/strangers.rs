//! Others create and delete load balancers in the same cloud meanwhile: a right driver passes, and a wrong one does not
//! hide among them.

use crate::bent::{Inner, Reply, driver, fixture, mock, result};
use axum::Router;
use lbcf_conformance::Suite;
use lbcf_conformance::report::{Report, Status};
use lbcf_conformance::settings::Settings;
use serde_json::{Value, json};
use std::time::Duration;
use tokio::time::sleep;

/// Those that count load balancers.
const GROUPS: [&str; 9] = [
    "ASYN", "BAD", "CLB", "CONC", "DLB", "DRY", "LIFE", "RTRY", "VLB",
];

/// Creates a load balancer at this interval, each for up to this time, until the run ends.
async fn run(router: Router, only: &[&str], seed: u64, interval: u64, lifetime: u64) -> Report {
    let others = async {
        let mut random = fastrand::Rng::with_seed(seed);
        for number in 0.. {
            sleep(Duration::from_millis(random.u64(1..2 * interval))).await;
            let lived = Duration::from_millis(random.u64(1..lifetime));
            tokio::spawn(stranger(Inner::of(router.clone()), number, lived));
        }
    };
    let suite = Suite::of_router(router.clone())
        .fixture(fixture())
        .settings(Settings {
            only: only.iter().map(|it| (*it).to_owned()).collect(),
            seed,
            ..Settings::default()
        })
        .observe_path("_mock/observe");
    tokio::select! {
        report = suite.run() => report.unwrap(),
        () = others => unreachable!("it has no end"),
    }
}

async fn stranger(cloud: Inner, number: u64, lived: Duration) {
    let uid = format!("stranger-{number}");
    let lb_spec =
        json!({"lbVpcID": "vpc-12345678", "lbListenerPort": "80", "lbListenerProtocol": "TCP"});
    let create = json!({"recordID": format!("createLoadBalancer({uid})"), "lbSpec": lb_spec});
    let created = cloud.call("createLoadBalancer", &create).await;
    let lb_info = &created.body["lbInfo"];
    if lb_info.is_null() {
        // An outage that the kit has caused.
        return;
    }
    let delete = json!({"recordID": format!("deleteLoadBalancer({uid})"), "lbInfo": lb_info});
    sleep(lived).await;
    while cloud.call("deleteLoadBalancer", &delete).await.body["status"] != "Succ" {
        sleep(Duration::from_millis(100)).await;
    }
}

#[tokio::test(start_paused = true)]
async fn a_right_driver_passes_among_strangers() {
    let strangers = [
        (1, 400, 2000),
        (2, 50, 300),
        (3, 2000, 4000),
        (4, 100, 1000),
    ];
    for (seed, interval, lifetime) in strangers {
        let router = mock(Duration::ZERO);
        let report = run(router, &GROUPS, seed, interval, lifetime).await;
        let failed = report.results.iter();
        let failed = failed.filter(|it| it.status == Status::Failed);
        let failed: Vec<_> = failed.map(|it| (&it.id, &it.reason)).collect();
        assert_eq!(failed, [], "seed {seed}");
        assert_eq!(report.left_behind, [""; 0]);
    }
}

/// Makes a load balancer too many for each creation that is repeated.
fn leaking() -> Router {
    driver(
        mock(Duration::ZERO),
        |inner, called, mut request| async move {
            let reply = inner.call(&called, &request).await;
            let is_own = !request["recordID"]
                .as_str()
                .unwrap_or_default()
                .contains("stranger");
            if called == "createLoadBalancer" && is_own && reply.body["status"] == "Succ" {
                let id = format!("createLoadBalancer({})", fastrand::u64(..));
                request["recordID"] = Value::from(id);
                let _: Reply = inner.call(&called, &request).await;
            }
            reply
        },
    )
}

#[tokio::test(start_paused = true)]
async fn a_driver_that_creates_too_many_fails_among_strangers() {
    let checks = ["CLB-04", "LIFE-01", "CONC-03"];
    let report = run(leaking(), &checks, 1, 400, 2000).await;
    for id in checks {
        let result = result(&report, id);
        assert_eq!(result.status, Status::Failed, "{id}: {}", result.reason);
    }
}

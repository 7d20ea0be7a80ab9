//! What records wait for.

use super::{impatient, record_name, respond, setup, until_condition, until_event, until_waits};
use lbcf_controller::api::{BackendGroup, BackendRecord};
use lbcf_e2e::manifests::{self, GROUP, LB, NAMESPACE};
use lbcf_e2e::{World, until};

async fn until_record(world: &World, name: &str, status: &str, reason: &str) -> String {
    until_condition::<BackendRecord>(world, name, "Registered", (status, reason)).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d44_a_record_that_waits_for_another_one_names_it() {
    let (world, proxy, _controller) = setup(impatient()).await;
    world.create(&manifests::load_balancer(LB)).await;
    world.create(&manifests::pod("web-0")).await;
    world.create(&manifests::group(GROUP, &[LB])).await;
    world.until_records(1).await;
    let old = record_name(&world).await;
    respond(&proxy, "deregisterBackend", "Fail");
    world.delete::<BackendGroup>(NAMESPACE, GROUP).await;
    // Whether it is still registered is not known.
    let message = until_record(&world, &old, "Unknown", "OperationFailed").await;
    assert_eq!(message, "made so by the test");
    until_event(&world, "BackendRecord", &old, "FailedDeregister").await;
    world.create(&manifests::group("again", &[LB])).await;
    let new = until("there is another record", async || {
        let records: Vec<BackendRecord> = world.all().await;
        let mut names = records
            .into_iter()
            .filter_map(|record| record.metadata.name);
        names.find(|name| *name != old)
    })
    .await;
    let reason = "DelayedEnsureBackend";
    let message = until_waits::<BackendRecord>(&world, &new, "Registered", "False", reason).await;
    assert!(message.contains(&old), "{message}");
    proxy.forward_all();
    until_record(&world, &new, "True", "").await;
    world.until_records(1).await;
}

//! Events whose writes fail.

use super::{CONTROLLER, events, impatient, setup, until_event};
use lbcf_e2e::manifests::{self, GROUP, LB};
use lbcf_e2e::until;
use local_cluster::{ErrorResponse, Fault, RequestFilter, Verb};

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d59_an_event_is_written_once_although_its_writes_fail() {
    if lbcf_e2e::needs_embedded("failing writes of events") {
        return;
    }
    let (world, _proxy, _controller) = setup(impatient()).await;
    world.create(&manifests::load_balancer(LB)).await;
    let writes_of_events = || {
        RequestFilter::default()
            .user_agent(CONTROLLER)
            .resource("events")
            .verbs([Verb::Create])
    };
    let faults = world.cluster.faults();
    let failures = [
        Fault::abort(ErrorResponse::internal_error()),
        Fault::disconnect(),
        Fault::abort(ErrorResponse::too_many_requests(1)),
        // It is carried out.
        Fault::drop_response(),
    ];
    let guards = failures.map(|fault| faults.inject(fault.times(1).of(writes_of_events())));
    world.create(&manifests::group(GROUP, &[LB])).await;
    let (kind, reason) = ("BackendGroup", "NoPodsSelected");
    let event = until_event(&world, kind, GROUP, reason).await;
    assert_eq!(event.count, Some(1));
    // It may exist before its writer knows.
    until("all faults have happened", async || {
        guards.iter().all(|it| it.hits() == 1).then_some(())
    })
    .await;
    world.create(&manifests::pod("web-0")).await;
    until_event(&world, kind, GROUP, "SuccSyncedBackendGroup").await;
    assert_eq!(events(&world, kind, GROUP, reason).await, [event]);
}

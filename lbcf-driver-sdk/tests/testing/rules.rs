//! The check finds each rule that is broken, and none that is kept.

use super::cloudlet::Cloudlet;
use lbcf_driver_sdk::testing::{
    Findings, Sample, TestDriver, check_idempotency, create_load_balancer, generate_backend_addr,
    pod, service,
};

async fn check(flaws: &'static [&'static str]) -> Findings {
    let sample = Sample::new(create_load_balancer().spec("name", "web"))
        .parameter("weight", 10)
        .bad_spec("name", "web!")
        .bad_parameter("weight", "heavy");
    check_idempotency(&TestDriver::new(Cloudlet::with(flaws)), &sample).await
}

#[tokio::test(start_paused = true)]
async fn a_driver_that_keeps_the_rules_passes() {
    check(&[]).await.assert_none();
    check(&["slow"]).await.assert_none();
    check(&["empty lbInfo"]).await.assert_none();
}

#[tokio::test(start_paused = true)]
async fn a_rule_that_is_broken_is_found() {
    for (flaws, rule) in [
        (
            &["takes any name"] as &'static [_],
            "an invalid value is refused by name",
        ),
        (
            &["takes any name"],
            "createLoadBalancer with an invalid value fails and names it",
        ),
        (&["takes any weight"], "an invalid value is refused by name"),
        (
            &["refuses without a name"],
            "an invalid value is refused by name",
        ),
        (
            &["refuses everything"],
            "validateLoadBalancer accepts the sample",
        ),
        (
            &["cannot create"],
            "createLoadBalancer succeeds with the sample",
        ),
        (
            &["never ends"],
            "createLoadBalancer succeeds with the sample",
        ),
        (
            &["creates again"],
            "createLoadBalancer repeated with the same recordID returns the same lbInfo",
        ),
        (
            &["cannot ensure attributes"],
            "ensureLoadBalancer succeeds with unchanged attributes",
        ),
        (
            &["another address each time"],
            "generateBackendAddr returns the same address each time",
        ),
        (
            &["same address for all"],
            "each backend has an address of its own",
        ),
        (
            &["registers once"],
            "ensureBackend succeeds if the backend is registered",
        ),
        (&["panics"], "ensureBackend succeeds with the sample"),
        (
            &["deregisters once"],
            "deregisterBackend succeeds if the backend was never registered",
        ),
        (
            &["deregisters once"],
            "deregisterBackend succeeds if the backend is deregistered",
        ),
        (
            &["deletes once"],
            "deleteLoadBalancer succeeds if the load balancer is deleted",
        ),
        (
            &["needs an lbInfo"],
            "deleteLoadBalancer succeeds if the load balancer was never created",
        ),
        (
            &["needs its load balancer"],
            "deregisterBackend succeeds if the load balancer does not exist",
        ),
    ] {
        let findings = check(flaws).await;
        let rules: Vec<_> = findings.broken().iter().map(|broken| broken.rule).collect();
        assert!(rules.contains(&rule), "{flaws:?}: {rules:#?}");
        let text = super::complaint(|| findings.assert_none());
        assert!(text.contains(rule), "{text}");
    }
}

#[tokio::test(start_paused = true)]
async fn a_sample_may_have_other_backends() {
    let pods = ["a", "b"].map(|name| generate_backend_addr().pod(pod(name).port(81)));
    let sample = Sample::new(create_load_balancer().spec("name", "web")).backends(pods);
    let driver = TestDriver::new(Cloudlet::default());
    check_idempotency(&driver, &sample).await.assert_none();

    let node = |name: &str| {
        generate_backend_addr().service(service("web").node_port(80, 30080).on_node(name))
    };
    let sample = sample
        .backends([node("node-1"), node("node-2")])
        .bad_attribute("size", "huge");
    let findings = check_idempotency(&driver, &sample).await;
    let broken: Vec<_> = findings
        .broken()
        .iter()
        .map(|broken| broken.how.as_str())
        .collect();
    assert!(
        broken.iter().any(|how| how.contains("pods only")),
        "{broken:?}"
    );
    // The driver takes any attributes.
    assert!(
        broken.iter().any(|how| how.contains("\"size\":\"huge\"")),
        "{broken:?}"
    );
}

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
            "a value that does not fit is refused, by its name",
        ),
        (
            &["takes any name"],
            "nothing is created from a value that does not fit: Fail, with its name",
        ),
        (
            &["takes any weight"],
            "a value that does not fit is refused, by its name",
        ),
        (
            &["refuses without a name"],
            "a value that does not fit is refused, by its name",
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
            &["creates anew"],
            "createLoadBalancer repeated under its recordID makes nothing new: the same lbInfo",
        ),
        (
            &["cannot ensure attributes"],
            "ensureLoadBalancer succeeds with the attributes that are there already",
        ),
        (
            &["another address each time"],
            "generateBackendAddr gives the same address each time",
        ),
        (
            &["same address for all"],
            "each backend has an address of its own",
        ),
        (
            &["registers once"],
            "ensureBackend of a backend that is registered succeeds",
        ),
        (&["panics"], "ensureBackend succeeds with the sample"),
        (
            &["deregisters once"],
            "deregisterBackend of a backend that was never registered succeeds",
        ),
        (
            &["deregisters once"],
            "deregisterBackend of a backend that is gone succeeds",
        ),
        (
            &["deletes once"],
            "deleteLoadBalancer of a load balancer that is gone succeeds",
        ),
        (
            &["needs an lbInfo"],
            "deleteLoadBalancer of a load balancer that was never created succeeds",
        ),
        (
            &["needs its load balancer"],
            "deregisterBackend on a load balancer that is gone succeeds",
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

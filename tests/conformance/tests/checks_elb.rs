//! ELB-06 with drivers whose load balancers are left, and with wrong reasons.

use crate::bent::*;
use lbcf_conformance::report::Status;
use serde_json::json;

const ID: &str = "ELB-06";

#[tokio::test]
async fn d98_elb_06_needs_no_observer() {
    let report = run_without_observer(right(), fixture(), ID).await;
    assert_eq!(passed(&report), [ID]);
}

#[tokio::test]
async fn d98_elb_06_does_not_judge_an_existing_load_balancer_that_is_left() {
    let mut existing = fixture();
    existing.load_balancer.valid[0].lb_spec = map([("lbID", "lb-1234"), ("lblID", "lbl-2234")]);
    for report in [
        judged(right(), existing.clone(), ID).await,
        run_without_observer(right(), existing, ID).await,
    ] {
        let result = result(&report, ID);
        assert_eq!(result.status, Status::Skipped, "{}", result.reason);
        let because = "another creation has the same lbInfo";
        assert!(result.reason.contains(because), "{}", result.reason);
    }
}

#[tokio::test]
async fn d98_elb_06_detects_another_reason() {
    let failing = answering(right(), "ensureLoadBalancer", |_, reply| {
        if reply.body["status"] == "Fail" {
            reply.body["reason"] = json!("Gone");
        }
    });
    let expected = "reason \"NotFound\", since the load balancer was deleted";
    fails(failing, ID, expected, "reason \"Gone\"").await;
}

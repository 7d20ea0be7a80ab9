//! Releasing load balancers, which deletes those that were created for LBCF.

use super::*;

fn take_into_use(cloud: &Cloud, token: &str, endpoint: &Endpoint) {
    let taken = cloud.take_into_use(token, endpoint, StringMap::new());
    assert_eq!(taken, Ok(endpoint.clone()));
}

#[test]
fn dlb_01_a_created_one_is_deleted() {
    let cloud = Cloud::with_samples();
    let start = cloud.state();
    let made = created(&cloud, "create(a)", tcp(80));
    cloud.release("delete(a)", &made).unwrap();
    assert_eq!(cloud.state(), start);
    let again = cloud.release("delete(a)", &made);
    let gone = NotFound::Instance("lb-00000001".into());
    assert_eq!(again, Err(CloudError::Rejected(gone)));
}

#[test]
fn dlb_05_its_targets_are_deleted_with_it() {
    let cloud = Cloud::empty();
    let made = created(&cloud, "create(a)", tcp(80));
    cloud.bind(&made, "a", target(1)).unwrap();
    cloud.release("delete(a)", &made).unwrap();
    assert!(cloud.state().load_balancers.is_empty());
}

#[test]
fn one_that_existed_before_stays() {
    let cloud = Cloud::with_samples();
    let start = cloud.state();
    let foo = endpoint("lb-foo", "lsn-foo");
    take_into_use(&cloud, "create(a)", &foo);
    assert_eq!(cloud.observe().load_balancers.len(), 1);
    cloud.release("delete(a)", &foo).unwrap();
    assert_eq!(cloud.state(), start);
    assert!(cloud.observe().load_balancers.is_empty());
}

#[test]
fn life_06_targets_left_behind_are_observed_until_they_are_unbound() {
    let cloud = Cloud::with_samples();
    let foo = endpoint("lb-foo", "lsn-foo");
    take_into_use(&cloud, "create(a)", &foo);
    cloud.bind(&foo, "a", target(1)).unwrap();
    cloud.release("delete(a)", &foo).unwrap();
    let left = cloud.observe();
    let left = left.load_balancer(&foo.lb_info()).unwrap();
    assert_eq!(left.backends[0].addr, "a");
    cloud.unbind(&foo, "a").unwrap();
    assert!(cloud.observe().load_balancers.is_empty());
}

#[test]
fn a_created_one_is_kept_while_another_load_balancer_uses_it() {
    let cloud = Cloud::empty();
    let made = created(&cloud, "create(a)", tcp(80));
    take_into_use(&cloud, "create(b)", &made);
    for _ in 0..2 {
        // A repeated release, as after a lost response, ends one use only.
        cloud.release("delete(b)", &made).unwrap();
    }
    assert!(cloud.find(&made).is_ok());
    cloud.release("delete(a)", &made).unwrap();
    assert!(cloud.find(&made).is_err());
}

#[test]
fn an_existing_one_is_in_use_until_the_last_release() {
    let cloud = Cloud::with_samples();
    let start = cloud.state();
    let foo = endpoint("lb-foo", "lsn-foo");
    for _ in 0..2 {
        take_into_use(&cloud, "create(a)", &foo);
        take_into_use(&cloud, "create(b)", &foo);
        cloud.release("delete(a)", &foo).unwrap();
        assert_eq!(cloud.observe().load_balancers.len(), 1);
        cloud.release("delete(b)", &foo).unwrap();
        assert_eq!(cloud.state(), start);
    }
}

#[test]
fn taking_a_rule_into_use_returns_its_domain_and_path() {
    let cloud = Cloud::with_samples();
    let rule = cloud.add_listener("lb-foo", ListenerProtocol::Http, 8080, None);
    let rule = rule.unwrap();
    let short = endpoint(&rule.load_balancer, &rule.listener);
    assert_eq!(
        cloud.take_into_use("create(a)", &short, StringMap::new()),
        Ok(rule)
    );
}

#[test]
fn asyn_06_a_creation_is_cancelled_until_its_result_is_returned() {
    let (cloud, clock) = with_clock();
    for token in ["a", "b", "c"] {
        cloud
            .create(token, tcp(80), StringMap::new(), SECOND)
            .unwrap();
    }
    assert_eq!(cloud.cancel("a"), Ok(Some("lb-00000001".into())));
    // It has no listener yet.
    cloud
        .release("delete(b)", &endpoint("lb-00000002", ""))
        .unwrap();
    // Complete, but not returned to any caller.
    clock.advance(2 * SECOND);
    assert_eq!(cloud.cancel("c"), Ok(Some("lb-00000003".into())));
    assert!(cloud.observe().load_balancers.is_empty());
}

#[test]
fn dlb_07_a_returned_creation_is_cancelled_unless_others_use_it() {
    let cloud = Cloud::with_samples();
    created(&cloud, "a", tcp(80));
    assert_eq!(cloud.cancel("a"), Ok(Some("lb-00000001".into())));
    let shared = created(&cloud, "t", tcp(80));
    let other = cloud.take_into_use("other", &shared, StringMap::new());
    assert!(other.is_ok());
    assert_eq!(cloud.cancel("t"), Ok(None));
    for id in ["lb-00000001", "lb-foo"] {
        assert!(cloud.release("delete(x)", &endpoint(id, "")).is_err());
    }
    assert_eq!(cloud.state().load_balancers.len(), 4);
}

#[test]
fn dlb_06_a_token_is_free_again_after_deletion() {
    let cloud = Cloud::empty();
    let first = created(&cloud, "create(a)", tcp(80));
    cloud.release("delete(a)", &first).unwrap();
    let second = created(&cloud, "create(a)", tcp(81));
    assert_ne!(first, second);
}

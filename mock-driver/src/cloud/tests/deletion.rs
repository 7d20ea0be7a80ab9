//! Ending a use, which deletes what was made for it.

use super::*;

fn used(cloud: &Cloud, token: &str, endpoint: &Endpoint) -> StringMap {
    let known_as = endpoint.lb_info();
    cloud
        .take_into_use(token, endpoint, &known_as, StringMap::new())
        .unwrap();
    known_as
}

#[test]
fn dlb_01_what_was_made_is_deleted() {
    let cloud = Cloud::with_samples();
    let start = cloud.state();
    let made = created(&cloud, "create(a)", tcp(80));
    cloud.release("delete(a)", &made, &made.lb_info()).unwrap();
    assert_eq!(cloud.state(), start);
    let again = cloud.release("delete(a)", &made, &made.lb_info());
    let gone = NotFound::Instance("lb-00000001".into());
    assert_eq!(again, Err(CloudError::Refused(gone)));
}

#[test]
fn dlb_05_bound_targets_go_with_it() {
    let cloud = Cloud::empty();
    let made = created(&cloud, "create(a)", tcp(80));
    cloud.bind(&made, "a", target(1)).unwrap();
    cloud.release("delete(a)", &made, &made.lb_info()).unwrap();
    assert!(cloud.state().load_balancers.is_empty());
}

#[test]
fn what_was_there_before_stays() {
    let cloud = Cloud::with_samples();
    let start = cloud.state();
    let foo = endpoint("lb-foo", "lsn-foo");
    let known_as = used(&cloud, "create(a)", &foo);
    assert_eq!(cloud.observe().load_balancers.len(), 1);
    cloud.release("delete(a)", &foo, &known_as).unwrap();
    assert_eq!(cloud.state(), start);
    assert!(cloud.observe().load_balancers.is_empty());
}

#[test]
fn life_06_targets_left_behind_are_seen_until_they_are_gone() {
    let cloud = Cloud::with_samples();
    let foo = endpoint("lb-foo", "lsn-foo");
    let known_as = map([("loadBalancerID", "lb-foo"), ("listenerID", "lsn-foo")]);
    cloud
        .take_into_use("create(a)", &foo, &known_as, StringMap::new())
        .unwrap();
    cloud.bind(&foo, "a", target(1)).unwrap();
    cloud.release("delete(a)", &foo, &known_as).unwrap();
    let left = cloud.observe();
    let left = left.load_balancer(&known_as).unwrap();
    assert_eq!(left.backends[0].addr, "a");
    cloud.unbind(&foo, "a").unwrap();
    assert!(cloud.observe().load_balancers.is_empty());
}

#[test]
fn what_was_made_is_kept_while_somebody_else_uses_it() {
    let cloud = Cloud::empty();
    let made = created(&cloud, "create(a)", tcp(80));
    let known_as = used(&cloud, "create(b)", &made);
    for _ in 0..2 {
        // Repeated, as after a lost answer: it ends one use all the same.
        cloud.release("delete(b)", &made, &known_as).unwrap();
    }
    assert!(cloud.find(&made).is_ok());
    cloud.release("delete(a)", &made, &known_as).unwrap();
    assert!(cloud.find(&made).is_err());
}

#[test]
fn a_use_by_two_identities_ends_for_one_at_a_time() {
    let cloud = Cloud::with_samples();
    let foo = endpoint("lb-foo", "lsn-foo");
    let other = map([("loadBalancerID", "lb-foo"), ("listenerID", "lsn-foo")]);
    let known_as = used(&cloud, "create(a)", &foo);
    cloud
        .take_into_use("create(b)", &foo, &other, StringMap::new())
        .unwrap();
    assert_eq!(cloud.observe().load_balancers.len(), 2);
    cloud.release("delete(a)", &foo, &known_as).unwrap();
    let left = cloud.observe().load_balancers;
    assert_eq!(left.len(), 1);
    assert_eq!(left[0].lb_info, other);
}

#[test]
fn asyn_06_a_creation_is_taken_back_while_nobody_knows_its_result() {
    let (cloud, clock) = with_clock();
    for token in ["a", "b", "c"] {
        cloud
            .create(token, tcp(80), StringMap::new(), SECOND)
            .unwrap();
    }
    assert_eq!(cloud.cancel_by_token("a"), Ok(Some("lb-00000001".into())));
    assert_eq!(
        cloud.cancel_by_id("lb-00000002"),
        Ok(Some("lb-00000002".into()))
    );
    // Done, but nobody was told.
    clock.advance(2 * SECOND);
    assert_eq!(cloud.cancel_by_token("c"), Ok(Some("lb-00000003".into())));
    assert!(cloud.observe().load_balancers.is_empty());
}

#[test]
fn dlb_04_a_finished_creation_is_not_taken_back() {
    let cloud = Cloud::with_samples();
    created(&cloud, "t", tcp(80));
    assert_eq!(cloud.cancel_by_token("t"), Ok(None));
    assert_eq!(cloud.cancel_by_id("lb-00000001"), Ok(None));
    assert_eq!(cloud.cancel_by_id("lb-foo"), Ok(None));
    assert_eq!(cloud.state().load_balancers.len(), 4);
}

#[test]
fn dlb_06_a_token_is_free_again_after_deletion() {
    let cloud = Cloud::empty();
    let first = created(&cloud, "create(a)", tcp(80));
    cloud
        .release("delete(a)", &first, &first.lb_info())
        .unwrap();
    let second = created(&cloud, "create(a)", tcp(81));
    assert_ne!(first, second);
}

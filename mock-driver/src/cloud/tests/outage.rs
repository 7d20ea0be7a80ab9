//! Outages of the API, and what keeps working during one.

use super::*;
use ChangeByHand::{Attributes, Bind, Unbind};

#[test]
fn rtry_05_every_call_of_the_api_fails_and_nothing_changes() {
    let cloud = Cloud::with_samples();
    let foo = endpoint("lb-foo", "lsn-foo");
    let start = cloud.state();
    cloud.set_outage(true);
    let none = StringMap::new;
    let failed = [
        cloud.find(&foo).is_err(),
        cloud.create("t", tcp(80), none(), SECOND).is_err(),
        cloud.take_into_use("t", &foo, none()).is_err(),
        cloud.release("t", &foo).is_err(),
        cloud.cancel("t").is_err(),
        cloud
            .add_listener("lb-foo", ListenerProtocol::Udp, 80, None)
            .is_err(),
        cloud.set_attributes(&foo, none()).is_err(),
        cloud.bind(&foo, "a", target(1)).is_err(),
        cloud.unbind(&foo, "a").is_err(),
    ];
    assert_eq!(failed, [true; 9]);
    assert_eq!(cloud.state(), start);
    assert_eq!(
        cloud.find(&foo).unwrap_err().to_string(),
        "the cloud's API is temporarily unavailable"
    );
    cloud.set_outage(false);
    assert_eq!(cloud.bind(&foo, "a", target(1)), Ok(()));
}

#[test]
fn creations_complete_during_an_outage() {
    let (cloud, clock) = with_clock();
    cloud.create("t", tcp(80), map([]), SECOND).unwrap();
    cloud.set_outage(true);
    clock.advance(2 * SECOND);
    assert_eq!(cloud.observe().load_balancers[0].lb_info.len(), 2);
}

#[test]
fn a_snapshot_has_the_outage_and_a_reset_ends_it() {
    let cloud = Cloud::with_samples();
    cloud.set_outage(true);
    assert!(cloud.snapshot().has_outage());
    cloud.reset();
    assert!(!cloud.has_outage());
}

#[test]
fn changes_by_hand_do_not_need_the_api() {
    let cloud = Cloud::with_samples();
    let foo = endpoint("lb-foo", "lsn-foo");
    cloud.bind(&foo, "a", target(1)).unwrap();
    cloud.set_outage(true);
    let by_hand = |change: ChangeByHand| change.apply(&cloud, &foo.lb_info());
    assert_eq!(by_hand(Bind("b".into())), Ok(true));
    assert_eq!(by_hand(Bind("a".into())), Ok(false), "it is bound");
    assert_eq!(by_hand(Unbind("b".into())), Ok(true));
    assert_eq!(by_hand(Unbind("b".into())), Ok(false));
    let attributes = map([("x", "y")]);
    assert_eq!(by_hand(Attributes(attributes.clone())), Ok(true));
    let seen = cloud.observe().load_balancers.swap_remove(0);
    assert_eq!(seen.attributes, attributes);
    assert_eq!(seen.backends.len(), 1);
    assert_eq!(seen.backends[0].parameters, map([("weight", "1")]));
}

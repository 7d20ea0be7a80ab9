//! Creation, in stages and by client token.

use super::*;

/// The stage and the remaining time.
fn running(cloud: &Cloud, token: &str, desired: NewLoadBalancer) -> (String, Duration) {
    match cloud.create(token, desired, StringMap::new(), 2 * SECOND) {
        Ok(Creation::Running { stage, remaining }) => (stage.to_string(), remaining.unwrap()),
        other => panic!("{other:?}"),
    }
}

#[test]
fn asyn_01_each_stage_takes_its_time() {
    let (cloud, clock) = with_clock();
    let mut stages_seen = Vec::new();
    for _ in 0..6 {
        stages_seen.push(running(&cloud, "t", http(80)));
        clock.advance(SECOND);
    }
    let stages = [
        "creating CLB instance",
        "creating listener",
        "creating forward rule",
    ];
    let expected: Vec<_> = stages
        .into_iter()
        .flat_map(|stage| [(stage.to_owned(), 2 * SECOND), (stage.to_owned(), SECOND)])
        .collect();
    assert_eq!(stages_seen, expected);
    let done = cloud.create("t", http(80), StringMap::new(), 2 * SECOND);
    let Ok(Creation::Done(endpoint)) = done else {
        panic!("{done:?}");
    };
    assert_eq!(
        endpoint.lb_info(),
        map([
            ("lbID", "lb-00000001"),
            ("lblID", "lbl-00000001"),
            ("domain", "www.example.com"),
            ("url", "/shop"),
        ])
    );
}

#[test]
fn a_tcp_load_balancer_has_no_rule_to_wait_for() {
    let (cloud, clock) = with_clock();
    assert_eq!(running(&cloud, "t", tcp(80)).0, "creating CLB instance");
    clock.advance(4 * SECOND);
    assert!(cloud.find(&endpoint("lb-00000001", "lbl-00000001")).is_ok());
}

#[test]
fn resources_appear_stage_by_stage() {
    let (cloud, clock) = with_clock();
    running(&cloud, "t", http(80));
    let instance = || cloud.state().load_balancers.swap_remove(0);
    assert_eq!(instance().creating, Some(CreationStage::Instance));
    assert!(instance().listeners.is_empty());
    clock.advance(4 * SECOND);
    assert_eq!(instance().creating, Some(CreationStage::Rule));
    assert_eq!(instance().listeners[0].rules, Some(vec![]));
    clock.advance(2 * SECOND);
    assert_eq!(instance().creating, None);
    let rules = instance().listeners[0].rules.clone().unwrap();
    assert_eq!(rules[0].domain, "www.example.com");
}

#[test]
fn a_half_created_one_is_observed_by_its_id() {
    let (cloud, _clock) = with_clock();
    running(&cloud, "t", tcp(80));
    let seen = cloud.observe().load_balancers;
    assert_eq!(seen.len(), 1);
    assert_eq!(seen[0].lb_info, map([("lbID", "lb-00000001")]));
}

#[test]
fn d28_attributes_of_a_later_call_are_applied() {
    let (cloud, clock) = with_clock();
    let call = |attributes| cloud.create("t", tcp(80), attributes, SECOND);
    call(map([("bandwidth", "1")])).unwrap();
    call(map([("bandwidth", "2")])).unwrap();
    assert_eq!(
        cloud.observe().load_balancers[0].attributes,
        map([("bandwidth", "2")])
    );
    clock.advance(2 * SECOND);
    assert_eq!(
        cloud.observe().load_balancers[0].attributes,
        map([("bandwidth", "2")])
    );
    call(map([("bandwidth", "3")])).unwrap();
    assert_eq!(
        cloud.observe().load_balancers[0].attributes,
        map([("bandwidth", "3")])
    );
}

#[test]
fn a_token_is_bound_to_its_specification() {
    let (cloud, _clock) = with_clock();
    created(&cloud, "t", tcp(80));
    let rejected = CreateError::Changed {
        token: "t".into(),
        load_balancer: "lb-00000001".into(),
    };
    let changed = cloud.create("t", tcp(81), StringMap::new(), Duration::ZERO);
    assert_eq!(changed, Err(CloudError::Rejected(rejected.clone())));
    let foo = endpoint("lb-foo", "lsn-foo");
    let changed = cloud.take_into_use("t", &foo, StringMap::new());
    assert_eq!(changed, Err(CloudError::Rejected(rejected)));
    assert_eq!(cloud.observe().load_balancers.len(), 1);
}

#[test]
fn nothing_is_created_without_a_token() {
    let (cloud, _clock) = with_clock();
    let rejected = cloud.create("", tcp(80), StringMap::new(), Duration::ZERO);
    assert_eq!(rejected, Err(CloudError::Rejected(CreateError::NoToken)));
    assert!(cloud.observe().load_balancers.is_empty());
}

#[test]
fn two_listeners_do_not_share_a_port() {
    let (cloud, _clock) = with_clock();
    let add = |protocol, port| cloud.add_listener("lb-foo", protocol, port, None);
    let taken = Err(CloudError::Rejected(AddListenerError::PortTaken {
        load_balancer: "lb-foo".into(),
        port: 80,
        listener: "lsn-foo".into(),
    }));
    assert_eq!(add(ListenerProtocol::Tcp, 80), taken);
    assert_eq!(add(ListenerProtocol::Http, 80), taken);
    assert!(add(ListenerProtocol::Udp, 80).is_ok());
    assert!(add(ListenerProtocol::Https, 443).is_ok());
    let nowhere = cloud.add_listener("lb-x", ListenerProtocol::Tcp, 1, None);
    assert_eq!(
        nowhere.unwrap_err().to_string(),
        "clb instance lb-x not found"
    );
}

fn create(cloud: &Cloud, token: &str, pace: CreationPace) -> Creation {
    cloud.create(token, tcp(80), map([]), pace).unwrap()
}

#[test]
fn a_creation_by_polls_takes_as_many_calls_and_goes_through_its_stages() {
    let cloud = Cloud::empty();
    let mut stages = Vec::new();
    let done = loop {
        match create(&cloud, "t", CreationPace::Polls(4)) {
            Creation::Running { stage, remaining } => stages.push((stage, remaining)),
            Creation::Done(endpoint) => break endpoint,
        }
    };
    let expected = [
        (CreationStage::Instance, None),
        (CreationStage::Instance, None),
        (CreationStage::Listener, None),
        (CreationStage::Listener, None),
    ];
    assert_eq!(stages, expected);
    assert_eq!(done, created(&cloud, "t", tcp(80)));
    // Others have a count of their own, and none is at once.
    assert!(matches!(
        create(&cloud, "u", CreationPace::Polls(1)),
        Creation::Running { .. }
    ));
    assert!(matches!(
        create(&cloud, "u", CreationPace::Polls(1)),
        Creation::Done(_)
    ));
    assert!(matches!(
        create(&cloud, "v", CreationPace::Polls(0)),
        Creation::Done(_)
    ));
}

#[test]
fn a_held_creation_completes_when_it_is_released() {
    let (cloud, clock) = with_clock();
    for token in ["a", "b", "c"] {
        create(&cloud, token, CreationPace::Held);
    }
    clock.advance(1000 * SECOND);
    let held = create(&cloud, "a", CreationPace::Held);
    assert!(matches!(
        held,
        Creation::Running {
            remaining: Some(Duration::ZERO),
            ..
        }
    ));
    assert_eq!(cloud.release_creations(Some("a")), ["lb-00000001"]);
    assert_eq!(cloud.release_creations(Some("a")), [""; 0]);
    assert_eq!(
        cloud.release_creations(Some("lb-00000002")),
        ["lb-00000002"]
    );
    assert_eq!(cloud.release_creations(None), ["lb-00000003"]);
    for token in ["a", "b", "c"] {
        assert!(matches!(
            create(&cloud, token, CreationPace::Held),
            Creation::Done(_)
        ));
    }
}

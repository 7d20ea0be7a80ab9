//! The cloud without a driver, with a clock that the tests advance.

mod creation;
mod deletion;
mod outage;
mod state;
mod targets;

use super::{Clock, Cloud};
use crate::by_hand::ChangeByHand;
use crate::observe::{Observation, ObservedBackend};
use crate::resources::{
    AddListenerError, CloudError, CloudState, CreateError, Creation, CreationPace, CreationStage,
    Endpoint, ListenerProtocol, LoadBalancerType, NewLoadBalancer, NotFound, Rule, Target,
};
use lbcf_driver_sdk::webhook::StringMap;
use std::path::Path;
use std::time::Duration;

const SECOND: Duration = Duration::from_secs(1);

fn map<const N: usize>(pairs: [(&str, &str); N]) -> StringMap {
    pairs
        .into_iter()
        .map(|(key, value)| (key.to_owned(), value.to_owned()))
        .collect()
}

fn with_clock() -> (Cloud, Clock) {
    let clock = Clock::manual();
    (Cloud::with_samples().with_clock(clock.clone()), clock)
}

fn tcp(port: u16) -> NewLoadBalancer {
    NewLoadBalancer {
        vpc: "vpc-1".into(),
        kind: LoadBalancerType::Open,
        protocol: ListenerProtocol::Tcp,
        port,
        rule: None,
    }
}

fn http(port: u16) -> NewLoadBalancer {
    NewLoadBalancer {
        protocol: ListenerProtocol::Http,
        rule: Some(Rule::new(Some("www.example.com"), Some("/shop"))),
        ..tcp(port)
    }
}

fn endpoint(load_balancer: &str, listener: &str) -> Endpoint {
    Endpoint {
        load_balancer: load_balancer.into(),
        listener: listener.into(),
        domain: None,
        url: None,
    }
}

fn target(weight: u8) -> Target {
    Target {
        weight,
        parameters: map([("weight", &weight.to_string())]),
        record_id: Some("ensureBackend(1)".into()),
    }
}

fn created(cloud: &Cloud, token: &str, desired: NewLoadBalancer) -> Endpoint {
    match cloud.create(token, desired, StringMap::new(), Duration::ZERO) {
        Ok(Creation::Done(endpoint)) => endpoint,
        other => panic!("{other:?}"),
    }
}

fn bind_by_hand(cloud: &Cloud, endpoint: &Endpoint, address: &str) {
    let change = ChangeByHand::Bind(address.to_owned());
    assert_eq!(change.apply(cloud, &endpoint.lb_info()), Ok(true));
}

#[test]
fn the_samples_exist_and_are_not_observed() {
    let cloud = Cloud::with_samples();
    let ids: Vec<_> = cloud
        .state()
        .load_balancers
        .iter()
        .map(|instance| (instance.id.clone(), instance.listeners[0].id.clone()))
        .collect();
    let expected = [
        ("lb-1234", "lbl-2234"),
        ("lb-bar", "lsn-bar"),
        ("lb-foo", "lsn-foo"),
    ];
    assert_eq!(ids, expected.map(|(a, b)| (a.to_owned(), b.to_owned())));
    assert_eq!(cloud.observe(), Observation::default());
    assert!(Cloud::empty().state().load_balancers.is_empty());
}

#[test]
fn state_and_observation_survive_json() {
    let cloud = Cloud::with_samples();
    let shop = created(&cloud, "t", http(80));
    cloud.bind(&shop, "1.1.1.1:80", target(7)).unwrap();
    let state = serde_json::to_string(&cloud.state()).unwrap();
    assert_eq!(
        serde_json::from_str::<CloudState>(&state).unwrap(),
        cloud.state()
    );
    let observation = serde_json::to_string(&cloud.observe()).unwrap();
    assert_eq!(
        serde_json::from_str::<Observation>(&observation).unwrap(),
        cloud.observe()
    );
}

#[test]
fn a_snapshot_is_independent() {
    let cloud = Cloud::with_samples();
    let before = cloud.state();
    let snapshot = cloud.snapshot();
    created(&snapshot, "t", tcp(80));
    snapshot
        .bind(&endpoint("lb-foo", "lsn-foo"), "a", target(1))
        .unwrap();
    assert_eq!(cloud.state(), before);
    assert_ne!(snapshot.state(), before);
}

#[test]
fn a_reset_restores_the_start_and_the_ids() {
    let cloud = Cloud::with_samples();
    let start = cloud.state();
    let first = created(&cloud, "t", tcp(80));
    cloud.reset();
    assert_eq!(cloud.state(), start);
    assert_eq!(created(&cloud, "u", tcp(80)), first);
}

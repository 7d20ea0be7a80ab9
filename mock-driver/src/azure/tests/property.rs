//! Properties, with seeded numbers: the same in every run.

use super::lab::{INTERNAL, Lab, SHARED, service};
use crate::azure::plan::{Service, load_balancer, security_group};
use crate::azure::{SecurityGroup, SharedLoadBalancer};
use std::collections::{BTreeMap, BTreeSet};

/// A service with random attributes.
fn random_service(random: &mut fastrand::Rng, name: &str) -> Service {
    let all = [
        SHARED,
        INTERNAL,
        ("azure-allowed-service-tags", "AzureCloud,Storage"),
        ("azure-load-balancer-tcp-idle-timeout", "7"),
    ];
    let pairs: Vec<_> = all.into_iter().filter(|_| random.bool()).collect();
    service(name, &pairs)
}

/// Each of the three reconciliations as one try, in any order.
async fn one_step(lab: &Lab, service: &Service, step: usize) {
    let steps = lab.steps();
    let _ = match step {
        0 => steps.public_ip(service, true).await,
        1 => steps
            .load_balancer(service, &BTreeMap::new())
            .await
            .map(drop),
        _ => match steps.load_balancer(service, &BTreeMap::new()).await {
            // The rules need the address (a5); the attempt fails without the public IP.
            Ok(address) => steps.security_group(service, &address).await,
            Err(hook_error) => Err(hook_error),
        },
    };
}

#[tokio::test]
async fn a04_any_order_of_the_reconciliations_with_faults_converges_to_the_same_cloud() {
    for seed in 0..200 {
        let mut random = fastrand::Rng::with_seed(seed);
        let it = random_service(&mut random, "web");
        let lab = Lab::new();
        for _ in 0..random.usize(0..12) {
            lab.fail_after(random.u32(0..8));
            one_step(&lab, &it, random.usize(0..3)).await;
        }
        lab.recover();
        // Each is tried until it succeeds, in any order: three times are enough for any of them.
        let mut order = [0, 1, 2];
        random.shuffle(&mut order);
        for _ in 0..3 {
            for step in order {
                one_step(&lab, &it, step).await;
            }
        }
        let expected = Lab::new();
        expected.ensure(&it).await;
        assert_eq!(lab.state(), expected.state(), "seed {seed}: {it:?}");
    }
}

/// What a group admits: source, address, protocol and port.
fn admitted(group: &SecurityGroup) -> BTreeSet<(String, String, String, u16)> {
    let rules = group.rules.values();
    rules
        .flat_map(|rule| {
            let destinations = rule.destinations.iter();
            let (source, protocol) = (&rule.source, rule.protocol.to_string());
            let port = rule.port;
            destinations.map(move |it| (source.clone(), it.clone(), protocol.clone(), port))
        })
        .collect()
}

#[test]
fn a22_consolidated_rules_admit_what_separate_ones_do() {
    for seed in 0..500 {
        let mut random = fastrand::Rng::with_seed(seed);
        let (mut mixed, mut separate) = (SecurityGroup::default(), SecurityGroup::default());
        for _ in 0..random.usize(1..30) {
            let number = random.usize(0..8);
            let name = format!("web{number}");
            let address = format!("198.18.0.{number}");
            let mut it = random_service(&mut random, &name);
            if random.u8(0..4) == 0 {
                mixed = security_group::absent(&it.frontend, &[&address], mixed);
                separate = security_group::absent(&it.frontend, &[&address], separate);
            } else {
                mixed = security_group::present(&it, &address, mixed);
                it.attributes.azure_shared_securityrule = None;
                separate = security_group::present(&it, &address, separate);
            }
            assert_eq!(admitted(&mixed), admitted(&separate), "seed {seed}");
            assert!(mixed.rules.len() <= separate.rules.len(), "seed {seed}");
            let priorities = mixed.rules.values().map(|rule| rule.priority);
            let different: BTreeSet<u16> = priorities.collect();
            assert_eq!(different.len(), mixed.rules.len(), "seed {seed}");
        }
    }
}

#[test]
fn a21_plans_that_are_made_again_change_nothing() {
    for seed in 0..500 {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut group = SecurityGroup::default();
        let mut shared = SharedLoadBalancer::default();
        for number in 0..random.usize(1..6) {
            let it = random_service(&mut random, &format!("web{number}"));
            let address = format!("198.18.0.{number}");
            group = security_group::present(&it, &address, group);
            shared = load_balancer::present(&it, &BTreeMap::new(), shared);
            let again = security_group::present(&it, &address, group.clone());
            assert_eq!(again, group, "seed {seed}");
            let again = load_balancer::present(&it, &BTreeMap::new(), shared.clone());
            assert_eq!(again, shared, "seed {seed}");
        }
    }
}

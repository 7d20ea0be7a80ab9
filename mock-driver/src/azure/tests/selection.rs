//! Which load balancer a service gets.

use super::lab::{AUTO, INTERNAL, Lab, service};
use crate::azure::naming::{CLUSTER, Side};
use crate::azure::select::{Mode, fewest_rules};
use crate::azure::{AvailabilitySet, ResourceId};
use std::collections::BTreeSet;

const MODE: &str = "azure-load-balancer-mode";

#[test]
fn a07_a_set_has_two_load_balancers_and_the_primary_one_the_clusters_name() {
    let name = |set, side| CLUSTER.load_balancer(set, side);
    assert_eq!(name("agentpool1", Side::Public), "kubernetes");
    assert_eq!(name("agentpool1", Side::Internal), "kubernetes-internal");
    assert_eq!(name("agentpool2", Side::Public), "agentpool2");
    assert_eq!(name("agentpool2", Side::Internal), "agentpool2-internal");
}

#[tokio::test]
async fn a09_without_a_mode_services_are_on_the_primary_load_balancer() {
    let lab = Lab::new();
    for name in ["one", "two", "three"] {
        lab.ensure(&service(name, &[])).await;
    }
    lab.ensure(&service("four", &[INTERNAL])).await;
    let primary = ["kubernetes/kubernetes", "kubernetes/kubernetes-internal"];
    assert_eq!(lab.left().0, primary);
}

#[tokio::test]
async fn a10_auto_takes_the_load_balancer_with_the_fewest_rules() {
    for auto in [AUTO, (MODE, "__auto__")] {
        let lab = Lab::new();
        let on = |name: &str| lab.load_balancer(name).rules.len();
        // One that does not exist has no rules; the first by name of several.
        for name in ["1", "2", "3", "4"] {
            lab.ensure(&service(name, &[auto])).await;
        }
        assert_eq!(
            [on("kubernetes"), on("agentpool2"), on("agentpool3")],
            [2, 1, 1]
        );
        lab.delete(&service("1", &[])).await;
        lab.delete(&service("4", &[])).await;
        lab.ensure(&service("5", &[auto])).await;
        assert_eq!(
            [on("kubernetes"), on("agentpool2"), on("agentpool3")],
            [1, 1, 1]
        );
    }
}

#[tokio::test]
async fn a11_named_sets_are_considered_and_unknown_ones_refused() {
    let lab = Lab::new();
    let named = (MODE, " agentpool3 ,agentpool2");
    for name in ["1", "2", "3"] {
        lab.ensure(&service(name, &[named])).await;
    }
    assert_eq!(
        lab.left().0,
        ["kubernetes/agentpool2", "kubernetes/agentpool3"]
    );
    assert_eq!(lab.load_balancer("agentpool2").rules.len(), 2);
    let unknown = service("4", &[(MODE, "agentpool2,agentpool9")]);
    let refused = lab.steps().ensure(&unknown).await.unwrap_err();
    assert!(refused.message().contains("\"agentpool9\""), "{refused}");
    let steps = lab.steps();
    let refused = steps.validate(&unknown.spec, &unknown.attributes);
    let message = refused.unwrap_err();
    assert!(
        message
            .message()
            .starts_with("attributes.azure-load-balancer-mode: ")
    );
}

#[tokio::test]
async fn a12_a_service_is_not_moved_when_its_set_is_lost() {
    let lab = Lab::new();
    let it = service("web", &[(MODE, "agentpool3")]);
    lab.ensure(&it).await;
    let set = ResourceId::new("kubernetes", "agentpool3");
    lab.api.delete::<AvailabilitySet>(&set, 1).unwrap();
    let before = lab.state();
    for attributes in [&it.attributes, &service("web", &[AUTO]).attributes] {
        let mut it = it.clone();
        it.attributes = attributes.clone();
        let lost = lab.steps().ensure(&it).await.unwrap_err();
        assert!(lost.message().starts_with("SetLost: "), "{lost}");
    }
    assert_eq!(lab.state(), before);
    lab.delete(&it).await;
    assert_eq!(lab.left(), (vec![], vec![], 0));
}

#[tokio::test]
async fn a24_a_service_stays_where_it_is_whatever_the_mode_becomes() {
    let lab = Lab::new();
    let first = lab.ensure(&service("web", &[(MODE, "agentpool2")])).await;
    let again = lab.ensure(&service("web", &[(MODE, "agentpool3")])).await;
    assert_eq!(first, again);
    assert_eq!(lab.left().0, ["kubernetes/agentpool2"]);
}

#[test]
fn a15_the_mode_is_read_with_spaces_and_both_spellings() {
    let named = |names: &[&str]| Mode::Named(names.iter().map(|&it| it.to_owned()).collect());
    for (attribute, mode) in [
        (None, Mode::Primary),
        (Some(""), Mode::Primary),
        (Some("auto"), Mode::Auto),
        (Some(" __auto__ "), Mode::Auto),
        (Some("a, b,"), named(&["a", "b"])),
    ] {
        assert_eq!(Mode::read(attribute), mode, "{attribute:?}");
    }
}

#[test]
fn a10_the_choice_has_the_fewest_rules_and_is_the_first_of_several() {
    let names: Vec<String> = (0..6).map(|number| format!("set{number}")).collect();
    for seed in 0..2000 {
        let mut random = fastrand::Rng::with_seed(seed);
        let rules: Vec<usize> = names.iter().map(|_| random.usize(0..4)).collect();
        let mut candidates: Vec<&str> = names.iter().map(String::as_str).collect();
        random.shuffle(&mut candidates);
        candidates.truncate(random.usize(1..=6));
        let of = |set: &str| rules[names.iter().position(|name| name == set).unwrap()];
        let chosen = fewest_rules(&candidates, of).unwrap();
        let fewest = candidates.iter().map(|set| of(set)).min().unwrap();
        let ties: BTreeSet<&str> = candidates
            .iter()
            .copied()
            .filter(|set| of(set) == fewest)
            .collect();
        assert_eq!(Some(&chosen), ties.first(), "seed {seed}");
    }
    assert_eq!(fewest_rules(&[], |_| 0), None);
}

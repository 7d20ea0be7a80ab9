use super::*;
use lbcf_driver_sdk::specification::rules;
use std::collections::HashSet;

#[test]
fn ids_are_those_of_their_groups_and_no_two_are_alike() {
    let mut seen = HashSet::new();
    for check in all() {
        assert!(seen.insert(check.id), "{} is declared twice", check.id);
        assert!(check.id.starts_with(check.group.id()), "{}", check.id);
    }
}

#[test]
fn every_check_has_all_texts() {
    for check in all() {
        for (name, text) in [
            ("rule", check.rule),
            ("why", check.why),
            ("source", check.source),
            ("typical", check.typical),
        ] {
            assert!(text.len() > 10, "{}: {name} {text:?}", check.id);
        }
    }
}

/// The kit's checks and the specification's rules are the same, in the same order.
#[test]
fn each_rule_has_its_check_unless_its_group_says_why_not() {
    let groups = rules::GROUPS.iter().filter(|it| it.unchecked.is_none());
    let rules: Vec<_> = groups.flat_map(|it| it.rules).map(|it| it.id).collect();
    assert_eq!(ids(), rules);
}

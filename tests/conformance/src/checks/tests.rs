use super::*;
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

use super::*;
use std::sync::Arc;

fn record(name: &str, owner: &str, parameters: StringMap) -> BackendRecord {
    let mut record = BackendRecord::default();
    record.metadata.name = Some(name.into());
    record.metadata.namespace = Some("web".into());
    record.metadata.generation = Some(3);
    record.metadata.owner_references = Some(vec![
        serde_json::from_value(serde_json::json!({
            "apiVersion": "lbcf.tkestack.io/v1beta1", "kind": "BackendGroup",
            "name": owner, "uid": "", "controller": true,
        }))
        .unwrap(),
    ]);
    record.spec.parameters = parameters;
    record
}

fn weight(weight: &str) -> StringMap {
    StringMap::from([("weight", weight)])
}

/// Neighbours in the order of precedence, of which the first `preceding` precede the record.
fn neighbours(records: &[BackendRecord], preceding: usize) -> Vec<Neighbour> {
    let neighbours = records
        .iter()
        .enumerate()
        .map(|(number, record)| Neighbour {
            record: Arc::new(record.clone()),
            takes_precedence: number < preceding,
            is_deregistering: false,
        });
    neighbours.collect()
}

fn reported(record: &BackendRecord, neighbours: &[Neighbour]) -> Option<(String, String)> {
    let condition = condition(record, &[], &sharing(record, neighbours), true)?;
    assert_eq!(condition.observed_generation, Some(3));
    Some((condition.reason, condition.message))
}

#[test]
fn d41_both_records_name_the_other_one_and_what_differs_without_the_values() {
    let (stable, canary) = (
        record("a", "stable", weight("secret-1")),
        record("b", "canary", weight("secret-2")),
    );
    assert_eq!(
        reported(&stable, &neighbours(std::slice::from_ref(&canary), 0)),
        Some((
            "ParametersApply".to_owned(),
            "BackendRecord web/b of BackendGroup web/canary registers the same address with other \
             parameters (weight), which do not apply: those of the oldest owner do"
                .to_owned()
        ))
    );
    assert_eq!(
        reported(&canary, &neighbours(&[stable], 1)),
        Some((
            "ParametersOverridden".to_owned(),
            "BackendRecord web/a of BackendGroup web/stable registers the same address with other \
             parameters (weight), which apply instead: those of the oldest owner do"
                .to_owned()
        ))
    );
}

#[test]
fn d41_of_three_records_the_parameters_of_the_oldest_apply() {
    let oldest = record("a", "one", weight("10"));
    let (middle, youngest) = (
        record("b", "two", weight("50")),
        record("c", "three", weight("10")),
    );
    let reason = |record, others: &[BackendRecord], preceding| {
        reported(record, &neighbours(others, preceding)).map(|(reason, _)| reason)
    };
    let all = [oldest.clone(), middle.clone(), youngest.clone()];
    assert_eq!(
        reason(&oldest, &all[1..], 0).as_deref(),
        Some("ParametersApply")
    );
    let others = [all[0].clone(), all[2].clone()];
    assert_eq!(
        reason(&middle, &others, 1).as_deref(),
        Some("ParametersOverridden")
    );
    assert_eq!(
        reason(&youngest, &all[..2], 2).as_deref(),
        Some("ParametersApply"),
        "it has the parameters of the oldest"
    );
    assert_eq!(
        *effective_parameters(&middle, &neighbours(&others, 1)),
        weight("10")
    );
}

#[test]
fn d41_a_message_names_some_of_many_parameters() {
    let names = ["a", "b", "c", "d", "e", "f"].map(|name| (name, "1"));
    let [many, none] = [StringMap::from(names), StringMap::default()];
    assert_eq!(differing(&many, &none), "a, b, c, d, e, …");
    assert_eq!(differing(&many, &many), "");
    let few = StringMap::from([("a", "1"), ("weight", "5")]);
    let other = StringMap::from([("a", "2"), ("zone", "x"), ("weight", "5")]);
    assert_eq!(differing(&few, &other), "a, zone");
}

#[test]
fn d41_a_conflict_is_resolved_by_ensuring_and_by_nothing_else() {
    let (stays, leaves) = (
        record("a", "stable", weight("10")),
        record("b", "canary", weight("50")),
    );
    let conflict = sharing(&stays, &neighbours(&[leaves], 0));
    let conditions = [condition(&stays, &[], &conflict, true).unwrap()];
    assert!(needs_ensure(&conditions, &Sharing::Agreed));
    assert_eq!(
        condition(&stays, &conditions, &Sharing::Agreed, false),
        None,
        "a failed call leaves the condition, which proves that one is needed"
    );
    let resolved = condition(&stays, &conditions, &Sharing::Agreed, true).unwrap();
    assert!(resolved.is_news(&conditions));
    let conditions = [resolved];
    assert!(!needs_ensure(&conditions, &Sharing::Agreed));
    assert_eq!(condition(&stays, &conditions, &Sharing::Agreed, true), None);
    assert_eq!(condition(&stays, &[], &Sharing::Agreed, true), None);
}

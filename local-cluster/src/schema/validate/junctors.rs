//! Validation against `allOf`, `anyOf`, `oneOf` and `not`.

use serde_json::Value;

use super::{ValidatorResult, check};
use crate::schema::correlate::CorrelatedValue;
use crate::schema::message::quoted;
use crate::schema::node::Node;
use crate::schema::path::FieldPath;

pub(super) fn check_junctors(
    node: &Node,
    value: &Value,
    path: &FieldPath<'_>,
    correlated: Option<&CorrelatedValue<'_>>,
    found: &mut ValidatorResult,
) {
    let against = |node: &Node| {
        let mut found = ValidatorResult::default();
        check(node, value, path, correlated, &mut found);
        found
    };
    if !node.any_of.is_empty() {
        check_any(node, path, &against, found);
    }
    if !node.one_of.is_empty() {
        check_one(node, path, &against, found);
    }
    if !node.all_of.is_empty() {
        check_all(node, path, &against, found);
    }
    if let Some(not) = &node.not
        && against(not).is_empty()
    {
        report(path, "must not validate the schema (not)", found);
    }
    found.match_count += 1;
}

fn report(path: &FieldPath<'_>, what: &str, found: &mut ValidatorResult) {
    let detail = format!("{} {what}", quoted(&path.dotted()));
    found.add_about(path, &detail);
}

fn check_all(
    node: &Node,
    path: &FieldPath<'_>,
    against: &dyn Fn(&Node) -> ValidatorResult,
    found: &mut ValidatorResult,
) {
    let mut fitting = 0;
    for branch in &node.all_of {
        let result = against(branch);
        fitting += usize::from(result.is_empty());
        found.merge(result);
    }
    if fitting < node.all_of.len() {
        let none = if fitting == 0 { ". None validated" } else { "" };
        let what = format!("must validate all the schemas (allOf){none}");
        report(path, &what, found);
    }
}

fn check_any(
    node: &Node,
    path: &FieldPath<'_>,
    against: &dyn Fn(&Node) -> ValidatorResult,
    found: &mut ValidatorResult,
) {
    let mut best: Option<ValidatorResult> = None;
    for branch in &node.any_of {
        let result = against(branch);
        if result.is_empty() {
            found.merge(result);
            return;
        }
        keep_better(&mut best, result);
    }
    report(path, "must validate at least one schema (anyOf)", found);
    if let Some(best) = best {
        found.merge(best);
    }
}

fn check_one(
    node: &Node,
    path: &FieldPath<'_>,
    against: &dyn Fn(&Node) -> ValidatorResult,
    found: &mut ValidatorResult,
) {
    let mut best: Option<ValidatorResult> = None;
    let mut first: Option<ValidatorResult> = None;
    let mut fitting = 0;
    for branch in &node.one_of {
        let result = against(branch);
        if result.is_empty() {
            fitting += 1;
            best = None;
            first.get_or_insert(result);
        } else if fitting == 0 {
            keep_better(&mut best, result);
        }
    }
    if let (1, Some(first)) = (fitting, first) {
        return found.merge(first);
    }
    let how_many = if fitting == 0 {
        "Found none valid".to_owned()
    } else {
        format!("Found {fitting} valid alternatives")
    };
    let what = format!("must validate one and only one schema (oneOf). {how_many}");
    report(path, &what, found);
    if let Some(best) = best {
        found.merge(best);
    }
}

/// Keeps the result that matched more; of equals, the first.
fn keep_better(best: &mut Option<ValidatorResult>, result: ValidatorResult) {
    if best
        .as_ref()
        .is_none_or(|best| result.match_count > best.match_count)
    {
        *best = Some(result);
    }
}

//! The checks against several schemas: all of them, some of them, one of them, none.

use serde_json::Value;

use super::{Findings, check};
use crate::schema::correlate::Past;
use crate::schema::node::Node;
use crate::schema::path::Path;
use crate::schema::wording::quoted;

/// Checks a value against the schemas that are combined with its own.
pub(super) fn check_junctors(
    node: &Node,
    value: &Value,
    path: &Path<'_>,
    past: Option<&Past<'_>>,
    found: &mut Findings,
) {
    let against = |node: &Node| {
        let mut found = Findings::default();
        check(node, value, path, past, &mut found);
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
        complain(path, "must not validate the schema (not)", found);
    }
    found.passed += 1;
}

fn complain(path: &Path<'_>, what: &str, found: &mut Findings) {
    let detail = format!("{} {what}", quoted(&path.dotted()));
    found.add_about(path, &detail);
}

fn check_all(
    node: &Node,
    path: &Path<'_>,
    against: &dyn Fn(&Node) -> Findings,
    found: &mut Findings,
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
        complain(path, &what, found);
    }
}

fn check_any(
    node: &Node,
    path: &Path<'_>,
    against: &dyn Fn(&Node) -> Findings,
    found: &mut Findings,
) {
    let mut best: Option<Findings> = None;
    for branch in &node.any_of {
        let result = against(branch);
        if result.is_empty() {
            found.merge(result);
            return;
        }
        keep_better(&mut best, result);
    }
    complain(path, "must validate at least one schema (anyOf)", found);
    if let Some(best) = best {
        found.merge(best);
    }
}

fn check_one(
    node: &Node,
    path: &Path<'_>,
    against: &dyn Fn(&Node) -> Findings,
    found: &mut Findings,
) {
    let mut best: Option<Findings> = None;
    let mut first: Option<Findings> = None;
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
    complain(path, &what, found);
    if let Some(best) = best {
        found.merge(best);
    }
}

/// Keeps the result that passed more; of equals, the first.
fn keep_better(best: &mut Option<Findings>, result: Findings) {
    if best.as_ref().is_none_or(|best| result.passed > best.passed) {
        *best = Some(result);
    }
}

//! Which requests a webhook wants to see.

use std::sync::Arc;

use k8s_openapi::api::admissionregistration::v1::RuleWithOperations;

use super::asked::Asked;
use super::hook::Hook;
use crate::object::Object;
use crate::resources::Kind;

/// The kind as which a webhook wants to see what the request is about: as it was asked for, or in
/// another version that its rules name. `None` when its rules do not cover it at all.
pub(super) fn version<'k>(
    hook: &Hook,
    asked: &Asked<'k>,
    others: &'k [Arc<Kind>],
) -> Option<&'k Kind> {
    let covered = |kind: &Kind| hook.rules.iter().any(|rule| covers(rule, asked, kind));
    if covered(asked.kind) {
        return Some(asked.kind);
    }
    if !hook.equivalent {
        return None;
    }
    // The earlier rule decides where several versions would do.
    hook.rules.iter().find_map(|rule| {
        let other = others.iter().find(|kind| covers(rule, asked, kind))?;
        Some(other.as_ref())
    })
}

fn covers(rule: &RuleWithOperations, asked: &Asked<'_>, kind: &Kind) -> bool {
    let has = |list: &Option<Vec<String>>, wanted: &str| {
        let mut items = list.iter().flatten();
        items.any(|item| item == "*" || item == wanted)
    };
    let placed = match rule.scope.as_deref() {
        Some("Namespaced") => kind.namespaced,
        Some("Cluster") => !kind.namespaced,
        _ => true,
    };
    placed
        && has(&rule.operations, asked.operation.word())
        && has(&rule.api_groups, &kind.group)
        && has(&rule.api_versions, &kind.version)
        && rule
            .resources
            .iter()
            .flatten()
            .any(|resource| names(resource, &kind.plural, asked.subresource()))
}

/// Whether `pods`, `pods/status`, `pods/*`, `*`, `*/status` or `*/*` names this part of a resource.
fn names(given: &str, plural: &str, subresource: &str) -> bool {
    let (resource, part) = given.split_once('/').unwrap_or((given, ""));
    (resource == "*" || resource == plural) && (part == "*" || part == subresource)
}

/// Whether the object before or after the write has the labels that a webhook wants.
pub(super) fn wants_object(hook: &Hook, object: Option<&Object>, before: Option<&Object>) -> bool {
    hook.objects.is_empty()
        || [object, before]
            .iter()
            .flatten()
            .any(|object| hook.objects.matches(object))
}

/// Whether a namespace has the labels that a webhook wants.
pub(super) fn wants_namespace(hook: &Hook, namespace: Option<&Object>) -> bool {
    hook.namespaces.is_empty() || hook.namespaces.matches(namespace.unwrap_or(&Object::new()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::admission::hook::hooks_of;
    use crate::admission::{Operation, Options};
    use crate::object::object;
    use crate::resources::Registry;
    use crate::rules::{FieldValidation, Part, WriteOptions};
    use crate::store::Stored;
    use serde_json::{Value, json};

    const OPTIONS: WriteOptions<'_> = WriteOptions {
        validation: FieldValidation::Warn,
        dry_run: false,
        manager: None,
        field_manager: None,
        field_validation: None,
    };

    fn hook(change: Value) -> Hook {
        let mut webhook = json!({
            "name": "a.x.y", "clientConfig": {"url": "https://h"},
            "rules": [{
                "operations": ["CREATE", "UPDATE"], "apiGroups": [""], "apiVersions": ["v1"],
                "resources": ["pods"], "scope": "*",
            }],
        });
        json_patch::merge(&mut webhook, &change);
        let configuration = json!({"metadata": {"name": "c"}, "webhooks": [webhook]});
        hooks_of(&Stored::new(object(configuration), 1)).remove(0)
    }

    fn rule(change: Value) -> Hook {
        let mut rule = json!({
            "operations": ["*"], "apiGroups": ["*"], "apiVersions": ["*"], "resources": ["*"],
        });
        json_patch::merge(&mut rule, &change);
        hook(json!({"rules": [rule]}))
    }

    fn asked(kind: &Kind, operation: Operation, part: Part) -> Asked<'_> {
        Asked {
            kind,
            part,
            operation,
            namespace: if kind.namespaced { "d" } else { "" },
            name: "n",
            options: Options::Write(&OPTIONS),
        }
    }

    fn covered(hook: &Hook, plural: &str, operation: Operation, part: Part) -> bool {
        let kind = Registry::new().builtin("", plural).unwrap();
        version(hook, &asked(&kind, operation, part), &[]).is_some()
    }

    #[test]
    fn every_part_of_a_rule_counts() {
        use Operation::{Create, Delete, Update};
        let plain = hook(json!({}));
        assert!(covered(&plain, "pods", Create, Part::Main));
        assert!(covered(&plain, "pods", Update, Part::Main));
        assert!(!covered(&plain, "pods", Delete, Part::Main));
        assert!(!covered(&plain, "services", Create, Part::Main));
        for (change, yes) in [
            (json!({}), true),
            (json!({"operations": ["CREATE"]}), true),
            (json!({"operations": ["DELETE"]}), false),
            (json!({"apiGroups": [""]}), true),
            (json!({"apiGroups": ["apps"]}), false),
            (json!({"apiVersions": ["v2", "v1"]}), true),
            (json!({"apiVersions": ["v2"]}), false),
            (json!({"scope": "Namespaced"}), true),
            (json!({"scope": "Cluster"}), false),
            (json!({"resources": []}), false),
        ] {
            let found = covered(&rule(change.clone()), "pods", Create, Part::Main);
            assert_eq!(found, yes, "{change}");
        }
    }

    #[test]
    fn namespaces_are_in_the_cluster() {
        let of = |scope: &str| rule(json!({"scope": scope}));
        let create = Operation::Create;
        assert!(covered(&of("Cluster"), "namespaces", create, Part::Main));
        assert!(!covered(
            &of("Namespaced"),
            "namespaces",
            create,
            Part::Main
        ));
    }

    #[test]
    fn parts_are_told_apart() {
        for (given, main, status) in [
            ("pods", true, false),
            ("*", true, false),
            ("pods/status", false, true),
            ("*/status", false, true),
            ("pods/*", true, true),
            ("*/*", true, true),
            ("services/*", false, false),
            ("pods/scale", false, false),
        ] {
            let hook = rule(json!({"resources": [given]}));
            let update = Operation::Update;
            let found = (
                covered(&hook, "pods", update, Part::Main),
                covered(&hook, "pods", update, Part::Status),
            );
            assert_eq!(found, (main, status), "{given}");
        }
    }

    #[test]
    fn another_version_counts_unless_the_match_must_be_exact() {
        let registry = Registry::new();
        let old = registry.builtin("", "events").unwrap();
        let others = registry.equivalents(&old);
        let new_only = json!({"apiGroups": ["events.k8s.io"], "resources": ["events"]});
        let mut hook = rule(new_only);
        let asked = asked(&old, Operation::Create, Part::Main);
        let found = version(&hook, &asked, &others).unwrap();
        assert_eq!(found.group, "events.k8s.io");
        hook.equivalent = false;
        assert!(version(&hook, &asked, &others).is_none());
        let either = rule(json!({"resources": ["events"]}));
        assert_eq!(version(&either, &asked, &others).unwrap().group, "");
    }

    #[test]
    fn labels_of_either_state_count() {
        let hook = hook(json!({
            "objectSelector": {"matchLabels": {"a": "b"}},
            "namespaceSelector": {"matchExpressions": [{"key": "off", "operator": "DoesNotExist"}]},
        }));
        let with = object(json!({"metadata": {"labels": {"a": "b"}}}));
        let without = object(json!({"metadata": {}}));
        assert!(wants_object(&hook, Some(&with), Some(&without)));
        assert!(wants_object(&hook, Some(&without), Some(&with)));
        assert!(wants_object(&hook, None, Some(&with)));
        assert!(!wants_object(&hook, Some(&without), None));
        assert!(!wants_object(&hook, None, None));
        let off = object(json!({"metadata": {"labels": {"off": ""}}}));
        assert!(wants_namespace(&hook, Some(&with)) && wants_namespace(&hook, None));
        assert!(!wants_namespace(&hook, Some(&off)));
    }
}

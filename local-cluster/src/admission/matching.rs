//! Which requests a webhook is called for.

use std::sync::Arc;

use k8s_openapi::api::admissionregistration::v1::RuleWithOperations;

use super::attributes::Attributes;
use super::webhook::Webhook;
use crate::object::Object;
use crate::resources::Kind;

/// The kind in which a webhook receives the object: that of the request, or an equivalent one that its
/// rules name. `None` if its rules do not match the request.
pub(super) fn matching_kind<'k>(
    webhook: &Webhook,
    attributes: &Attributes<'k>,
    others: &'k [Arc<Kind>],
) -> Option<&'k Kind> {
    let covered = |kind: &Kind| {
        webhook
            .rules
            .iter()
            .any(|rule| covers(rule, attributes, kind))
    };
    if covered(attributes.kind) {
        return Some(attributes.kind);
    }
    if !webhook.equivalent {
        return None;
    }
    // If several kinds match, the first rule decides.
    webhook.rules.iter().find_map(|rule| {
        let other = others.iter().find(|kind| covers(rule, attributes, kind))?;
        Some(other.as_ref())
    })
}

fn covers(rule: &RuleWithOperations, attributes: &Attributes<'_>, kind: &Kind) -> bool {
    let has = |list: &Option<Vec<String>>, value: &str| {
        let mut items = list.iter().flatten();
        items.any(|item| item == "*" || item == value)
    };
    let in_scope = match rule.scope.as_deref() {
        Some("Namespaced") => kind.namespaced,
        Some("Cluster") => !kind.namespaced,
        _ => true,
    };
    in_scope
        && has(&rule.operations, attributes.operation.as_str())
        && has(&rule.api_groups, &kind.group)
        && has(&rule.api_versions, &kind.version)
        && rule
            .resources
            .iter()
            .flatten()
            .any(|resource| names(resource, &kind.plural, attributes.subresource()))
}

/// Compares `pods`, `pods/status`, `pods/*`, `*`, `*/status` or `*/*` with a part of a resource.
fn names(given: &str, plural: &str, subresource: &str) -> bool {
    let (resource, part) = given.split_once('/').unwrap_or((given, ""));
    (resource == "*" || resource == plural) && (part == "*" || part == subresource)
}

/// Matches the object before or after the write.
pub(super) fn selects_object(
    webhook: &Webhook,
    object: Option<&Object>,
    before: Option<&Object>,
) -> bool {
    webhook.objects.is_empty()
        || [object, before]
            .iter()
            .flatten()
            .any(|object| webhook.objects.matches(object))
}

pub(super) fn selects_namespace(webhook: &Webhook, namespace: Option<&Object>) -> bool {
    webhook.namespaces.is_empty()
        || webhook
            .namespaces
            .matches(namespace.unwrap_or(&Object::new()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::admission::webhook::webhooks_of;
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

    fn webhook(change: Value) -> Webhook {
        let mut webhook = json!({
            "name": "a.x.y", "clientConfig": {"url": "https://h"},
            "rules": [{
                "operations": ["CREATE", "UPDATE"], "apiGroups": [""], "apiVersions": ["v1"],
                "resources": ["pods"], "scope": "*",
            }],
        });
        json_patch::merge(&mut webhook, &change);
        let configuration = json!({"metadata": {"name": "c"}, "webhooks": [webhook]});
        webhooks_of(&Stored::new(object(configuration), 1)).remove(0)
    }

    fn rule(change: Value) -> Webhook {
        let mut rule = json!({
            "operations": ["*"], "apiGroups": ["*"], "apiVersions": ["*"], "resources": ["*"],
        });
        json_patch::merge(&mut rule, &change);
        webhook(json!({"rules": [rule]}))
    }

    fn attributes(kind: &Kind, operation: Operation, part: Part) -> Attributes<'_> {
        Attributes {
            kind,
            part,
            operation,
            namespace: if kind.namespaced { "d" } else { "" },
            name: "n",
            options: Options::Write(&OPTIONS),
        }
    }

    fn covered(webhook: &Webhook, plural: &str, operation: Operation, part: Part) -> bool {
        let kind = Registry::new().builtin("", plural).unwrap();
        matching_kind(webhook, &attributes(&kind, operation, part), &[]).is_some()
    }

    #[test]
    fn every_part_of_a_rule_is_matched() {
        use Operation::{Create, Delete, Update};
        let plain = webhook(json!({}));
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
    fn namespaces_are_cluster_scoped() {
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
    fn subresources_are_distinguished() {
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
            let webhook = rule(json!({"resources": [given]}));
            let update = Operation::Update;
            let found = (
                covered(&webhook, "pods", update, Part::Main),
                covered(&webhook, "pods", update, Part::Status),
            );
            assert_eq!(found, (main, status), "{given}");
        }
    }

    #[test]
    fn equivalent_kinds_match_unless_the_policy_is_exact() {
        let registry = Registry::new();
        let old = registry.builtin("", "events").unwrap();
        let others = registry.equivalents(&old);
        let new_only = json!({"apiGroups": ["events.k8s.io"], "resources": ["events"]});
        let mut webhook = rule(new_only);
        let attributes = attributes(&old, Operation::Create, Part::Main);
        let found = matching_kind(&webhook, &attributes, &others).unwrap();
        assert_eq!(found.group, "events.k8s.io");
        webhook.equivalent = false;
        assert!(matching_kind(&webhook, &attributes, &others).is_none());
        let either = rule(json!({"resources": ["events"]}));
        assert_eq!(
            matching_kind(&either, &attributes, &others).unwrap().group,
            ""
        );
    }

    #[test]
    fn labels_of_either_state_match() {
        let webhook = webhook(json!({
            "objectSelector": {"matchLabels": {"a": "b"}},
            "namespaceSelector": {"matchExpressions": [{"key": "off", "operator": "DoesNotExist"}]},
        }));
        let with = object(json!({"metadata": {"labels": {"a": "b"}}}));
        let without = object(json!({"metadata": {}}));
        assert!(selects_object(&webhook, Some(&with), Some(&without)));
        assert!(selects_object(&webhook, Some(&without), Some(&with)));
        assert!(selects_object(&webhook, None, Some(&with)));
        assert!(!selects_object(&webhook, Some(&without), None));
        assert!(!selects_object(&webhook, None, None));
        let off = object(json!({"metadata": {"labels": {"off": ""}}}));
        assert!(selects_namespace(&webhook, Some(&with)) && selects_namespace(&webhook, None));
        assert!(!selects_namespace(&webhook, Some(&off)));
    }
}

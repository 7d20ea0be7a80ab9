//! Webhooks, as their configurations describe them, and the requests that they match.

use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use http::Uri;
use k8s_openapi::api::admissionregistration::v1::{
    MutatingWebhook, RuleWithOperations, WebhookClientConfig,
};
use tokio::sync::watch;

use super::request::Attributes;
use crate::object::{Object, items};
use crate::resources::Kind;
use crate::selector::LabelSelector;
use crate::store::{Resource, Store, Stored};

#[derive(Clone, Debug)]
pub(super) struct Webhook {
    pub(super) name: String,
    pub(super) rules: Vec<RuleWithOperations>,
    /// `matchPolicy: Equivalent`.
    pub(super) equivalent: bool,
    pub(super) namespaces: LabelSelector,
    pub(super) objects: LabelSelector,
    /// `failurePolicy: Ignore`.
    pub(super) ignores_failure: bool,
    /// `reinvocationPolicy: IfNeeded`.
    pub(super) reinvocation: bool,
    pub(super) timeout: Duration,
    /// The URL without its query.
    pub(super) url: String,
    /// PEM; empty for the system's root certificates.
    pub(super) ca_bundle: Vec<u8>,
}

/// The webhooks of a stored configuration of either kind, in order.
pub(super) fn webhooks_of(configuration: &Stored) -> Vec<Webhook> {
    // Stored configurations are validated and defaulted.
    items(&configuration.object, &["webhooks"])
        .filter_map(|webhook| serde_json::from_value::<MutatingWebhook>(webhook.clone()).ok())
        .filter_map(Webhook::of)
        .collect()
}

impl Webhook {
    fn of(webhook: MutatingWebhook) -> Option<Self> {
        let selector = |given: &Option<_>| given.as_ref().map(LabelSelector::of);
        let seconds = webhook
            .timeout_seconds
            .and_then(|s| u64::try_from(s).ok())
            .unwrap_or(10);
        Some(Self {
            url: url_of(&webhook.client_config)?,
            ca_bundle: webhook
                .client_config
                .ca_bundle
                .map(|bundle| bundle.0)
                .unwrap_or_default(),
            equivalent: webhook.match_policy.as_deref() != Some("Exact"),
            namespaces: selector(&webhook.namespace_selector).unwrap_or_default(),
            objects: selector(&webhook.object_selector).unwrap_or_default(),
            ignores_failure: webhook.failure_policy.as_deref() == Some("Ignore"),
            reinvocation: webhook.reinvocation_policy.as_deref() == Some("IfNeeded"),
            timeout: Duration::from_secs(seconds),
            rules: webhook.rules.unwrap_or_default(),
            name: webhook.name,
        })
    }
}

/// The URL of a webhook; the host of a service is `name.namespace.svc`.
fn url_of(config: &WebhookClientConfig) -> Option<String> {
    if let Some(service) = &config.service {
        let path = service.path.as_deref().unwrap_or_default();
        return Some(format!(
            "https://{}.{}.svc:{}/{}",
            service.name,
            service.namespace,
            service.port.unwrap_or(443),
            path.trim_start_matches('/'),
        ));
    }
    let uri: Uri = config.url.as_deref()?.parse().ok()?;
    Some(format!("https://{}{}", uri.authority()?, uri.path()))
}

/// All webhooks in the order in which they are called: by the configuration's name, then as listed in it.
#[derive(Debug, Default)]
pub(super) struct Webhooks {
    pub(super) mutating: Vec<Arc<Webhook>>,
    pub(super) validating: Vec<Arc<Webhook>>,
}

/// Caches the webhooks until a configuration is written.
#[derive(Debug)]
pub(super) struct WebhookConfigurations {
    store: Arc<Store>,
    read: RwLock<CachedWebhooks>,
}

#[derive(Debug)]
struct CachedWebhooks {
    heads: [watch::Receiver<u64>; 2],
    /// `None` when there is no configuration.
    webhooks: Option<Arc<Webhooks>>,
}

fn resources() -> [Resource; 2] {
    ["mutating", "validating"].map(|which| {
        let plural = format!("{which}webhookconfigurations");
        Resource::new("admissionregistration.k8s.io", &plural)
    })
}

impl WebhookConfigurations {
    pub(super) fn new(store: &Arc<Store>) -> Self {
        let mut heads = resources().map(|resource| store.head_of(&resource));
        // Configurations may exist from before a restart.
        heads.iter_mut().for_each(watch::Receiver::mark_changed);
        Self {
            store: Arc::clone(store),
            read: RwLock::new(CachedWebhooks {
                heads,
                webhooks: None,
            }),
        }
    }

    /// The webhooks, or `None` if there are none, which costs two comparisons.
    pub(super) fn webhooks(&self) -> Option<Arc<Webhooks>> {
        {
            let read = self.read.read().unwrap_or_else(PoisonError::into_inner);
            let written = |head: &watch::Receiver<u64>| head.has_changed().unwrap_or(false);
            if !read.heads.iter().any(written) {
                return read.webhooks.clone();
            }
        }
        let mut read = self.read.write().unwrap_or_else(PoisonError::into_inner);
        for head in &mut read.heads {
            // Marked before reading, so that a concurrent write is read the next time.
            head.mark_unchanged();
        }
        let [mutating, validating] = resources().map(|resource| {
            let (configurations, _) = self.store.list(&resource, None);
            let webhooks = configurations.iter().flat_map(|c| webhooks_of(c));
            webhooks.map(Arc::new).collect::<Vec<_>>()
        });
        let any = !mutating.is_empty() || !validating.is_empty();
        read.webhooks = any.then(|| {
            Arc::new(Webhooks {
                mutating,
                validating,
            })
        });
        read.webhooks.clone()
    }
}

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
    use crate::object::{Object, object};
    use crate::resources::Registry;
    use crate::rules::{FieldValidation, Part, WriteOptions};
    use crate::store::Stored;
    use serde_json::{Value, json};

    #[test]
    fn a_configuration_is_read_in_order() {
        let stored = Stored::new(
            object(json!({"metadata": {"name": "c"}, "webhooks": [
                {
                    "name": "a.x.y", "failurePolicy": "Ignore", "matchPolicy": "Exact",
                    "timeoutSeconds": 3, "reinvocationPolicy": "IfNeeded",
                    "clientConfig": {"url": "https://h:1/p", "caBundle": "YWJj"},
                },
                {
                    "name": "b.x.y", "failurePolicy": "Fail", "matchPolicy": "Equivalent",
                    "clientConfig": {"service": {"name": "s", "namespace": "n", "path": "/q", "port": 8443}},
                },
                {"name": "c.x.y", "clientConfig": {"url": "https://h"}},
            ]})),
            1,
        );
        let webhooks = webhooks_of(&stored);
        let urls: Vec<&str> = webhooks.iter().map(|h| h.url.as_str()).collect();
        assert_eq!(
            urls,
            ["https://h:1/p", "https://s.n.svc:8443/q", "https://h/"]
        );
        let a = &webhooks[0];
        assert_eq!(a.name, "a.x.y");
        assert_eq!(
            (a.ignores_failure, a.equivalent, a.reinvocation),
            (true, false, true)
        );
        assert_eq!(
            (a.timeout, a.ca_bundle.as_slice()),
            (Duration::from_secs(3), b"abc".as_slice())
        );
        let b = &webhooks[1];
        assert_eq!(
            (b.ignores_failure, b.equivalent, b.reinvocation),
            (false, true, false)
        );
        assert_eq!(b.timeout, Duration::from_secs(10));
    }

    fn configuration(name: &str, webhooks: &[&str]) -> Object {
        let webhooks: Vec<_> = webhooks
            .iter()
            .map(|name| json!({"name": name, "clientConfig": {"url": "https://h"}}))
            .collect();
        object(json!({"metadata": {"name": name}, "webhooks": webhooks}))
    }

    #[test]
    fn configurations_are_effective_as_soon_as_they_are_stored() {
        let store = Store::new(10);
        let configurations = WebhookConfigurations::new(&store);
        assert!(configurations.webhooks().is_none());
        let [mutating, validating] = resources();
        let names = || -> Vec<String> {
            let webhooks = configurations.webhooks().unwrap();
            webhooks.mutating.iter().map(|h| h.name.clone()).collect()
        };
        store
            .insert(&mutating, configuration("b", &["b2.x.y", "b1.x.y"]), false)
            .unwrap();
        assert_eq!(names(), ["b2.x.y", "b1.x.y"]);
        let a = store
            .insert(&mutating, configuration("a", &["a.x.y"]), false)
            .unwrap();
        assert_eq!(names(), ["a.x.y", "b2.x.y", "b1.x.y"]);
        store.remove(&mutating, &a, Object::new()).unwrap();
        assert_eq!(names(), ["b2.x.y", "b1.x.y"]);
        store
            .insert(&validating, configuration("v", &["v.x.y"]), false)
            .unwrap();
        assert_eq!(configurations.webhooks().unwrap().validating.len(), 1);
        assert!(Arc::ptr_eq(
            &configurations.webhooks().unwrap(),
            &configurations.webhooks().unwrap()
        ));
    }

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

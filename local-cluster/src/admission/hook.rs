//! A webhook as its configuration describes it.

use std::time::Duration;

use http::Uri;
use k8s_openapi::api::admissionregistration::v1::{
    MutatingWebhook, RuleWithOperations, WebhookClientConfig,
};
use serde_json::Value;

use crate::selector::LabelSelector;
use crate::store::Stored;

/// A webhook.
#[derive(Clone, Debug)]
pub(super) struct Hook {
    pub(super) name: String,
    pub(super) rules: Vec<RuleWithOperations>,
    /// Whether other versions of what the rules name count too.
    pub(super) equivalent: bool,
    pub(super) namespaces: LabelSelector,
    pub(super) objects: LabelSelector,
    /// Whether a webhook that cannot be asked is passed over.
    pub(super) fails_open: bool,
    /// Whether it wants to see what later webhooks changed.
    pub(super) reinvoked: bool,
    pub(super) timeout: Duration,
    /// Without parameters.
    pub(super) url: String,
    /// The only roots of trust, as PEM; those of the system when empty.
    pub(super) authorities: Vec<u8>,
}

/// The webhooks of a stored configuration of either kind, in order.
pub(super) fn hooks_of(configuration: &Stored) -> Vec<Hook> {
    let webhooks = configuration
        .object
        .get("webhooks")
        .and_then(Value::as_array);
    // What is stored was checked and completed before.
    webhooks
        .into_iter()
        .flatten()
        .filter_map(|webhook| serde_json::from_value::<MutatingWebhook>(webhook.clone()).ok())
        .filter_map(Hook::of)
        .collect()
}

impl Hook {
    fn of(webhook: MutatingWebhook) -> Option<Self> {
        let selector = |given: &Option<_>| given.as_ref().map(LabelSelector::of);
        let seconds = webhook
            .timeout_seconds
            .and_then(|s| u64::try_from(s).ok())
            .unwrap_or(10);
        Some(Self {
            url: url_of(&webhook.client_config)?,
            authorities: webhook
                .client_config
                .ca_bundle
                .map(|bundle| bundle.0)
                .unwrap_or_default(),
            equivalent: webhook.match_policy.as_deref() != Some("Exact"),
            namespaces: selector(&webhook.namespace_selector).unwrap_or_default(),
            objects: selector(&webhook.object_selector).unwrap_or_default(),
            fails_open: webhook.failure_policy.as_deref() == Some("Ignore"),
            reinvoked: webhook.reinvocation_policy.as_deref() == Some("IfNeeded"),
            timeout: Duration::from_secs(seconds),
            rules: webhook.rules.unwrap_or_default(),
            name: webhook.name,
        })
    }
}

/// The address to post to; a service's is `name.namespace.svc`, as its certificate says.
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::object;
    use serde_json::json;

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
        let hooks = hooks_of(&stored);
        let urls: Vec<&str> = hooks.iter().map(|h| h.url.as_str()).collect();
        assert_eq!(
            urls,
            ["https://h:1/p", "https://s.n.svc:8443/q", "https://h/"]
        );
        let a = &hooks[0];
        assert_eq!(a.name, "a.x.y");
        assert_eq!(
            (a.fails_open, a.equivalent, a.reinvoked),
            (true, false, true)
        );
        assert_eq!(
            (a.timeout, a.authorities.as_slice()),
            (Duration::from_secs(3), b"abc".as_slice())
        );
        let b = &hooks[1];
        assert_eq!(
            (b.fails_open, b.equivalent, b.reinvoked),
            (false, true, false)
        );
        assert_eq!(b.timeout, Duration::from_secs(10));
    }
}

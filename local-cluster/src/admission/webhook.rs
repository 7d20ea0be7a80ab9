//! Webhooks, as their configurations describe them.

use std::time::Duration;

use http::Uri;
use k8s_openapi::api::admissionregistration::v1::{
    MutatingWebhook, RuleWithOperations, WebhookClientConfig,
};

use crate::object::items;
use crate::selector::LabelSelector;
use crate::store::Stored;

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
}

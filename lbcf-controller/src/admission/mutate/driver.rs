//! LoadBalancerDriver: every webhook gets a timeout (b71).

use lbcf_driver_sdk::webhook::{ALL, Obligation, WebhookInfo};
use serde_json::{Map, Value, json};

/// The timeout of a webhook that has none (b10).
const DEFAULT_TIMEOUT: &str = "10s";

/// Adds the webhooks that the controller may call without being configured to. `judgePodDeregister`
/// and `listBackends` are not among them: a driver offers the latter by listing it (d52), and the
/// original refuses drivers that list either, and the controllers have to stay exchangeable (d27).
pub(super) fn add_webhooks(spec: &mut Map<String, Value>) {
    let Some(webhooks) = super::list_at(spec, "webhooks") else {
        return;
    };
    for webhook in webhooks.iter_mut().filter_map(Value::as_object_mut) {
        let timeout = webhook.entry("timeout").or_insert(Value::Null);
        if timeout.is_null() {
            *timeout = json!(DEFAULT_TIMEOUT);
        }
    }
    let is_added = |webhook: &&WebhookInfo| match webhook.obligation {
        Obligation::Mandatory | Obligation::Optional => true,
        Obligation::OnRequest | Obligation::Listed => false,
    };
    for known in ALL.iter().filter(is_added) {
        let is_named =
            |webhook: &Value| webhook.get("name").and_then(Value::as_str) == Some(known.name);
        if !webhooks.iter().any(is_named) {
            webhooks.push(json!({ "name": known.name, "timeout": DEFAULT_TIMEOUT }));
        }
    }
}

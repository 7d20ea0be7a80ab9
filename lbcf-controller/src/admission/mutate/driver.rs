//! Drivers: every webhook gets its timeout written down (b71).

use lbcf_driver_sdk::webhook::{ALL, Obligation};
use serde_json::{Map, Value, json};

/// The timeout of a webhook that none is given for (b10).
const DEFAULT_TIMEOUT: &str = "10s";

/// Names the webhooks that every driver may be called at. `judgePodDeregister` is not among them:
/// the original refuses drivers that name it, and the controllers shall stay exchangeable (d27).
pub(super) fn name_webhooks(spec: &mut Map<String, Value>) {
    let webhooks = spec.entry("webhooks").or_insert(Value::Null);
    if webhooks.is_null() {
        *webhooks = json!([]);
    }
    let Some(webhooks) = webhooks.as_array_mut() else {
        return;
    };
    for webhook in webhooks.iter_mut().filter_map(Value::as_object_mut) {
        let timeout = webhook.entry("timeout").or_insert(Value::Null);
        if timeout.is_null() {
            *timeout = json!(DEFAULT_TIMEOUT);
        }
    }
    for known in ALL
        .iter()
        .filter(|webhook| webhook.obligation != Obligation::OnRequest)
    {
        let is_named =
            |webhook: &Value| webhook.get("name").and_then(Value::as_str) == Some(known.name);
        if !webhooks.iter().any(is_named) {
            webhooks.push(json!({ "name": known.name, "timeout": DEFAULT_TIMEOUT }));
        }
    }
}

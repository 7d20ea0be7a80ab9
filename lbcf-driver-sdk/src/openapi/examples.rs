//! Examples of each webhook's request and response, with the values of the specification's samples.
//! `examples.json` has them as they are on the wire.

use serde_json::{Map, Value};
use std::collections::BTreeMap;
use std::sync::LazyLock;
use utoipa::openapi::example::{Example, ExampleBuilder};

/// By webhook, then by `request` or `response`, then by the example's summary.
type Examples = BTreeMap<String, BTreeMap<String, Map<String, Value>>>;

static EXAMPLES: LazyLock<Examples> = LazyLock::new(|| {
    // The document's drift test would fail if the file could not be read.
    serde_json::from_str(include_str!("examples.json")).unwrap_or_default()
});

/// The examples of one direction of one webhook.
pub(super) fn of(
    webhook: &str,
    direction: &str,
) -> impl Iterator<Item = (String, Example)> + use<> {
    let examples = EXAMPLES
        .get(webhook)
        .and_then(|both| both.get(direction))
        .cloned()
        .unwrap_or_default();
    examples.into_iter().map(|(summary, value)| {
        let example = ExampleBuilder::new()
            .summary(summary.as_str())
            .value(Some(value))
            .build();
        (key(&summary), example)
    })
}

/// The name of an example, from its summary.
fn key(summary: &str) -> String {
    let words = summary
        .split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|word| !word.is_empty());
    let mut key = String::new();
    for word in words {
        if key.is_empty() {
            key.push_str(word);
        } else {
            key.extend(word.chars().next().map(|c| c.to_ascii_uppercase()));
            key.extend(word.chars().skip(1));
        }
    }
    key
}

#[cfg(test)]
mod tests {
    use super::EXAMPLES;
    use crate::webhook::{self, Class, Webhook, for_each_webhook};
    use crate::wire;
    use serde_json::{Value, json};

    fn are_as_written<W: Webhook>() {
        let examples = &EXAMPLES[W::INFO.name];
        for (summary, example) in &examples["request"] {
            let read: W = wire::from_value(example.clone()).unwrap();
            assert_eq!(
                &serde_json::to_value(read).unwrap(),
                example,
                "{}: {summary}",
                W::INFO.name
            );
        }
        for (summary, example) in &examples["response"] {
            let read: W::Response = wire::from_value(example.clone()).unwrap();
            let written: Value = serde_json::to_value(read).unwrap();
            assert_eq!(&written, example, "{}: {summary}", W::INFO.name);
        }
    }

    macro_rules! each {
        ($($(#[$doc:meta])* $hook:ident($($rest:tt)*);)*) => {
            $(are_as_written::<webhook::$hook>();)*
        };
    }

    #[test]
    fn b151_each_webhook_has_examples_that_the_types_read_and_write() {
        for_each_webhook!(each);
        assert_eq!(EXAMPLES.len(), webhook::ALL.len());
    }

    #[test]
    fn b151_each_outcome_of_each_webhook_has_an_example() {
        for webhook in webhook::ALL {
            let (member, outcomes) = match webhook.class {
                Class::Health => ("healthy", json!([true, false])),
                Class::Verdict => ("succ", json!([true, false])),
                Class::Operation => ("status", json!(["Succ", "Fail", "Running"])),
            };
            let responses = &EXAMPLES[webhook.name]["response"];
            for outcome in outcomes.as_array().unwrap() {
                let has = responses.values().any(|it| it[member] == *outcome);
                assert!(has, "{}: {outcome}", webhook.name);
            }
            let has_reason = responses.values().any(|it| it["reason"].is_string());
            assert_eq!(
                has_reason,
                webhook.class == Class::Operation,
                "{}",
                webhook.name
            );
        }
    }
}

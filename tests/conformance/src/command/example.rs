//! The sample exchanges of `explain`.

use crate::classification::Group;

/// The groups of each exchange, its call and a valid response. Bad input, life cycles and latency have
/// none.
const EXAMPLES: &str = include_str!("templates/examples.txt");

/// The lines of a typical exchange of a group; `None` for groups without one.
pub(super) fn of(group: Group) -> Option<&'static str> {
    let examples = EXAMPLES.split("\n\n");
    let mut examples = examples.filter_map(|example| example.split_once('\n'));
    let is_of = |groups: &str| groups.split(' ').any(|id| id == group.id());
    examples.find_map(|(groups, example)| is_of(groups).then_some(example))
}

#[cfg(test)]
mod tests {
    use super::*;
    use lbcf_driver_sdk::webhook::*;
    use serde_json::Value;

    #[test]
    fn examples_are_calls_of_the_specification() {
        for group in Group::ALL {
            let Some(example) = of(group) else { continue };
            let lines: Vec<&str> = example.lines().collect();
            let [webhook, request, "HTTP 200", response] = lines[..] else {
                panic!("{group:?}: {example}")
            };
            let webhook = webhook.strip_prefix("POST /").unwrap();
            let request: Value = serde_json::from_str(request).unwrap();
            let response: Value = serde_json::from_str(response).unwrap();
            if let Some(status) = response.get("status") {
                let record_id = request["recordID"].as_str().unwrap();
                assert!(record_id.starts_with(&format!("{webhook}(")), "{group:?}");
                assert!(["Succ", "Running"].contains(&status.as_str().unwrap()));
            }
            read(webhook, request);
        }
    }

    /// Panics unless the SDK accepts the request.
    fn read(webhook: &str, request: Value) {
        fn reader<W: Webhook>() -> (&'static str, fn(Value) -> Option<serde_json::Error>) {
            (W::INFO.name, |request| {
                serde_json::from_value::<W>(request).err()
            })
        }
        let readers = [
            reader::<Healthz>(),
            reader::<ValidateLoadBalancer>(),
            reader::<CreateLoadBalancer>(),
            reader::<EnsureLoadBalancer>(),
            reader::<DeleteLoadBalancer>(),
            reader::<ValidateBackend>(),
            reader::<GenerateBackendAddr>(),
            reader::<EnsureBackend>(),
            reader::<DeregisterBackend>(),
            reader::<JudgePodDeregister>(),
            reader::<ListBackends>(),
        ];
        let (_, read) = readers.iter().find(|(name, _)| *name == webhook).unwrap();
        let wrong = read(request);
        assert!(wrong.is_none(), "{webhook}: {wrong:?}");
    }
}

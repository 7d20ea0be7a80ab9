//! The output of `lbcf why`.

use crate::cluster::Unseen;
use crate::finding::{Chain, Finding, Fix};
use crate::printed::push_line;
use serde_json::{Value, json};

/// A paragraph for each way: the first cause, what follows from it, and what helps.
#[must_use]
pub fn text(chains: &[Chain], unseen: &[Unseen]) -> String {
    let mut text = String::new();
    for chain in chains {
        for (number, finding) in chain.iter().enumerate() {
            let so = if number == 0 { "" } else { "  so " };
            let since = finding
                .since
                .as_ref()
                .map(|since| format!(", since {since}"));
            let since = since.unwrap_or_default();
            push_line(
                &mut text,
                &format!("{so}{} {}{since}", finding.object, finding.message),
            );
        }
        if let Some(first) = chain.first() {
            let (Fix::Run(fix) | Fix::Advice(fix)) = &first.fix;
            push_line(&mut text, &format!("  fix: {fix}"));
            if let Some(reason) = first.reason {
                push_line(
                    &mut text,
                    &format!("  see: docs/reasons.md#{}", reason.to_lowercase()),
                );
            }
        }
        text.push('\n');
    }
    for Unseen { what, why } in unseen {
        push_line(&mut text, &format!("not seen: {what}: {why}"));
    }
    text
}

/// The same as a document.
#[must_use]
pub fn json(chains: &[Chain], unseen: &[Unseen]) -> Value {
    let finding = |finding: &Finding| {
        let (kind, key) = (finding.object.kind.to_string(), &finding.object.key);
        json!({
            "object": {"kind": kind, "namespace": *key.namespace, "name": *key.name},
            "reason": finding.reason.map(ToString::to_string),
            "message": finding.message,
            "since": finding.since,
            "fix": finding.fix,
        })
    };
    let chains = chains
        .iter()
        .map(|chain| chain.iter().map(finding).collect());
    let unseen = unseen
        .iter()
        .map(|it| json!({"what": it.what, "why": it.why}));
    json!({"causes": chains.collect::<Vec<Value>>(), "unseen": unseen.collect::<Vec<_>>()})
}

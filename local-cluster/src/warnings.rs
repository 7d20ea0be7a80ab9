//! Warnings to clients, within bounds.

/// The most warnings of a request.
const MAX_WARNINGS: usize = 256;
/// The most characters of warnings in a response.
const MAX_CHARACTERS: usize = 4096;
/// To how many characters each warning is truncated if there are more.
const SHORT: usize = 256;

/// Adds warnings, without duplicates.
pub(crate) fn note(warnings: &mut Vec<String>, more: impl IntoIterator<Item = String>) {
    for warning in more {
        if warnings.len() >= MAX_WARNINGS {
            return;
        }
        if warning.is_empty() || warnings.contains(&warning) {
            continue;
        }
        // One character more than the limit, so that it still exceeds it.
        warnings.push(match warning.char_indices().nth(MAX_CHARACTERS + 1) {
            Some((end, _)) => warning.get(..end).unwrap_or_default().to_owned(),
            None => warning,
        });
    }
}

/// The warnings, truncated to the limit of a response.
pub(crate) fn truncated(warnings: &[String]) -> Vec<String> {
    let length = |text: &String| text.chars().count();
    if warnings.iter().map(length).sum::<usize>() <= MAX_CHARACTERS {
        return warnings.to_vec();
    }
    let mut left = MAX_CHARACTERS;
    warnings
        .iter()
        .map(|warning| warning.chars().take(SHORT).collect::<String>())
        .take_while(|warning| match left.checked_sub(length(warning)) {
            Some(rest) => {
                left = rest;
                true
            }
            None => false,
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn duplicates_are_dropped() {
        let mut warnings = Vec::new();
        note(&mut warnings, ["a", "", "b", "a"].map(str::to_owned));
        note(&mut warnings, ["b", "c"].map(str::to_owned));
        assert_eq!(truncated(&warnings), ["a", "b", "c"]);
    }

    #[test]
    fn too_many_warnings_are_truncated() {
        let mut warnings = Vec::new();
        note(&mut warnings, (0..10_000).map(|n| n.to_string()));
        assert_eq!(
            (warnings.len(), truncated(&warnings).len()),
            (MAX_WARNINGS, MAX_WARNINGS)
        );

        let mut warnings = Vec::new();
        note(
            &mut warnings,
            [
                format!("{}ü", "x".repeat(MAX_CHARACTERS)),
                "ü".repeat(1_000_000),
            ],
        );
        assert!(
            warnings
                .iter()
                .all(|w| w.chars().count() == MAX_CHARACTERS + 1)
        );
        let sent = truncated(&warnings);
        assert_eq!(
            (sent.len(), sent[1].as_str()),
            (2, "ü".repeat(SHORT).as_str())
        );
    }
}

//! What users are told besides the answer, within bounds.

/// How many warnings are kept of one request.
const MAX_WARNINGS: usize = 256;
/// As many characters of warnings as an answer carries; with more, each is cut short.
const MAX_CHARACTERS: usize = 4096;
const SHORT: usize = 256;

/// Notes more to tell, each thing once.
pub(crate) fn note(said: &mut Vec<String>, more: impl IntoIterator<Item = String>) {
    for warning in more {
        if said.len() >= MAX_WARNINGS {
            return;
        }
        if warning.is_empty() || said.contains(&warning) {
            continue;
        }
        // One more than is told, so that it still counts as too much.
        said.push(match warning.char_indices().nth(MAX_CHARACTERS + 1) {
            Some((end, _)) => warning.get(..end).unwrap_or_default().to_owned(),
            None => warning,
        });
    }
}

/// As much of what is to be told as an answer carries.
pub(crate) fn told(said: &[String]) -> Vec<String> {
    let length = |text: &String| text.chars().count();
    if said.iter().map(length).sum::<usize>() <= MAX_CHARACTERS {
        return said.to_vec();
    }
    let mut left = MAX_CHARACTERS;
    said.iter()
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
    fn everything_is_told_once() {
        let mut said = Vec::new();
        note(&mut said, ["a", "", "b", "a"].map(str::to_owned));
        note(&mut said, ["b", "c"].map(str::to_owned));
        assert_eq!(told(&said), ["a", "b", "c"]);
    }

    #[test]
    fn too_much_is_cut_short() {
        let mut said = Vec::new();
        note(&mut said, (0..10_000).map(|n| n.to_string()));
        assert_eq!(
            (said.len(), told(&said).len()),
            (MAX_WARNINGS, MAX_WARNINGS)
        );

        let mut said = Vec::new();
        note(
            &mut said,
            [
                format!("{}ü", "x".repeat(MAX_CHARACTERS)),
                "ü".repeat(1_000_000),
            ],
        );
        assert!(said.iter().all(|w| w.chars().count() == MAX_CHARACTERS + 1));
        let told = told(&said);
        assert_eq!(
            (told.len(), told[1].as_str()),
            (2, "ü".repeat(SHORT).as_str())
        );
    }
}

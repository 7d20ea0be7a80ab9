//! Files are split into documents, as text: what needs no conversion is returned with its comments.

use super::change::ConversionError;
use serde_json::Value;
use serde_saphyr::options::DuplicateKeyPolicy;

/// The text of one file, in YAML or JSON, and the name that messages use for it.
#[derive(Debug, Clone)]
pub struct ManifestFile {
    /// The file's path, or `stdin`.
    pub name: String,
    /// Any number of documents, separated by lines of `---`.
    pub text: String,
}

/// Deeper than any manifest, and limited because each level needs stack.
const MAX_DEPTH: usize = 100;

/// A document of a file.
#[derive(Debug)]
pub(super) struct Document<'a> {
    /// The file and the number of the document in it, from 1.
    pub(super) name: String,
    text: &'a str,
    pub(super) value: Value,
}

impl<'a> Document<'a> {
    /// The documents of a file that have any content.
    pub(super) fn parse_all(
        file: &'a ManifestFile,
    ) -> impl Iterator<Item = Result<Self, ConversionError>> {
        let texts = split(&file.text)
            .into_iter()
            .filter(|(_, text)| has_content(text));
        texts.enumerate().map(|(i, (first_line, text))| {
            let name = format!("{}: document {}", file.name, i + 1);
            let value = parse(text, first_line).and_then(|value| match value {
                Value::Object(_) => Ok(value),
                other => Err(format!(
                    "{other}: must be an object with apiVersion and kind"
                )),
            });
            match value {
                Ok(value) => Ok(Self { name, text, value }),
                Err(problem) => Err(ConversionError {
                    object: name,
                    problem,
                }),
            }
        })
    }

    /// The document as YAML; the original text if it was not changed.
    pub(super) fn text(&self, is_changed: bool) -> Result<String, ConversionError> {
        if is_changed {
            return serde_saphyr::to_string(&self.value).map_err(|error| ConversionError {
                object: self.name.clone(),
                problem: format!("cannot be written as YAML: {error}"),
            });
        }
        let mut text = self.text.trim_start_matches(['\r', '\n']).to_owned();
        if !text.ends_with('\n') {
            text.push('\n');
        }
        Ok(text)
    }
}

/// The items of a list object such as `kubectl get -o yaml` prints; `None` for any other object.
pub(super) fn list_items(document: &mut Value) -> Option<&mut Vec<Value>> {
    if !is_list(document) {
        return None;
    }
    document.get_mut("items")?.as_array_mut()
}

/// The objects in a document: the items of a list, or else the one object.
pub(super) fn objects(document: &Value) -> impl Iterator<Item = &Value> {
    let items = document.get("items").and_then(Value::as_array);
    let items = items.filter(|_| is_list(document));
    let itself = items.is_none().then_some(document);
    itself.into_iter().chain(items.into_iter().flatten())
}

fn is_list(document: &Value) -> bool {
    let kind = document.get("kind").and_then(Value::as_str);
    kind.is_some_and(|kind| kind.ends_with("List"))
}

/// The texts between lines of `---`, with the number of the line that each begins on, from 1.
fn split(text: &str) -> Vec<(usize, &str)> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let (mut parts, mut begin, mut first_line, mut at) = (Vec::new(), 0, 1, 0);
    for (i, line) in text.split_inclusive('\n').enumerate() {
        let rest = line.strip_prefix("---");
        if rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(char::is_whitespace)) {
            parts.push((first_line, &text[begin..at]));
            // The rest of the line may be a comment or content.
            (begin, first_line) = (at + "---".len(), i + 1);
        }
        at += line.len();
    }
    parts.push((first_line, &text[begin..]));
    parts
}

/// True if there is more than blank lines and comments.
fn has_content(text: &str) -> bool {
    let mut lines = text.lines().map(str::trim_start);
    lines.any(|line| !line.is_empty() && !line.starts_with('#'))
}

fn parse(text: &str, first_line: usize) -> Result<Value, String> {
    let options = serde_saphyr::options! {
        // As kubectl reads YAML, that of version 1.1: the mode of a file is written 0644, and `yes` is true.
        duplicate_keys: DuplicateKeyPolicy::LastWins,
        legacy_octal_numbers: true,
        with_snippet: false,
        // Aliases must not expand a short text into a huge document.
        alias_limits: serde_saphyr::alias_limits! {
            max_total_replayed_events: 100_000,
        },
        budget: serde_saphyr::budget! {
            max_depth: MAX_DEPTH,
        },
    };
    serde_saphyr::from_str_with_options(text, options).map_err(|error| {
        let message = error.to_string();
        let problem = message.lines().next().unwrap_or_default();
        let problem = problem.strip_prefix("error: ").unwrap_or(problem);
        let Some(at) = error.location().filter(|at| at.line() > 0) else {
            return format!("invalid YAML: {problem}");
        };
        let (line, column) = (at.line(), at.column());
        let suffix = format!(" at line {line}, column {column}");
        let problem = problem.strip_suffix(suffix.as_str()).unwrap_or(problem);
        let line = usize::try_from(line).unwrap_or(usize::MAX);
        let line = line.saturating_add(first_line - 1);
        format!("line {line}, column {column}: invalid YAML: {problem}")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_are_split_at_marker_lines_only() {
        let text = "\u{feff}# first\na: 1\n--- # second\r\nb: |\n  ---\n  --- x\nc: ---d\n---\n---";
        let parts = split(text);
        assert_eq!(
            parts,
            [
                (1, "# first\na: 1\n"),
                (3, " # second\r\nb: |\n  ---\n  --- x\nc: ---d\n"),
                (8, "\n"),
                (9, ""),
            ]
        );
        let with_content = parts.iter().filter(|(_, text)| has_content(text));
        assert_eq!(with_content.count(), 2);
    }

    #[test]
    fn an_error_names_the_line_in_the_file() {
        let file = ManifestFile {
            name: "a.yaml".to_owned(),
            text: "kind: X\n---\nkind: Y\nmetadata: {\n---\n- 1\n---\nkind: Z\n".to_owned(),
        };
        let errors: Vec<String> = Document::parse_all(&file)
            .filter_map(Result::err)
            .map(|error| error.to_string())
            .collect();
        assert_eq!(errors.len(), 2, "{errors:?}");
        assert!(
            errors[0].starts_with("a.yaml: document 2: line 4, column "),
            "{errors:?}"
        );
        assert_eq!(
            errors[1],
            "a.yaml: document 3: [1]: must be an object with apiVersion and kind"
        );
    }

    #[test]
    fn aliases_cannot_expand_a_text_without_limit() {
        let mut text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
        for i in 1..9 {
            let before = format!("*a{}, ", i - 1).repeat(10);
            text.push_str(&format!("a{i}: &a{i} [{before}]\n"));
        }
        assert!(parse(&text, 1).is_err());
        let deep = format!("{}{}", "[".repeat(5000), "]".repeat(5000));
        assert!(parse(&deep, 1).is_err());
    }
}

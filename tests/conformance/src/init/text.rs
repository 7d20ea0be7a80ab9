//! The text of a first fixture. Unknown values are examples in comments, so that a run works with the
//! unchanged file.

use super::probe::{EmptySpec, Findings, Url};
use super::schema::{Field, one_line};
use std::fmt::Write as _;
use textwrap::{Options, WordSeparator, WordSplitter, WrapAlgorithm};

/// The width of comments, in characters.
const WIDTH: usize = 100;

/// The file, with lines such as `@url@` for what depends on the driver.
const TEMPLATE: &str = include_str!("templates/conformance.yaml");

pub(super) fn fixture(findings: &Findings) -> String {
    let (empty_spec, maps) = (findings.result.empty_spec(), &findings.maps);
    let mut file = Lines::default();
    for line in TEMPLATE.lines() {
        match line {
            "@url@" => url(&mut file, findings.url.as_ref()),
            "@empty spec@" => about_empty_spec(&mut file, empty_spec),
            "@valid@" => {
                let sample = r#"#- lbSpec: {vpcID: vpc-1, name: "{{unique}}", port: "{{number}}"}"#;
                map(&mut file, 4, sample, &maps.lb_spec);
                let sample = r#"#attributes: {bandwidth: "1"}"#;
                map(&mut file, 6, sample, &maps.attributes);
            }
            "@invalid@" => invalid(&mut file, empty_spec),
            "@unknown@" => file.line(2, &unknown_lb_info(&maps.lb_info)),
            "@parameters@" => map(&mut file, 6, r#"#- {weight: "50"}"#, &maps.parameters),
            // Named features are all that the driver has.
            "  #- backend.pod" if !findings.optional.is_empty() => file.line(2, "- backend.pod"),
            line => match line.strip_prefix("  #- ") {
                Some(feature) if findings.optional.contains(&feature) => {
                    file.line(2, &format!("- {feature}"));
                }
                _ => file.line(0, line),
            },
        }
    }
    file.0
}

fn url(file: &mut Lines, url: Option<&Url>) {
    let (cut, line) = match url {
        None => ("", "#url: http://127.0.0.1:8080".to_owned()),
        Some(Url {
            shown,
            is_cut: false,
        }) => ("", format!("url: {}", quoted(shown))),
        Some(Url { shown, .. }) => {
            let cut = " User and password are left out here.";
            (cut, format!("#url: {}", quoted(shown)))
        }
    };
    file.prose(2, &format!("The default without --url and --exec.{cut}"));
    file.line(2, &line);
}

fn about_empty_spec(file: &mut Lines, empty_spec: Option<&EmptySpec>) {
    let about = match empty_spec {
        None => "Without a sample the kit uses an empty lbSpec, which most drivers reject.",
        Some(EmptySpec::Accepted) => {
            "The driver accepts an empty lbSpec, so this may stay unchanged."
        }
        Some(EmptySpec::Rejected(message)) => {
            let message = match message.as_str() {
                "" => "no message",
                message => message,
            };
            let about = format!("The driver rejected an empty lbSpec: {message}");
            file.prose(2, &about);
            "Without a sample most checks are skipped."
        }
        Some(EmptySpec::Invalid(problem)) => {
            &format!("The driver's response to an empty lbSpec is invalid: {problem}")
        }
    };
    file.prose(2, about);
}

fn invalid(file: &mut Lines, empty_spec: Option<&EmptySpec>) {
    const REJECTED: &str = r#"- {lbSpec: {}, reason: "the driver rejected it during init"}"#;
    const NO_SUCH: &str = r#"- {lbSpec: {vpcID: "no such"}, reason: "the network does not exist"}"#;
    const EMPTY: &str = r#"- {lbSpec: {}, reason: "vpcID is required"}"#;
    let (mark, item) = match empty_spec {
        Some(EmptySpec::Rejected(_)) => ("", REJECTED),
        Some(EmptySpec::Accepted) => ("#", NO_SUCH),
        Some(EmptySpec::Invalid(_)) | None => ("#", EMPTY),
    };
    file.line(2, &format!("{mark}invalid:"));
    file.line(4, &format!("{mark}{item}"));
}

fn unknown_lb_info(lb_info: &[Field]) -> String {
    let required = lb_info.iter().filter(|field| field.is_required);
    let pairs = required.map(|field| format!("{}: doesnotexist", key(&field.name)));
    let pairs = match pairs.collect::<Vec<_>>().join(", ") {
        none if none.is_empty() => "lbID: lb-doesnotexist".to_owned(),
        pairs => pairs,
    };
    format!("#unknownLBInfo: {{{pairs}}}")
}

/// A map as an example: the documented fields, each with its description, or else a sample.
fn map(file: &mut Lines, indent: usize, sample: &str, fields: &[Field]) {
    const INDENT: usize = 8;
    if fields.is_empty() {
        return file.line(indent, sample);
    }
    // Keys have their own lines, because each has a comment above.
    let (start, _) = sample.split_once(" {").unwrap_or_default();
    file.line(indent, start);
    for field in fields {
        let required = if field.is_required { "Required. " } else { "" };
        file.prose(INDENT, &format!("{required}{}", field.about));
        let line = format!("#{}: {}", key(&field.name), quoted(&field.example));
        file.line(INDENT, &line);
    }
}

/// A name as a key: in quotes, unless it is certainly a text.
fn key(name: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_-.".contains(c);
    let words = [
        "true", "false", "null", "yes", "no", "on", "off", "y", "n", "nan", "inf",
    ];
    let plain = name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.chars().all(is_plain)
        && !words.contains(&name.to_ascii_lowercase().as_str());
    if plain { name.to_owned() } else { quoted(name) }
}

/// A text in double quotes, valid in JSON and YAML.
fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

#[derive(Default)]
struct Lines(String);

impl Lines {
    fn line(&mut self, indent: usize, line: &str) {
        let indent = if line.is_empty() { 0 } else { indent };
        let _ = writeln!(self.0, "{:indent$}{line}", "");
    }

    /// A wrapped comment. The text may be untrusted, and stays a comment.
    fn prose(&mut self, indent: usize, text: &str) {
        let options = Options::new(WIDTH - indent - 2)
            .break_words(false)
            .word_separator(WordSeparator::AsciiSpace)
            .word_splitter(WordSplitter::NoHyphenation)
            .wrap_algorithm(WrapAlgorithm::FirstFit);
        for line in textwrap::wrap(&one_line(text, usize::MAX), options)
            .iter()
            .filter(|line| !line.is_empty())
        {
            self.line(indent, &format!("# {line}"));
        }
    }
}

#[cfg(test)]
mod tests;

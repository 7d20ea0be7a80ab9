//! The text of a first fixture. Unknown values are examples in comments, so that a run works with the
//! unchanged file.

use super::probe::{EmptySpec, Findings, ProbeResult};
use super::schema::{Field, Maps};
use std::fmt::Write as _;
use textwrap::{Options, WordSeparator, WordSplitter, WrapAlgorithm};

/// The width of comments, in characters.
const WIDTH: usize = 100;

/// The file, with lines such as `@url@` for what depends on the driver.
const TEMPLATE: &str = include_str!("templates/conformance.yaml");

pub(super) fn fixture(findings: &Findings) -> String {
    let mut file = Lines::default();
    for line in TEMPLATE.lines() {
        match line {
            "@url@" => url(&mut file, findings),
            "@empty spec@" => about_empty_spec(&mut file, &findings.result),
            "@valid@" => valid(&mut file, &findings.maps),
            "@invalid@" => invalid(&mut file, &findings.result),
            "@unknown@" => file.line(2, &unknown_lb_info(&findings.maps.lb_info)),
            "@parameters@" => parameters(&mut file, &findings.maps.parameters),
            line => file.line(0, line),
        }
    }
    file.0
}

fn url(file: &mut Lines, findings: &Findings) {
    const ABOUT: &str = "The default without --url and --exec.";
    match &findings.url {
        None => {
            file.prose(2, ABOUT);
            file.line(2, "#url: http://127.0.0.1:8080");
        }
        Some(url) if url.is_cut => {
            file.prose(2, &format!("{ABOUT} User and password are left out here."));
            file.line(2, &format!("#url: {}", quoted(&url.shown)));
        }
        Some(url) => {
            file.prose(2, ABOUT);
            file.line(2, &format!("url: {}", quoted(&url.shown)));
        }
    }
}

fn about_empty_spec(file: &mut Lines, result: &ProbeResult) {
    let ProbeResult::Probed { empty_spec, .. } = result else {
        let unknown = "Without a sample the kit uses an empty lbSpec, which most drivers reject.";
        return file.prose(2, unknown);
    };
    match empty_spec {
        EmptySpec::Accepted => {
            file.prose(
                2,
                "The driver accepts an empty lbSpec, so this may stay unchanged.",
            );
        }
        EmptySpec::Rejected(message) => {
            let message = if message.is_empty() {
                "no message"
            } else {
                message
            };
            file.prose(
                2,
                &format!("The driver rejected an empty lbSpec: {message}"),
            );
            file.prose(2, "Without a sample most checks are skipped.");
        }
        EmptySpec::Invalid(problem) => {
            let about = "The driver's response to an empty lbSpec is invalid";
            file.prose(2, &format!("{about}: {problem}"));
        }
    }
}

fn valid(file: &mut Lines, maps: &Maps) {
    if maps.lb_spec.is_empty() {
        file.line(
            4,
            r#"#- lbSpec: {vpcID: vpc-1, name: "{{unique}}", port: "{{number}}"}"#,
        );
    } else {
        file.line(4, "#- lbSpec:");
        fields(file, 8, &maps.lb_spec);
    }
    if maps.attributes.is_empty() {
        file.line(6, r#"#attributes: {bandwidth: "1"}"#);
    } else {
        file.line(6, "#attributes:");
        fields(file, 8, &maps.attributes);
    }
}

fn invalid(file: &mut Lines, result: &ProbeResult) {
    let empty_spec = match result {
        ProbeResult::Probed { empty_spec, .. } => Some(empty_spec),
        ProbeResult::Unreachable(_) | ProbeResult::NotProbed => None,
    };
    let (list, item) = match empty_spec {
        Some(EmptySpec::Rejected(_)) => (
            "invalid:",
            r#"- {lbSpec: {}, reason: "the driver rejected it during init"}"#,
        ),
        Some(EmptySpec::Accepted) => (
            "#invalid:",
            r#"#- {lbSpec: {vpcID: "no such"}, reason: "the network does not exist"}"#,
        ),
        Some(EmptySpec::Invalid(_)) | None => (
            "#invalid:",
            r#"#- {lbSpec: {}, reason: "vpcID is required"}"#,
        ),
    };
    file.line(2, list);
    file.line(4, item);
}

fn unknown_lb_info(lb_info: &[Field]) -> String {
    let pairs: Vec<String> = lb_info
        .iter()
        .filter(|field| field.is_required)
        .map(|field| format!("{}: doesnotexist", key(&field.name)))
        .collect();
    if pairs.is_empty() {
        return "#unknownLBInfo: {lbID: lb-doesnotexist}".to_owned();
    }
    format!("#unknownLBInfo: {{{}}}", pairs.join(", "))
}

fn parameters(file: &mut Lines, parameters: &[Field]) {
    if parameters.is_empty() {
        file.line(6, r#"#- {weight: "50"}"#);
    } else {
        // The dash has its own line, because each key has a comment above.
        file.line(6, "#-");
        fields(file, 8, parameters);
    }
}

/// Fields as examples, each with its description.
fn fields(file: &mut Lines, indent: usize, fields: &[Field]) {
    for field in fields {
        let required = if field.is_required { "Required. " } else { "" };
        file.prose(indent, &format!("{required}{}", field.about));
        let line = format!("#{}: {}", key(&field.name), quoted(&field.example));
        file.line(indent, &line);
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
        let words = text.split(|c: char| c.is_control() || c.is_whitespace());
        let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
        let options = Options::new(WIDTH - indent - 2)
            .break_words(false)
            .word_separator(WordSeparator::AsciiSpace)
            .word_splitter(WordSplitter::NoHyphenation)
            .wrap_algorithm(WrapAlgorithm::FirstFit);
        for line in textwrap::wrap(&words.join(" "), options)
            .iter()
            .filter(|line| !line.is_empty())
        {
            self.line(indent, &format!("# {line}"));
        }
    }
}

#[cfg(test)]
mod tests;

//! The description of a driver: valid and invalid fields, and the features of the driver. Everything
//! is optional; checks that need a missing part are skipped.
//!
//! It is a YAML file (JSON is YAML, too):
//!
//! ```
//! use lbcf_conformance::fixture::Fixture;
//! use std::path::Path;
//!
//! let text = r#"
//! apiVersion: lbcf.dev/v1
//! kind: ConformanceFixture
//! features: [async, backend.pod]
//! loadBalancer:
//!   valid: [{lbSpec: {vpc: vpc-1, name: "{{unique}}"}, attributes: {bandwidth: 1}}]
//! budgets: {async: 2m}
//! "#;
//! let fixture = Fixture::parse(text, Path::new("conformance.yaml"), &["ENS-02"])?;
//! // A number keeps its text.
//! assert_eq!(fixture.load_balancer.valid[0].attributes["bandwidth"], "1");
//!
//! let error = Fixture::parse("loadBalancer: {vaild: []}", Path::new("x.yaml"), &[]).unwrap_err();
//! assert_eq!(
//!     error.to_string(),
//!     "x.yaml: line 1: loadBalancer.vaild: not a field \
//!      (valid, invalid, update, unknownLBInfo, reuse, reuseLB): did you mean valid?"
//! );
//! # Ok::<(), lbcf_conformance::fixture::FixtureError>(())
//! ```

pub mod duration;
mod known_failures;
mod model;
pub mod placeholders;
#[cfg(test)]
mod tests;
mod values;

pub(crate) use values::or_default;
pub(crate) mod yaml;

pub use known_failures::{parse_known_failures, read_known_failures};
pub use model::{
    Action, Backends, Budgets, Endpoint, Fixture, FixtureError, LoadBalancerSample, LoadBalancers,
    Observe, Parameters, Updates,
};

use crate::files;
use model::LIMIT;
use serde_json::{Map, Value};
use std::path::Path;
use values::{API_VERSION, KIND, PodTemplate};
use yaml::{Problem, quoted};

impl Fixture {
    /// Reads a fixture, and the file of its pod template. `check_ids` are the ids of all checks, for
    /// `knownFailures`.
    ///
    /// # Errors
    /// [`FixtureError`], which names the line, the field, the value and what is allowed.
    pub fn read(path: &Path, check_ids: &[&str]) -> Result<Self, FixtureError> {
        let text = files::read_text(path, LIMIT).map_err(|problem| {
            let advice = if problem == files::NO_SUCH_FILE {
                "; `lbcf conformance init` writes one"
            } else {
                ""
            };
            FixtureError::new(path, format!("{problem}{advice}"))
        })?;
        let mut fixture = Self::parse(&text, path, check_ids)?;
        fixture.source = Some(path.display().to_string());
        Ok(fixture)
    }

    /// Parses a fixture. The path is for errors, and relative file names start from its folder.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub fn parse(text: &str, path: &Path, check_ids: &[&str]) -> Result<Self, FixtureError> {
        let failed = |problem| FixtureError::new(path, problem);
        let mut fixture = document(text, check_ids).map_err(failed)?;
        if let Some(template) = fixture.backend.template.take() {
            let line = template.referenced.line();
            let place = format!("line {line}: backend.podTemplate");
            fixture.backend.pod_template = Some(match template.value {
                PodTemplate::Pod(pod) => pod,
                PodTemplate::File(file) => pod_in(&file, path)
                    .map_err(|problem| failed(format!("{place}: {}: {problem}", quoted(&file))))?,
            });
        }
        Ok(fixture)
    }

    /// Parses a fixture that a driver serves, without reading files, and tells whether it names one;
    /// `None` unless the text is a document of this kind.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    pub(crate) fn parse_served(
        text: &str,
        url: &str,
        check_ids: &[&str],
    ) -> Result<Option<(Self, bool)>, FixtureError> {
        let has = |field: &str, word: &str| {
            let mut lines = text.lines();
            lines.any(|line| line.contains(field) && line.contains(word))
        };
        if !has("kind", KIND) || !has("apiVersion", API_VERSION) {
            return Ok(None);
        }
        let fixture = document(text, check_ids);
        let mut fixture = fixture.map_err(|problem| FixtureError::new(Path::new(url), problem))?;
        let template = fixture.backend.template.take();
        let names_a_file = match template.map(|template| template.value) {
            Some(PodTemplate::Pod(pod)) => {
                fixture.backend.pod_template = Some(pod);
                false
            }
            template => template.is_some(),
        };
        Ok(Some((fixture, names_a_file)))
    }
}

/// A fixture whose pod template has not been read yet.
fn document(text: &str, check_ids: &[&str]) -> Result<Fixture, Problem> {
    files::within(text.len(), LIMIT)?;
    let mut fixture: Fixture = yaml::parse(text)?;
    let known = std::mem::take(&mut fixture.known);
    fixture.known_failures = known_failures::by_id(known, "knownFailures", check_ids)?;
    if fixture.fault == Some(Action::Exec) {
        return Err("fault: exec only restarts a driver: expected one of url, command".to_owned());
    }
    fixture.digest = Some(digest(text));
    Ok(fixture)
}

/// The Pod in a file that a fixture names.
fn pod_in(file: &str, fixture: &Path) -> Result<Map<String, Value>, Problem> {
    let beside = fixture.parent().unwrap_or(Path::new("")).join(file);
    let text = files::read_text(&beside, LIMIT);
    let pod = text.and_then(|text| yaml::parse(&text).and_then(values::pod));
    pod.map_err(|problem| format!("{}: {problem}", beside.display()))
}

/// SHA-256 as hexadecimal digits.
fn digest(text: &str) -> String {
    let digest = ring::digest::digest(&ring::digest::SHA256, text.as_bytes());
    let byte = |byte: &u8| format!("{byte:02x}");
    digest.as_ref().iter().map(byte).collect()
}

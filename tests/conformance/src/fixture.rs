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
//!      (valid, invalid, update, unknownLBInfo, reuse): did you mean valid?"
//! );
//! # Ok::<(), lbcf_conformance::fixture::FixtureError>(())
//! ```

pub mod duration;
mod known_failures;
mod node;
pub mod placeholders;
mod sections;
#[cfg(test)]
mod tests;
mod value;

pub use known_failures::{parse_known_failures, read_known_failures};
pub(crate) use sections::{API_VERSION, KIND};

use crate::classification::Feature;
use crate::files;
use crate::report::DriverInfo;
use crate::transport::without_user;
use lbcf_driver_sdk::webhook::StringMap;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The largest fixture, in bytes.
const LIMIT: u64 = 1 << 20;

/// The description of a driver.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Fixture {
    /// The driver's name and maker, for reports.
    pub driver: DriverInfo,
    /// URL, timeouts and headers.
    pub endpoint: Endpoint,
    /// The declared features; `None` when the fixture omits them.
    pub features: Option<BTreeSet<Feature>>,
    /// Samples of load balancers.
    pub load_balancer: LoadBalancers,
    /// Samples of backends, which checks register at the load balancers.
    pub backend: Backends,
    /// How to observe the driver's cloud.
    pub observe: Option<Observe>,
    /// How to restart the driver.
    pub restart: Option<Action>,
    /// How to make the driver's cloud fail for a while.
    pub fault: Option<Action>,
    /// The most time that operations and the run may take.
    pub budgets: Budgets,
    /// The values of `{{number}}`; `None` for those of the machine.
    pub numbers: Option<RangeInclusive<u16>>,
    /// The reasons of known failures by check id.
    pub known_failures: BTreeMap<String, String>,
    /// The file or URL that it was read from, for reports; `None` without one.
    pub source: Option<String>,
    /// SHA-256 of the file; `None` without one.
    pub digest: Option<String>,
}

/// How a driver is called. The debug output contains neither passwords nor values of headers.
#[derive(Clone, Default, PartialEq)]
pub struct Endpoint {
    /// The URL, unless a flag sets it.
    pub url: Option<String>,
    /// The timeout of a call; 10 s by default.
    pub timeout: Option<Duration>,
    /// The timeouts by the names of webhooks.
    pub timeouts: BTreeMap<String, Duration>,
    /// Headers of each call.
    pub headers: BTreeMap<String, String>,
}

/// A load balancer to create. Its values may contain [placeholders].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LoadBalancerSample {
    /// The `lbSpec` of all its requests.
    pub lb_spec: StringMap,
    /// The `attributes` with which it is created.
    pub attributes: StringMap,
    /// Why an invalid sample is invalid.
    pub reason: String,
}

/// Samples of load balancers.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LoadBalancers {
    /// Samples that the driver accepts. Without any, checks use an empty `lbSpec`.
    pub valid: Vec<LoadBalancerSample>,
    /// Samples that the driver must reject.
    pub invalid: Vec<LoadBalancerSample>,
    /// An allowed update of the attributes of the first valid sample.
    pub update: Option<StringMap>,
    /// Updates of these attributes that the driver must reject.
    pub forbidden: Vec<StringMap>,
    /// The identity of a load balancer that does not exist.
    pub unknown_lb_info: Option<StringMap>,
    /// Whether checks may share a load balancer.
    pub reuse: bool,
}

/// Samples of parameters and addresses of backends.
#[derive(Debug, Clone, PartialEq)]
pub struct Backends {
    /// Parameters that the driver accepts.
    pub valid: Vec<StringMap>,
    /// Parameters that the driver must reject.
    pub invalid: Vec<StringMap>,
    /// An allowed update of the first valid parameters.
    pub update: Option<StringMap>,
    /// A Pod as template of generated pods; name, uid and addresses are replaced.
    pub pod_template: Option<serde_json::Map<String, serde_json::Value>>,
    /// Addresses for drivers that only support static backends.
    pub static_addrs: Vec<String>,
    /// An address that is not registered.
    pub unknown_addr: String,
}

/// How to observe a driver's cloud.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Observe {
    /// GET of this URL.
    Url(String),
    /// The output of this program.
    Command(Vec<String>),
}

/// How to restart a driver, or to make its cloud fail.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// POST to this URL.
    Url(String),
    /// Runs this program; `{on|off}` in an argument is replaced by `on` or `off`.
    Command(Vec<String>),
    /// Kills the program of `--exec` and starts it again.
    Exec,
}

/// The most time that operations and the run may take.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Budgets {
    /// For one operation until it is no longer Running; 45 s by default.
    pub asynchronous: Duration,
    /// For the whole run; 10 min by default.
    pub total: Duration,
}

/// Why a file is not a valid fixture.
#[derive(Debug, thiserror::Error)]
#[error("{}: {problem}", path.display())]
pub struct FixtureError {
    /// The path of the fixture.
    pub path: PathBuf,
    /// The line, the field, the value and what is allowed.
    pub problem: String,
}

impl Default for Backends {
    fn default() -> Self {
        Self {
            valid: Vec::new(),
            invalid: Vec::new(),
            update: None,
            pod_template: None,
            static_addrs: Vec::new(),
            unknown_addr: "10.255.255.254:1".to_owned(),
        }
    }
}

impl Default for Budgets {
    fn default() -> Self {
        Self {
            asynchronous: Duration::from_secs(45),
            total: Duration::from_secs(600),
        }
    }
}

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
        files::within(text.len(), LIMIT).map_err(failed)?;
        let node = node::parse(text).map_err(failed)?;
        let parsed =
            sections::fixture(value::FixtureValue::root(&node), check_ids).map_err(failed)?;
        let mut fixture = parsed.fixture;
        if let Some(at) = parsed.pod_template_file {
            let template = at.text().and_then(|named| {
                let beside = path.parent().unwrap_or(Path::new("")).join(named);
                let wrong = |problem| at.wrong(format_args!("{}: {problem}", beside.display()));
                let text = files::read_text(&beside, LIMIT).map_err(wrong)?;
                let node = node::parse(&text).map_err(wrong)?;
                sections::pod_template(node.to_json()).map_err(wrong)
            });
            fixture.backend.pod_template = Some(template.map_err(failed)?);
        }
        fixture.digest = Some(digest(text));
        Ok(fixture)
    }
}

impl Fixture {
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
        let failed = |problem| FixtureError::new(Path::new(url), problem);
        let is_one = |text: &str| {
            let has = |field: &str, word: &str| {
                text.lines()
                    .any(|line| line.contains(field) && line.contains(word))
            };
            has("kind", KIND) && has("apiVersion", API_VERSION)
        };
        if !is_one(text) {
            return Ok(None);
        }
        files::within(text.len(), LIMIT).map_err(failed)?;
        let node = node::parse(text).map_err(failed)?;
        let parsed =
            sections::fixture(value::FixtureValue::root(&node), check_ids).map_err(failed)?;
        let fixture = Self {
            digest: Some(digest(text)),
            ..parsed.fixture
        };
        Ok(Some((fixture, parsed.pod_template_file.is_some())))
    }
}

/// SHA-256 as hexadecimal digits.
fn digest(text: &str) -> String {
    let digest = ring::digest::digest(&ring::digest::SHA256, text.as_bytes());
    let byte = |byte: &u8| format!("{byte:02x}");
    digest.as_ref().iter().map(byte).collect()
}

impl FixtureError {
    fn new(path: &Path, problem: String) -> Self {
        Self {
            path: path.to_owned(),
            problem,
        }
    }
}

impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Endpoint")
            .field("url", &self.url.as_deref().map(without_user))
            .field("timeout", &self.timeout)
            .field("timeouts", &self.timeouts)
            .field("headers", &self.headers.keys())
            .finish()
    }
}

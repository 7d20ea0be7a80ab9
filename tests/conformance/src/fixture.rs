//! What the kit has to know of a driver: which fields are right, which are wrong, and what it can
//! do. Everything may be left out; what is missing, checks do without or are skipped for.
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
//! let fixture = Fixture::parse(text, Path::new("lbcf-conformance.yaml"), &["ENS-02"])?;
//! // What YAML takes for a number is the text that stands there.
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

mod at;
pub mod duration;
mod file;
mod known;
mod node;
pub mod places;
mod sections;
#[cfg(test)]
mod tests;

pub use known::{parse_known_failures, read_known_failures};
#[cfg(test)]
pub(crate) use sections::FEATURES;
pub(crate) use sections::{API_VERSION, KIND};

use crate::check::Feature;
use crate::report::DriverInfo;
use lbcf_driver_sdk::webhook::StringMap;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// What the kit has to know of a driver.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Fixture {
    /// Who it is.
    pub driver: DriverInfo,
    /// Where it is.
    pub endpoint: Endpoint,
    /// What it can do; nothing when the fixture does not say.
    pub features: Option<BTreeSet<Feature>>,
    /// Its load balancers.
    pub load_balancer: LoadBalancers,
    /// Its backends.
    pub backend: Backends,
    /// How to look into its cloud.
    pub observe: Option<Observe>,
    /// How to restart it.
    pub restart: Option<Action>,
    /// How to make its cloud fail for a while.
    pub fault: Option<Action>,
    /// How long things may take.
    pub budgets: Budgets,
    /// Failures that are known, by check id, with their reasons.
    pub known_failures: BTreeMap<String, String>,
    /// SHA-256 of the file; nothing without one.
    pub digest: Option<String>,
}

/// Where a driver is, and how it is called. Its debug output has neither password nor headers'
/// values.
#[derive(Clone, Default, PartialEq)]
pub struct Endpoint {
    /// Its URL, if not given by flag.
    pub url: Option<String>,
    /// How long a call may take; 10 s by default.
    pub timeout: Option<Duration>,
    /// The same for one webhook, by its name.
    pub timeouts: BTreeMap<String, Duration>,
    /// Headers to send with each call.
    pub headers: BTreeMap<String, String>,
}

/// A load balancer to ask for. Its texts may have [places].
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Wanted {
    /// What it is created from.
    pub lb_spec: StringMap,
    /// Its settings.
    pub attributes: StringMap,
    /// Why it is wrong, where it is.
    pub reason: String,
}

/// Which load balancers there can be.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LoadBalancers {
    /// Right ones. Without any, an empty `lbSpec` is tried.
    pub valid: Vec<Wanted>,
    /// Wrong ones.
    pub invalid: Vec<Wanted>,
    /// Attributes that the first right one can be changed to.
    pub update: Option<StringMap>,
    /// Attributes that it cannot be changed to.
    pub forbidden: Vec<StringMap>,
    /// An identity that no load balancer has.
    pub unknown_lb_info: Option<StringMap>,
    /// Whether checks that need just some load balancer share one.
    pub reuse: bool,
}

/// Which backends there can be.
#[derive(Debug, Clone, PartialEq)]
pub struct Backends {
    /// Right parameters.
    pub valid: Vec<StringMap>,
    /// Wrong ones.
    pub invalid: Vec<StringMap>,
    /// What the first right ones can be changed to.
    pub update: Option<StringMap>,
    /// What generated pods are made from: a Pod whose name, uid and addresses are replaced.
    pub pod_template: Option<serde_json::Map<String, serde_json::Value>>,
    /// Addresses for drivers that have static backends only.
    pub static_addrs: Vec<String>,
    /// An address that nothing is registered by.
    pub unknown_addr: String,
}

/// How to look into a driver's cloud.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Observe {
    /// GET of this URL.
    Url(String),
    /// What this program prints.
    Command(Vec<String>),
}

/// How to do something to a driver or its cloud.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// POST to this URL.
    Url(String),
    /// This program; `{on|off}` in an argument stands for `on` or `off`.
    Command(Vec<String>),
    /// The program of `--exec` is killed and started again.
    Exec,
}

/// How long things may take.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Budgets {
    /// One operation until it is no longer Running; 120 s by default.
    pub asynchronous: Duration,
    /// The whole run; 10 min by default.
    pub total: Duration,
}

/// What is wrong with a fixture: where in it, which value, and what is allowed.
#[derive(Debug, thiserror::Error)]
#[error("{}: {problem}", path.display())]
pub struct FixtureError {
    /// The file.
    pub path: PathBuf,
    /// What is wrong.
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
            asynchronous: Duration::from_secs(120),
            total: Duration::from_secs(600),
        }
    }
}

impl Fixture {
    /// Reads a fixture's file, and the Pod beside it that it may name. `check_ids` are those of
    /// all checks, for `knownFailures`.
    ///
    /// # Errors
    /// [`FixtureError`], which names the line, the field, the value and what is allowed.
    pub fn read(path: &Path, check_ids: &[&str]) -> Result<Self, FixtureError> {
        let text = file::read(path).map_err(|problem| {
            let advice = if problem == file::NOT_THERE {
                "; `lbcf conformance init` writes one"
            } else {
                ""
            };
            FixtureError::new(path, format!("{problem}{advice}"))
        })?;
        Self::parse(&text, path, check_ids)
    }

    /// The same from a text that is in a file or would be: the path is for errors, and what the
    /// fixture names is looked for beside it.
    ///
    /// # Errors
    /// As there.
    pub fn parse(text: &str, path: &Path, check_ids: &[&str]) -> Result<Self, FixtureError> {
        let failed = |problem| FixtureError::new(path, problem);
        if text.len() as u64 > file::LIMIT {
            return Err(failed(
                "longer than 1 MiB, which is the most that is read".to_owned(),
            ));
        }
        let node = node::parse(text).map_err(failed)?;
        let parsed = sections::fixture(at::At::root(&node), check_ids).map_err(failed)?;
        let mut fixture = parsed.fixture;
        if let Some(at) = parsed.pod_template_file {
            let template = at.text().and_then(|named| {
                let beside = path.parent().unwrap_or(Path::new("")).join(named);
                let told = |problem| at.wrong(format_args!("{}: {problem}", beside.display()));
                let text = file::read(&beside).map_err(told)?;
                let node = node::parse(&text).map_err(told)?;
                sections::pod_template(node.to_json()).map_err(told)
            });
            fixture.backend.pod_template = Some(template.map_err(failed)?);
        }
        fixture.digest = Some(digest(text));
        Ok(fixture)
    }
}

/// SHA-256 in hexadecimal digits.
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
        let url = self.url.as_deref().map(|url| {
            let Some((scheme, rest)) = url.split_once("://") else {
                return url.to_owned();
            };
            let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
            match rest[..end].rfind('@') {
                Some(at) => format!("{scheme}://{}", &rest[at + 1..]),
                None => url.to_owned(),
            }
        });
        f.debug_struct("Endpoint")
            .field("url", &url)
            .field("timeout", &self.timeout)
            .field("timeouts", &self.timeouts)
            .field("headers", &self.headers.keys())
            .finish()
    }
}

//! Checks the rules that every driver has to follow.

mod check;

pub use check::check_idempotency;

use super::{WebhookCall, generate_backend_addr, pod};
use crate::webhook::{CreateLoadBalancer, GenerateBackendAddr, StringMap};
use std::fmt;

/// The values of a check: a load balancer that the driver can create, two backends that it can
/// register there, and values that it must refuse.
#[derive(Debug, Clone)]
pub struct Sample {
    create: WebhookCall<CreateLoadBalancer>,
    backends: [WebhookCall<GenerateBackendAddr>; 2],
    parameters: StringMap,
    bad: Vec<BadValue>,
}

#[derive(Debug, Clone)]
struct BadValue {
    map: SampleMap,
    key: String,
    value: String,
}

#[derive(Debug, Clone, Copy)]
enum SampleMap {
    Spec,
    Attributes,
    Parameters,
}

impl Sample {
    /// A load balancer with two pods as its backends.
    #[must_use]
    pub fn new(create: WebhookCall<CreateLoadBalancer>) -> Self {
        Self {
            create,
            backends: ["web-0", "web-1"].map(|name| generate_backend_addr().pod(pod(name))),
            parameters: StringMap::new(),
            bad: Vec::new(),
        }
    }

    /// Replaces the two pods. The check sets the load balancer.
    #[must_use]
    pub fn backends(mut self, backends: [WebhookCall<GenerateBackendAddr>; 2]) -> Self {
        self.backends = backends;
        self
    }

    /// Adds a parameter of both backends.
    #[must_use]
    pub fn parameter(mut self, key: impl Into<String>, value: impl ToString) -> Self {
        self.parameters.insert(key.into(), value.to_string());
        self
    }

    /// Adds a value of `lbSpec` that the driver must refuse.
    #[must_use]
    pub fn bad_spec(self, key: impl Into<String>, value: impl ToString) -> Self {
        self.bad(SampleMap::Spec, key, value)
    }

    /// Adds a value of `attributes` that the driver must refuse.
    #[must_use]
    pub fn bad_attribute(self, key: impl Into<String>, value: impl ToString) -> Self {
        self.bad(SampleMap::Attributes, key, value)
    }

    /// Adds a value of `parameters` that the driver must refuse.
    #[must_use]
    pub fn bad_parameter(self, key: impl Into<String>, value: impl ToString) -> Self {
        self.bad(SampleMap::Parameters, key, value)
    }

    fn bad(mut self, map: SampleMap, key: impl Into<String>, value: impl ToString) -> Self {
        let (key, value) = (key.into(), value.to_string());
        self.bad.push(BadValue { map, key, value });
        self
    }
}

/// The rules that a driver breaks.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[must_use = "unchecked findings test nothing"]
pub struct Findings(Vec<Broken>);

/// A rule that the driver breaks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Broken {
    /// The rule, as a sentence.
    pub rule: &'static str,
    /// The request and the response that break it.
    pub how: String,
}

impl Findings {
    /// The broken rules, in the order of the check.
    #[must_use]
    pub fn broken(&self) -> &[Broken] {
        &self.0
    }

    /// Asserts that no rule is broken.
    ///
    /// # Panics
    /// If one is; the text lists all.
    #[track_caller]
    pub fn assert_none(&self) {
        assert!(self.0.is_empty(), "{self}");
    }

    /// Adds the rule if it is broken.
    fn note<T>(&mut self, rule: &'static str, result: Result<T, String>) -> Option<T> {
        result.map_err(|how| self.0.push(Broken { rule, how })).ok()
    }
}

impl fmt::Display for Findings {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} rules are broken", self.0.len())?;
        for broken in &self.0 {
            writeln!(f, "* {}\n  {}", broken.rule, broken.how)?;
        }
        Ok(())
    }
}

//! The rules that every driver has to keep, checked against an author's own.

mod check;

pub use check::check_idempotency;

use super::{WebhookCall, generate_backend_addr, pod};
use crate::webhook::{CreateLoadBalancer, GenerateBackendAddr, StringMap};
use std::fmt;

/// What a driver is checked with: a load balancer that it can make, two backends that it can
/// register there, and values that it must not take.
#[derive(Debug, Clone)]
pub struct Sample {
    create: WebhookCall<CreateLoadBalancer>,
    backends: [WebhookCall<GenerateBackendAddr>; 2],
    parameters: StringMap,
    bad: Vec<Bad>,
}

/// A value that does not fit.
#[derive(Debug, Clone)]
struct Bad {
    place: Place,
    key: String,
    value: String,
}

#[derive(Debug, Clone, Copy)]
enum Place {
    Spec,
    Attributes,
    Parameters,
}

impl Sample {
    /// A load balancer, and two pods as its backends.
    #[must_use]
    pub fn new(create: WebhookCall<CreateLoadBalancer>) -> Self {
        Self {
            create,
            backends: ["web-0", "web-1"].map(|name| generate_backend_addr().pod(pod(name))),
            parameters: StringMap::new(),
            bad: Vec::new(),
        }
    }

    /// Other backends than two pods. The load balancer is filled in.
    #[must_use]
    pub fn backends(mut self, backends: [WebhookCall<GenerateBackendAddr>; 2]) -> Self {
        self.backends = backends;
        self
    }

    /// One of the parameters that the backends are registered with.
    #[must_use]
    pub fn parameter(mut self, key: impl Into<String>, value: impl ToString) -> Self {
        self.parameters.insert(key.into(), value.to_string());
        self
    }

    /// A value in `lbSpec` that the driver must refuse.
    #[must_use]
    pub fn bad_spec(self, key: impl Into<String>, value: impl ToString) -> Self {
        self.bad(Place::Spec, key, value)
    }

    /// A value in `attributes` that the driver must refuse.
    #[must_use]
    pub fn bad_attribute(self, key: impl Into<String>, value: impl ToString) -> Self {
        self.bad(Place::Attributes, key, value)
    }

    /// A value in `parameters` that the driver must refuse.
    #[must_use]
    pub fn bad_parameter(self, key: impl Into<String>, value: impl ToString) -> Self {
        self.bad(Place::Parameters, key, value)
    }

    fn bad(mut self, place: Place, key: impl Into<String>, value: impl ToString) -> Self {
        let (key, value) = (key.into(), value.to_string());
        self.bad.push(Bad { place, key, value });
        self
    }
}

/// The rules that a driver broke.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
#[must_use = "findings that nobody looks at test nothing"]
pub struct Findings(Vec<Broken>);

/// A rule that was broken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Broken {
    /// The rule, as a sentence.
    pub rule: &'static str,
    /// How it was broken.
    pub how: String,
}

impl Findings {
    /// The broken rules.
    #[must_use]
    pub fn broken(&self) -> &[Broken] {
        &self.0
    }

    /// No rule is broken.
    ///
    /// # Panics
    /// If one is; the text tells of all.
    #[track_caller]
    pub fn assert_none(&self) {
        assert!(self.0.is_empty(), "{self}");
    }

    /// Notes a rule, if it is broken.
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

//! Which checks run, and why the others are skipped: decided before the first call.

use crate::check::{Check, Need, Observer};
use crate::classification::{Feature, Group};
use crate::fixture::{Action, Fixture};
use crate::report::SkipKind;
use crate::settings::{Profile, Settings};
use std::collections::BTreeSet;

/// The decision about a check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Plan {
    Run,
    /// Without an observer the check can only verify responses.
    RunOnResponses,
    Skip(SkipKind, String),
}

/// Why checks of `Running` do not run. What was observed outranks what was declared: they run if an operation was.
pub(crate) const NEVER_RUNNING: &str =
    "the fixture's features do not name async, and no operation was Running";

/// The optional equipment of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Capabilities {
    pub(crate) observer: bool,
    /// An observer by URL, which may also change the cloud.
    pub(crate) modifying: bool,
    /// A driver started with `--exec`, which the kit can restart.
    pub(crate) exec: bool,
}

/// The features of the fixture, or else pods as backends and those that its samples show.
pub(crate) fn features(fixture: &Fixture) -> BTreeSet<Feature> {
    if let Some(features) = &fixture.features {
        return features.clone();
    }
    let mut features = BTreeSet::from([Feature::PodBackends]);
    if fixture.load_balancer.update.attributes.is_some() {
        features.insert(Feature::UpdateAttributes);
    }
    if fixture.backend.parameters.update.is_some() {
        features.insert(Feature::UpdateParameters);
    }
    features
}

/// Why a group does not apply: it is not in the profile, or else the driver lacks its feature.
fn not_applicable(
    group: Group,
    profile: Option<Profile>,
    features: &BTreeSet<Feature>,
) -> Option<String> {
    if let Some(profile) = profile {
        let reason = || format!("not part of the profile {}", profile.name());
        return (!profile.has(group)).then(reason);
    }
    let feature = match group {
        Group::Asyn => Feature::Async,
        Group::Dry => Feature::DryRun,
        // JPD-04 is about drivers without the feature.
        _ => return None,
    };
    (!features.contains(&feature)).then(|| without(feature))
}

fn without(feature: Feature) -> String {
    format!("the fixture's features do not name {}", feature.name())
}

pub(crate) fn plan(
    check: &Check,
    settings: &Settings,
    fixture: &Fixture,
    features: &BTreeSet<Feature>,
    capabilities: Capabilities,
) -> Plan {
    let named = |names: &[String]| {
        names.iter().any(|name| {
            name.eq_ignore_ascii_case(check.id) || name.eq_ignore_ascii_case(check.group.id())
        })
    };
    if !settings.only.is_empty() && !named(&settings.only) {
        return Plan::Skip(SkipKind::Asked, "not selected (--only)".into());
    }
    if named(&settings.skip) {
        return Plan::Skip(SkipKind::Asked, "excluded (--skip)".into());
    }
    if settings.only.is_empty()
        && let Some(reason) = not_applicable(check.group, settings.profile, features)
        && !needs_running(check, settings, features)
    {
        return Plan::Skip(SkipKind::NotApplicable, reason);
    }
    for need in check.needs {
        if let Some((kind, reason)) = missing(*need, fixture, features, capabilities) {
            return Plan::Skip(kind, reason);
        }
    }
    let lists = features.contains(&Feature::ListBackends);
    match (check.observer, capabilities.observer) {
        (Observer::Listed, false) if !lists => Plan::Skip(
            SkipKind::Missing,
            "needs an observer (observe.url or observe.command in the fixture, --observe-url or --observe-cmd) or the feature listBackends".into(),
        ),
        (Observer::Required, false) => Plan::Skip(
            SkipKind::Missing,
            "needs an observer: observe.url or observe.command in the fixture, --observe-url or --observe-cmd".into(),
        ),
        (Observer::Improves | Observer::Listed, false) => Plan::RunOnResponses,
        _ => Plan::Run,
    }
}

/// True if the check runs only if an operation was `Running`.
pub(crate) fn needs_running(
    check: &Check,
    settings: &Settings,
    features: &BTreeSet<Feature>,
) -> bool {
    check.group == Group::Asyn
        && settings.only.is_empty()
        && settings.profile.is_none()
        && !features.contains(&Feature::Async)
}

/// Why a need is not met.
fn missing(
    need: Need,
    fixture: &Fixture,
    features: &BTreeSet<Feature>,
    capabilities: Capabilities,
) -> Option<(SkipKind, String)> {
    let has = |feature: Feature| features.contains(&feature);
    let generates = has(Feature::PodBackends) || has(Feature::ServiceBackends);
    let kind = match need {
        // A driver may accept all updates.
        Need::Feature(_) | Need::Without(_) | Need::GeneratedBackend | Need::ForbiddenUpdate => {
            SkipKind::NotApplicable
        }
        _ => SkipKind::Missing,
    };
    let (is_met, reason) = match need {
        Need::LoadBalancer => return None,
        Need::Feature(feature) => (has(feature), without(feature)),
        Need::Without(feature) => (
            !has(feature),
            "only for drivers without that feature".into(),
        ),
        Need::GeneratedBackend => {
            let reason = "the fixture's features name neither backend.pod nor backend.service";
            (generates, reason.into())
        }
        Need::Backend => {
            let reason = "needs one of the features backend.pod, backend.service and backend.static \
                          in the fixture";
            (generates || has(Feature::StaticBackends), reason.into())
        }
        Need::ForeignBackend | Need::Unbinding | Need::AttributeDrift => {
            let reason = "needs an observer by URL that can change the cloud";
            (capabilities.modifying, reason.into())
        }
        Need::Restart if fixture.restart == Some(Action::Exec) => {
            let reason = "restart by exec needs --exec, which starts the driver";
            (capabilities.exec, reason.into())
        }
        part => {
            let reason = format!("needs {} in the fixture", part.name());
            (is_in(fixture, part), reason)
        }
    };
    (!is_met).then_some((kind, reason))
}

/// True if the fixture has the part that a need names.
fn is_in(fixture: &Fixture, need: Need) -> bool {
    let (load_balancer, parameters) = (&fixture.load_balancer, &fixture.backend.parameters);
    match need {
        Need::InvalidLoadBalancer => !load_balancer.invalid.is_empty(),
        Need::UpdateAttributes => load_balancer.update.attributes.is_some(),
        Need::ForbiddenUpdate => !load_balancer.update.forbidden.is_empty(),
        Need::UnknownLbInfo => load_balancer.unknown_lb_info.is_some(),
        Need::InvalidParameters => !parameters.invalid.is_empty(),
        Need::UpdateParameters => parameters.update.is_some(),
        Need::UnusableAddr => !fixture.backend.unusable_addrs.is_empty(),
        Need::Restart => fixture.restart.is_some(),
        Need::Fault => fixture.fault.is_some(),
        _ => true,
    }
}

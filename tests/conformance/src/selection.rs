//! Which checks are made, and why the others are not: decided before anything is called.

use crate::check::{Check, Feature, Group, Need, Observer};
use crate::fixture::{Action, Fixture};
use crate::report::SkipKind;
use crate::settings::{Profile, Settings};
use std::collections::BTreeSet;

/// What becomes of a check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Plan {
    /// It is made.
    Make,
    /// It is made, but only answers can be judged.
    MakeByAnswers,
    /// It is skipped, for this reason.
    Skip(SkipKind, String),
}

/// What there is to look into the cloud with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Means {
    /// An observer.
    pub(crate) observer: bool,
    /// One that is asked by URL, and so may change things behind the driver's back.
    pub(crate) meddling: bool,
    /// A program of `--exec`, which can be killed and started again.
    pub(crate) exec: bool,
}

/// The features to judge by: those that the fixture declares, or else pods as backends and what
/// the fixture's samples show.
pub(crate) fn features(fixture: &Fixture) -> BTreeSet<Feature> {
    if let Some(features) = &fixture.features {
        return features.clone();
    }
    let mut features = BTreeSet::from([Feature::PodBackends]);
    if fixture.load_balancer.update.is_some() {
        features.insert(Feature::UpdateAttributes);
    }
    if fixture.backend.update.is_some() {
        features.insert(Feature::UpdateParameters);
    }
    features
}

/// The groups that a run is about: those of the profile, or else those whose features the driver
/// has.
fn concerns(group: Group, profile: Option<Profile>, features: &BTreeSet<Feature>) -> bool {
    if let Some(profile) = profile {
        return profile.has(group);
    }
    match group {
        Group::Asyn => features.contains(&Feature::Async),
        Group::Dry => features.contains(&Feature::DryRun),
        // JPD-04 is about drivers without the feature.
        _ => true,
    }
}

/// What becomes of a check.
pub(crate) fn plan(
    check: &Check,
    settings: &Settings,
    fixture: &Fixture,
    features: &BTreeSet<Feature>,
    means: Means,
) -> Plan {
    let named = |names: &[String]| {
        names.iter().any(|name| {
            name.eq_ignore_ascii_case(check.id) || name.eq_ignore_ascii_case(check.group.id())
        })
    };
    if !settings.only.is_empty() && !named(&settings.only) {
        return Plan::Skip(SkipKind::Asked, "not among those asked for (--only)".into());
    }
    if named(&settings.skip) {
        return Plan::Skip(SkipKind::Asked, "left out on request (--skip)".into());
    }
    let asked_for = !settings.only.is_empty();
    if !asked_for && !concerns(check.group, settings.profile, features) {
        let reason = match settings.profile {
            Some(profile) => format!("not part of the profile {}", profile.name()),
            None => format!(
                "the fixture's features do not name {}",
                feature_of(check.group)
            ),
        };
        return Plan::Skip(SkipKind::NotApplicable, reason);
    }
    for need in check.needs {
        if let Some((kind, reason)) = missing(*need, fixture, features, means) {
            return Plan::Skip(kind, reason);
        }
    }
    match (check.observer, means.observer) {
        (Observer::Required, false) => Plan::Skip(
            SkipKind::Missing,
            "needs an observer: observe.url or observe.command in the fixture, --observe-url or --observe-cmd".into(),
        ),
        (Observer::Improves, false) => Plan::MakeByAnswers,
        _ => Plan::Make,
    }
}

const fn feature_of(group: Group) -> &'static str {
    match group {
        Group::Asyn => "async",
        Group::Dry => "dryRun",
        _ => "it",
    }
}

fn missing(
    need: Need,
    fixture: &Fixture,
    features: &BTreeSet<Feature>,
    means: Means,
) -> Option<(SkipKind, String)> {
    let needs = |there: bool, what: &str| {
        (!there).then(|| (SkipKind::Missing, format!("needs {what} in the fixture")))
    };
    let has = |feature: Feature| features.contains(&feature);
    match need {
        Need::Feature(feature) => (!has(feature)).then(|| {
            let name = serde_json::to_value(feature).ok();
            let name = name
                .as_ref()
                .and_then(|name| name.as_str())
                .unwrap_or_default();
            (
                SkipKind::NotApplicable,
                format!("the fixture's features do not name {name}"),
            )
        }),
        Need::Without(feature) => has(feature).then(|| {
            (
                SkipKind::NotApplicable,
                "about drivers without that feature".to_owned(),
            )
        }),
        Need::LoadBalancer => None,
        Need::InvalidLoadBalancer => needs(
            !fixture.load_balancer.invalid.is_empty(),
            "loadBalancer.invalid",
        ),
        Need::UpdateAttributes => needs(
            fixture.load_balancer.update.is_some(),
            "loadBalancer.update.attributes",
        ),
        Need::ForbiddenUpdate => needs(
            !fixture.load_balancer.forbidden.is_empty(),
            "loadBalancer.update.forbidden",
        ),
        Need::UnknownLbInfo => needs(
            fixture.load_balancer.unknown_lb_info.is_some(),
            "loadBalancer.unknownLBInfo",
        ),
        Need::Backend => needs(
            [
                Feature::PodBackends,
                Feature::ServiceBackends,
                Feature::StaticBackends,
            ]
            .into_iter()
            .any(has),
            "one of the features backend.pod, backend.service and backend.static",
        ),
        Need::GeneratedBackend => {
            let generated = [Feature::PodBackends, Feature::ServiceBackends];
            (!generated.into_iter().any(has)).then(|| {
                let reason = "the fixture's features name neither backend.pod nor backend.service";
                (SkipKind::NotApplicable, reason.to_owned())
            })
        }
        Need::InvalidParameters => needs(
            !fixture.backend.invalid.is_empty(),
            "backend.parameters.invalid",
        ),
        Need::UpdateParameters => needs(
            fixture.backend.update.is_some(),
            "backend.parameters.update",
        ),
        Need::Restart => match fixture.restart {
            None => needs(false, "restart"),
            Some(Action::Exec) if !means.exec => Some((
                SkipKind::Missing,
                "restart by exec needs --exec, which starts the driver".to_owned(),
            )),
            Some(_) => None,
        },
        Need::Fault => needs(fixture.fault.is_some(), "fault"),
        Need::ForeignBackend | Need::Unbinding | Need::AttributeDrift => {
            (!means.meddling).then(|| {
                let reason =
                    "needs an observer by URL that can change things behind the driver's back";
                (SkipKind::Missing, reason.to_owned())
            })
        }
    }
}

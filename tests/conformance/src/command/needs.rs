//! What a check needs, in words and as names for programs.

use crate::check::{Check, Feature, Need, Observer};

/// The name of a need: where the fixture has it, or what an observer has to be able to do.
pub(super) fn name(need: Need) -> String {
    match need {
        Need::Feature(feature) => format!("feature {}", feature_name(feature)),
        Need::Without(feature) => format!("no feature {}", feature_name(feature)),
        Need::LoadBalancer => "loadBalancer.valid".to_owned(),
        Need::InvalidLoadBalancer => "loadBalancer.invalid".to_owned(),
        Need::UpdateAttributes => "loadBalancer.update.attributes".to_owned(),
        Need::ForbiddenUpdate => "loadBalancer.update.forbidden".to_owned(),
        Need::UnknownLbInfo => "loadBalancer.unknownLBInfo".to_owned(),
        Need::Backend => "feature backend.pod, backend.service or backend.static".to_owned(),
        Need::GeneratedBackend => "feature backend.pod or backend.service".to_owned(),
        Need::InvalidParameters => "backend.parameters.invalid".to_owned(),
        Need::UpdateParameters => "backend.parameters.update".to_owned(),
        Need::Restart => "restart".to_owned(),
        Need::Fault => "fault".to_owned(),
        Need::ForeignBackend => "observer that plants a foreign backend".to_owned(),
        Need::Unbinding => "observer that takes a backend away".to_owned(),
        Need::AttributeDrift => "observer that changes attributes".to_owned(),
    }
}

/// What a check looks into the cloud for, as a word.
pub(super) const fn observer_name(observer: Observer) -> &'static str {
    match observer {
        Observer::Unused => "unused",
        Observer::Improves => "improves",
        Observer::Required => "required",
    }
}

/// What a check needs beyond what there is without a fixture, in words; empty if nothing.
pub(super) fn beyond_the_neutral(check: &Check) -> Vec<String> {
    let is_neutral = |need: &&Need| {
        matches!(
            need,
            Need::LoadBalancer | Need::Backend | Need::GeneratedBackend
        )
    };
    let needs = check.needs.iter().filter(|need| !is_neutral(need));
    let mut words: Vec<String> = needs.map(|need| name(*need)).collect();
    match check.observer {
        Observer::Unused => {}
        Observer::Improves => words.push("(an observer shows more)".to_owned()),
        Observer::Required => words.push("an observer".to_owned()),
    }
    words
}

/// What a check needs, a sentence each.
pub(super) fn sentences(check: &Check) -> Vec<String> {
    let mut sentences: Vec<String> = check
        .needs
        .iter()
        .map(|need| match need {
            Need::Feature(feature) => format!(
                "`features` in the fixture names {}; otherwise it does not concern the driver",
                feature_name(*feature)
            ),
            Need::Without(feature) => format!(
                "`features` in the fixture does not name {}",
                feature_name(*feature)
            ),
            Need::LoadBalancer => {
                "loadBalancer.valid in the fixture, or a driver that takes an empty lbSpec"
                    .to_owned()
            }
            Need::GeneratedBackend => {
                "pods or services as backends, unless `features` in the fixture names neither"
                    .to_owned()
            }
            Need::Backend => {
                "a backend: pods, unless `features` in the fixture names others".to_owned()
            }
            Need::ForeignBackend | Need::Unbinding | Need::AttributeDrift => {
                format!("an {}, by URL", name(*need))
            }
            other => format!("{} in the fixture", name(*other)),
        })
        .collect();
    match check.observer {
        Observer::Unused => {}
        Observer::Improves => sentences.push(
            "an observer, to see what is really there; without one only answers are judged"
                .to_owned(),
        ),
        Observer::Required => {
            sentences.push("an observer: without one there is nothing to see".to_owned());
        }
    }
    sentences
}

fn feature_name(feature: Feature) -> String {
    let name = serde_json::to_value(feature).ok();
    let name = name.as_ref().and_then(|name| name.as_str());
    name.unwrap_or_default().to_owned()
}

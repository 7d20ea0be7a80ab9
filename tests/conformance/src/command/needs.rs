//! The needs of a check, as sentences for people and as names for programs.

use crate::check::{Check, Need, Observer};

/// The name of a need: its field in the fixture, or the capability of an observer.
pub(super) fn name(need: Need) -> String {
    match need {
        Need::Feature(feature) => format!("feature {}", feature.name()),
        Need::Without(feature) => format!("no feature {}", feature.name()),
        Need::LoadBalancer => "loadBalancer.valid".to_owned(),
        Need::Backend => "feature backend.pod, backend.service or backend.static".to_owned(),
        Need::GeneratedBackend => "feature backend.pod or backend.service".to_owned(),
        Need::ForeignBackend => "observer that registers a foreign backend".to_owned(),
        Need::Unbinding => "observer that deregisters a backend".to_owned(),
        Need::AttributeDrift => "observer that changes attributes".to_owned(),
        part => part.part_of_fixture().unwrap_or_default().to_owned(),
    }
}

pub(super) const fn observer_name(observer: Observer) -> &'static str {
    match observer {
        Observer::Unused => "unused",
        Observer::Improves => "improves",
        Observer::Required => "required",
    }
}

/// The needs of a check that a run without a fixture does not meet.
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
        Observer::Improves => words.push("(an observer verifies more)".to_owned()),
        Observer::Required => words.push("an observer".to_owned()),
    }
    words
}

/// The needs of a check, a sentence each.
pub(super) fn sentences(check: &Check) -> Vec<String> {
    let mut sentences: Vec<String> = check
        .needs
        .iter()
        .map(|need| match need {
            Need::Feature(feature) => format!(
                "`features` in the fixture names {}; otherwise the check does not apply",
                feature.name()
            ),
            Need::Without(feature) => {
                format!("`features` in the fixture does not name {}", feature.name())
            }
            Need::LoadBalancer => {
                "loadBalancer.valid in the fixture, or a driver that accepts an empty lbSpec"
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
            "an observer, to verify the cloud; without one the check only verifies responses"
                .to_owned(),
        ),
        Observer::Required => {
            sentences.push("an observer, to verify the cloud".to_owned());
        }
    }
    sentences
}

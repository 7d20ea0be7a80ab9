//! The needs of a check, for people.

use crate::check::{Check, Need, Observer};

/// The needs of a check that a run without a fixture does not meet.
pub(super) fn beyond_the_neutral(check: &Check) -> Vec<String> {
    const NEUTRAL: [Need; 3] = [Need::LoadBalancer, Need::Backend, Need::GeneratedBackend];
    let needs = check.needs.iter().filter(|need| !NEUTRAL.contains(need));
    let observer = match check.observer {
        Observer::Unused => None,
        Observer::Improves => Some("(an observer verifies more)"),
        Observer::Listed => Some("an observer or listBackends"),
        Observer::Required => Some("an observer"),
    };
    let needs = needs.map(|need| need.name());
    needs.chain(observer.map(str::to_owned)).collect()
}

/// The needs of a check, a sentence each.
pub(super) fn sentences(check: &Check) -> Vec<String> {
    let observer = match check.observer {
        Observer::Unused => None,
        Observer::Improves => {
            Some("an observer, to verify the cloud; without one the check only verifies responses")
        }
        Observer::Listed => Some("an observer, to verify the cloud, or listBackends"),
        Observer::Required => Some("an observer, to verify the cloud"),
    };
    let needs = check.needs.iter().map(|need| sentence(*need));
    needs.chain(observer.map(str::to_owned)).collect()
}

fn sentence(need: Need) -> String {
    let sentence = match need {
        Need::Feature(feature) => {
            let name = feature.name();
            return format!(
                "`features` in the fixture names {name}; otherwise the check does not apply"
            );
        }
        Need::Without(feature) => {
            return format!("`features` in the fixture does not name {}", feature.name());
        }
        Need::LoadBalancer => {
            "loadBalancer.valid in the fixture, or a driver that accepts an empty lbSpec"
        }
        Need::GeneratedBackend => {
            "pods or services as backends, unless `features` in the fixture names neither"
        }
        Need::Backend => "a backend: pods, unless `features` in the fixture names others",
        Need::ForeignBackend | Need::Unbinding | Need::AttributeDrift => {
            return format!("an {}, by URL", need.name());
        }
        part => return format!("{} in the fixture", part.name()),
    };
    sentence.to_owned()
}

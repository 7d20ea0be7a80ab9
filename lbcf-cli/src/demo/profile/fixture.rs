//! Another driver, described by its fixture for `lbcf conformance`: a file, or the one that it serves itself.

use super::{LoadBalancers, Profile};
use lbcf_conformance::check::Feature;
use lbcf_conformance::checks;
use lbcf_conformance::fixture::placeholders::Values;
use lbcf_conformance::fixture::{Fixture, FixtureError, LoadBalancerSample};
use lbcf_conformance::numbers::Numbers;
use lbcf_conformance::served;
use lbcf_conformance::transport::Transport;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

/// A fixture that does not describe what the demo needs.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FixtureProblem {
    /// The fixture is invalid.
    #[error(transparent)]
    Invalid(#[from] FixtureError),
    /// A field is missing.
    #[error("{source_name}: {field}: {problem}")]
    Field {
        /// The file or URL.
        source_name: String,
        /// The path of the field.
        field: &'static str,
        /// The mistake, and what the demo needs.
        problem: &'static str,
    },
}

/// The fixture in the file, or else the one that the driver serves, if it serves one.
///
/// # Errors
/// [`FixtureProblem::Invalid`].
pub(in crate::demo) async fn read(
    file: Option<&Path>,
    driver: &Transport,
) -> Result<Option<Fixture>, FixtureProblem> {
    let ids: Vec<&str> = checks::all().map(|check| check.id).collect();
    if let Some(file) = file {
        return Ok(Some(Fixture::read(file, &ids)?));
    }
    let served = served::fetch(driver, &ids).await?;
    Ok(served.map(|served| served.fixture))
}

/// The profile of a driver at a URL with this fixture. The ports of `{{number}}` are reserved while
/// [`Numbers`] exists.
///
/// # Errors
/// [`FixtureProblem`], which names the field that the demo needs.
pub(in crate::demo) fn described(
    fixture: &Fixture,
    is_local: bool,
) -> Result<(Profile, Numbers), FixtureProblem> {
    check(fixture)?;
    let numbers = Numbers::new(
        fixture.numbers.clone(),
        u64::from(std::process::id()),
        1,
        is_local,
    );
    let all = load_balancers(fixture, &numbers);
    let specs_differ =
        (0..3).all(|nth| (0..nth).all(|other| all[nth].lb_spec != all[other].lb_spec));
    let [first, one, other] = all;
    let backend = &fixture.backend;
    let parameters = backend
        .parameters
        .valid
        .first()
        .cloned()
        .unwrap_or_default();
    let profile = Profile {
        load_balancers: Some(LoadBalancers {
            first,
            of_bind: specs_differ.then_some([one, other]),
            of_static: None,
        }),
        bind_parameters: backend
            .parameters
            .valid
            .get(1)
            .unwrap_or(&parameters)
            .clone(),
        parameters,
        updated_parameters: backend.parameters.update.clone(),
        refused_parameters: backend.parameters.invalid.first().cloned(),
        updated_attributes: fixture.load_balancer.update.attributes.clone(),
        static_load_balancer: "another load balancer",
        without: None,
        source: fixture.source.clone(),
        has_internal: false,
    };
    Ok((profile, numbers))
}

fn check(fixture: &Fixture) -> Result<(), FixtureProblem> {
    let missing = |field, problem| FixtureProblem::Field {
        source_name: fixture.source.clone().unwrap_or_default(),
        field,
        problem,
    };
    if fixture.load_balancer.valid.is_empty() {
        return Err(missing(
            "loadBalancer.valid",
            "it is missing or empty; the demo creates a load balancer with its first item",
        ));
    }
    let features = fixture.features.as_ref();
    if features.is_some_and(|features| !features.contains(&Feature::PodBackends)) {
        return Err(missing(
            "features",
            "backend.pod is not among them; the demo registers pods",
        ));
    }
    Ok(())
}

/// Three load balancers from the samples, which are the same where those have no placeholders.
fn load_balancers(fixture: &Fixture, numbers: &Numbers) -> [LoadBalancerSample; 3] {
    let since_1970 = SystemTime::now().duration_since(UNIX_EPOCH);
    let run = since_1970.map_or(0, |time| time.as_millis() & 0xff_ffff);
    let samples = &fixture.load_balancer.valid;
    [0, 1, 2].map(|nth| {
        let values = Values {
            unique: format!("lbcf-demo-{run:x}-{nth}"),
            number: numbers.take(0, nth),
        };
        samples[nth % samples.len()].filled(&values)
    })
}

#[cfg(test)]
mod tests;

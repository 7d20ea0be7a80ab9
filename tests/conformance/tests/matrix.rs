//! The kit is judged by wrong drivers: each of the mock's defects is found by the checks that it
//! names, and by no others.

use lbcf_conformance::Suite;
use lbcf_conformance::check::Feature;
use lbcf_conformance::checks;
use lbcf_conformance::fixture::Fixture;
use lbcf_conformance::report::{Report, Status};
use lbcf_conformance::settings::Settings;
use lbcf_defective_driver::{Defect, Defects};
use mock_driver::azure::AzureDriver;
use mock_driver::{ClbDriver, Cloud, MockOptions, MockedDriver};
use std::collections::BTreeSet;
use std::io::Write;
use std::path::Path;
use std::sync::Mutex;
use std::time::Duration;

pub(crate) const FIXTURE: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../mock-driver/conformance.yaml"
);

const AZURE_FIXTURE: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../mock-driver/azure/conformance.yaml"
);

/// Judges the mock with these defects, in this process.
async fn judged(defects: Vec<Defect>) -> Report {
    if defects.iter().any(|defect| defect.is_of_azure()) {
        return judged_on_azure(defects).await;
    }
    let options = MockOptions {
        stage_duration: Duration::from_millis(20),
        // They would be whole seconds.
        name_delays: false,
        ..MockOptions::default()
    };
    let driver = ClbDriver::new(Cloud::with_samples(), options);
    report(driver, defects, fixture(FIXTURE)).await
}

/// Judges the mock's profile `azure` with these defects.
async fn judged_on_azure(defects: Vec<Defect>) -> Report {
    let driver = AzureDriver::new(Cloud::azure(), MockOptions::default());
    report(driver, defects, fixture(AZURE_FIXTURE)).await
}

pub(crate) fn fixture(file: &str) -> Fixture {
    let ids: Vec<&str> = checks::all().map(|check| check.id).collect();
    Fixture::read(Path::new(file), &ids).unwrap()
}

async fn report(driver: impl MockedDriver, defects: Vec<Defect>, mut fixture: Fixture) -> Report {
    let router = mock_driver::router_with(driver, Defects::new(defects));
    fixture.budgets.asynchronous = Duration::from_secs(3);
    // Some of the wrong ones are slow, and all of it is to be seen.
    fixture.budgets.total = Duration::from_secs(3600);
    Suite::of_router(router)
        .fixture(fixture)
        .run()
        .await
        .unwrap()
}

fn of_status(report: &Report, status: Status) -> BTreeSet<&str> {
    let results = report
        .results
        .iter()
        .filter(|result| result.status == status);
    results.map(|result| result.id.as_str()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_right_driver_passes_everything() {
    let report = judged(Vec::new()).await;
    report.assert_passed();
    assert_eq!(of_status(&report, Status::Failed), BTreeSet::new());
    // One is about drivers without what the mock has.
    assert_eq!(
        of_status(&report, Status::Skipped),
        BTreeSet::from(["JPD-04"])
    );
    assert_eq!(report.left_behind, [""; 0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn d85_the_driver_of_the_profile_azure_passes_everything() {
    let report = judged_on_azure(Vec::new()).await;
    report.assert_passed();
    assert_eq!(of_status(&report, Status::Failed), BTreeSet::new());
    let skipped = of_status(&report, Status::Skipped);
    assert_eq!(skipped, BTreeSet::from(["JPD-04"]));
    assert_eq!(report.left_behind, [""; 0]);
}

#[tokio::test(flavor = "multi_thread")]
async fn exhaustive_without_an_observer_lists_show_what_a_driver_does() {
    let is_exhaustive = std::env::var_os("LBCF_EXHAUSTIVE").is_some();
    let cases = [
        (vec![], ""),
        (vec![Defect::DryRunActsEnsureBackend], "DRY-02"),
        (vec![Defect::DryRunActsDeregister], "DRY-02"),
        (vec![Defect::EnsureReplacesOthers], "ENS-06"),
        (vec![Defect::EnsureResetsOthers], "ENS-06"),
        (vec![Defect::DeregRemovesAll], "DRG-05"),
        (vec![Defect::GenerateBinds], "GEN-06"),
        (vec![Defect::EnsureCachedByRecordId], "ENS-03"),
    ];
    let count = if is_exhaustive { cases.len() } else { 2 };
    for (defects, found_by) in cases.into_iter().take(count) {
        let mut fixture = fixture(FIXTURE);
        fixture.observe = None;
        let driver = ClbDriver::new(Cloud::with_samples(), MockOptions::default());
        let report = report(driver, defects, fixture).await;
        let failed = of_status(&report, Status::Failed);
        assert_eq!(failed.is_empty(), found_by.is_empty(), "{failed:?}");
        assert!(
            found_by.is_empty() || failed.contains(found_by),
            "{found_by}: {failed:?}"
        );
    }
}

/// Its fixture does not name `async`.
#[tokio::test(start_paused = true)]
async fn what_was_seen_to_be_running_is_judged_whatever_the_fixture_declares() {
    let ran = async |defects: Vec<Defect>, stage_duration: Duration| {
        let mut fixture = fixture(FIXTURE);
        fixture.features.as_mut().unwrap().remove(&Feature::Async);
        let options = MockOptions {
            stage_duration,
            name_delays: false,
            ..MockOptions::default()
        };
        let driver = ClbDriver::new(Cloud::with_samples(), options);
        let settings = Settings {
            skip: ["BAD", "CONC", "DRY", "JPD", "LAT", "LIFE", "LST", "WIRE"]
                .map(str::to_owned)
                .into(),
            ..Settings::default()
        };
        let router = mock_driver::router_with(driver, Defects::new(defects));
        let suite = Suite::of_router(router).fixture(fixture).settings(settings);
        suite.run().await.unwrap()
    };
    let report = ran(vec![Defect::SuccThenRunning], Duration::from_millis(20)).await;
    assert!(of_status(&report, Status::Failed).contains("ASYN-03"));
    let report = ran(vec![], Duration::ZERO).await;
    assert!(of_status(&report, Status::Skipped).contains("ASYN-03"));
}

#[test]
fn each_check_is_failed_by_a_defect() {
    let named = Defect::ALL.iter().flat_map(|defect| defect.found_by());
    let named: BTreeSet<&str> = named.copied().collect();
    let checks: BTreeSet<&str> = checks::all().map(|check| check.id).collect();
    // It is about drivers without a webhook that the mock has.
    let without_defect: Vec<_> = checks.difference(&named).collect();
    assert_eq!(without_defect, [&"JPD-04"]);
    let no_checks: Vec<_> = named.difference(&checks).collect();
    assert_eq!(no_checks, [&""; 0]);
}

/// Judges the mock with a defect, on a clock that runs ahead whenever all wait: what takes minutes
/// is over in a second, and nothing depends on how fast the machine is.
fn judged_in_no_time(defect: Defect) -> Report {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .start_paused(true)
        .build()
        .unwrap();
    runtime.block_on(judged(vec![defect]))
}

/// What is wrong with what a defect was found by.
fn mismatch(defect: Defect) -> Option<String> {
    let report = judged_in_no_time(defect);
    let failed = of_status(&report, Status::Failed);
    let named: BTreeSet<&str> = defect.found_by().iter().copied().collect();
    let list = |ids: &mut dyn Iterator<Item = &&str>| -> String {
        let line = |id: &&str| {
            let result = report.results.iter().find(|result| result.id == *id);
            let result = result.map(|result| format!("{:?}: {}", result.status, result.reason));
            format!("\n    {id} {}", result.unwrap_or_default())
        };
        ids.map(line).collect()
    };
    (failed != named).then(|| {
        format!(
            "{defect}: {}\n  failed, but not named:{}\n  named, but not failed:{}",
            defect.about(),
            list(&mut failed.difference(&named)),
            list(&mut named.difference(&failed)),
        )
    })
}

/// The first defects that together fail a check of each group, such as `CLB` of `CLB-01`.
fn one_for_each_group(defects: &[Defect]) -> Vec<Defect> {
    let group = |id: &&'static str| id.split('-').next().unwrap_or(id);
    let mut covered = BTreeSet::new();
    let mut covers_more = |defect: &&Defect| {
        let before = covered.len();
        covered.extend(defect.found_by().iter().map(group));
        covered.len() > before
    };
    let chosen = defects.iter().filter(|defect| covers_more(defect));
    chosen.copied().collect()
}

#[test]
fn exhaustive_each_defect_is_found_by_the_checks_that_it_names_and_by_no_others() {
    // For one who works on some: DEFECTS=string-delay,addr-random
    let only = std::env::var("DEFECTS").unwrap_or_default();
    let wanted = |defect: &&Defect| only.is_empty() || only.split(',').any(|id| id == defect.id());
    let mut defects: Vec<Defect> = Defect::ALL.iter().filter(wanted).copied().collect();
    if only.is_empty() && std::env::var_os("LBCF_EXHAUSTIVE").is_none() {
        defects = one_for_each_group(&defects);
    }
    // Not `println!`: the test harness discards what a passing test prints.
    let (count, all) = (defects.len(), Defect::ALL.len());
    let _ = writeln!(std::io::stderr(), "defects: {count} of {all} cases");
    let left = Mutex::new(defects);
    let wrong = Mutex::new(Vec::new());
    let next = || left.lock().unwrap().pop();
    let workers = std::thread::available_parallelism().map_or(2, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                while let Some(defect) = next() {
                    wrong.lock().unwrap().extend(mismatch(defect));
                }
            });
        }
    });
    let wrong = wrong.into_inner().unwrap();
    assert!(
        wrong.is_empty(),
        "{} defects:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

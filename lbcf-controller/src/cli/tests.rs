//! The flags, and the options that follow from them.

use super::*;
use crate::process::leader::LeaderElection;
use clap::CommandFactory;
use std::path::PathBuf;
use std::time::Duration;

/// A directory of a test, gone when the test is over.
struct Directory(PathBuf);

impl Directory {
    fn new() -> Self {
        let path = std::env::temp_dir().join(format!("lbcf-{}", uuid::Uuid::new_v4()));
        std::fs::create_dir(&path).unwrap();
        Self(path)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn parsed(flags: &[&str]) -> Result<ControllerArgs, clap::Error> {
    let command = std::iter::once("lbcf-controller").chain(flags.iter().copied());
    Ok(LbcfController::try_parse_from(command)?.controller)
}

#[test]
fn every_flag_has_an_environment_variable_and_a_help_text() {
    let command = LbcfController::command();
    for flag in command.get_arguments() {
        let name = flag.get_long().unwrap_or_default();
        if ["help", "version"].contains(&name) {
            continue;
        }
        let variable = flag
            .get_env()
            .unwrap_or_else(|| panic!("--{name} has no variable"));
        let expected = format!("LBCF_{}", name.replace('-', "_").to_uppercase());
        assert_eq!(variable.to_str(), Some(expected.as_str()));
        assert!(flag.get_help().is_some(), "--{name} has no help");
        assert!(flag.get_help_heading().is_some(), "--{name} has no heading");
    }
    LbcfController::command().debug_assert();
}

#[test]
fn b147_the_originals_flags_are_taken_with_their_defaults() {
    let args = parsed(&[]).unwrap();
    let options = args.work.options();
    assert_eq!(options.backoff.min, Duration::from_secs(5));
    assert_eq!(options.backoff.step, Duration::from_secs(10));
    assert_eq!(options.backoff.max, Duration::from_secs(120));
    assert_eq!(options.resync_period, Duration::from_secs(60));
    assert!(!options.dry_run);
    assert_eq!(
        (args.cluster.client_qps, args.cluster.client_burst),
        (0, 400),
        "d54"
    );
    assert_eq!(args.cluster.client_max_in_flight, 50);
    assert_eq!(
        options,
        crate::process::options::Options::default(),
        "flags and library agree"
    );
    let originals = "--informer-resync-period=2m --min-retry-delay=1s --retry-delay-step=2s \
        --max-retry-delay=3s --kubeconfig=/k --server-crt=/c --server-key=/s --dry-run \
        --client-qps=1 --client-burst=2 --v=4";
    let args = parsed(&originals.split_whitespace().collect::<Vec<_>>()).unwrap();
    let options = args.work.options();
    assert_eq!(options.resync_period, Duration::from_secs(120));
    assert!(options.dry_run);
    assert_eq!(args.admission.server_crt, Some("/c".into()));
    assert_eq!(args.admission.server_key, Some("/s".into()));
}

#[test]
fn what_is_wrong_is_named() {
    for (flags, told) in [
        ("--informer-resync-period 0s", "at least 1s"),
        ("--client-burst 0", "client-burst"),
        ("--client-max-in-flight 0", "at least 1"),
        ("--driver-health-period 1ms", "at least 1s, or 0 for never"),
        ("--client-qps many", "client-qps"),
        ("--health-address nowhere", "\"nowhere\""),
        ("--admission-address :x", "\":x\""),
        ("--server-crt /c", "--server-key"),
        ("--server-key /k", "--server-crt"),
        ("--driver-client-cert-file /c", "--driver-client-key-file"),
        ("--driver-client-key-file /k", "--driver-client-cert-file"),
        ("--driver-token-over-http", "--driver-token-file"),
        ("--driver-trust-system-cas", "--driver-ca-file"),
        ("--driver-addresses-of-tenants x.example", "\"x.example\""),
        ("--leader-elect=maybe", "maybe"),
        ("--v=loud", "loud"),
        ("--log-format=xml", "xml"),
    ] {
        let error = parsed(&flags.split(' ').collect::<Vec<_>>())
            .unwrap_err()
            .to_string();
        assert!(error.contains(told), "{flags}: {error}");
    }
}

#[test]
fn d50_drivers_are_probed_every_30_s_unless_a_flag_says_otherwise() {
    let period = |flags: &[&str]| parsed(flags).unwrap().work.options().driver_health_period;
    assert_eq!(period(&[]), Some(Duration::from_secs(30)));
    let minute = Duration::from_secs(60);
    assert_eq!(period(&["--driver-health-period", "1m"]), Some(minute));
    for off in ["0", "0s"] {
        assert_eq!(period(&["--driver-health-period", off]), None);
    }
}

#[test]
fn leader_election_is_on_except_by_flag_and_in_a_dry_run() {
    let election = |flags: &[&str]| {
        let args = parsed(flags).unwrap();
        args.leader.election(&args.cluster, args.work.dry_run)
    };
    let of_no_pod = ["--kubeconfig", "/k", "--leader-elect-identity", "me"];
    let one = election(&of_no_pod).unwrap().unwrap();
    assert_eq!(one.namespace, "kube-system");
    assert_eq!(one.name, "lbcf-controller");
    assert!(one.identity.starts_with("me_"));
    let other = election(&of_no_pod).unwrap().unwrap();
    assert_ne!(one.identity, other.identity);
    assert_eq!(
        one,
        LeaderElection::new("kube-system", one.identity.clone())
    );
    let elsewhere = election(&["--leader-elect", "--leader-elect-namespace", "lbcf"]);
    assert_eq!(elsewhere.unwrap().unwrap().namespace, "lbcf");
    assert_eq!(election(&["--leader-elect=false"]), Ok(None));
    assert_eq!(
        election(&["--dry-run"]),
        Ok(None),
        "d23: nothing is written"
    );
    let error = election(&["--leader-elect-renew-deadline", "20s"]).unwrap_err();
    assert!(
        error
            .to_string()
            .starts_with("--leader-elect-renew-deadline 20s: "),
        "{error}"
    );
}

#[test]
fn drivers_are_connected_to_as_the_flags_say_and_a_wrong_file_is_named() {
    let client = |flags: &[&str]| parsed(flags).unwrap().drivers.clients();
    assert!(client(&[]).is_ok());
    for flag in ["--driver-ca-file", "--driver-token-file"] {
        let error = client(&[flag, "/nowhere"]).unwrap_err();
        let error = CommandError::from(error);
        assert!(error.to_string().contains(": /nowhere: "), "{error}");
        assert_eq!(
            format!("{:?}", error.exit_code()),
            format!("{:?}", ExitCode::from(2))
        );
    }
    let directory = Directory::new();
    let [cert, key, token] = ["tls.crt", "tls.key", "token"].map(|name| directory.path(name));
    let pair = rcgen::generate_simple_self_signed(["driver".to_owned()]).unwrap();
    std::fs::write(&cert, pair.cert.pem()).unwrap();
    std::fs::write(&key, pair.signing_key.serialize_pem()).unwrap();
    std::fs::write(&token, "secret").unwrap();
    let all = [
        ("--driver-ca-file", &cert),
        ("--driver-client-cert-file", &cert),
        ("--driver-client-key-file", &key),
        ("--driver-token-file", &token),
    ];
    let all: Vec<_> = all
        .map(|(flag, path)| format!("{flag}={}", path.display()))
        .into();
    let mut all: Vec<_> = all.iter().map(String::as_str).collect();
    all.push("--driver-token-over-http");
    assert!(client(&all).is_ok());
    // Each file counts.
    for (path, told) in [(&cert, "tls.crt"), (&key, "tls.key"), (&token, "token")] {
        let good = std::fs::read(path).unwrap();
        std::fs::write(path, "").unwrap();
        let error = client(&all).unwrap_err().to_string();
        assert!(error.contains(&format!("{told}: ")), "{error}");
        std::fs::write(path, good).unwrap();
    }
}

#[test]
fn a_controller_that_ran_ends_with_another_code_than_one_that_could_not_start() {
    let broke = CommandError::Run(crate::controller::RunError::TaskEnded("watching"));
    let wrong = CommandError::Signals(std::io::Error::other("no"));
    assert_eq!(
        format!("{:?}", broke.exit_code()),
        format!("{:?}", ExitCode::from(1))
    );
    assert_eq!(
        format!("{:?}", wrong.exit_code()),
        format!("{:?}", ExitCode::from(2))
    );
}

//! Flags, and what they make of cloud and options.

use super::*;
use crate::{CreationPace, FaultAction};
use clap::Parser;

#[derive(Parser)]
struct Command {
    #[command(flatten)]
    args: MockDriverArgs,
}

#[test]
fn flags_have_defaults() {
    let args = Command::parse_from(["lbcf"]).args;
    assert_eq!(args.listen.to_string(), "127.0.0.1:8080");
    assert_eq!(args.journal_size, 1000);
    assert!(!args.empty);
    assert!(!args.traffic);
    assert_eq!(args.drain_time, TrafficOptions::default().drain_time);
    let options = MockOptions::from(&args);
    assert_eq!(options.creation(), Duration::from_millis(100).into());
    assert_eq!(Quotas::from(&args), Quotas::default());
    let cloud = cloud(&args).unwrap();
    assert_eq!((cloud.faults().list().len(), cloud.faults().seed()), (0, 0));
}

#[test]
fn endpoints_without_a_password_are_on_loopback() {
    let endpoints = |flags: &[&str]| {
        let args = Command::parse_from([&["lbcf"], flags].concat()).args;
        let addr = MockOptions::from(&args).endpoints_listen;
        addr.map(|addr| addr.to_string())
    };
    assert_eq!(endpoints(&[]), None);
    assert_eq!(endpoints(&["--listen", "[::1]:80"]), None);
    let elsewhere = ["--listen", "0.0.0.0:80"];
    assert_eq!(endpoints(&elsewhere).as_deref(), Some("127.0.0.1:8081"));
    let chosen = ["--endpoints-listen", "10.0.0.1:90"];
    let chosen = endpoints(&[elsewhere, chosen].concat());
    assert_eq!(chosen.as_deref(), Some("10.0.0.1:90"));
}

#[test]
fn flags_reach_the_options() {
    let args = [
        "lbcf",
        "--stage-duration=2s",
        "--journal-size=7",
        "--allow-host=a,b",
    ];
    let options = MockOptions::from(&Command::parse_from(args).args);
    assert_eq!(options.stage_duration, Duration::from_secs(2));
    assert_eq!(options.journal_size, 7);
    assert_eq!(options.allow_hosts, ["a", "b"]);
}

fn parsed(flags: &[&str]) -> MockDriverArgs {
    Command::parse_from([&["lbcf"], flags].concat()).args
}

#[test]
fn creations_take_a_time_or_calls_or_are_held() {
    let pace = |flags: &[&str]| MockOptions::from(&parsed(flags)).creation();
    assert_eq!(pace(&["--creation-polls=3"]), CreationPace::Polls(3));
    assert_eq!(pace(&["--hold-creations"]), CreationPace::Held);
    assert_eq!(pace(&["--preset=fast"]), Duration::ZERO.into());
    let both = ["--preset=realistic", "--stage-duration=5s"];
    assert_eq!(pace(&both), Duration::from_secs(5).into());
}

#[test]
fn quotas_reach_the_cloud() {
    let flags = [
        "--max-load-balancers=1",
        "--max-backends=2",
        "--max-calls-per-second=3",
        "--max-targets-per-call=4",
    ];
    let quotas = Quotas {
        load_balancers: Some(1),
        backends: Some(2),
        calls_per_second: Some(3),
        targets_per_call: Some(4),
    };
    assert_eq!(Quotas::from(&parsed(&flags)), quotas);
}

#[test]
fn rules_of_a_file_come_before_those_of_the_preset() {
    let folder = std::env::temp_dir().join(format!("lbcf-mock-faults-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("faults.yaml");
    let with_file = || {
        let flag = format!("--faults={}", file.display());
        cloud(&parsed(&[&flag, "--preset=chaos", "--fault-seed=7"]))
    };
    let missing = with_file().unwrap_err().to_string();
    assert!(missing.contains("faults.yaml: "), "{missing}");
    let rules =
        "- match: {webhook: ensureBackend, times: 2}\n  action: loseAnswer\n- action: hang\n";
    std::fs::write(&file, rules).unwrap();
    let cloud = with_file().unwrap();
    let listed = cloud.faults().list();
    assert_eq!(listed.len(), 2 + FaultPreset::Chaos.rules().len());
    assert_eq!(
        (&listed[1].rule.action, cloud.faults().seed()),
        (&FaultAction::Hang, 7)
    );
    for (text, expected) in [
        (
            "- action: hung",
            "faults.yaml: rules[0].action: unknown variant `hung`",
        ),
        ("rules: [", "faults.yaml: not YAML: "),
        ("", "faults.yaml: "),
        (
            "- {action: hang, match: {webhok: x}}",
            "did you mean webhook?",
        ),
    ] {
        std::fs::write(&file, text).unwrap();
        let error = with_file().unwrap_err().to_string();
        assert!(error.contains(expected), "{text}: {error}");
    }
    std::fs::write(&file, " ".repeat(2 << 20)).unwrap();
    let error = with_file().unwrap_err().to_string();
    assert!(error.contains("has more than 1048576 bytes"), "{error}");
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn a_cloud_begins_with_its_seed_and_continues_with_its_file() {
    let folder = std::env::temp_dir().join(format!("lbcf-mock-seed-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let [seed, kept] = ["seed.yaml", "state.json"].map(|name| folder.join(name));
    let flag = |name: &str, path: &std::path::Path| format!("--{name}={}", path.display());
    let flags = [flag("seed-file", &seed), flag("state-file", &kept)];
    let start = || cloud(&parsed(&[&flags[0], &flags[1]]));
    let missing = start().unwrap_err().to_string();
    assert!(
        missing.contains("seed.yaml: there is no such file"),
        "{missing}"
    );
    std::fs::write(&seed, "loadBalancers:\n- id: lb-7\n").unwrap();
    let ids = |cloud: &Cloud| {
        cloud
            .state()
            .load_balancers
            .into_iter()
            .map(|it| it.id)
            .collect::<Vec<_>>()
    };
    let first = start().unwrap();
    assert_eq!(ids(&first), ["lb-7"]);
    assert!(first.reset_load_balancer("lb-7"));
    let empty = serde_json::from_str(r#"{"loadBalancers": []}"#).unwrap();
    first.restore(&empty).unwrap();
    drop(first);
    let next = start().unwrap();
    assert_eq!(ids(&next), [""; 0], "it continues");
    next.reset();
    assert_eq!(ids(&next), ["lb-7"], "a reset returns to the seed");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = std::fs::metadata(&kept).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "its owner alone may read it");
    }
    drop(next);
    std::fs::write(&kept, "{").unwrap();
    let damaged = start().unwrap_err().to_string();
    assert!(
        damaged.contains("state: ") && damaged.contains("state.json: not JSON"),
        "{damaged}"
    );
    assert_eq!(std::fs::read_to_string(&kept).unwrap(), "{");
    std::fs::remove_dir_all(&folder).unwrap();
}

#[test]
fn wrong_flags_are_refused() {
    for flags in [
        ["--creation-polls=-1"].as_slice(),
        &["--stage-duration=soon"],
        &["--creation-polls=1", "--stage-duration=1s"],
        &["--creation-polls=1", "--hold-creations"],
        &["--preset=wild"],
        &["--empty", "--seed-file=x"],
        &["--fault-seed=x"],
        &["--max-load-balancers=-1"],
        &["--max-backends=many"],
        &["--max-calls-per-second=1.5"],
    ] {
        let parsed = Command::try_parse_from([&["lbcf"], flags].concat());
        assert_eq!(parsed.err().unwrap().exit_code(), 2, "{flags:?}");
    }
}

use super::inputs::{DriverSource, RunInputs};
use super::*;
use crate::output::{Format, Output};
use crate::report::FailurePolicy;
use crate::settings::Profile;
use clap::{CommandFactory as _, Parser};
use std::time::Duration;
use tempfile::NamedTempFile;

#[derive(Debug, Parser)]
struct Cli {
    #[command(flatten)]
    conformance: ConformanceArgs,
}

fn parse(args: &[&str]) -> Result<RunArgs, String> {
    let args = [&["lbcf", "run"], args].concat();
    match Cli::try_parse_from(args) {
        Ok(Cli {
            conformance:
                ConformanceArgs {
                    command: Command::Run(args),
                },
        }) => Ok(*args),
        Ok(other) => panic!("{other:?}"),
        Err(error) => Err(error.to_string()),
    }
}

/// The error of the arguments, from clap or from the command.
fn wrong(args: &[&str]) -> String {
    let args = match parse(args) {
        Ok(args) => args,
        Err(error) => return error,
    };
    let given = match RunInputs::read(&args) {
        Ok(given) => given,
        Err(stop) => return stop.message,
    };
    let stop = args.output.destinations().err();
    let stop = stop.or_else(|| args.connection.read_headers().err());
    let stop = stop.or_else(|| given.driver(&args).err());
    let stop = stop.unwrap_or_else(|| panic!("{args:?} is right"));
    assert_eq!(stop.exit, Exit::Usage);
    stop.message
}

#[test]
fn defaults_are_those_of_the_settings() {
    let given = RunInputs::read(&parse(&["--url", "http://x"]).unwrap()).unwrap();
    let (settings, defaults) = (given.settings, crate::settings::Settings::default());
    assert_eq!(settings.repeat, defaults.repeat);
    assert_eq!(settings.concurrency, defaults.concurrency);
    assert_eq!(settings.jobs, defaults.jobs);
    assert_eq!(settings.wait, defaults.wait);
    let partial = FailurePolicy {
        partial: true,
        ..defaults.policy
    };
    assert_eq!(settings.policy, partial);
    assert_eq!(settings.profile, None);
    assert!(settings.cleanup && !settings.fail_fast && !settings.verbose);
    assert_eq!(settings.time_scale.to_bits(), defaults.time_scale.to_bits());
}

#[test]
fn every_flag_reaches_the_settings() {
    let args = "--url http://x --profile dryrun --only ens-02,drg --only CLB --skip ens-09 \
                --repeat 3 --concurrency 4 --jobs 5 --seed 42 --timeout 3s --budget async=9s \
                --budget total=99s --time-scale 0.5 --fail-on should --strict-known --fail-fast \
                --no-cleanup --wait 7s --verbose --allow-partial";
    let args = parse(&args.split(' ').collect::<Vec<_>>()).unwrap();
    let given = RunInputs::read(&args).unwrap();
    let settings = given.settings;
    assert_eq!(settings.profile, Some(Profile::DryRun));
    assert_eq!(settings.only, ["ENS-02", "DRG", "CLB"]);
    assert_eq!(settings.skip, ["ENS-09"]);
    assert_eq!(
        (settings.repeat, settings.concurrency, settings.jobs),
        (3, 4, 5)
    );
    assert_eq!(settings.seed, 42);
    assert_eq!(settings.timeout, Some(Duration::from_secs(3)));
    assert_eq!(settings.async_budget, Some(Duration::from_secs(9)));
    assert_eq!(settings.total_budget, Some(Duration::from_secs(99)));
    assert_eq!(settings.time_scale.to_bits(), 0.5_f64.to_bits());
    assert!(settings.policy.should && !settings.policy.partial);
    assert!(settings.policy.strict_known && settings.fail_fast && !settings.cleanup);
    assert_eq!(settings.wait, Duration::from_secs(7));
    assert!(settings.verbose);
}

#[test]
fn what_is_wrong_is_named_with_what_is_allowed() {
    for (args, told) in [
        (&["--url", "http://x", "--exec", "d {port}"][..], "--exec"),
        (&["--repeat", "0"], "1..=1000"),
        (&["--concurrency", "1001"], "1..=1000"),
        (&["--jobs", "65"], "1..=64"),
        (&["--time-scale", "11"], "a number from 0 to 10"),
        (&["--time-scale", "NaN"], "a number from 0 to 10"),
        (&["--timeout", "61s"], "up to 1m"),
        (&["--wait", "soon"], "such as 500ms or 10s"),
        (&["--budget", "async=x"], "async: not a duration"),
        (
            &["--budget", "all=1s"],
            "expected async=DURATION or total=DURATION",
        ),
        (&["--profile", "most"], "pod-deregister"),
        (&["--fail-on", "may"], "possible values: must, should"),
        (&["--format", "xml"], "possible values: human, json, junit"),
        (&["--output", "json="], "json= has no path"),
        (&["--only", "ENS2"], "did you mean ENS-02?"),
        (&["--skip", "EMS"], "--skip: no check and no group"),
        (
            &["--fixture", "/nonexistent/f.yaml"],
            "/nonexistent/f.yaml: no such file",
        ),
        (&["--known-failures", "/nonexistent/k"], "/nonexistent/k"),
        (
            &["--output", "json=r", "--output", "yaml=r"],
            "json and report both go to r",
        ),
        (
            &["--format", "json", "--output", "yaml"],
            "json and report both go to standard output",
        ),
        (
            &["--output", "json=/nonexistent/r"],
            "the folder /nonexistent does not exist",
        ),
        (&["--report", "/tmp"], "this is a folder"),
        (&["--observe-url", "x"], "--observe-url: not an absolute"),
        (
            &["--observe-url", "http://x", "--observe-cmd", "y"],
            "--observe-cmd",
        ),
        (&["--client-cert-file", "c"], "--client-key-file"),
        (&["--exec-path", "/x"], "--exec"),
        (&["--verbose", "--quiet"], "--quiet"),
        (
            &["--header", "no colon"],
            "--header: expected 'Name: value'",
        ),
        (
            &["--header", "Host: x"],
            "host: the kit sets this header itself",
        ),
        (&[], "no driver:"),
    ] {
        let problem = wrong(args);
        assert!(problem.contains(told), "{args:?}: {problem}");
    }
}

#[test]
fn secrets_are_in_no_error_and_no_debug_output() {
    let args = parse(&[
        "--url",
        "http://me:s3cret@x",
        "--header",
        "X-Key: s3cret",
        "--observe-url",
        "http://me:s3cret@y",
    ])
    .unwrap();
    assert!(!format!("{args:?}").contains("s3cret"));
    for header in ["s3cret", "s3cret s3cret: x", "X-Key: s3cret\u{7f}"] {
        assert!(!wrong(&["--header", header]).contains("s3cret"), "{header}");
    }
    let args = parse(&["--url", "ftp://me:s3cret@x"]).unwrap();
    let endpoint = crate::fixture::Endpoint::default();
    let url = &args.url.as_ref().unwrap().0;
    let stop = args.connection.transport(url, &endpoint).unwrap_err();
    assert!(!stop.message.contains("s3cret"), "{}", stop.message);
}

#[test]
fn the_command_line_gives_the_run_again_without_secrets() {
    let line = |args: &[&str]| {
        let args = parse(args).unwrap();
        let given = RunInputs::read(&args).unwrap();
        let driver = given.driver(&args).unwrap();
        reproduce::command_line(&args, &given, &driver).unwrap()
    };
    assert_eq!(
        line(&[
            "--url",
            "http://me:s3cret@x/lbcf",
            "--seed",
            "7",
            "--quiet",
            "--format",
            "json"
        ]),
        "lbcf conformance run --url http://x/lbcf --seed 7"
    );
    // Between two spaces, as some values have one.
    let all = "--exec  ./it's {port}  --exec-path  /lbcf  --wait  1m  --token-file  t  \
               --profile  all  --only  ENS-02,DRG  --skip  DRG-08  --strict-known  \
               --observe-cmd  ./look {port}  --repeat  3  --concurrency  4  --jobs  5  \
               --seed  42  --timeout  3s  --budget  async=9s  --budget  total=2m  \
               --time-scale  0.5  --fail-on  should  --fail-fast  --no-cleanup";
    let all: Vec<&str> = all.split("  ").collect();
    let quoted: Vec<String> = all.iter().map(|text| crate::output::word(text)).collect();
    let quoted = quoted.join(" ");
    assert_eq!(line(&all), format!("lbcf conformance run {quoted}"));
    let with_header = line(&["--url", "http://x", "--header", "X-Key: s3cret"]);
    assert!(
        with_header.contains("--header 'x-key: ***'"),
        "{with_header}"
    );
}

#[test]
fn people_get_standard_output_unless_others_do() {
    let of = |args: &[&str]| -> Vec<String> {
        let args = parse(&[&["--url", "http://x"], args].concat()).unwrap();
        let outputs = args.output.destinations().unwrap();
        outputs.iter().map(ToString::to_string).collect()
    };
    assert_eq!(of(&[]), ["human"]);
    assert_eq!(of(&["--output", "json=a"]), ["human", "json=a"]);
    assert_eq!(
        of(&["--output", "json=a,junit=b"]),
        ["human", "json=a", "junit=b"]
    );
    assert_eq!(of(&["--output", "human=a"]), ["human=a"]);
    assert_eq!(of(&["--output", "json=-"]), ["json"]);
    assert_eq!(
        of(&["--format", "junit", "--report", "r"]),
        ["junit", "report=r"]
    );
}

fn file(text: &str) -> NamedTempFile {
    let file = NamedTempFile::new().unwrap();
    std::fs::write(file.path(), text).unwrap();
    file
}

#[test]
fn flags_win_over_the_fixture() {
    let fixture = file(
        "endpoint: {url: 'http://of.fixture/lbcf', timeouts: {default: 3s, ensureBackend: 4s}}\n\
         observe: {url: 'http://of.fixture/observe'}\n\
         knownFailures: [{id: ENS-02, reason: fixture}, {id: DRG-01, reason: fixture}]\n",
    );
    let known = file("ENS-02 flag\n");
    let path = fixture.path().to_str().unwrap();
    let given = |args: &[&str]| {
        let args = parse(&[&["--fixture", path], args].concat()).unwrap();
        let given = RunInputs::read(&args).unwrap();
        let driver = given.driver(&args).unwrap();
        (given, driver)
    };
    let (of_fixture, driver) = given(&[]);
    assert_eq!(driver, DriverSource::Url("http://of.fixture/lbcf".into()));
    assert_eq!(of_fixture.fixture.endpoint.timeouts.len(), 2);
    let (by_flags, driver) = given(&[
        "--url",
        "http://of.flag",
        "--timeout",
        "5s",
        "--observe-cmd",
        "look",
        "--known-failures",
        known.path().to_str().unwrap(),
    ]);
    assert_eq!(driver, DriverSource::Url("http://of.flag".into()));
    assert_eq!(by_flags.settings.timeout, Some(Duration::from_secs(5)));
    assert!(by_flags.fixture.endpoint.timeouts.is_empty());
    assert!(matches!(
        by_flags.fixture.observe,
        Some(crate::fixture::Observe::Command(_))
    ));
    assert_eq!(by_flags.fixture.known_failures["ENS-02"], "flag");
    assert_eq!(by_flags.fixture.known_failures["DRG-01"], "fixture");
    let exec = |path: &str| DriverSource::Exec {
        command: "d {port}".to_owned(),
        path: path.to_owned(),
    };
    assert_eq!(given(&["--exec", "d {port}"]).1, exec("lbcf"));
    assert_eq!(
        given(&["--exec", "d {port}", "--exec-path", "/"]).1,
        exec("")
    );
}

#[test]
fn reports_have_forms_and_places() {
    let args = parse(&["--output", "junit=a.xml"]).unwrap();
    let output = Output {
        format: Format::Junit,
        path: Some("a.xml".into()),
    };
    assert_eq!(args.output.outputs, [output]);
}

#[test]
fn flags_that_the_readme_names_are_there() {
    let readme = include_str!("../../README.md");
    let cli = Cli::command();
    let mut known: Vec<String> = vec!["--help".to_owned(), "--version".to_owned()];
    for command in cli.get_subcommands() {
        let flags = command.get_arguments().filter_map(clap::Arg::get_long);
        known.extend(flags.map(|flag| format!("--{flag}")));
    }
    let is_of_flag = |c: char| c.is_ascii_alphanumeric() || c == '-';
    let mut named = 0;
    let is_ours = |line: &&str| line.contains("lbcf conformance ") || line.starts_with("| `-");
    for line in readme.lines().filter(is_ours) {
        // What is in quotes is a driver's command.
        let unquoted: String = line.split('\'').step_by(2).collect();
        for word in unquoted.split(|c: char| !is_of_flag(c)) {
            if word.starts_with("--") && word.len() > 2 {
                named += 1;
                assert!(known.iter().any(|flag| flag == word), "{word} in {line}");
            }
        }
    }
    assert!(named > 15, "only {named} flags are named");
}

#[test]
fn the_readme_shows_what_reports_look_like() {
    let sample = include_str!("../../tests/golden/sample/report.txt");
    let readme = include_str!("../../README.md");
    let excerpt = readme.split("```text\n").nth(1).unwrap();
    let excerpt = excerpt.split("```").next().unwrap();
    assert!(excerpt.lines().count() > 10, "{excerpt}");
    for line in excerpt.lines() {
        assert!(sample.lines().any(|other| other == line), "{line}");
    }
}

use super::*;
use clap::{Args as _, CommandFactory as _, Parser};
use std::time::Duration;

#[derive(Debug, Parser)]
struct Command {
    #[command(flatten)]
    server: ServerArgs,
    /// A flag of the driver's own
    #[arg(long, env = "MY_CLOUD_REGION")]
    region: Option<String>,
}

/// The server's settings by flags, or the text of the error.
fn server(flags: &[&str]) -> Result<String, String> {
    let args = ["driver"].iter().chain(flags);
    let command = Command::try_parse_from(args).map_err(|error| error.to_string())?;
    Ok(shown(&command.server.settings))
}

/// All but the routes, which are a map in any order.
fn shown(settings: &Settings) -> String {
    let text = format!("{settings:?}");
    let (before, _) = text.split_once(", routes: ").expect("routes are last");
    before.to_owned()
}

#[test]
fn every_flag_has_an_environment_variable_and_a_help_text() {
    let command = Command::command();
    command.clone().debug_assert();
    let flags = ServerArgs::augment_args(clap::Command::new("only the server's"));
    let mut count = 0;
    for flag in flags.get_arguments() {
        let name = flag.get_long().expect("a flag has a name");
        let variable = format!("LBCF_DRIVER_{}", name.to_uppercase().replace('-', "_"));
        let env = flag.get_env().and_then(|env| env.to_str());
        assert_eq!(env, Some(&*variable), "--{name}");
        let help = flag.get_help().expect(name).to_string();
        assert!(help.len() > 10 && !help.ends_with('.'), "--{name}: {help}");
        assert!(flag.get_help_heading().is_some(), "--{name}");
        count += 1;
    }
    assert!(count >= 14, "{count}");
    // What is flattened leaves the driver's own flags where they are.
    let own = command
        .get_arguments()
        .find(|flag| flag.get_id() == "region");
    assert_eq!(own.expect("it is there").get_help_heading(), None);
}

#[test]
fn without_flags_the_settings_are_the_defaults() {
    assert_eq!(server(&[]), Ok(shown(&Settings::default())));
}

#[test]
fn every_flag_reaches_the_server() {
    let by_flags = server(&[
        "--listen=[::1]:1",
        "--path-prefix=/lbcf",
        "--tls-cert=c",
        "--tls-key=k",
        "--client-ca=a",
        "--token-file=t",
        "--probes-on=127.0.0.1:2",
        "--answer-within=4s",
        "--body-limit=1000",
        "--max-running-hooks=6",
        "--max-waiting-hooks=7",
        "--max-connections=5",
        "--shutdown-within=1m30s",
    ]);
    let by_fields = Settings {
        listen: "[::1]:1".parse().unwrap(),
        path_prefix: "/lbcf".into(),
        tls_cert: Some("c".into()),
        tls_key: Some("k".into()),
        client_ca: Some("a".into()),
        token_file: Some("t".into()),
        probes_on: Some("127.0.0.1:2".parse().unwrap()),
        answer_within: Duration::from_secs(4),
        body_limit: 1000,
        max_running_hooks: 6,
        max_waiting_hooks: 7,
        max_connections: 5,
        shutdown_within: Duration::from_secs(90),
        ..Settings::default()
    };
    assert_eq!(by_flags, Ok(shown(&by_fields)));
}

#[test]
fn settings_that_do_not_go_together_are_refused_by_name() {
    for (flags, complaint) in [
        (&["--tls-cert=c"][..], "--tls-key <FILE>"),
        (&["--tls-key=k"], "--tls-cert <FILE>"),
        (&["--client-ca=a"], "--tls-cert <FILE>"),
        (
            &["--token=x", "--token-file=t"],
            "'--token <TOKEN>' cannot be used with '--token-file <FILE>'",
        ),
        (&["--path-prefix=lbcf"], "must begin with /, such as /lbcf"),
        (&["--answer-within=8"], "not a duration up to 24h"),
        (&["--body-limit=0"], "0 is not in 1.."),
        (&["--max-connections=0"], "0 is not in 1.."),
        (&["--max-running-hooks=0"], "0 is not in 1.."),
        (&["--log-format=xml"], "[possible values: text, json]"),
        (&["--listen=8080"], "--listen <ADDR>"),
    ] {
        let error = server(flags).unwrap_err();
        assert!(error.contains(complaint), "{flags:?}: {error}");
    }
}

#[test]
fn a_token_is_shown_nowhere() {
    for token in ["s3cret", "not one"] {
        let flag = format!("--token={token}");
        let command = Command::parse_from(["driver", &flag]);
        let shown = format!("{command:?} {:?}", server(&[&flag]));
        assert!(!shown.contains(token), "{shown}");
    }
    let help = Command::command().render_long_help().to_string();
    assert!(help.contains("[env: LBCF_DRIVER_TOKEN]"), "{help}");
}

//! The command line itself: help, errors, and the small subcommands.

use crate::process::{Running, TempFile, run, text, words};

#[test]
fn help_lists_every_command() {
    let help = text(&run(&["--help"]).stdout);
    for command in [
        "conformance",
        "demo",
        "controller",
        "mock-driver",
        "local-cluster",
        "crds",
        "webhooks",
        "install",
        "convert",
        "completion",
    ] {
        assert!(help.contains(command), "{help}");
        let output = run(&[command, "--help"]);
        assert_eq!(output.status.code(), Some(0));
        assert!(text(&output.stdout).contains("Usage: lbcf"), "{command}");
    }
    assert_eq!(run(&["--version"]).status.code(), Some(0));
}

#[test]
fn completion_scripts_know_the_commands() {
    for shell in ["bash", "zsh", "fish"] {
        let output = run(&["completion", shell]);
        assert_eq!(output.status.code(), Some(0), "{shell}");
        let script = text(&output.stdout);
        assert!(script.contains("mock-driver"), "{shell}: {script}");
    }
}

#[test]
fn errors_on_the_command_line_name_the_flag_and_the_value() {
    for (args, named) in [
        (vec!["demo", "--pods", "0"], "--pods"),
        (vec!["demo", "--pods", "many"], "many"),
        (vec!["demo", "--output", "xml"], "xml"),
        (vec!["dance"], "dance"),
        (vec!["mock-driver", "--listen", "nowhere"], "nowhere"),
        (vec!["mock-driver", "--stage-duration", "soon"], "soon"),
        (vec!["controller", "--workers", "-1"], "-1"),
        (vec!["controller", "--max-retry-delay", "long"], "long"),
        (vec!["controller", "--connect-to", "nothing"], "nothing"),
        (
            vec!["controller", "--kubeconfig", "/nonexistent/kubeconfig"],
            "/nonexistent/kubeconfig",
        ),
        (
            vec!["local-cluster", "--listen", "0.0.0.0:0"],
            "--listen 0.0.0.0:0: others can reach this address",
        ),
        (vec!["local-cluster", "--nodes", "5001"], "5001"),
        (vec!["local-cluster", "--pod-ready-delay", "soon"], "soon"),
        (vec!["local-cluster", "--tls-cert", "cert.pem"], "--tls-key"),
        (
            vec!["local-cluster", "--tls-cert", "/no/cert", "--tls-key", "k"],
            "/no/cert",
        ),
        (
            vec!["local-cluster", "--token-file", "/no/token"],
            "--token-file /no/token",
        ),
        (
            vec!["local-cluster", "--token", "x", "--token-file", "y"],
            "--token-file",
        ),
        (vec!["local-cluster", "--tls-san", "a b"], "\"a b\""),
        (
            vec![
                "local-cluster",
                "--listen",
                "127.0.0.1:0",
                "--kubeconfig",
                "/no/folder/k",
            ],
            "--kubeconfig /no/folder/k",
        ),
        (vec!["crds", "--log", "all=loud"], "all=loud"),
        (vec!["webhooks", "--port", "65536"], "65536"),
        (vec!["webhooks", "--url", "http://plain"], "http://plain"),
        (vec!["install", "--image", "a b"], "\"a b\""),
        (vec!["install", "--namespace", "Big"], "Big"),
    ] {
        let output = run(&args);
        let stderr = text(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{args:?}: {stderr}");
        assert!(stderr.contains(named), "{args:?}: {stderr}");
        assert!(!stderr.contains("panicked"), "{args:?}: {stderr}");
    }
}

#[test]
fn crds_prints_the_files_in_deploy() {
    let printed = text(&run(&["crds"]).stdout);
    for plural in [
        "loadbalancerdrivers",
        "loadbalancers",
        "backendgroups",
        "backendrecords",
        "binds",
    ] {
        let file = format!(
            "{}/../deploy/crds/lbcf.tkestack.io_{plural}.yaml",
            env!("CARGO_MANIFEST_DIR")
        );
        let deployed = std::fs::read_to_string(&file).unwrap();
        assert!(printed.contains(&deployed), "{file}");
    }
}

#[test]
fn webhooks_prints_the_files_in_deploy() {
    let printed = text(&run(&["webhooks"]).stdout);
    for name in ["lbcf-mutate", "lbcf-validate"] {
        let file = format!(
            "{}/../deploy/admission/{name}.yaml",
            env!("CARGO_MANIFEST_DIR")
        );
        let deployed = std::fs::read_to_string(&file).unwrap();
        assert!(printed.contains(&deployed), "{file}");
    }
    let elsewhere = text(&run(&["webhooks", "--url", "https://192.0.2.1:8443"]).stdout);
    assert!(
        elsewhere.contains("https://192.0.2.1:8443/validate-bind"),
        "{elsewhere}"
    );
}

#[test]
fn local_cluster_serves_kubectl_over_tls_with_a_token_from_a_file() {
    let kubeconfig = TempFile::new("kubeconfig");
    let token = TempFile::new("token");
    std::fs::write(token.path(), "s3cret-t0ken\n").unwrap();
    let cluster = Running::start(&words(&format!(
        "--log debug local-cluster --listen 127.0.0.1:0 --tls --token-file {} --nodes 3 --kubeconfig {}",
        token.as_str(),
        kubeconfig.as_str()
    )));
    cluster.line_with("https://127.0.0.1:");
    let written = std::fs::read_to_string(kubeconfig.path()).unwrap();
    assert!(
        written.contains("certificate-authority-data: "),
        "{written}"
    );
    assert!(written.contains("token: \"s3cret-t0ken\""), "{written}");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        let mode = std::fs::metadata(kubeconfig.path())
            .unwrap()
            .permissions()
            .mode();
        assert_eq!(mode & 0o777, 0o600);
    }
    if crate::kubectl::is_installed() {
        let listed = std::process::Command::new("kubectl")
            .env("KUBECONFIG", kubeconfig.path())
            .env("HOME", kubeconfig.path().parent().unwrap())
            .args(["get", "nodes", "-o", "name"])
            .output()
            .unwrap();
        let output = text(&listed.stdout) + &text(&listed.stderr);
        assert_eq!(output, "node/node-1\nnode/node-2\nnode/node-3\n");
        let line = cluster.line_with("path=\"/api/v1/nodes\"");
        for part in [
            "request",
            "method=GET",
            "user_agent=\"kubectl/",
            "status=200",
            "ms=",
        ] {
            assert!(line.contains(part), "{line}");
        }
    }
    let (code, rest) = cluster.interrupt();
    assert_eq!(code, Some(0));
    assert!(!rest.iter().any(|line| line.contains("s3cret")), "{rest:?}");
}

#[test]
fn help_does_not_show_the_token_of_the_environment() {
    let output = crate::process::lbcf(&["local-cluster", "--help"])
        .env("LBCF_LOCAL_CLUSTER_TOKEN", "s3cret-t0ken")
        .output()
        .unwrap();
    let help = text(&output.stdout);
    assert!(
        help.contains("LBCF_LOCAL_CLUSTER_TOKEN") && !help.contains("s3cret"),
        "{help}"
    );
}

#[test]
fn an_address_in_use_is_named() {
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let addr = taken.local_addr().unwrap().to_string();
    for command in ["local-cluster", "mock-driver"] {
        let output = run(&[command, "--listen", &addr]);
        assert_eq!(output.status.code(), Some(2));
        assert!(
            text(&output.stderr).contains(&addr),
            "{}",
            text(&output.stderr)
        );
    }
}

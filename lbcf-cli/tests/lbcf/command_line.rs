//! The command line itself: help, errors, and the small subcommands.

use crate::process::{Running, TempFile, assert_each_refused, assert_refused, run, text, words};

#[test]
fn help_lists_every_command() {
    let help = text(&run(&["--help"]).stdout);
    let commands =
        "conformance demo controller mock-driver local-cluster crds webhooks install convert
        completion";
    for command in words(commands) {
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
    let table = r#"
        demo --pods 0 | --pods
        demo --pods many | many
        demo --output xml | xml
        dance | dance
        mock-driver --listen nowhere | nowhere
        mock-driver --stage-duration soon | soon
        controller --workers -1 | -1
        controller --max-retry-delay long | long
        controller --connect-to nothing | nothing
        controller --kubeconfig /nonexistent/kubeconfig | /nonexistent/kubeconfig
        local-cluster --listen 0.0.0.0:0 | --listen 0.0.0.0:0: others can reach this address
        local-cluster --nodes 5001 | 5001
        local-cluster --pod-ready-delay soon | soon
        local-cluster --tls-cert cert.pem | --tls-key
        local-cluster --tls-cert /no/cert --tls-key k | /no/cert
        local-cluster --token-file /no/token | --token-file /no/token
        local-cluster --token x --token-file y | --token-file
        local-cluster --listen 127.0.0.1:0 --kubeconfig /no/folder/k | --kubeconfig /no/folder/k
        crds --log all=loud | all=loud
        webhooks --port 65536 | 65536
        webhooks --url http://plain | http://plain
        install --namespace Big | Big
    "#;
    assert_each_refused(table, run);
    for args in [
        ["local-cluster", "--tls-san", "a b"],
        ["install", "--image", "a b"],
    ] {
        assert_refused(&run(&args), "\"a b\"");
    }
}

#[test]
fn crds_prints_the_files_in_deploy() {
    let printed = text(&run(&["crds"]).stdout);
    let plurals = "loadbalancerdrivers loadbalancers backendgroups backendrecords binds";
    for plural in words(plurals) {
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
        assert_refused(&output, &addr);
    }
}

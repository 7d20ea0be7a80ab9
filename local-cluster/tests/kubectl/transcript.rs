//! The commands of a recorded session, and their output.

use std::fmt::Write as _;
use std::sync::LazyLock;

use local_cluster::{LocalCluster, LocalClusterOptions};
use regex::Regex;
use serde_json::Value;

use super::{Kubectl, is_installed, output_of, skip, write};

/// The commands with other output here, and why.
const KNOWN: [(&str, &str); 3] = [
    (
        "kubectl get endpointslices -A",
        "no controller makes them here",
    ),
    (
        "kubectl get events -A",
        "they tell of the API server's process and of controllers",
    ),
    (
        "kubectl get leases -A",
        "the API server has no identity here",
    ),
];

/// The manifests of the commands, reconstructed from recorded requests: the file, the command that
/// sent it, and the method.
const FILES: [(&str, &str, &str); 9] = [
    ("crds.yaml", "kubectl apply crds", "POST"),
    ("driver.yaml", "kubectl apply driver", "POST"),
    ("lb.yaml", "kubectl apply lb (create)", "POST"),
    ("lb2.yaml", "kubectl apply lb (changed attributes)", "PATCH"),
    ("lb-unknown.yaml", "kubectl apply lb unknown field", "POST"),
    ("lb-type.yaml", "kubectl apply lb wrong type", "POST"),
    ("pod.yaml", "kubectl apply pod", "POST"),
    ("svc.yaml", "kubectl apply svc", "POST"),
    ("node.yaml", "kubectl apply node", "POST"),
];

/// Writes the manifests; kubectl stores what it applies.
fn write_files(kubectl: &Kubectl) {
    let recording = include_str!("../recorded/kubectl.jsonl").lines();
    let exchanges: Vec<Value> = recording
        .map(|l| serde_json::from_str(l).unwrap())
        .collect();
    for (file, command, method) in FILES {
        let mut documents = String::new();
        for exchange in &exchanges {
            let request = &exchange["request"];
            if exchange["command"] != command || request["method"] != method {
                continue;
            }
            let note =
                "/body/metadata/annotations/kubectl.kubernetes.io~1last-applied-configuration";
            let applied = request.pointer(note).and_then(Value::as_str).unwrap();
            let mut applied: Value = serde_json::from_str(applied).unwrap();
            let metadata = applied["metadata"].as_object_mut().unwrap();
            metadata.remove("annotations");
            let yaml = serde_saphyr::to_string(&applied).unwrap();
            write!(documents, "---\n{yaml}\n").unwrap();
        }
        assert!(!documents.is_empty(), "{file}");
        write(&kubectl.home.join(file), documents);
    }
}

/// The arguments of a command; the transcript shows them without quotes.
fn words(command: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let mut selector = false;
    for word in command.split(' ').skip(1) {
        match words.last_mut() {
            Some(last) if selector && !word.starts_with('-') && last != "-l" => {
                last.push(' ');
                last.push_str(word);
            }
            _ => {
                selector = word == "-l" || (selector && !word.starts_with('-'));
                words.push(word.to_owned());
            }
        }
    }
    words
}

/// The output without values that differ between runs.
fn plain(text: &str) -> String {
    static CHANGES: LazyLock<Vec<(Regex, &str)>> = LazyLock::new(|| {
        [
            (r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(\.\d+ \+0000|Z)", "TIME"),
            ("[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}", "UID"),
            (r#"(?i)(resource ?version"?: +"?)\d+"#, "${1}VERSION"),
            (r"\b\d+[smhd](\d+[smh])?\b", "AGE"),
            (r"\b10\.96\.\d+\.\d+\b", "ADDRESS"),
            (r"\b80:\d+/TCP", "80:PORT/TCP"),
            (r"http://127\.0\.0\.1:\d+", "SERVER"),
            (r"\S*(LIVE|MERGED)(-\d+)?/", "$1/"),
            (r"\x1b\[[0-9;]*m", ""),
            ("[ \t]+", " "),
            (" \n", "\n"),
        ]
        .map(|(from, to)| (Regex::new(from).unwrap(), to))
        .into()
    });
    let mut text = text.to_owned();
    for (from, to) in CHANGES.iter() {
        text = from.replace_all(&text, *to).into_owned();
    }
    text.trim_end().to_owned()
}

#[tokio::test]
async fn a_session_prints_what_it_does_on_a_cluster() {
    if !is_installed().await {
        return;
    }
    let transcript = include_str!("../recorded/kubectl-transcript.txt");
    // `--raw` does not print a newline.
    let transcript = format!("\n{}", transcript.replace("ok$ ", "ok\n$ "));
    let options = LocalClusterOptions {
        nodes: Vec::new(),
        run_pods: false,
        ..LocalClusterOptions::default()
    };
    let cluster = LocalCluster::start(options).await.unwrap();
    let server = cluster.serve("127.0.0.1:0".parse().unwrap()).await.unwrap();
    let kubectl = Kubectl::of(&server);
    let (_, version) = kubectl.run(&["version", "--client"]).await;
    if !version.contains("v1.32.") {
        kubectl.end();
        return skip("the session was recorded with another version of kubectl");
    }
    write_files(&kubectl);
    let mut report = Vec::new();
    for step in transcript.split("\n$ ").filter(|step| !step.is_empty()) {
        let (command, recorded) = step.split_once('\n').unwrap_or((step, ""));
        let process = if command.contains([';', '|']) {
            kubectl.shell(command)
        } else {
            let words = words(command);
            kubectl.command(&words.iter().map(String::as_str).collect::<Vec<&str>>())
        };
        let (_, now) = output_of(process).await;
        let known = KNOWN.iter().find(|(known, _)| *known == command);
        match (plain(recorded) == plain(&now), known) {
            (true, None) | (false, Some(_)) => {}
            (true, Some((_, why))) => report.push(format!("no longer differs: {command} ({why})")),
            (false, None) => report.push(format!(
                "$ {command}\n--- recorded\n{}\n--- is\n{}",
                plain(recorded),
                plain(&now)
            )),
        }
    }
    assert!(report.is_empty(), "\n{}", report.join("\n"));
    kubectl.end();
    server.shutdown().await;
}

#[test]
fn a_selector_is_one_argument() {
    let command = "kubectl get lb -A -l app in (demo,other),!legacy --x y z";
    let expected = [
        "get",
        "lb",
        "-A",
        "-l",
        "app in (demo,other),!legacy",
        "--x",
        "y",
        "z",
    ];
    assert_eq!(words(command), expected);
}

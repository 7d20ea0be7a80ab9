use super::*;
use axum::Router;
use axum::routing::get;

const HEAD: &str = "apiVersion: lbcf.dev/v1\nkind: ConformanceFixture\n";

/// What is taken from a driver that responds with this at the path.
async fn fetched(text: String) -> Result<Option<ServedFixture>, FixtureError> {
    let path = format!("/{PATH}");
    let router = Router::new().route(&path, get(move || async move { text }));
    fetch(&Transport::in_process(router), &["ENS-01"]).await
}

async fn taken(more: &str) -> ServedFixture {
    fetched(format!("{HEAD}{more}")).await.unwrap().unwrap()
}

#[tokio::test]
async fn what_describes_the_driver_is_taken() {
    let served =
        taken("features: [async]\nobserve: {url: '{url}/observe'}\nrestart: {exec: true}\n").await;
    assert_eq!(served.ignored, [""; 0]);
    assert!(
        served
            .fixture
            .features
            .is_some_and(|features| features.len() == 1)
    );
    assert!(served.fixture.observe.is_some() && served.fixture.restart.is_some());
    let source = served.fixture.source.unwrap();
    assert_eq!(source, "http://in-process/.well-known/lbcf/conformance");
    let json = r#"{"apiVersion": "lbcf.dev/v1", "kind": "ConformanceFixture", "features": []}"#;
    assert!(
        fetched(json.to_owned()).await.unwrap().is_some(),
        "JSON is YAML, too"
    );
}

#[tokio::test]
async fn no_command_is_taken_from_the_network() {
    let served = taken(
        "observe: {command: [touch, /x]}\nrestart: {command: [touch, /x]}\nfault: {command: [touch, /x]}\n",
    )
    .await;
    assert_eq!(served.fixture.observe, None);
    assert_eq!(served.fixture.restart, None);
    assert_eq!(served.fixture.fault, None);
    let ignored = served.ignored.join("\n");
    for name in ["observe.command: ", "restart.command: ", "fault.command: "] {
        assert!(ignored.contains(name), "{ignored}");
    }
}

#[tokio::test]
async fn other_hosts_files_headers_and_excuses_are_ignored() {
    let served = taken(
        "observe: {url: 'http://169.254.169.254/'}\nrestart: {url: 'https://in-process/'}\n\
         fault: {url: 'http://in-process:81/{on|off}'}\nbackend: {podTemplate: /etc/hostname}\n\
         knownFailures: [{id: ENS-01, reason: no}]\nendpoint: {url: 'http://x.example', headers: {X-A: b}}\n",
    )
    .await;
    let Fixture {
        observe,
        restart,
        fault,
        backend,
        known_failures,
        endpoint,
        ..
    } = served.fixture;
    assert_eq!((observe, restart, fault), (None, None, None));
    assert_eq!(backend.pod_template, None);
    assert!(known_failures.is_empty() && endpoint.url.is_none() && endpoint.headers.is_empty());
    let begins: Vec<&str> = served
        .ignored
        .iter()
        .filter_map(|line| line.split(':').next())
        .collect();
    assert_eq!(
        begins,
        [
            "observe.url",
            "restart.url",
            "fault.url",
            "knownFailures",
            "endpoint.headers",
            "backend.podTemplate"
        ]
    );
}

#[tokio::test]
async fn other_pages_are_no_fixture() {
    for text in [
        "",
        "ok\n",
        "<!doctype html><html></html>",
        r#"{"status":"Succ"}"#,
        "features: [async]",
        "{{{",
        "kind: Deployment",
    ] {
        assert!(fetched(text.to_owned()).await.unwrap().is_none(), "{text}");
    }
    let none = Transport::in_process(Router::new());
    assert!(fetch(&none, &[]).await.unwrap().is_none());
    let long = format!("{HEAD}# {}", "x".repeat(2 << 20));
    let error = fetched(long).await.unwrap_err().to_string();
    assert!(error.starts_with("http://in-process/"), "{error}");
}

#[tokio::test]
async fn an_invalid_one_names_the_url_and_the_line() {
    let error = fetched(format!("{HEAD}featuers: []\n")).await.unwrap_err();
    let expected = "http://in-process/.well-known/lbcf/conformance: line 3: featuers: not a field";
    assert!(error.to_string().starts_with(expected), "{error}");
}

//! Who is let in, and what of it others see.

use kube::Error;
use local_cluster::{ServeOptions, Token};
use serde_json::json;

use super::{client_of, nodes, secured, served};
use crate::wire::{get, status};

#[tokio::test]
async fn without_the_token_there_is_health_and_version_and_no_more() {
    let options = ServeOptions {
        token: Some(Token::new("s3cret").unwrap()),
        ..ServeOptions::default()
    };
    let (cluster, server) = served(options).await;
    let unauthorized = json!({
        "kind": "Status", "apiVersion": "v1", "metadata": {}, "status": "Failure",
        "message": "Unauthorized", "reason": "Unauthorized", "code": 401,
    });
    for (path, headers, wanted) in [
        ("/livez", "", 200),
        ("/readyz", "", 200),
        ("/healthz", "", 200),
        ("/version", "", 200),
        ("/livez", "Authorization: Bearer wrong\r\n", 401),
        ("/api", "", 401),
        ("/nope", "", 401),
        ("/api/v1/nodes", "", 401),
        ("/api/v1/nodes?watch=true", "", 401),
        ("/api/v1/nodes", "Authorization: Bearer s3cre\r\n", 401),
        ("/api/v1/nodes", "Authorization: Basic s3cret\r\n", 401),
        ("/api/v1/nodes", "X-Remote-User: admin\r\n", 401),
        ("/api/v1/nodes?token=s3cret", "", 401),
        ("/api/v1/nodes", "Authorization: Bearer s3cret\r\n", 200),
        ("/api/v1/nodes", "authorization: bearer s3cret\r\n", 200),
        ("/nope", "Authorization: Bearer s3cret\r\n", 404),
    ] {
        let (code, body) = status(server.addr(), get(path, headers)).await;
        assert_eq!(code, wanted, "{path} {headers}: {body}");
        if code == 401 {
            assert_eq!(body, unauthorized, "{path} {headers}");
        }
    }
    let requests = cluster.requests();
    assert_eq!(requests.count(|key| key.resource == "nodes"), 2);
}

#[tokio::test]
async fn d103_pages_of_other_sites_are_forbidden() {
    let options = ServeOptions {
        allow_hosts: vec!["cluster.example".to_owned()],
        ..ServeOptions::default()
    };
    let (cluster, server) = served(options).await;
    let request = |path: &str, name: &str, value: &str| {
        let head = get(path, "").replace("GET", "POST");
        match name {
            "Host" => head.replace("localhost", value),
            _ => head.replace("Connection", &format!("{name}: {value}\r\nConnection")),
        }
    };
    for (name, value, is_refused) in [
        ("Host", "evil.example", true),
        ("Host", "127.0.0.1.evil.example", true),
        ("Origin", "https://evil.example", true),
        ("Origin", "null", true),
        ("Sec-Fetch-Site", "cross-site", true),
        ("Host", "cluster.example", false),
        ("Origin", "http://localhost", false),
        ("Sec-Fetch-Site", "none", false),
        ("Content-Type", "text/plain", false),
    ] {
        for path in ["/api/v1/namespaces", "/livez", "/nope"] {
            let (code, body) = status(server.addr(), request(path, name, value)).await;
            assert_eq!(code == 403, is_refused, "{path} {name}: {value}: {body}");
            if is_refused {
                assert_eq!(
                    (&body["kind"], &body["reason"]),
                    (&"Status".into(), &"Forbidden".into())
                );
                let message = body["message"].as_str().unwrap();
                let begins = format!("forbidden: {name}: {value:?}: ");
                assert!(message.starts_with(&begins), "{message}");
            }
        }
    }
    assert_eq!(cluster.requests().count(|key| key.verb == "create"), 4);
}

#[tokio::test]
async fn the_kubeconfig_has_all_that_a_client_needs() {
    let (_cluster, server) = served(secured("a\"b\\c:#")).await;
    let kubeconfig = server.kubeconfig();
    assert_eq!(nodes(client_of(&kubeconfig).await).await.unwrap(), 2);
    let forged = kubeconfig.replace(r#"a\"b\\c:#"#, "another");
    assert_ne!(forged, kubeconfig);
    let refused = nodes(client_of(&forged).await).await.unwrap_err();
    assert!(
        matches!(refused, Error::Api(status) if status.code == 401 && status.reason == "Unauthorized")
    );
}

#[tokio::test]
async fn nothing_written_for_people_shows_the_token() {
    let options = secured("s3cret");
    let shown = format!("{options:?}{options:#?}");
    let (_cluster, server) = served(options).await;
    let shown = format!("{shown}{server:?}");
    assert!(!shown.contains("s3cret"), "{shown}");
    assert!(server.kubeconfig().contains("s3cret"));
}

//! Responses of webhooks, as kubectl shows them.

use serde_json::{Value, json};

use super::{Kubectl, is_installed, write};
use crate::fixture::{quick, widget};
use crate::webhook::{Webhooks, configuration};

#[tokio::test]
async fn kubectl_shows_responses_of_webhooks() {
    if !is_installed().await {
        return;
    }
    let cluster = crate::fixture::cluster(quick()).await;
    let webhooks = Webhooks::start(|call| match call.at("/object/spec/colour") {
        "blue" => call.deny(json!({"message": "no more blue", "code": 403})),
        _ => call.respond(json!({"response": {"warnings": ["red is going out of fashion"]}})),
    })
    .await;
    let server = cluster.serve("127.0.0.1:0".parse().unwrap()).await.unwrap();
    let kubectl = Kubectl::of(&server);
    let home = kubectl.home.clone();
    let mut one = widget("one");
    write(&home.join("red.json"), one.to_string());
    one["spec"]["colour"] = "blue".into();
    write(&home.join("blue.json"), one.to_string());
    let install = |file: &str, change: Value| {
        let webhook = webhooks.webhook("colour.example.com", "/v", change);
        let body = configuration("Validating", "colours", &[webhook]);
        write(&home.join(file), body.to_string());
    };
    install("webhooks.json", json!({}));
    install("patient.json", json!({"timeoutSeconds": 20}));

    kubectl
        .prints(&["apply", "-f", "webhooks.json"], "colours created")
        .await;
    kubectl
        .prints(&["get", "validatingwebhookconfigurations"], "colours   1")
        .await;
    let denied = "admission webhook \"colour.example.com\" denied the request: no more blue";
    for command in [
        &["create", "-f", "blue.json"][..],
        &["apply", "-f", "blue.json"],
        &["apply", "-f", "blue.json", "--server-side"],
        &["create", "-f", "blue.json", "--dry-run=server"],
    ] {
        kubectl.fails_with(command, denied).await;
    }
    let warning = "Warning: red is going out of fashion";
    kubectl.prints(&["create", "-f", "red.json"], warning).await;
    kubectl
        .fails_with(&["apply", "-f", "blue.json"], denied)
        .await;
    kubectl
        .fails_with(
            &[
                "patch",
                "wd",
                "one",
                "--type=merge",
                "-p",
                r#"{"spec":{"colour":"blue"}}"#,
            ],
            denied,
        )
        .await;
    kubectl
        .prints(&["apply", "-f", "patient.json"], "colours configured")
        .await;
    let timeout = ["get", "validatingwebhookconfigurations", "colours", "-o"];
    let timeout = [&timeout[..], &["jsonpath={.webhooks[*].timeoutSeconds}"]].concat();
    kubectl.prints(&timeout, "20").await;
    webhooks.end().await;
    kubectl
        .fails_with(
            &["delete", "wd", "one"],
            "failed calling webhook \"colour.example.com\": failed to call webhook: Post",
        )
        .await;
    kubectl
        .prints(&["delete", "-f", "webhooks.json"], "deleted")
        .await;
    kubectl.prints(&["delete", "wd", "one"], "deleted").await;
    kubectl.end();
    server.shutdown().await;
}

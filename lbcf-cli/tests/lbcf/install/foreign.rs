//! The overlays with kinds of cert-manager and of the Prometheus operator, whose definitions here have the fields
//! that the manifests use, and no others.

use super::{Cluster, has_kustomize, kustomize, root};
use serde_json::Value;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_overlays_have_only_known_fields() {
    if !has_kustomize("the_overlays_have_only_known_fields") {
        return;
    }
    let cluster = Cluster::start().await;
    let definitions = "lbcf-cli/tests/lbcf/install/foreign.yaml";
    cluster.kubectl(&["apply", "-f", definitions]).await;
    let established = ["--for=condition=Established", "crd", "--all"];
    cluster
        .kubectl(&[&["wait"], &established[..]].concat())
        .await;
    for overlay in ["cert-manager", "monitoring"] {
        let folder = format!("deploy/overlays/{overlay}");
        let applied = cluster.kubectl(&["apply", "-k", &folder]).await;
        assert!(
            applied.contains("deployment.apps/lbcf-controller"),
            "{applied}"
        );
    }
    cluster.shutdown().await;
}

#[test]
fn with_cert_manager_the_controller_has_no_permission_for_its_certificate_and_webhooks() {
    if !has_kustomize("with_cert_manager_the_controller_has_no_permission") {
        return;
    }
    let resources = |folder: &str| -> Vec<Value> {
        let objects = kustomize(folder).into_values();
        let rules = objects.flat_map(|object| object["rules"].as_array().cloned());
        let resources = rules.flatten().map(|rule| rule["resources"].clone());
        resources.collect()
    };
    let certificates = |resources: &[Value]| {
        let text = format!("{resources:?}");
        text.matches("secrets").count() + text.matches("webhookconfigurations").count()
    };
    let (base, overlay) = (
        resources("deploy"),
        resources("deploy/overlays/cert-manager"),
    );
    assert_eq!((certificates(&base), certificates(&overlay)), (5, 2));
    assert_eq!(overlay.len() + 3, base.len());
    // The mounted Secret is the one that cert-manager writes, for the name that the webhooks call.
    let objects = kustomize("deploy/overlays/cert-manager");
    let one = |kind: &str| {
        let found = objects.iter().find(|((of, _, _), _)| of == kind);
        found.unwrap().1
    };
    let certificate = &one("Certificate")["spec"];
    let pod = &one("Deployment")["spec"]["template"]["spec"];
    assert_eq!(
        pod["volumes"][0]["secret"]["secretName"],
        certificate["secretName"]
    );
    let service = &one("ValidatingWebhookConfiguration")["webhooks"][0]["clientConfig"]["service"];
    let (name, namespace) = (&service["name"], &service["namespace"]);
    let called = format!(
        "{}.{}.svc",
        name.as_str().unwrap(),
        namespace.as_str().unwrap()
    );
    assert_eq!(certificate["dnsNames"][0], called);
}

/// The names that a PromQL expression has before `{` are metrics: all of ours have a selector.
fn metrics(expression: &str) -> Vec<String> {
    let mut before: Vec<&str> = expression.split('{').collect();
    before.pop();
    let last_word = |text: &&str| {
        let word = text.rsplit(|c: char| !(c.is_ascii_alphanumeric() || c == '_'));
        word.take(1).map(str::to_owned).collect::<String>()
    };
    before.iter().map(last_word).collect()
}

#[test]
fn rules_and_dashboard_name_metrics_that_the_controller_has() {
    let definitions = "lbcf-controller/src/process/metrics/definitions.rs";
    let definitions = std::fs::read_to_string(root().join(definitions)).unwrap();
    let folder = root().join("deploy/components/monitoring");
    let read = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap();
    let rules: Value = serde_saphyr::from_str(&read("rules.yaml")).unwrap();
    let dashboard: Value = serde_json::from_str(&read("dashboard.json")).unwrap();
    let rules = rules["spec"]["groups"][0]["rules"]
        .as_array()
        .unwrap()
        .clone();
    let panels = dashboard["panels"].as_array().unwrap().iter();
    let targets = panels.flat_map(|panel| panel["targets"].as_array().unwrap());
    let expressions: Vec<String> = rules
        .iter()
        .chain(targets)
        .map(|one| one["expr"].as_str().unwrap().to_owned())
        .collect();
    assert!(expressions.len() > 20);
    let (_, buckets) = definitions.split_once("REGISTER_SECONDS:").unwrap();
    let (buckets, _) = buckets.split_once(';').unwrap();
    let mut levels = 0;
    for expression in expressions {
        let found = metrics(&expression);
        assert!(!found.is_empty(), "{expression}");
        for metric in found {
            let name = metric.trim_end_matches("_bucket");
            let name = name.trim_end_matches("_count");
            assert!(
                definitions.contains(&format!("\"{name}\"")),
                "the controller has no metric {name}: {expression}"
            );
        }
        // Prometheus 3 writes bounds with a decimal place.
        for bound in expression.split("le=~\"").skip(1) {
            let (bound, _) = bound.split_once("([.]0)?\"").unwrap();
            assert!(buckets.contains(&format!(" {bound}.0,")), "{expression}");
            levels += 1;
        }
        assert_eq!(
            expression.matches('{').count(),
            expression.matches("{job=\"lbcf-controller\"").count(),
            "{expression}"
        );
    }
    assert_eq!(levels, 4 * 2 + 2, "two windows for each alert, and a panel");
}

//! The webhook configurations in `deploy/admission/` match the table of webhooks.

// Tests say what they expect by unwrapping, their helpers too.
#![allow(clippy::unwrap_used)]

use k8s_openapi::api::admissionregistration::v1::{
    MutatingWebhook, MutatingWebhookConfiguration, RuleWithOperations,
    ValidatingWebhookConfiguration,
};
use lbcf_controller::admission::{
    Endpoint, MUTATING_CONFIGURATION, VALIDATING_CONFIGURATION, configurations, configurations_yaml,
};
use std::path::PathBuf;

/// Rewrites the files instead of comparing them.
const UPDATE: &str = "UPDATE_ADMISSION";

#[test]
fn deploy_admission_is_generated_from_the_table() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../deploy/admission");
    let both = configurations(&Endpoint::default(), None);
    let files = [
        (
            MUTATING_CONFIGURATION,
            serde_saphyr::to_string(&both.mutating).unwrap(),
        ),
        (
            VALIDATING_CONFIGURATION,
            serde_saphyr::to_string(&both.validating).unwrap(),
        ),
    ];
    let mut stale = Vec::new();
    for (name, yaml) in files {
        let path = folder.join(format!("{name}.yaml"));
        if std::env::var_os(UPDATE).is_some() {
            std::fs::create_dir_all(&folder).unwrap();
            std::fs::write(&path, &yaml).unwrap();
        }
        if std::fs::read_to_string(&path).unwrap_or_default() != yaml {
            stale.push(name);
        }
    }
    assert!(
        stale.is_empty(),
        "{stale:?} in deploy/admission differ from the table; rewrite them with\n  {UPDATE}=1 cargo test -p lbcf-controller --test admission"
    );
}

#[test]
fn the_printed_stream_holds_both() {
    let yaml = configurations_yaml(&Endpoint::default(), Some(b"pem")).unwrap();
    let documents: Vec<&str> = yaml
        .split("---\n")
        .filter(|document| !document.is_empty())
        .collect();
    let both = configurations(&Endpoint::default(), Some(b"pem"));
    let mutating: MutatingWebhookConfiguration = serde_saphyr::from_str(documents[0]).unwrap();
    let validating: ValidatingWebhookConfiguration = serde_saphyr::from_str(documents[1]).unwrap();
    assert_eq!(
        (mutating, validating, documents.len()),
        (both.mutating, both.validating, 2)
    );
}

fn summary(name: &str, path: Option<&str>, rules: Option<&Vec<RuleWithOperations>>) -> String {
    let rules = rules.unwrap();
    assert_eq!(rules.len(), 1);
    let rule = &rules[0];
    let joined = |list: &Option<Vec<String>>| list.as_ref().unwrap().join(",");
    format!(
        "{name} {} {}/{}/{} {}",
        path.unwrap(),
        joined(&rule.api_groups),
        joined(&rule.api_versions),
        joined(&rule.resources),
        joined(&rule.operations),
    )
}

#[test]
fn b63_b64_what_is_asked_about_where() {
    let both = configurations(&Endpoint::default(), None);
    let mutating: Vec<String> = both
        .mutating
        .webhooks
        .unwrap()
        .iter()
        .map(|hook| {
            let service = hook.client_config.service.as_ref().unwrap();
            summary(&hook.name, service.path.as_deref(), hook.rules.as_ref())
        })
        .collect();
    assert_eq!(
        mutating,
        [
            "driver.lbcf.tkestack.io /mutate-load-balancer-driver lbcf.tkestack.io/v1beta1/loadbalancerdrivers CREATE,UPDATE",
            "lb.lbcf.tkestack.io /mutate-load-balancer lbcf.tkestack.io/v1beta1/loadbalancers CREATE,UPDATE",
            "backendgroup.lbcf.tkestack.io /mutate-backend-broup lbcf.tkestack.io/v1beta1/backendgroups CREATE,UPDATE",
            "bind.lbcf.tkestack.io /mutate-bind lbcf.tkestack.io/v1/binds CREATE,UPDATE",
            "pod.lbcf.tkestack.io /mutate-pod /v1/pods CREATE",
        ]
    );
    let validating: Vec<String> = both
        .validating
        .webhooks
        .unwrap()
        .iter()
        .map(|hook| {
            let service = hook.client_config.service.as_ref().unwrap();
            summary(&hook.name, service.path.as_deref(), hook.rules.as_ref())
        })
        .collect();
    assert_eq!(
        validating,
        [
            "driver.lbcf.tkestack.io /validate-load-balancer-driver lbcf.tkestack.io/v1beta1/loadbalancerdrivers CREATE,UPDATE,DELETE",
            "lb.lbcf.tkestack.io /validate-load-balancer lbcf.tkestack.io/v1beta1/loadbalancers CREATE,UPDATE,DELETE",
            "backendgroup.lbcf.tkestack.io /validate-backend-group lbcf.tkestack.io/v1beta1/backendgroups CREATE,UPDATE,DELETE",
            "bind.lbcf.tkestack.io /validate-bind lbcf.tkestack.io/v1/binds CREATE,UPDATE",
        ]
    );
}

#[test]
fn d25_b64_how_the_api_server_is_to_ask() {
    let both = configurations(&Endpoint::default(), Some(b"pem"));
    let is_of_pods = |hook: &MutatingWebhook| hook.name.starts_with("pod.");
    let (pods, own): (Vec<_>, Vec<_>) = both
        .mutating
        .webhooks
        .unwrap()
        .into_iter()
        .partition(is_of_pods);
    // d70: pods are created without the controller, too.
    assert_eq!(pods.len(), 1);
    assert_eq!(pods[0].failure_policy.as_deref(), Some("Ignore"));
    assert_eq!(pods[0].timeout_seconds, Some(3));
    let selector = pods[0].namespace_selector.clone().unwrap();
    let label = ("lbcf.tkestack.io/pod-readiness-gate-inject", "enabled");
    assert_eq!(
        selector.match_labels,
        Some([(label.0.to_owned(), label.1.to_owned())].into())
    );
    for hook in own {
        assert_eq!(hook.admission_review_versions, ["v1"]);
        assert_eq!(hook.failure_policy.as_deref(), Some("Fail"));
        assert_eq!(hook.namespace_selector, None);
        assert_eq!(hook.match_policy.as_deref(), Some("Equivalent"));
        assert_eq!(hook.side_effects, "None");
        assert_eq!(hook.timeout_seconds, Some(10));
        assert_eq!(hook.client_config.ca_bundle.unwrap().0, b"pem");
    }
    for hook in both.validating.webhooks.unwrap() {
        assert_eq!(hook.admission_review_versions, ["v1"]);
        assert_eq!(hook.failure_policy.as_deref(), Some("Fail"));
        let asks_drivers = !hook.name.starts_with("driver.");
        assert_eq!(
            hook.side_effects,
            if asks_drivers { "NoneOnDryRun" } else { "None" }
        );
        assert_eq!(
            hook.timeout_seconds,
            Some(if asks_drivers { 30 } else { 10 })
        );
    }
}

#[test]
fn webhooks_can_be_outside_the_cluster() {
    let both = configurations(&Endpoint::Url("https://127.0.0.1:9443/".into()), None);
    let hook = &both.validating.webhooks.unwrap()[3];
    assert_eq!(
        hook.client_config.url.as_deref(),
        Some("https://127.0.0.1:9443/validate-bind")
    );
    assert!(hook.client_config.service.is_none() && hook.client_config.ca_bundle.is_none());
    let elsewhere = Endpoint::Service {
        namespace: "lbcf".into(),
        name: "admission".into(),
        port: 8443,
    };
    let both = configurations(&elsewhere, None);
    let service = both.mutating.webhooks.unwrap()[0]
        .client_config
        .service
        .clone()
        .unwrap();
    assert_eq!(
        (
            service.namespace.as_str(),
            service.name.as_str(),
            service.port
        ),
        ("lbcf", "admission", Some(8443))
    );
}

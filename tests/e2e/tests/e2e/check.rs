//! `lbcf check` finds which part of an installation does not work, and says what helps.

use k8s_openapi::api::admissionregistration::v1::{
    MutatingWebhookConfiguration, ValidatingWebhookConfiguration,
};
use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::api::{Api, DeleteParams, Patch, PatchParams};
use lbcf_controller::Options;
use lbcf_e2e::manifests::NAMESPACE;
use lbcf_e2e::{World, needs_embedded, until};
use lbcf_inspect::Scope;
use lbcf_inspect::check::{Part, State, check, text};
use serde_json::json;
use std::time::Duration;

/// The certificate of a CA that has signed nothing here.
const ANOTHER_CA: &str = "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1JSUJmRENDQVNHZ0F3SUJBZ0lVSzRBVkxmTXhOdDVrdnloN3Zhc3d3ZmVTeVdRd0NnWUlLb1pJemowRUF3SXcKRWpFUU1BNEdBMVVFQXd3SFlXNXZkR2hsY2pBZ0Z3MHlOakV4TWprd01EQXlNVFZhR0E4eU1USTJNVEV3TlRBdwpNREl4TlZvd0VqRVFNQTRHQTFVRUF3d0hZVzV2ZEdobGNqQlpNQk1HQnlxR1NNNDlBZ0VHQ0NxR1NNNDlBd0VICkEwSUFCS3RBQWE3c2UyelhYbEFRQWxOYkxpd2VCZ2RHSWVSNTZYRFUzVUtGUWsyR3ZBOUNHbTViMmhTUWtyQmwKWk55aTRrellkT3d5UnNmU0VubFY5cDM3aWwyalV6QlJNQjBHQTFVZERnUVdCQlQxbUEwQUtKWFFNVDBpdHRmcAp5SnhtYWpLQ3p6QWZCZ05WSFNNRUdEQVdnQlQxbUEwQUtKWFFNVDBpdHRmcHlKeG1haktDenpBUEJnTlZIUk1CCkFmOEVCVEFEQVFIL01Bb0dDQ3FHU000OUJBTUNBMGtBTUVZQ0lRQ2ppbS9qV2NReU1kdmZhYTE2WnRWSDd3bnMKYVV2QmkzeDZINUU5S2dVSkx3SWhBTlR4eWxPM29Vb3phSDNLRCtudmZCVHFTTEdLdTBkYUw5WkJpTW95ODk0NgotLS0tLUVORCBDRVJUSUZJQ0FURS0tLS0tCg==";

async fn parts(world: &World) -> Vec<Part> {
    check(&world.client(), &Scope::All).await.unwrap()
}

/// Waits until this part is broken with a problem that contains the words; returns what is printed.
async fn until_broken(world: &World, name: &str, words: &str) -> String {
    until(name, async || {
        let parts = parts(world).await;
        let is_it = |it: &&Part| {
            it.name == name
                && matches!(&it.state, State::Broken(problem, _) if problem.contains(words))
        };
        parts.iter().find(is_it).map(|_| text(&parts))
    })
    .await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn each_part_of_an_installation_is_checked() {
    if needs_embedded("it breaks what all worlds of a remote cluster share") {
        return;
    }
    let mut world = World::new().await;
    world.start(Options {
        driver_health_period: Some(Duration::from_millis(100)),
        ..World::quick()
    });
    world.create_driver().await;
    until("all works", async || {
        let parts = parts(&world).await;
        let working = parts
            .iter()
            .filter(|it| matches!(it.state, State::Works(_)));
        // The controllers of these tests elect no leader.
        let unknown = parts
            .iter()
            .filter(|it| matches!(it.state, State::Unknown(_)));
        let unknown: Vec<_> = unknown.map(|it| it.name.as_str()).collect();
        (working.count() == 9 && unknown == ["controller"]).then_some(())
    })
    .await;

    // For a tenant, the parts that it may not see are unknown, and none is broken.
    let tenant = world.client_of_tenant(NAMESPACE).await;
    let seen = check(&tenant, &Scope::Namespace(NAMESPACE.to_owned()))
        .await
        .unwrap();
    assert!(
        !seen.iter().any(|it| matches!(it.state, State::Broken(..))),
        "{seen:?}"
    );

    world.stop_driver().await;
    let driver = "LoadBalancerDriver kube-system/lbcf-clb";
    let printed = until_broken(&world, driver, "does not respond at http://127.0.0.1").await;
    assert!(printed.contains("  fix: Start the driver"), "{printed}");

    let validating: Api<ValidatingWebhookConfiguration> = Api::all(world.client());
    let stored = validating.get("lbcf-validate").await.unwrap();
    let replace = |value: &str| {
        let count = stored.webhooks.as_ref().map_or(0, Vec::len);
        let set = |index| json!({"op": "add", "path": format!("/webhooks/{index}/clientConfig/caBundle"), "value": value});
        let operations: Vec<_> = (0..count).map(set).collect();
        Patch::Json::<()>(serde_json::from_value(json!(operations)).unwrap())
    };
    let params = PatchParams::default();
    // The controller that serves admission writes its own again at once, or later.
    until("a CA that does not fit is noticed", async || {
        validating.patch("lbcf-validate", &params, &replace(ANOTHER_CA)).await.unwrap();
        let parts = parts(&world).await;
        let admission = parts.iter().find(|it| it.name == "admission")?;
        matches!(&admission.state, State::Broken(problem, _) if problem.contains("failed calling webhook")).then_some(())
    })
    .await;

    let mutating: Api<MutatingWebhookConfiguration> = Api::all(world.client());
    mutating
        .delete("lbcf-mutate", &DeleteParams::default())
        .await
        .unwrap();
    let printed = until_broken(
        &world,
        "MutatingWebhookConfiguration lbcf-mutate",
        "does not exist",
    )
    .await;
    assert!(
        printed.contains("  fix: lbcf webhooks | kubectl apply"),
        "{printed}"
    );

    let definitions: Api<CustomResourceDefinition> = Api::all(world.client());
    let field =
        "/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/lbDriver/description";
    let patch = json!([{"op": "replace", "path": field, "value": "of another version"}]);
    let patch = Patch::Json::<()>(serde_json::from_value(patch).unwrap());
    let name = "loadbalancers.lbcf.tkestack.io";
    definitions.patch(name, &params, &patch).await.unwrap();
    let printed = until_broken(
        &world,
        &format!("CRD {name}"),
        "differs from that of this version",
    )
    .await;
    assert!(
        printed.contains("  fix: lbcf crds | kubectl apply"),
        "{printed}"
    );
}

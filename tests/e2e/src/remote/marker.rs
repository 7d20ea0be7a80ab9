//! The lease that says that the tests use a cluster. It is created before anything else and deleted
//! last, so what an interrupted run left behind can be told from what belongs to others.

use super::owned::{LABEL, MARKER};
use crate::manifests::SYSTEM;
use k8s_openapi::api::coordination::v1::Lease;
use kube::Client;
use kube::api::{Api, DeleteParams, Patch, PatchParams, PostParams};
use serde_json::json;
use std::sync::LazyLock;
use std::time::Duration;
use tokio::time::Instant;

/// The annotation with the CRDs that existed before and have to stay.
const CRDS_BEFORE: &str = "lbcf.tkestack.io/e2e-crds-before";
/// How often a run that is in progress changes the lease.
const RENEWAL: Duration = Duration::from_secs(3);
/// A run that did not change the lease for so long has ended.
const EXPIRY: Duration = Duration::from_secs(15);

/// Names this process.
static IDENTITY: LazyLock<String> = LazyLock::new(|| {
    let since = std::time::UNIX_EPOCH.elapsed().unwrap_or_default();
    format!("{}-{}", std::process::id(), since.as_nanos())
});

fn api(client: &Client) -> Api<Lease> {
    Api::namespaced(client.clone(), SYSTEM)
}

/// The CRDs that existed before the run that an interrupted one began; none if there was no such run.
/// The marker is this run's afterwards.
///
/// # Errors
/// If another run is in progress.
pub(super) async fn take_over(client: &Client) -> Result<Option<Vec<String>>, String> {
    let Some(lease) = read(client).await? else {
        return Ok(None);
    };
    let began = Instant::now();
    while holder(&lease) != Some(&IDENTITY) && began.elapsed() < EXPIRY {
        tokio::time::sleep(RENEWAL / 3).await;
        let Some(now) = read(client).await? else {
            return Ok(None);
        };
        if now.metadata.resource_version != lease.metadata.resource_version {
            return Err(format!(
                "another run of the tests uses this cluster: the lease {SYSTEM}/{MARKER} is renewed"
            ));
        }
    }
    // Of two runs that find it at the same time, the version refuses the later one.
    let mine = json!({
        "metadata": {"resourceVersion": lease.metadata.resource_version},
        "spec": {"holderIdentity": *IDENTITY},
    });
    let (api, params) = (api(client), PatchParams::default());
    let patched = api.patch(MARKER, &params, &Patch::Merge(mine)).await;
    patched.map_err(describe)?;
    let annotations = lease.metadata.annotations.unwrap_or_default();
    let before = annotations.get(CRDS_BEFORE).map_or("", String::as_str);
    let names = before.split(',').filter(|name| !name.is_empty());
    Ok(Some(names.map(str::to_owned).collect()))
}

/// Marks the cluster as used by this run.
pub(super) async fn create(client: &Client, crds_before: &[String]) -> Result<(), String> {
    let lease = json!({
        "metadata": {
            "name": MARKER, "namespace": SYSTEM, "labels": {LABEL: "true"},
            "annotations": {CRDS_BEFORE: crds_before.join(",")},
        },
        "spec": {"holderIdentity": *IDENTITY, "leaseDurationSeconds": EXPIRY.as_secs()},
    });
    let lease = serde_json::from_value(lease).map_err(|error| error.to_string())?;
    let created = api(client).create(&PostParams::default(), &lease).await;
    created.map(drop).map_err(describe)
}

/// Renews the lease until the task is aborted.
pub(super) async fn renew(client: Client) {
    loop {
        tokio::time::sleep(RENEWAL).await;
        let now = k8s_openapi::jiff::Timestamp::now();
        let time = json!({"spec": {"renewTime": format!("{now:.6}")}});
        // One that is deleted is not created again.
        let patch = api(&client)
            .patch(MARKER, &PatchParams::default(), &Patch::Merge(time))
            .await;
        drop(patch);
    }
}

pub(super) async fn delete(client: &Client) -> Result<(), String> {
    let deleted = api(client).delete(MARKER, &DeleteParams::default()).await;
    deleted.map(drop).map_err(describe)
}

async fn read(client: &Client) -> Result<Option<Lease>, String> {
    api(client).get_opt(MARKER).await.map_err(describe)
}

fn holder(lease: &Lease) -> Option<&String> {
    lease.spec.as_ref()?.holder_identity.as_ref()
}

#[expect(clippy::needless_pass_by_value, reason = "for map_err")]
fn describe(error: kube::Error) -> String {
    format!("the lease {SYSTEM}/{MARKER}: {error}")
}

//! Replicas that share a Secret, at any time one likes.

use super::fixture::{Cluster, Log, Replica};
use crate::process::serving::certificates::tests::{NOW, days};
use crate::process::serving::certificates::{Bundle, PUBLISH_GRACE, PrivatePem};
use jiff::{SignedDuration, Timestamp};
use kube::api::{Patch, PatchParams, PostParams};
use serde_json::json;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use tower::{ServiceBuilder, ServiceExt as _};

const MINUTE: SignedDuration = SignedDuration::from_mins(1);

#[tokio::test]
async fn u47_at_rest_nothing_is_written() {
    let cluster = Cluster::new().await;
    let mut replica = cluster.replica();
    replica.rotate(NOW).await;
    // The Secret and two webhook configurations; the third is not there.
    assert_eq!(cluster.writes(), 3);
    let certificate = replica.called(&cluster.trusted().await, NOW).await.unwrap();
    for minutes in 1..100 {
        replica.rotate(NOW + MINUTE * minutes).await;
    }
    cluster.replica().rotate(NOW + days(9)).await;
    assert_eq!(cluster.writes(), 3);
    let trusted = cluster.trusted().await;
    assert_eq!(replica.called(&trusted, NOW).await.unwrap(), certificate);
    let secret = cluster.secrets().get("certs").await.unwrap();
    assert_eq!(secret.type_.unwrap(), "kubernetes.io/tls");
    let keys: Vec<String> = secret.data.unwrap().into_keys().collect();
    assert_eq!(keys, ["ca.crt", "ca.key", "tls.crt", "tls.key"]);
}

#[tokio::test]
async fn u47_a_configuration_that_comes_late_or_loses_its_ca_gets_it() {
    let cluster = Cluster::empty().await;
    let mut replica = cluster.replica();
    replica.rotate(NOW).await;
    assert_eq!(cluster.writes(), 1);
    let late = json!({
        "metadata": {"name": "not-there"},
        "webhooks": [{
            "name": "x.y.z", "sideEffects": "None", "admissionReviewVersions": ["v1"],
            "clientConfig": {"url": "https://x"},
        }],
    });
    let late = serde_json::from_value(late).unwrap();
    let params = PostParams::default();
    cluster.validating().create(&params, &late).await.unwrap();
    replica.rotate(NOW).await;
    let late = cluster.validating().get("not-there").await.unwrap();
    let client_config = &late.webhooks.unwrap()[0].client_config;
    let ca_bundle = client_config.ca_bundle.clone().unwrap().0;
    replica.called(&ca_bundle, NOW).await.unwrap();
    assert_eq!(client_config.url.as_deref(), Some("https://x"));
    assert_eq!(cluster.writes(), 2);
}

#[tokio::test]
async fn u47_a_replica_takes_what_another_made_meanwhile() {
    let cluster = Cluster::new().await;
    let (mut one, mut other) = (cluster.replica(), cluster.replica());
    // Both find nothing, and both want to create the Secret.
    let (first, second) = tokio::join!(one.ca.rotate(NOW), other.ca.rotate(NOW));
    first.unwrap();
    second.unwrap();
    let trusted = cluster.trusted().await;
    let certificate = one.called(&trusted, NOW).await.unwrap();
    assert_eq!(other.called(&trusted, NOW).await.unwrap(), certificate);
    assert_eq!(cluster.secret("ca.crt").await, trusted);
    let creations = cluster
        .0
        .requests()
        .count(|key| key.verb == "create" && key.user_agent == "replica");
    assert_eq!(creations, 2, "the race did not take place");
}

#[tokio::test]
async fn u47_two_replicas_renew_once_and_at_any_moment_both_are_trusted() {
    let cluster = Cluster::new().await;
    let (mut one, mut other) = (cluster.replica(), cluster.replica());
    one.rotate(NOW).await;
    other.rotate(NOW).await;
    let old = one.called(&cluster.trusted().await, NOW).await.unwrap();
    let before = cluster.writes();
    let then = NOW + days(60);
    one.rotate(then).await;
    let trusted = cluster.trusted().await;
    let new = one.called(&trusted, then).await.unwrap();
    assert_ne!(new, old);
    assert_eq!(other.called(&trusted, then).await.unwrap(), old);
    other.rotate(then + MINUTE).await;
    assert_eq!(other.called(&trusted, then).await.unwrap(), new);
    assert_eq!(cluster.writes() - before, 1);
}

#[tokio::test]
async fn u47_of_two_replicas_that_renew_at_a_time_one_takes_what_the_other_made() {
    let cluster = Cluster::new().await;
    let (mut one, mut other) = (cluster.replica(), cluster.replica());
    one.rotate(NOW).await;
    other.rotate(NOW).await;
    let before = cluster.writes();
    let then = NOW + days(60);
    let (first, second) = tokio::join!(one.ca.rotate(then), other.ca.rotate(then));
    first.unwrap();
    second.unwrap();
    assert_eq!(cluster.writes() - before, 2, "the race did not take place");
    let trusted = cluster.trusted().await;
    let certificate = one.called(&trusted, then).await.unwrap();
    assert_eq!(other.called(&trusted, then).await.unwrap(), certificate);
}

#[tokio::test]
async fn u47_an_expired_certificate_is_replaced_by_one_that_callers_accept() {
    let cluster = Cluster::new().await;
    cluster.replica().rotate(NOW).await;
    let trusted = cluster.trusted().await;
    let then = NOW + days(100);
    let mut late = cluster.replica();
    late.rotate(then).await;
    late.called(&trusted, then).await.unwrap();
}

/// Replicas at the time when their CA is due, with a young certificate.
pub(super) async fn before_a_new_ca(cluster: &Cluster) -> Timestamp {
    for age in [0, 60, 120, 180, 240] {
        cluster.replica().rotate(NOW + days(age)).await;
    }
    NOW + days(244)
}

#[tokio::test]
async fn u47_a_new_ca_comes_in_two_steps_and_old_and_new_replicas_are_trusted_throughout() {
    let cluster = Cluster::new().await;
    let start = before_a_new_ca(&cluster).await;
    let only_old = cluster.trusted().await;
    let (mut leads, mut follows) = (cluster.replica(), cluster.replica());
    follows.rotate(start - days(1)).await;
    leads.rotate(start).await;
    let both = cluster.trusted().await;
    assert_ne!(both, only_old);
    assert!(both.ends_with(&only_old));
    let old = leads.called(&only_old, start).await.unwrap();

    // API servers that have not noticed the new CA are served the old certificate.
    let nearly = start + PUBLISH_GRACE - MINUTE;
    leads.rotate(nearly).await;
    assert_eq!(leads.called(&only_old, nearly).await.unwrap(), old);
    let signs = start + PUBLISH_GRACE;
    leads.rotate(signs).await;
    let new = leads.called(&both, signs).await.unwrap();
    assert_ne!(new, old);
    leads.called(&only_old, signs).await.unwrap_err();
    // The other replica has not noticed, and needs the old CA.
    assert_eq!(follows.called(&both, signs).await.unwrap(), old);
    follows.rotate(signs + MINUTE).await;
    assert_eq!(follows.called(&both, signs).await.unwrap(), new);
    assert_eq!(cluster.trusted().await, both);

    // A replica that starts now finds all that the others know.
    let mut starts = cluster.replica();
    starts.rotate(signs + MINUTE).await;
    assert_eq!(starts.called(&both, signs).await.unwrap(), new);

    leads.rotate(signs + days(8)).await;
    let only_new = cluster.trusted().await;
    assert!(both.starts_with(&only_new) && both != only_new);
    follows.called(&only_new, signs + days(8)).await.unwrap();
}

#[tokio::test]
async fn u47_the_grace_of_a_new_ca_begins_when_it_is_seen_published() {
    let cluster = Cluster::new().await;
    let start = before_a_new_ca(&cluster).await;
    let mut first = cluster.replica();
    first.rotate(start).await;
    let old = first.called(&cluster.trusted().await, start).await.unwrap();
    // A replica that starts later does not know for how long it has been published.
    let mut second = cluster.replica();
    let later = start + days(1);
    second.rotate(later).await;
    let trusted = cluster.trusted().await;
    assert_eq!(second.called(&trusted, later).await.unwrap(), old);
    // The CA certificates are removed: they are published again, and the grace period begins again.
    let lost =
        json!({"webhooks": [{"name": "x.lbcf.tkestack.io", "clientConfig": {"caBundle": ""}}]});
    let lost = Patch::Strategic(lost);
    let params = PatchParams::default();
    cluster
        .validating()
        .patch("lbcf", &params, &lost)
        .await
        .unwrap();
    let later = later + PUBLISH_GRACE - MINUTE;
    second.rotate(later).await;
    assert_eq!(cluster.trusted().await, trusted);
    let later = later + MINUTE * 2;
    second.rotate(later).await;
    assert_eq!(second.called(&trusted, later).await.unwrap(), old);
    let later = later + PUBLISH_GRACE;
    second.rotate(later).await;
    assert_ne!(second.called(&trusted, later).await.unwrap(), old);
}

/// A replica whose connection to the API server breaks for good after some requests. The last one
/// arrives, or does not.
fn killed_after(cluster: &Cluster, requests: i64, last_arrives: bool) -> Replica {
    let left = Arc::new(AtomicI64::new(requests));
    let service = cluster.0.service().named("replica");
    let service = ServiceBuilder::new().service(tower::service_fn(
        move |request: axum::http::Request<kube::client::Body>| {
            let left = left.fetch_sub(1, Ordering::Relaxed);
            let service = service.clone();
            async move {
                let dies = || std::io::Error::other("the connection broke");
                if left > 0 || (left == 0 && last_arrives) {
                    let Ok(response) = service.oneshot(request).await;
                    if left > 0 {
                        return Ok(response);
                    }
                }
                Err(dies())
            }
        },
    ));
    Replica::new(kube::Client::new(service, "default"))
}

#[tokio::test]
async fn u47_a_replica_may_die_at_each_step_of_a_rotation() {
    let old = Cluster::new().await;
    let start = before_a_new_ca(&old).await;
    let old = old.secrets().get("certs").await.unwrap();
    for last_arrives in [false, true] {
        for requests in 0..24 {
            let cluster = Cluster::new().await;
            let mut secret = old.clone();
            secret.metadata.resource_version = None;
            let params = PostParams::default();
            cluster.secrets().create(&params, &secret).await.unwrap();
            let mut lives = cluster.replica();
            lives.rotate(start - days(1)).await;
            let mut dies = killed_after(&cluster, requests, last_arrives);
            let _ = dies.ca.rotate(start - days(1)).await;
            // Its rounds, through both steps; then it is gone, or serves what it had last.
            for minutes in [0, 5, 11] {
                let _ = dies.ca.rotate(start + MINUTE * minutes).await;
            }
            let case = format!("{requests} requests, last arrives: {last_arrives}");
            let now = start + MINUTE * 12;
            lives.called_from(&cluster, now, &case).await;
            // With so many requests it came to serve at all.
            let serves = requests > 3;
            if serves {
                dies.called_from(&cluster, now, &case).await;
            }
            // The others finish, and all of them are trusted still.
            let mut starts = cluster.replica();
            for minutes in [13, 14, 25, 40] {
                let now = start + MINUTE * minutes;
                lives.rotate(now).await;
                lives.called_from(&cluster, now, &case).await;
                starts.rotate(now).await;
                starts.called_from(&cluster, now, &case).await;
                if serves {
                    dies.called_from(&cluster, now, &case).await;
                }
            }
            let settled = cluster.writes();
            lives.rotate(start + MINUTE * 60).await;
            starts.rotate(start + MINUTE * 60).await;
            assert_eq!(cluster.writes(), settled, "{case}");
            let trusted = cluster.trusted().await;
            let newest = starts.called(&trusted, now).await.unwrap();
            assert_eq!(lives.called(&trusted, now).await.unwrap(), newest, "{case}");
        }
    }
}

#[tokio::test]
async fn u47_a_damaged_secret_is_repaired_and_reported_without_failing_requests() {
    for part in [
        json!({"tls.crt": "eA=="}),
        json!({"tls.key": "eA=="}),
        json!({"ca.crt": "eA=="}),
        json!({"ca.key": "eA=="}),
        json!({"tls.crt": "", "tls.key": "", "ca.crt": "", "ca.key": ""}),
        json!({"tls.crt": "eA==", "tls.key": "eA==", "ca.crt": "eA==", "ca.key": "eA=="}),
    ] {
        let cluster = Cluster::new().await;
        let (mut one, mut other) = (cluster.replica(), cluster.replica());
        one.rotate(NOW).await;
        other.rotate(NOW).await;
        cluster.spoil(part.clone()).await;
        let case = part.to_string();
        let log = Log::new();
        for minutes in 1..15 {
            let now = NOW + MINUTE * minutes;
            one.rotate(now).await;
            // In each step callers trust the one that acted and the one that did not.
            let trusted = cluster.trusted().await;
            one.called(&trusted, now).await.expect(&case);
            other.called(&trusted, now).await.expect(&case);
            other.rotate(now).await;
        }
        let warnings = log.warnings();
        if part["ca.key"] != "" {
            assert!(
                warnings[0].contains("repaired the certificates"),
                "{warnings:?}"
            );
            assert!(warnings[0].contains("kube-system/certs"), "{warnings:?}");
            assert_eq!(warnings.len(), 1, "{warnings:?}");
        }
        // A replica that knows nothing but the Secret finds it whole.
        let before = cluster.writes();
        let mut starts = cluster.replica();
        starts.rotate(NOW + MINUTE * 20).await;
        starts.called(&cluster.trusted().await, NOW).await.unwrap();
        assert_eq!(cluster.writes(), before, "{part}");
    }
}

#[tokio::test]
async fn u47_a_spoilt_secret_is_repaired_by_a_replica_that_starts() {
    let cluster = Cluster::new().await;
    cluster.replica().rotate(NOW).await;
    cluster
        .spoil(json!({"ca.key": "eA==", "tls.key": "//8="}))
        .await;
    let log = Log::new();
    let mut starts = cluster.replica();
    starts.rotate(NOW).await;
    starts.called(&cluster.trusted().await, NOW).await.unwrap();
    let [warning] = &*log.warnings() else {
        panic!("{}", log.text())
    };
    assert!(
        warning.contains("the CA's key is not a private key"),
        "{warning}"
    );
}

#[tokio::test]
async fn u47_a_secret_made_for_this_by_others_keeps_its_type_and_what_else_is_in_it() {
    let cluster = Cluster::new().await;
    let secret = json!({
        "metadata": {"name": "certs", "labels": {"app": "lbcf"}},
        "type": "Opaque", "data": {"notes": "eA==", "tls.crt": "", "tls.key": ""},
    });
    let secret = serde_json::from_value(secret).unwrap();
    let params = PostParams::default();
    cluster.secrets().create(&params, &secret).await.unwrap();
    let mut replica = cluster.replica();
    replica.rotate(NOW).await;
    replica.called(&cluster.trusted().await, NOW).await.unwrap();
    let secret = cluster.secrets().get("certs").await.unwrap();
    assert_eq!(secret.type_.unwrap(), "Opaque");
    assert_eq!(secret.metadata.labels.unwrap()["app"], "lbcf");
    assert_eq!(secret.data.unwrap()["notes"].0, b"x");
}

#[tokio::test]
async fn u47_no_key_is_ever_logged() {
    let cluster = Cluster::new().await;
    let log = Log::new();
    let mut replica = cluster.replica();
    replica.rotate(NOW).await;
    replica.rotate(NOW + days(60)).await;
    let bundle = Bundle {
        server_key: PrivatePem(cluster.secret("tls.key").await),
        ca_key: PrivatePem(cluster.secret("ca.key").await),
        ..Bundle::default()
    };
    // Keys in all the wrong places, and an answer that is no Secret.
    let keys = cluster.secrets().get("certs").await.unwrap().data.unwrap();
    cluster.spoil(json!({"tls.crt": keys["tls.key"], "ca.crt": keys["ca.key"], "ca.key": keys["tls.crt"]})).await;
    replica.rotate(NOW + days(60)).await;
    tracing::trace!(?bundle, "shown");
    let log = log.text();
    assert!(log.contains("repaired the certificates") && log.contains("PrivatePem(..)"));
    for key in [bundle.server_key, bundle.ca_key] {
        let text = String::from_utf8(key.0.clone()).unwrap();
        let encoded = serde_json::to_string(&k8s_openapi::ByteString(key.0)).unwrap();
        for line in text.lines().filter(|line| !line.starts_with("---")) {
            assert!(!log.contains(line));
        }
        assert!(!log.contains(encoded.trim_matches('"')));
    }
}

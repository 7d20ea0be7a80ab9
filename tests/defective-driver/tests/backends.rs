//! Defects of the webhooks about backends and pods.

use crate::support::sample;
use crate::trial::{Trial, backend, but, delete, endpoint, unknown};
use axum::http::StatusCode;
use lbcf_defective_driver::Defect;
use serde_json::{Value, json};

const VALIDATE: &str = "validateBackend";
const BIND: &str = "ensureBackend";
const UNBIND: &str = "deregisterBackend";
const JUDGE: &str = "judgePodDeregister";
const LIST: &str = "listBackends";

pub(crate) async fn misbehaves(defect: Defect, defects: &[Defect]) -> Option<bool> {
    // They are in the order of the table.
    if (Defect::ServiceTypeRefused..=Defect::UnstableBackendVerdict).contains(&defect) {
        validating(defect, defects).await
    } else if (Defect::EnsureDoesNothing..=Defect::ExternalUnbindIgnored).contains(&defect) {
        binding(defect, defects).await
    } else if (Defect::DeregisterDoesNothing..=Defect::DeregBlocksRebind).contains(&defect) {
        unbinding(defect, defects).await
    } else if (Defect::JudgeSuccAsString..=Defect::JudgeEmptyFails).contains(&defect) {
        judging(defect, defects).await
    } else if (Defect::ListEmpty..=Defect::ListUnknownLb).contains(&defect) {
        listing(defect, defects).await
    } else {
        None
    }
}

async fn validating(defect: Defect, defects: &[Defect]) -> Option<bool> {
    let trial = Trial::new(defects);
    let request = |backend_type: &str, weight: &str| {
        json!({
            "dryRun": false,
            "backendType": backend_type,
            "lbInfo": sample(),
            "operation": "Create",
            "parameters": {"weight": weight},
        })
    };
    let accepted = async |request: Value| trial.call(VALIDATE, request).await.body["succ"] == true;
    Some(match defect {
        Defect::ServiceTypeRefused => {
            assert!(accepted(request("Pod", "1")).await);
            !accepted(request("Service", "1")).await
        }
        Defect::StaticTypeRefused => {
            assert!(accepted(request("Pod", "1")).await);
            !accepted(request("Static", "1")).await
        }
        Defect::InvalidParametersAccepted => accepted(request("Pod", "-1")).await,
        Defect::InvalidParameters400 => {
            let reply = trial.call(VALIDATE, request("Pod", "-1")).await;
            reply.status == StatusCode::BAD_REQUEST
        }
        Defect::ValidateBackendNullLb500 => {
            let request = but(request("Pod", "1"), "lbInfo", Value::Null);
            trial.call(VALIDATE, request).await.is_crash()
        }
        Defect::OldParametersLowercaseOnly => {
            let update = but(request("Pod", "1"), "operation", "Update");
            let both = but(update.clone(), "OldParameters", json!({}));
            assert!(accepted(but(both.clone(), "oldParameters", json!({}))).await);
            !accepted(both).await
        }
        Defect::ValidateBackendBinds => {
            let lb_info = trial.create("1").await;
            let request = but(request("Pod", "1"), "lbInfo", lb_info.clone());
            for _ in 0..2 {
                assert!(accepted(request.clone()).await);
            }
            trial.addresses(&lb_info).await.len() == 2
        }
        Defect::UnstableBackendVerdict => {
            let mut refused = 0;
            for _ in 0..10 {
                refused += usize::from(!accepted(request("Pod", "1")).await);
            }
            refused == 4
        }
        _ => return None,
    })
}

async fn binding(defect: Defect, defects: &[Defect]) -> Option<bool> {
    let trial = Trial::new(defects);
    let lb_info = trial.create("1").await;
    let request = |address: &str, weight: &str| backend(BIND, &lb_info, address, weight);
    let bind = async |address: &str, weight: &str| trial.succ(BIND, request(address, weight)).await;
    let addresses = async || trial.addresses(&lb_info).await;
    let weights = async || {
        let targets = trial.targets(&lb_info).await;
        targets
            .into_iter()
            .map(|(_, weight)| weight)
            .collect::<Vec<_>>()
    };
    Some(match defect {
        Defect::EnsureDoesNothing => {
            assert!(bind("a", "1").await);
            addresses().await.is_empty()
        }
        Defect::EnsureDropsParameters => {
            assert!(bind("a", "1").await && bind("a", "2").await);
            weights().await == [None]
        }
        Defect::FirstBindDropsParameters => {
            assert!(bind("a", "1").await);
            let first = weights().await;
            assert!(bind("a", "1").await);
            assert_eq!(weights().await, [Some("1".to_owned())]);
            first == [None]
        }
        Defect::EnsureAlreadyBoundFails => {
            assert!(bind("a", "1").await && bind("a", "2").await);
            !bind("a", "2").await
        }
        Defect::EnsureFailsOnRepeat => {
            assert!(bind("b", "1").await);
            trial.failures(10, BIND, request("a", "1")).await == 4
        }
        Defect::EnsureDuplicatesBinding => {
            assert!(bind("a", "1").await && bind("a", "2").await);
            assert_eq!(addresses().await, ["a"]);
            assert!(bind("a", "2").await);
            let twice = addresses().await == ["a", "a"];
            let request = backend(UNBIND, &lb_info, "a", "2");
            assert!(trial.succ(UNBIND, request).await);
            assert!(addresses().await.is_empty());
            twice
        }
        Defect::EnsureCachedByRecordId => {
            assert!(bind("a", "1").await && bind("a", "2").await);
            weights().await == [Some("1".to_owned())]
        }
        Defect::OtherRecordIdFails => {
            assert!(bind("a", "1").await && bind("a", "2").await);
            trial
                .fails(BIND, but(request("a", "2"), "recordID", "other"))
                .await
        }
        Defect::NeedsInjectedInfo => {
            let reply = trial.call(BIND, request("a", "1")).await;
            let injected = reply.body["injectedInfo"].clone();
            assert!(
                trial
                    .succ(BIND, but(request("a", "1"), "injectedInfo", injected))
                    .await
            );
            !bind("a", "1").await
        }
        Defect::EchoedInjectedInfoFails => {
            assert!(bind("a", "1").await && bind("a", "1").await);
            let injected = json!({"target": "tgt-1"});
            !trial
                .succ(BIND, but(request("a", "1"), "injectedInfo", injected))
                .await
        }
        Defect::EmptyInjectedInfoFails => {
            assert!(bind("a", "1").await);
            !trial
                .succ(BIND, but(request("a", "1"), "injectedInfo", json!({})))
                .await
        }
        Defect::EnsureReplacesOthers => {
            assert!(bind("a", "1").await && bind("b", "1").await);
            addresses().await == ["b"]
        }
        Defect::EnsureResetsOthers => {
            trial.bind_foreign(&lb_info);
            assert!(bind("a", "1").await && bind("b", "1").await);
            assert_eq!(addresses().await, ["a", "b", "foreign"]);
            weights().await[0].is_none()
        }
        Defect::PruneForeign => {
            trial.bind_foreign(&lb_info);
            assert!(bind("a", "1").await && bind("b", "1").await);
            addresses().await == ["a", "b"]
        }
        Defect::BindsToUnknownLb => trial.succ(BIND, backend(BIND, &unknown(), "a", "1")).await,
        Defect::BindToUnknownLb500 => trial
            .call(BIND, backend(BIND, &unknown(), "a", "1"))
            .await
            .is_crash(),
        Defect::ExternalUnbindIgnored => {
            assert!(bind("a", "1").await);
            assert!(trial.mock.cloud.unbind(&endpoint(&lb_info), "a").is_ok());
            assert!(bind("a", "1").await);
            addresses().await.is_empty()
        }
        _ => return None,
    })
}

async fn unbinding(defect: Defect, defects: &[Defect]) -> Option<bool> {
    let trial = Trial::new(defects);
    let lb_info = trial.create("1").await;
    let request = |address: &str| backend(UNBIND, &lb_info, address, "50");
    let bind = async |address: &str| {
        let request = backend(BIND, &lb_info, address, "50");
        let reply = trial.call(BIND, request).await;
        assert!(reply.has_status("Succ"));
        reply.body["injectedInfo"].clone()
    };
    let unbind = async |address: &str| trial.succ(UNBIND, request(address)).await;
    let addresses = async || trial.addresses(&lb_info).await;
    Some(match defect {
        Defect::DeregisterDoesNothing => {
            bind("a").await;
            assert!(unbind("a").await);
            addresses().await == ["a"]
        }
        Defect::DeregUnboundFails => {
            bind("a").await;
            assert!(unbind("a").await && unbind("a").await);
            !unbind("never").await
        }
        Defect::DeregUnknownLbFails => {
            assert!(
                trial
                    .succ("deleteLoadBalancer", delete("1", &lb_info))
                    .await
            );
            assert!(unbind("a").await);
            trial
                .fails(UNBIND, backend(UNBIND, &unknown(), "a", "1"))
                .await
        }
        Defect::DeregAfterDeleteFails => {
            assert!(
                trial
                    .succ(UNBIND, backend(UNBIND, &unknown(), "a", "1"))
                    .await
            );
            assert!(
                trial
                    .succ("deleteLoadBalancer", delete("1", &lb_info))
                    .await
            );
            !unbind("a").await
        }
        Defect::DeregRepeatFails => {
            bind("a").await;
            assert!(unbind("never").await && unbind("a").await);
            !unbind("a").await
        }
        Defect::DeregFailsLater => {
            bind("a").await;
            trial.failures(10, UNBIND, request("a")).await == 4
        }
        Defect::DeregRemovesAll => {
            bind("a").await;
            bind("b").await;
            assert!(unbind("a").await);
            addresses().await.is_empty()
        }
        Defect::DeregRemovesForeign => {
            trial.bind_foreign(&lb_info);
            bind("a").await;
            bind("b").await;
            assert!(unbind("a").await);
            addresses().await == ["b"]
        }
        Defect::DeregNeedsInjectedInfo => {
            let injected = bind("a").await;
            let fails = !unbind("a").await;
            assert!(
                trial
                    .succ(UNBIND, but(request("a"), "injectedInfo", injected))
                    .await
            );
            fails
        }
        Defect::DeregNeedsParameters => {
            bind("a").await;
            let fails = !trial
                .succ(UNBIND, but(request("a"), "parameters", Value::Null))
                .await;
            assert!(unbind("a").await);
            fails
        }
        Defect::DeregBlocksRebind => {
            bind("a").await;
            assert!(unbind("a").await);
            bind("a").await;
            addresses().await.is_empty()
        }
        _ => return None,
    })
}

async fn judging(defect: Defect, defects: &[Defect]) -> Option<bool> {
    let trial = Trial::new(defects);
    let pod = json!({"metadata": {"name": "web-0", "namespace": "default"}});
    let reply = trial
        .call(JUDGE, json!({"dryRun": false, "notReadyPods": [pod]}))
        .await;
    let none = trial
        .call(JUDGE, json!({"dryRun": false, "notReadyPods": []}))
        .await;
    let kept = reply.body["doNotDeregister"].clone();
    Some(match defect {
        Defect::JudgeSuccAsString => reply.body["succ"] == "true",
        Defect::JudgeNamesOnly => kept == json!(["default/web-0"]),
        Defect::JudgeWithoutNamespace => kept == json!([{"metadata": {"name": "web-0"}}]),
        Defect::JudgeNotASubset => {
            assert_eq!(none.body["doNotDeregister"], json!([]));
            kept[0]["metadata"]["name"] == "another-pod"
        }
        Defect::JudgeEmptyFails => {
            assert_eq!(reply.body["succ"], true);
            none.body["succ"] == false
        }
        _ => return None,
    })
}

async fn listing(defect: Defect, defects: &[Defect]) -> Option<bool> {
    let trial = Trial::new(defects);
    let lb_info = trial.with_backends(&["a", "b"]).await;
    trial.bind_foreign(&lb_info);
    let unbind = backend(UNBIND, &lb_info, "b", "50");
    assert!(trial.succ(UNBIND, unbind).await);
    let list = async |lb_info: &Value| {
        let request = json!({"recordID": "listBackends(1)", "retryID": "1", "lbInfo": lb_info});
        trial.call(LIST, request).await
    };
    let backends = list(&lb_info).await.body["backends"].take();
    let count = backends.as_array().map_or(0, Vec::len);
    if defect != Defect::ListEmpty && defect != Defect::ListKeepsDeregistered {
        assert_eq!(count, 2, "{backends}");
    }
    Some(match defect {
        Defect::ListEmpty => backends.is_null(),
        Defect::ListKeepsDeregistered => count == 3,
        Defect::ListRemovesForeign => trial.targets(&lb_info).await.len() == 1,
        Defect::ListOwnRecordId => backends[0]["recordID"] == "listBackends(1)",
        Defect::ListMarksForeign => backends[1]["recordID"] == "ensureBackend(0)",
        Defect::ListUnknownLb => {
            let of_unknown = list(&unknown()).await.body["backends"].take();
            of_unknown.as_array().map_or(0, Vec::len) == 2
        }
        _ => return None,
    })
}

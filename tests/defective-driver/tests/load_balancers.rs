//! Defects of the webhooks about load balancers.

use crate::support::order;
use crate::trial::{
    CHARGE, Trial, backend, but, create, create_http, create_invalid, delete, endpoint, ensure,
    unknown,
};
use axum::http::StatusCode;
use lbcf_defective_driver::Defect;
use serde_json::{Value, json};

const VALIDATE: &str = "validateLoadBalancer";
const CREATE: &str = "createLoadBalancer";
const ENSURE: &str = "ensureLoadBalancer";
const DELETE: &str = "deleteLoadBalancer";

pub(crate) async fn misbehaves(defect: Defect, defects: &[Defect]) -> Option<bool> {
    // They are in the order of the table.
    if (Defect::ValidLbRefused..=Defect::UnknownOperationAccepted).contains(&defect) {
        validating(defect, defects).await
    } else if (Defect::CreateFails..=Defect::SameSpec500).contains(&defect) {
        creating(defect, defects).await
    } else if (Defect::EnsureLbFailsWhenUnchanged..=Defect::DriftNotRepaired).contains(&defect) {
        ensuring(defect, defects).await
    } else if (Defect::DeleteDoesNothing..=Defect::RecreateRefused).contains(&defect) {
        deleting(defect, defects).await
    } else {
        None
    }
}

async fn validating(defect: Defect, defects: &[Defect]) -> Option<bool> {
    let trial = Trial::new(defects);
    let request = |operation: &str, spec: Value| json!({"dryRun": false, "operation": operation, "lbSpec": spec, "attributes": {"a": "b"}});
    let accepted = async |request: Value| trial.call(VALIDATE, request).await.body["succ"] == true;
    Some(match defect {
        Defect::ValidLbRefused => !accepted(request("Create", order())).await,
        Defect::ValidHttpLbRefused => {
            assert!(accepted(request("Create", order())).await);
            !accepted(request("Create", create_http("1")["lbSpec"].clone())).await
        }
        Defect::InvalidLbAccepted => accepted(request("Create", json!({}))).await,
        Defect::InvalidLb400 => {
            let reply = trial.call(VALIDATE, request("Create", json!({}))).await;
            reply.status == StatusCode::BAD_REQUEST
        }
        Defect::UpdateRefused => !accepted(request("Update", order())).await,
        // What is not allowed in an update includes what never is.
        Defect::ForbiddenUpdateAccepted => accepted(request("Update", json!({}))).await,
        Defect::ValidateCreates => {
            for _ in 0..2 {
                assert!(accepted(request("Create", order())).await);
            }
            trial.made() == 2
        }
        Defect::UnstableVerdict => {
            let mut refused = 0;
            for _ in 0..10 {
                refused += usize::from(!accepted(request("Create", order())).await);
            }
            refused == 4
        }
        Defect::UnknownOperation500 => {
            let reply = trial.call(VALIDATE, request("Destroy", order())).await;
            reply.is_crash()
        }
        Defect::UnknownOperationAccepted => accepted(request("Destroy", order())).await,
        _ => return None,
    })
}

async fn creating(defect: Defect, defects: &[Defect]) -> Option<bool> {
    let trial = Trial::new(defects);
    Some(match defect {
        Defect::CreateFails => trial.fails(CREATE, create("1")).await,
        Defect::HttpCreateFails => {
            assert!(trial.succ(CREATE, create("1")).await);
            trial.fails(CREATE, create_http("2")).await
        }
        Defect::InvalidCreate400 => trial.status(CREATE, create_invalid("1")).await == "400",
        Defect::InvalidLbCreated => {
            assert!(trial.fails(CREATE, create_invalid("1")).await);
            trial.made() == 1
        }
        Defect::LbInfoEmptyValue => {
            let lb_info = trial.create("1").await;
            assert!(trial.observe(&lb_info).await.is_object());
            lb_info["listenerName"] == ""
        }
        Defect::LbInfoLarge => {
            let lb_info = trial.create("1").await;
            assert!(trial.observe(&lb_info).await.is_object());
            lb_info.to_string().len() > 4096
        }
        Defect::LbInfoChangesOnPoll => {
            let first = trial.create("1").await;
            let second = trial.create("1").await;
            assert!(trial.observe(&second).await.is_object());
            first != second && trial.made() == 1
        }
        Defect::CreateDuplicates => {
            for _ in 0..3 {
                trial.create("1").await;
            }
            trial.made() == 3
        }
        Defect::CreateDuplicatesLater => {
            for _ in 0..4 {
                trial.create("1").await;
                assert_eq!(trial.made(), 1);
            }
            trial.create("1").await;
            trial.made() == 2
        }
        Defect::SameSpec500 => {
            trial.create("1").await;
            trial.create("1").await;
            let mut request = create("2");
            request["lbSpec"]["name"] = "1".into();
            trial.call(CREATE, request).await.is_crash()
        }
        _ => return None,
    })
}

async fn ensuring(defect: Defect, defects: &[Defect]) -> Option<bool> {
    let trial = Trial::new(defects);
    let lb_info = trial.create("1").await;
    let charge = async || trial.attributes(&lb_info).await["chargeType"].clone();
    Some(match defect {
        Defect::EnsureLbFailsWhenUnchanged => {
            assert!(trial.succ(ENSURE, ensure(&lb_info, "new")).await);
            trial.fails(ENSURE, ensure(&lb_info, "new")).await
        }
        Defect::EnsureLbFailsOnRepeat => {
            let failures = trial.failures(10, ENSURE, ensure(&lb_info, CHARGE)).await;
            assert!(trial.succ(ENSURE, ensure(&lb_info, "new")).await);
            failures == 4
        }
        Defect::EnsureLbTouches => {
            assert!(trial.succ(ENSURE, ensure(&lb_info, CHARGE)).await);
            let touched = trial.attributes(&lb_info).await;
            assert!(trial.succ(ENSURE, ensure(&lb_info, CHARGE)).await);
            touched != trial.attributes(&lb_info).await
        }
        Defect::EnsureLbCachedByRecordId => {
            assert!(trial.succ(ENSURE, ensure(&lb_info, CHARGE)).await);
            assert!(trial.succ(ENSURE, ensure(&lb_info, "new")).await);
            charge().await == CHARGE
        }
        Defect::UnknownLbEnsured => trial.succ(ENSURE, ensure(&unknown(), CHARGE)).await,
        Defect::UnknownLb500 => {
            let request = ensure(&unknown(), CHARGE);
            trial.call(ENSURE, request).await.is_crash()
        }
        Defect::DriftNotRepaired => {
            let drift = [("chargeType".to_owned(), "drift".to_owned())].into();
            let drifted = trial.mock.cloud.set_attributes(&endpoint(&lb_info), drift);
            assert!(drifted.is_ok());
            assert!(trial.succ(ENSURE, ensure(&lb_info, CHARGE)).await);
            charge().await == "drift"
        }
        _ => return None,
    })
}

async fn deleting(defect: Defect, defects: &[Defect]) -> Option<bool> {
    let trial = Trial::new(defects);
    let load = async |lb_info: &Value| {
        let request = backend("ensureBackend", lb_info, "a", "1");
        assert!(trial.succ("ensureBackend", request).await);
    };
    Some(match defect {
        Defect::DeleteDoesNothing => {
            let lb_info = trial.create("1").await;
            assert!(trial.succ(DELETE, delete("1", &lb_info)).await);
            trial.made() == 1
        }
        Defect::DeleteLeavesLoadedLb => {
            let (loaded, empty) = (trial.create("1").await, trial.create("2").await);
            load(&loaded).await;
            assert!(trial.succ(DELETE, delete("1", &loaded)).await);
            assert!(trial.succ(DELETE, delete("2", &empty)).await);
            trial.made() == 1
        }
        Defect::DeleteLoaded500 => {
            let lb_info = trial.create("1").await;
            load(&lb_info).await;
            trial.call(DELETE, delete("1", &lb_info)).await.is_crash()
        }
        Defect::DeleteAgainFails => {
            let lb_info = trial.create("1").await;
            assert!(trial.succ(DELETE, delete("1", &lb_info)).await);
            assert!(trial.succ(DELETE, delete("2", &unknown())).await);
            trial.fails(DELETE, delete("1", &lb_info)).await
        }
        Defect::DeleteUnknownFails => {
            let lb_info = trial.create("1").await;
            for _ in 0..2 {
                assert!(trial.succ(DELETE, delete("1", &lb_info)).await);
            }
            trial.fails(DELETE, delete("2", &unknown())).await
        }
        Defect::DeleteNullFails => trial.fails(DELETE, delete("1", &Value::Null)).await,
        Defect::DeleteNull500 => {
            let request = delete("1", &Value::Null);
            trial.call(DELETE, request).await.is_crash()
        }
        Defect::DeleteEmptyDeletesAll => {
            trial.create("1").await;
            trial.create("2").await;
            assert!(trial.succ(DELETE, delete("3", &Value::Null)).await);
            assert_eq!(trial.made(), 2);
            assert!(
                trial
                    .succ(DELETE, but(delete("3", &Value::Null), "lbInfo", json!({})))
                    .await
            );
            trial.made() == 0
        }
        Defect::RecreateRefused => {
            let lb_info = trial.create("1").await;
            assert!(trial.succ(DELETE, delete("1", &lb_info)).await);
            trial.fails(CREATE, create("1")).await
        }
        _ => return None,
    })
}

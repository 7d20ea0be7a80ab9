//! Responses of the wrong form, and valid requests that are rejected.

use crate::support::{order, pod_address, sample};
use crate::trial::{Trial, backend, but, create, create_invalid, ensure};
use axum::body::Body;
use axum::http::{Request, StatusCode, header};
use lbcf_defective_driver::Defect;
use serde_json::{Value, json};

pub(crate) async fn misbehaves(defect: Defect, defects: &[Defect]) -> Option<bool> {
    Some(match defect {
        Defect::StringDelay => delay(defects, "minRetryDelayInSeconds").await == json!("5"),
        Defect::FractionalDelay => delay(defects, "minRetryDelayInSeconds").await == json!(0.5),
        Defect::HugeDelay => delay(defects, "minRetryDelayInSeconds").await == json!(86400),
        Defect::NegativeDelay => delay(defects, "minRetryDelayInSeconds").await == json!(-1),
        Defect::ProseDelaySpelling => delay(defects, "minRetryDelayinSeconds").await == json!(5),
        Defect::IntInMap => {
            let trial = Trial::new(defects);
            let lb_info = trial.create("1").await;
            // It is seen as it was handed out, and works.
            let mut as_texts = lb_info.clone();
            if lb_info["port"] == json!(80) {
                as_texts["port"] = "80".into();
            }
            assert!(trial.observe(&as_texts).await.is_object());
            let request = backend("ensureBackend", &as_texts, "a", "1");
            assert!(trial.succ("ensureBackend", request).await);
            lb_info["port"].is_number()
        }
        Defect::IntInInjectedInfo => injected(defects).await["weight"] == json!(50),
        Defect::ListForMap => injected(defects).await == json!([]),
        Defect::StatusLowercase => {
            let reply = Trial::new(defects)
                .call("createLoadBalancer", create("1"))
                .await;
            reply.body["status"] == "succ"
        }
        Defect::StatusWords => {
            let trial = Trial::new(defects);
            let succ = trial.call("createLoadBalancer", create("1")).await;
            let fail = trial.call("createLoadBalancer", create_invalid("2")).await;
            succ.body["status"] == "Success" && fail.body["status"] == "Failed"
        }
        Defect::StatusMissing => {
            let request = backend("deregisterBackend", &sample(), "never", "1");
            let reply = Trial::new(defects).call("deregisterBackend", request).await;
            reply.body.get("status").is_none()
        }
        Defect::Http201 => is_201(defects, "healthz").await,
        Defect::Http201OnCreate => {
            let reply = Trial::new(defects)
                .call("createLoadBalancer", create("1"))
                .await;
            assert!(!is_201(defects, "healthz").await);
            reply.status == StatusCode::CREATED
        }
        Defect::Http202Running => {
            let reply = Trial::staged(defects)
                .call("createLoadBalancer", create("1"))
                .await;
            assert_eq!(reply.body["status"], "Running");
            reply.status == StatusCode::ACCEPTED
        }
        Defect::EnsureLbMissing => {
            let request = ensure(&sample(), "a");
            let reply = Trial::new(defects)
                .call("ensureLoadBalancer", request)
                .await;
            reply.status == StatusCode::NOT_FOUND
        }
        Defect::ArrayBody => healthz(defects).await == json!([{"healthy": true}]),
        Defect::HealthyAsString => healthz(defects).await["healthy"] == "true",
        Defect::MsgAsObject => {
            let reply = Trial::new(defects)
                .call("createLoadBalancer", create("1"))
                .await;
            reply.body["msg"].is_object()
        }
        Defect::SuccAsString => {
            let request = json!({"backendType": "Pod", "parameters": {"weight": "-1"}});
            let reply = Trial::new(defects).call("validateBackend", request).await;
            reply.body["succ"] == "false"
        }
        Defect::Null500 => {
            let request = but(ensure(&sample(), "a"), "attributes", Value::Null);
            Trial::new(defects)
                .call("ensureLoadBalancer", request)
                .await
                .is_crash()
        }
        Defect::NullParameters500 => {
            let request = backend("ensureBackend", &sample(), "a", "1");
            let request = but(request, "parameters", Value::Null);
            Trial::new(defects)
                .call("ensureBackend", request)
                .await
                .is_crash()
        }
        Defect::StrictUnknownFields => {
            let trial = Trial::new(defects);
            assert!(trial.succ("createLoadBalancer", create("1")).await);
            let request = but(create("2"), "future", true);
            !trial.succ("createLoadBalancer", request).await
        }
        Defect::RedirectSlash => {
            let reply = Trial::new(defects).post("/healthz/", "{}").await;
            reply.status.is_redirection() && reply.headers[header::LOCATION] == "/healthz"
        }
        Defect::RedirectAll => {
            let trial = Trial::new(defects);
            let reply = trial.post("/healthz", "{}").await;
            let moved = reply.status.is_redirection();
            if moved {
                let to = reply.headers[header::LOCATION].to_str().unwrap().to_owned();
                assert_eq!(trial.post(&to, "{}").await.body["healthy"], true);
            }
            moved
        }
        Defect::BodyLimit100k => {
            let mut request = pod_address("10.0.0.1", 80);
            request["podBackend"]["pod"]["metadata"]["annotations"] =
                json!({"large": "x".repeat(256 << 10)});
            let reply = Trial::new(defects)
                .call("generateBackendAddr", request)
                .await;
            reply.status == StatusCode::PAYLOAD_TOO_LARGE
        }
        Defect::HtmlMediaType => {
            let reply = Trial::new(defects).post("/healthz", "{}").await;
            reply.media_type().starts_with("text/html")
        }
        Defect::NoMediaType => {
            let reply = Trial::new(defects).post("/healthz", "{}").await;
            reply.media_type().is_empty()
        }
        Defect::CharsetRefused => {
            let request = Request::post("/healthz");
            let request = request.header(header::CONTENT_TYPE, "application/json; charset=utf-8");
            let request = request.body(Body::from("{}")).unwrap();
            let reply = Trial::new(defects).send(request).await;
            reply.status == StatusCode::UNSUPPORTED_MEDIA_TYPE
        }
        Defect::EmptyMsg => {
            let request = create_invalid("1");
            let reply = Trial::new(defects)
                .call("createLoadBalancer", request)
                .await;
            assert!(reply.has_status("Fail"));
            reply.body["msg"] == ""
        }
        Defect::MsgMissing => {
            let request = json!({
                "operation": "Update",
                "lbSpec": order(),
                "attributes": {"chargeType": "PREPAID"},
            });
            let reply = Trial::new(defects)
                .call("validateLoadBalancer", request)
                .await;
            assert_eq!(reply.body["succ"], false);
            reply.body.get("msg").is_none()
        }
        Defect::HealthzUnhealthy => healthz(defects).await["healthy"] == false,
        Defect::HealthzPlainText => {
            let reply = Trial::new(defects).post("/healthz", "{}").await;
            reply.status == StatusCode::OK && reply.media_type() == "text/plain"
        }
        Defect::Healthz404 => {
            let reply = Trial::new(defects).post("/healthz", "{}").await;
            reply.status == StatusCode::NOT_FOUND
        }
        Defect::HealthzNeedsBody => {
            let trial = Trial::new(defects);
            assert_eq!(trial.post("/healthz", "{}").await.status, StatusCode::OK);
            trial.post("/healthz", "").await.status == StatusCode::BAD_REQUEST
        }
        _ => return None,
    })
}

async fn delay(defects: &[Defect], field: &str) -> Value {
    let reply = Trial::new(defects)
        .call("createLoadBalancer", create("1"))
        .await;
    reply.body[field].clone()
}

async fn injected(defects: &[Defect]) -> Value {
    let request = backend("ensureBackend", &sample(), "a", "1");
    let reply = Trial::new(defects).call("ensureBackend", request).await;
    assert!(reply.has_status("Succ"));
    reply.body["injectedInfo"].clone()
}

async fn healthz(defects: &[Defect]) -> Value {
    Trial::new(defects).post("/healthz", "{}").await.body
}

async fn is_201(defects: &[Defect], webhook: &str) -> bool {
    let reply = Trial::new(defects).call(webhook, json!({})).await;
    reply.status == StatusCode::CREATED
}

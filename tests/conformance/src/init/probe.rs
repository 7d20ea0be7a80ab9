//! Probes a running driver with two or three calls that change nothing.

use super::schema::{Maps, one_line};
use crate::exchange::{NoResponse, Received};
use crate::transport::{Request, Transport};
use http::Method;
use lbcf_driver_sdk::webhook::ValidateLoadBalancerResponse;
use std::time::Duration;

/// The known properties of a driver.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Findings {
    /// The URL, if one was given.
    pub url: Option<Url>,
    /// The result of the probe.
    pub result: ProbeResult,
    /// The documented fields of its maps.
    pub maps: Maps,
    /// The optional webhooks that respond, which features of the fixture name.
    pub optional: Vec<&'static str>,
}

/// A URL without secrets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Url {
    /// Without user and password.
    pub shown: String,
    /// True if user and password were removed.
    pub is_cut: bool,
}

/// The result of probing a driver.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum ProbeResult {
    /// No URL was given.
    #[default]
    NotProbed,
    /// The connection failed, for this reason.
    Unreachable(String),
    /// The driver was reached.
    Probed {
        /// Its response to an empty `lbSpec`.
        empty_spec: EmptySpec,
        /// True if it has an OpenAPI document.
        has_document: bool,
    },
}

impl ProbeResult {
    /// The response of a driver that was reached.
    pub(super) const fn empty_spec(&self) -> Option<&EmptySpec> {
        match self {
            Self::Probed { empty_spec, .. } => Some(empty_spec),
            Self::Unreachable(_) | Self::NotProbed => None,
        }
    }
}

/// A driver's response to an empty `lbSpec`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EmptySpec {
    /// `succ: true`: a fixture without samples suffices.
    Accepted,
    /// `succ: false` with this message.
    Rejected(String),
    /// Invalid or missing, with a description.
    Invalid(String),
}

const TIMEOUT: Duration = Duration::from_secs(5);
/// The longest quoted message, in characters.
const MAX_MESSAGE: usize = 500;
/// A call as controllers make it, with an empty `lbSpec`.
const EMPTY: &str = r#"{"lbSpec":{},"operation":"Create","attributes":{},"dryRun":false}"#;

/// Probes a driver. `at_root` is the same server without the path of the driver's URL, if it has one:
/// drivers of the SDK serve their document there.
pub(super) async fn probe(driver: &Transport, at_root: Option<&Transport>) -> Findings {
    let request = Request::post("validateLoadBalancer", EMPTY);
    let empty_spec = match driver.send(&request, TIMEOUT).await {
        Ok(received) => empty_spec(&received),
        Err(problem @ NoResponse::NotConnected(_)) => {
            return Findings {
                result: ProbeResult::Unreachable(one_line(&problem.to_string(), MAX_MESSAGE)),
                ..Findings::default()
            };
        }
        Err(problem) => EmptySpec::Invalid(one_line(&problem.to_string(), MAX_MESSAGE)),
    };
    let mut maps = maps(driver).await;
    if maps.is_none()
        && let Some(root) = at_root
    {
        maps = self::maps(root).await;
    }
    Findings {
        result: ProbeResult::Probed {
            empty_spec,
            has_document: maps.is_some(),
        },
        maps: maps.unwrap_or_default(),
        optional: optional(driver).await,
        ..Findings::default()
    }
}

/// Calls the optional webhooks about what does not exist.
async fn optional(driver: &Transport) -> Vec<&'static str> {
    let mut found = Vec::new();
    for (webhook, body) in [
        (
            "judgePodDeregister",
            r#"{"notReadyPods":[],"dryRun":false}"#,
        ),
        (
            "listBackends",
            r#"{"recordID":"listBackends(0)","retryID":"0","lbInfo":{"lbID":"lb-doesnotexist"}}"#,
        ),
    ] {
        let received = driver.send(&Request::post(webhook, body), TIMEOUT).await;
        let received = received.ok().filter(|it| it.status == 200);
        let body =
            received.and_then(|it| serde_json::from_slice::<serde_json::Value>(&it.body).ok());
        let body = body.unwrap_or_default();
        // One that the driver does not have names itself, as those of the SDK do.
        let lacks = body["msg"]
            .as_str()
            .is_some_and(|msg| msg.contains(webhook));
        if body["succ"] == true || (body["status"].is_string() && !lacks) {
            found.push(webhook);
        }
    }
    found
}

/// The maps in the driver's OpenAPI document, if it has one.
async fn maps(driver: &Transport) -> Option<Maps> {
    let request = Request::new(Method::GET, "openapi.json");
    let received = driver.send(&request, TIMEOUT).await.ok()?;
    if received.status != 200 {
        return None;
    }
    let document: serde_json::Value = serde_json::from_slice(&received.body).ok()?;
    document.get("paths")?;
    Some(Maps::of(&document))
}

fn empty_spec(received: &Received) -> EmptySpec {
    let body = || one_line(&String::from_utf8_lossy(&received.body), MAX_MESSAGE);
    if received.status != 200 {
        return EmptySpec::Invalid(format!("HTTP status {}: {}", received.status, body()));
    }
    match serde_json::from_slice::<ValidateLoadBalancerResponse>(&received.body) {
        Ok(response) if response.succ => EmptySpec::Accepted,
        Ok(response) => EmptySpec::Rejected(one_line(&response.msg, MAX_MESSAGE)),
        Err(_) => EmptySpec::Invalid(format!("not {{\"succ\": …, \"msg\": …}}: {}", body())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transport::Settings;
    use axum::Router;
    use axum::http::StatusCode;
    use axum::routing::{get, post};
    use serde_json::json;

    fn answering(status: u16, body: &'static str) -> Router {
        let status = StatusCode::from_u16(status).unwrap();
        Router::new().route(
            "/validateLoadBalancer",
            post(move || async move { (status, body) }),
        )
    }

    async fn result(router: Router) -> ProbeResult {
        probe(&Transport::in_process(router), None).await.result
    }

    #[tokio::test]
    async fn the_response_to_an_empty_lb_spec_is_read() {
        for (status, body, expected) in [
            (200, r#"{"succ":true}"#, EmptySpec::Accepted),
            (
                200,
                r#"{"succ":false,"msg":"vpc\n is missing"}"#,
                EmptySpec::Rejected("vpc is missing".into()),
            ),
            (200, r#"{"succ":false}"#, EmptySpec::Rejected(String::new())),
            (
                500,
                "Oh\nno",
                EmptySpec::Invalid("HTTP status 500: Oh no".into()),
            ),
            (
                200,
                "[]",
                EmptySpec::Invalid("not {\"succ\": …, \"msg\": …}: []".into()),
            ),
        ] {
            let expected = ProbeResult::Probed {
                empty_spec: expected,
                has_document: false,
            };
            assert_eq!(result(answering(status, body)).await, expected, "{body}");
        }
    }

    #[tokio::test]
    async fn a_real_driver_names_the_missing_field() {
        let cloud = mock_driver::Cloud::empty();
        let router = mock_driver::router(mock_driver::ClbDriver::new(
            cloud.clone(),
            mock_driver::MockOptions::default(),
        ));
        let ProbeResult::Probed {
            empty_spec: EmptySpec::Rejected(message),
            ..
        } = result(router).await
        else {
            panic!()
        };
        assert!(
            message.contains("lbSpec: names no load balancer"),
            "{message}"
        );
        assert!(cloud.observe().load_balancers.is_empty());
    }

    #[tokio::test]
    async fn optional_webhooks_are_found() {
        let options = mock_driver::MockOptions::default();
        let driver = mock_driver::ClbDriver::new(mock_driver::Cloud::empty(), options);
        let mock = Transport::in_process(mock_driver::router(driver));
        assert_eq!(
            optional(&mock).await,
            ["judgePodDeregister", "listBackends"]
        );
        for (status, body) in [
            (404, ""),
            (200, "<html>"),
            (200, "{}"),
            (
                200,
                r#"{"succ":false,"status":"Fail","msg":"there is no judgePodDeregister, and no listBackends"}"#,
            ),
        ] {
            let status = StatusCode::from_u16(status).unwrap();
            let router = Router::new().fallback(move || async move { (status, body) });
            assert_eq!(
                optional(&Transport::in_process(router)).await,
                [""; 0],
                "{body}"
            );
        }
    }

    #[tokio::test]
    async fn the_call_is_that_of_a_controller() {
        let router = Router::new().route(
            "/validateLoadBalancer",
            post(|body: String| async move {
                assert_eq!(
                    serde_json::from_str::<serde_json::Value>(&body).unwrap(),
                    json!({"lbSpec": {}, "operation": "Create", "attributes": {}, "dryRun": false})
                );
                r#"{"succ":true}"#
            }),
        );
        let result = result(router).await;
        assert!(matches!(
            result,
            ProbeResult::Probed {
                empty_spec: EmptySpec::Accepted,
                ..
            }
        ));
    }

    #[tokio::test]
    async fn the_document_is_below_the_url_or_at_the_root() {
        let document = json!({"paths": {"/ensureBackend": {"post": {"requestBody": {"content": {
            "application/json": {"schema": {"properties": {"parameters": {
                "properties": {"weight": {"default": "5"}}}}}}}}}}}});
        let text = document.to_string();
        let with = answering(200, r#"{"succ":true}"#)
            .route("/openapi.json", get(move || async move { text }));
        let with = Transport::in_process(with);
        let without = Transport::in_process(answering(200, r#"{"succ":true}"#));
        for findings in [probe(&with, None).await, probe(&without, Some(&with)).await] {
            assert_eq!(findings.maps.parameters[0].example, "5");
            assert!(matches!(
                findings.result,
                ProbeResult::Probed {
                    has_document: true,
                    ..
                }
            ));
        }
        let none = probe(&without, Some(&without)).await;
        assert!(none.maps.is_empty());
    }

    #[tokio::test]
    async fn a_page_instead_of_a_document_is_none() {
        for page in ["<html>", "{}", "[1]", ""] {
            let router = answering(200, r#"{"succ":true}"#)
                .route("/openapi.json", get(move || async move { page }));
            assert!(matches!(
                result(router).await,
                ProbeResult::Probed {
                    has_document: false,
                    ..
                }
            ));
        }
    }

    #[tokio::test]
    async fn an_unreachable_driver_is_not_probed() {
        // Bound, so that nothing else takes the port, and not listening.
        let refusing = tokio::net::TcpSocket::new_v4().unwrap();
        refusing.bind("127.0.0.1:0".parse().unwrap()).unwrap();
        let url = format!("http://{}", refusing.local_addr().unwrap());
        let away = Transport::to_url(&url, &Settings::default()).unwrap();
        let result = probe(&away, Some(&away)).await.result;
        assert!(
            matches!(&result, ProbeResult::Unreachable(why) if why.starts_with("no connection: ")),
            "{result:?}"
        );
    }

    #[tokio::test(start_paused = true)]
    async fn a_silent_driver_has_an_invalid_response() {
        let silent = || async {
            std::future::pending::<()>().await;
        };
        let router = Router::new().route("/validateLoadBalancer", post(silent));
        let expected = ProbeResult::Probed {
            empty_spec: EmptySpec::Invalid("no complete response within 5s".into()),
            has_document: false,
        };
        assert_eq!(result(router).await, expected);
    }
}

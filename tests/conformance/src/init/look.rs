//! Looking at a driver that runs: two or three calls that change nothing.

use super::findings::{EmptySpec, Findings, Seen};
use super::schema::{Maps, one_line};
use crate::exchange::{NoAnswer, Received};
use crate::transport::{Request, Transport};
use bytes::Bytes;
use http::{HeaderMap, Method, StatusCode};
use lbcf_driver_sdk::webhook::ValidateLoadBalancerResponse;
use std::future::Future;
use std::time::Duration;

/// Nobody likes to wait for a file.
const PATIENCE: Duration = Duration::from_secs(5);
/// Enough of what a driver says, in characters.
const MAX_MESSAGE: usize = 500;
/// A call as controllers make it, for a load balancer that nothing is said of.
const EMPTY: &str = r#"{"lbSpec":{},"operation":"Create","attributes":{},"dryRun":false}"#;

/// Whoever can be asked over HTTP.
pub trait Ask {
    /// Sends a request and waits for the whole answer, at most this long.
    fn ask(
        &self,
        request: Request,
        timeout: Duration,
    ) -> impl Future<Output = Result<Received, NoAnswer>> + Send;
}

impl Ask for Transport {
    async fn ask(&self, request: Request, timeout: Duration) -> Result<Received, NoAnswer> {
        self.send(&request, timeout).await
    }
}

/// Looks at a driver. `at_root` is the same server without the path of the driver's URL, where that
/// has one: drivers of the SDK have their document there.
pub(super) async fn look(driver: &impl Ask, at_root: Option<&impl Ask>) -> Findings {
    let request = Request {
        method: Method::POST,
        path: "validateLoadBalancer".to_owned(),
        headers: HeaderMap::new(),
        body: Bytes::from_static(EMPTY.as_bytes()),
    };
    let empty_spec = match driver.ask(request, PATIENCE).await {
        Ok(answer) => verdict(&answer),
        Err(problem @ NoAnswer::NotConnected(_)) => {
            return Findings {
                seen: Seen::Away(one_line(&problem.to_string(), MAX_MESSAGE)),
                ..Findings::default()
            };
        }
        Err(problem) => EmptySpec::NoVerdict(one_line(&problem.to_string(), MAX_MESSAGE)),
    };
    let mut maps = maps(driver).await;
    if maps.is_none()
        && let Some(root) = at_root
    {
        maps = self::maps(root).await;
    }
    Findings {
        seen: Seen::There {
            empty_spec,
            has_document: maps.is_some(),
        },
        maps: maps.unwrap_or_default(),
        ..Findings::default()
    }
}

/// What the document says, if there is one.
async fn maps(driver: &impl Ask) -> Option<Maps> {
    let request = Request {
        method: Method::GET,
        path: "openapi.json".to_owned(),
        headers: HeaderMap::new(),
        body: Bytes::new(),
    };
    let answer = driver.ask(request, PATIENCE).await.ok()?;
    if answer.status != StatusCode::OK.as_u16() {
        return None;
    }
    let document: serde_json::Value = serde_json::from_slice(&answer.body).ok()?;
    document.get("paths")?;
    Some(Maps::of(&document))
}

fn verdict(answer: &Received) -> EmptySpec {
    let body = || one_line(&String::from_utf8_lossy(&answer.body), MAX_MESSAGE);
    if answer.status != StatusCode::OK.as_u16() {
        return EmptySpec::NoVerdict(format!("HTTP status {}: {}", answer.status, body()));
    }
    match serde_json::from_slice::<ValidateLoadBalancerResponse>(&answer.body) {
        Ok(verdict) if verdict.succ => EmptySpec::Accepted,
        Ok(verdict) => EmptySpec::Refused(one_line(&verdict.msg, MAX_MESSAGE)),
        Err(_) => EmptySpec::NoVerdict(format!("no {{\"succ\": …, \"msg\": …}}: {}", body())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::Router;
    use axum::body::Body;
    use axum::routing::{get, post};
    use http_body_util::BodyExt;
    use hyper::service::Service;
    use hyper_util::service::TowerToHyperService;
    use serde_json::json;

    /// A driver in process.
    struct InProcess(Router);

    impl Ask for InProcess {
        async fn ask(&self, request: Request, _: Duration) -> Result<Received, NoAnswer> {
            let call = http::Request::builder()
                .method(request.method)
                .uri(format!("/{}", request.path))
                .body(Body::from(request.body))
                .unwrap();
            let answer = TowerToHyperService::new(self.0.clone())
                .call(call)
                .await
                .unwrap();
            let (head, body) = answer.into_parts();
            Ok(Received {
                status: head.status.as_u16(),
                headers: head.headers,
                body: body.collect().await.unwrap().to_bytes(),
            })
        }
    }

    /// Answers nothing, for this reason.
    struct Nobody(NoAnswer);

    impl Ask for Nobody {
        async fn ask(&self, _: Request, _: Duration) -> Result<Received, NoAnswer> {
            Err(self.0.clone())
        }
    }

    fn answering(status: u16, body: &'static str) -> Router {
        let status = StatusCode::from_u16(status).unwrap();
        Router::new().route(
            "/validateLoadBalancer",
            post(move || async move { (status, body) }),
        )
    }

    async fn seen(router: Router) -> Seen {
        look(&InProcess(router), None::<&InProcess>).await.seen
    }

    #[tokio::test]
    async fn an_empty_lb_spec_is_asked_about() {
        for (status, body, expected) in [
            (200, r#"{"succ":true}"#, EmptySpec::Accepted),
            (
                200,
                r#"{"succ":false,"msg":"vpc\n is missing"}"#,
                EmptySpec::Refused("vpc is missing".into()),
            ),
            (200, r#"{"succ":false}"#, EmptySpec::Refused(String::new())),
            (
                500,
                "Oh\nno",
                EmptySpec::NoVerdict("HTTP status 500: Oh no".into()),
            ),
            (
                200,
                "[]",
                EmptySpec::NoVerdict("no {\"succ\": …, \"msg\": …}: []".into()),
            ),
        ] {
            let expected = Seen::There {
                empty_spec: expected,
                has_document: false,
            };
            assert_eq!(seen(answering(status, body)).await, expected, "{body}");
        }
    }

    #[tokio::test]
    async fn a_real_driver_says_what_is_missing() {
        let cloud = mock_driver::Cloud::empty();
        let router = mock_driver::router(mock_driver::ClbDriver::new(
            cloud.clone(),
            mock_driver::MockOptions::default(),
        ));
        let Seen::There {
            empty_spec: EmptySpec::Refused(message),
            ..
        } = seen(router).await
        else {
            panic!()
        };
        assert!(
            message.contains("lbSpec names no load balancer"),
            "{message}"
        );
        assert!(cloud.observe().load_balancers.is_empty());
    }

    #[tokio::test]
    async fn the_call_is_as_controllers_make_it() {
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
        let seen = seen(router).await;
        assert!(matches!(
            seen,
            Seen::There {
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
        let with = InProcess(with);
        let without = InProcess(answering(200, r#"{"succ":true}"#));
        for findings in [
            look(&with, None::<&InProcess>).await,
            look(&without, Some(&with)).await,
        ] {
            assert_eq!(findings.maps.parameters[0].example, "5");
            assert!(matches!(
                findings.seen,
                Seen::There {
                    has_document: true,
                    ..
                }
            ));
        }
        let none = look(&without, Some(&without)).await;
        assert!(none.maps.is_empty());
    }

    #[tokio::test]
    async fn a_page_instead_of_a_document_is_none() {
        for page in ["<html>", "{}", "[1]", ""] {
            let router = answering(200, r#"{"succ":true}"#)
                .route("/openapi.json", get(move || async move { page }));
            assert!(matches!(
                seen(router).await,
                Seen::There {
                    has_document: false,
                    ..
                }
            ));
        }
    }

    #[tokio::test]
    async fn who_is_away_and_who_is_silent_are_told_apart() {
        let away = Nobody(NoAnswer::NotConnected("Connection\nrefused".into()));
        let seen = look(&away, Some(&away)).await.seen;
        assert_eq!(seen, Seen::Away("no connection: Connection refused".into()));
        let silent = Nobody(NoAnswer::TimedOut(PATIENCE));
        let seen = look(&silent, Some(&silent)).await.seen;
        let no_verdict = EmptySpec::NoVerdict("no whole answer within 5s".into());
        assert_eq!(
            seen,
            Seen::There {
                empty_spec: no_verdict,
                has_document: false
            }
        );
    }
}

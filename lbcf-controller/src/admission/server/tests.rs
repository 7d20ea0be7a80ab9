use super::*;
use crate::admission::tests::fixture::{
    Behaviour, World, ask, driver, group, load_balancer, patched, review, send, verdict, with,
};
use axum::body::{Body, Bytes};
use axum::http::Request;
use futures::StreamExt as _;
use serde_json::{Value, json};
use tokio::time::Instant;
use tower::ServiceExt as _;

const PATH: &str = "/validate-backend-group";

fn world() -> Arc<World> {
    Arc::new(World::usual())
}

async fn post_bytes(path: &str, body: impl Into<Body>) -> (StatusCode, String) {
    let request = Request::post(path).body(body.into()).unwrap();
    send(&world(), request).await
}

/// Asserts that a body is refused, with a message that has these parts.
async fn assert_bad(body: &Value, parts: &[&str]) {
    let (status, text) = post_bytes(PATH, body.to_string()).await;
    assert_eq!(status, StatusCode::BAD_REQUEST, "{text}");
    for part in parts {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[tokio::test]
async fn b63_every_path_is_served_and_the_right_spelling_too() {
    let paths = HOOKS
        .iter()
        .flat_map(|hook| std::iter::once(hook.path).chain(hook.alias));
    let mut served = Vec::new();
    for path in paths {
        let (status, text) = post_bytes(path, "").await;
        assert_eq!(status, StatusCode::BAD_REQUEST, "{path}: {text}");
        served.push(path);
    }
    assert_eq!(
        served,
        [
            "/mutate-load-balancer-driver",
            "/mutate-load-balancer",
            "/mutate-backend-broup",
            "/mutate-backend-group",
            "/mutate-bind",
            "/mutate-pod",
            "/validate-load-balancer-driver",
            "/validate-load-balancer",
            "/validate-backend-group",
            "/validate-bind",
        ]
    );
    assert_eq!(
        post_bytes("/validate-pod", "").await.0,
        StatusCode::NOT_FOUND
    );
}

#[tokio::test]
async fn only_posts_are_allowed() {
    for method in ["GET", "PUT", "DELETE"] {
        let request = Request::builder()
            .method(method)
            .uri(PATH)
            .body(Body::empty())
            .unwrap();
        let (status, text) = send(&world(), request).await;
        assert_eq!(status, StatusCode::METHOD_NOT_ALLOWED);
        assert!(text.contains("POST"), "{text}");
    }
}

#[tokio::test]
async fn a_body_that_is_no_review_is_refused_with_the_reason() {
    for (body, part) in [
        ("", "EOF"),
        ("nonsense", "expected"),
        ("[]", "invalid"),
        ("{}", "admission.k8s.io/v1"),
        ("{} {}", "trailing"),
        ("\"\"", "invalid type"),
        (&"[".repeat(100_000), "invalid"),
        (
            &format!("{{\"request\":{}", "{\"object\":".repeat(100_000)),
            "",
        ),
    ] {
        let (status, text) = post_bytes(PATH, body.to_owned()).await;
        assert_eq!(status, StatusCode::BAD_REQUEST, "{text}");
        assert!(text.contains(part), "{part}: {text}");
        assert!(text.len() < 1000);
    }
    let (status, _) = post_bytes(PATH, vec![0xff_u8, 0xfe]).await;
    assert_eq!(status, StatusCode::BAD_REQUEST);
}

#[tokio::test]
async fn d25_b65_a_review_has_to_be_of_the_present_version_and_of_the_paths_kind() {
    let good = review("CREATE", &group(), &Value::Null);
    assert_eq!(post_bytes(PATH, good.to_string()).await.0, StatusCode::OK);
    for (change, says) in [
        (
            ("/apiVersion", json!("admission.k8s.io/v1beta1")),
            &["\"admission.k8s.io/v1beta1\"", "[v1]"][..],
        ),
        (("/kind", json!("Pod")), &["\"Pod\"", "AdmissionReview"]),
        (("/request", Value::Null), &["request: missing"]),
        (("/request", json!(7)), &["request: ", "7"]),
        (("/request/uid", Value::Null), &["uid"]),
        (("/request/operation", json!(7)), &["request.operation"]),
        (
            ("/request/kind/kind", json!("LoadBalancer")),
            &["LoadBalancer", "BackendGroup"],
        ),
        (
            ("/request/kind/group", json!("tke.cloud.tencent.com")),
            &["tke.cloud.tencent.com", "lbcf.tkestack.io/v1beta1"],
        ),
        (
            ("/request/kind/version", json!("v1")),
            &["lbcf.tkestack.io/v1:", "v1beta1"],
        ),
    ] {
        assert_bad(&with(good.clone(), [change]), says).await;
    }
}

#[tokio::test]
async fn a_body_has_to_be_json() {
    let good = review("CREATE", &group(), &Value::Null).to_string();
    for (content_type, status) in [
        ("application/json; charset=utf-8", StatusCode::OK),
        ("Application/JSON", StatusCode::OK),
        ("application/yaml", StatusCode::BAD_REQUEST),
        ("text/plain", StatusCode::BAD_REQUEST),
    ] {
        let request = Request::post(PATH)
            .header("content-type", content_type)
            .body(Body::from(good.clone()))
            .unwrap();
        let (got, text) = send(&world(), request).await;
        assert_eq!(got, status, "{text}");
        assert!(
            got == StatusCode::OK || text.contains(content_type),
            "{text}"
        );
    }
}

#[tokio::test]
async fn a_huge_body_is_not_read() {
    let (status, text) = post_bytes(PATH, vec![b' '; BODY_LIMIT + 1]).await;
    assert_eq!(status, StatusCode::PAYLOAD_TOO_LARGE);
    assert!(text.contains("too large"), "{text}");
    // One that does not say how long it is, and never ends.
    let endless =
        futures::stream::repeat_with(|| Ok::<_, std::io::Error>(Bytes::from(vec![b' '; 1 << 16])));
    let (status, _) = post_bytes(PATH, Body::from_stream(endless)).await;
    assert_eq!(status, StatusCode::PAYLOAD_TOO_LARGE);
    // Two objects of the size that the API server takes.
    let big = with(
        group(),
        [("/metadata/annotations", json!({"big": "x".repeat(3 << 20)}))],
    );
    let new = with(big.clone(), [("/metadata/labels", json!({"a": "b"}))]);
    let response = ask(&world(), PATH, &review("UPDATE", &new, &big)).await;
    assert_eq!(verdict(&response), Ok(()));
}

#[tokio::test(start_paused = true)]
async fn a_body_that_does_not_come_is_not_waited_for() {
    let begin = Instant::now();
    let never = Body::from_stream(futures::stream::pending::<Result<Bytes, std::io::Error>>());
    let (status, _) = post_bytes(&format!("{PATH}?timeout=5s"), never).await;
    assert_eq!(status, StatusCode::REQUEST_TIMEOUT);
    assert_eq!(begin.elapsed().as_secs(), 4);
}

#[tokio::test(start_paused = true)]
async fn d101_bodies_that_do_not_end_share_their_memory_and_keep_no_review_waiting() {
    let router = routes(&world());
    let call = |body: Body| {
        let request = Request::post(format!("{PATH}?timeout=5s"));
        let response = router.clone().oneshot(request.body(body).unwrap());
        tokio::spawn(async { response.await.unwrap().status() })
    };
    let unfinished = (0..2 * IN_FLIGHT).map(|_| {
        let begun = Ok::<_, std::io::Error>(Bytes::from(vec![b' '; 1 << 20]));
        let begun = futures::stream::iter([begun]).chain(futures::stream::pending());
        call(Body::from_stream(begun))
    });
    let unfinished: Vec<_> = unfinished.collect();
    let small = review("CREATE", &group(), &Value::Null).to_string();
    assert_eq!(call(small.into()).await.unwrap(), StatusCode::OK);
    let mut waited = 0;
    for status in unfinished {
        match status.await.unwrap() {
            StatusCode::REQUEST_TIMEOUT => waited += 1,
            other => assert_eq!(other, StatusCode::TOO_MANY_REQUESTS),
        }
    }
    // The old half of a buffer that grows counts, too.
    assert_eq!(waited, (BODIES >> 20) * 2 / 3);
}

#[tokio::test(start_paused = true)]
async fn d108_a_namespace_whose_driver_is_slow_leaves_slots_to_others() {
    let slow = Behaviour::TakesLong(Duration::from_secs(20));
    let world = World::usual().when("lbcf-d", "validateBackend", slow);
    let router = routes(&Arc::new(world));
    let call = |object: &Value, timeout: u8| {
        let body = review("CREATE", object, &Value::Null).to_string();
        let request = Request::post(format!("{PATH}?timeout={timeout}s"));
        let response = router
            .clone()
            .oneshot(request.body(Body::from(body)).unwrap());
        tokio::spawn(async { response.await.unwrap().status() })
    };
    let flood: Vec<_> = (0..3 * IN_FLIGHT).map(|_| call(&group(), 30)).collect();
    tokio::time::sleep(Duration::from_secs(1)).await;
    let other = with(group(), [("/metadata/namespace", json!("other"))]);
    let began = Instant::now();
    assert_eq!(call(&other, 5).await.unwrap(), StatusCode::OK);
    assert!(
        began.elapsed() < Duration::from_secs(1),
        "{:?}",
        began.elapsed()
    );
    for one in flood {
        one.abort();
    }
}

#[tokio::test]
async fn a_body_that_breaks_off_is_a_bad_request() {
    let broken = futures::stream::iter([Ok("{"), Err(std::io::Error::other("gone"))]);
    let (status, text) = post_bytes(PATH, Body::from_stream(broken)).await;
    assert_eq!(status, StatusCode::BAD_REQUEST);
    assert!(text.contains("gone"), "{text}");
}

#[tokio::test]
async fn a_patch_is_base64_and_a_no_is_a_status() {
    let response = ask(
        &world(),
        "/mutate-load-balancer-driver",
        &review("CREATE", &driver("d"), &Value::Null),
    )
    .await;
    assert_eq!(
        patched(&driver("d"), &response)["spec"]["webhooks"]
            .as_array()
            .unwrap()
            .len(),
        9
    );
    let bad = with(driver("d"), [("/spec/url", json!(""))]);
    let response = ask(
        &world(),
        "/validate-load-balancer-driver",
        &review("CREATE", &bad, &Value::Null),
    )
    .await;
    assert_eq!(response["status"]["code"], 403);
    assert_eq!(response["status"]["reason"], "Forbidden");
    assert!(
        response["status"]["message"]
            .as_str()
            .unwrap()
            .starts_with("spec.url: ")
    );
    assert!(response.get("patch").is_none() && response.get("patchType").is_none());
}

/// What a Kubernetes 1.36 sent.
#[tokio::test]
async fn d25_a_real_api_servers_questions_are_understood() {
    let recorded = include_str!("../../../tests/data/admission-reviews.jsonl");
    let mut answered = Vec::new();
    for line in recorded.lines() {
        let exchange: Value = serde_json::from_str(line).unwrap();
        let path = exchange["path"].as_str().unwrap();
        let request = Request::post(path)
            .header("content-type", "application/json")
            .body(Body::from(exchange["request"].to_string()))
            .unwrap();
        let world = Arc::new(World::usual().with_driver(driver("lbcf-clb-application")));
        let (status, body) = send(&world, request).await;
        assert_eq!(status, StatusCode::OK, "{body}");
        let answer: Value = serde_json::from_str(&body).unwrap();
        assert_eq!(
            answer["response"]["uid"],
            exchange["request"]["request"]["uid"]
        );
        answered.push((
            exchange["request"]["request"]["operation"]
                .as_str()
                .unwrap()
                .to_owned(),
            answer["response"]["allowed"].as_bool().unwrap(),
        ));
    }
    // The one that is deleted has the label do-not-delete.
    let expected = [
        ("CREATE", true),
        ("CREATE", true),
        ("UPDATE", true),
        ("DELETE", false),
        ("UPDATE", true),
    ]
    .map(|(operation, allowed)| (operation.to_owned(), allowed));
    assert_eq!(answered, expected);
}

#[tokio::test]
async fn megabytes_are_not_sent_back() {
    let big = "x".repeat(1 << 20);
    let path = "/validate-load-balancer";
    for change in [
        ("/spec/ensurePolicy", json!({"policy": big})),
        ("/spec/scope", json!([big])),
        ("/spec/lbDriver", json!(big)),
        ("/spec/attributes", json!({ big.as_str(): [] })),
    ] {
        let object = with(load_balancer("x"), [change]);
        let response = ask(&world(), path, &review("CREATE", &object, &Value::Null)).await;
        let message = verdict(&response).unwrap_err();
        assert!(
            message.len() < 10_000 && message.starts_with("spec."),
            "{}",
            message.len()
        );
    }
    let mut question = review("CREATE", &group(), &Value::Null);
    question["request"]["dryRun"] = json!(big);
    let (status, text) = post_bytes(PATH, question.to_string()).await;
    assert_eq!(status, StatusCode::BAD_REQUEST);
    assert!(text.len() < 1000, "{}", text.len());
}

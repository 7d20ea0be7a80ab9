//! Each fault as a client sees it, over a socket; and the routes for rules.

use crate::support::{Mock, backend, create, order, sample};
use axum::body::Body;
use axum::http::StatusCode;
use mock_driver::{Cloud, MockOptions, MockServer};
use serde_json::{Value, json};
use std::io::ErrorKind;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

const LIMIT: Duration = Duration::from_secs(60);

struct Served {
    cloud: Cloud,
    server: MockServer,
}

impl Served {
    async fn new(rules: Value) -> Self {
        let cloud = Cloud::with_samples();
        let addr = "127.0.0.1:0".parse().unwrap();
        let server = MockServer::start(cloud.clone(), addr, MockOptions::default());
        let served = Self {
            cloud,
            server: server.await.unwrap(),
        };
        let reply = served.send("PUT", "/_mock/faults", &rules).await.unwrap();
        assert!(reply.starts_with("HTTP/1.1 200"), "{reply}");
        served
    }

    async fn connect(&self, method: &str, path: &str, body: &Value) -> TcpStream {
        let body = body.to_string();
        let length = body.len();
        let mut stream = TcpStream::connect(self.server.addr()).await.unwrap();
        let head = format!(
            "{method} {path} HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\ncontent-length: {length}\r\n\r\n"
        );
        stream.write_all((head + &body).as_bytes()).await.unwrap();
        stream
    }

    /// Everything that comes until the server closes the connection.
    async fn send(&self, method: &str, path: &str, body: &Value) -> std::io::Result<String> {
        let mut stream = self.connect(method, path, body).await;
        let mut text = String::new();
        timeout(LIMIT, stream.read_to_string(&mut text))
            .await
            .unwrap()
            .map(|_| text)
    }

    async fn ensure(&self, addr: &str) -> std::io::Result<String> {
        let body = backend(&sample(), addr, Value::Null);
        self.send("POST", "/ensureBackend", &body).await
    }

    fn addresses(&self) -> Vec<String> {
        let seen = self.cloud.observe().load_balancers.into_iter();
        seen.flat_map(|lb| lb.backends).map(|it| it.addr).collect()
    }

    /// The last entry of the journal.
    async fn last_call(&self) -> Value {
        let path = "/_mock/requests?bodies=true";
        let reply = self.send("GET", path, &Value::Null).await.unwrap();
        let (_, body) = reply.split_once("\r\n\r\n").unwrap();
        let body: Value = serde_json::from_str(body).unwrap();
        body["requests"].as_array().unwrap().last().unwrap().clone()
    }
}

fn body(reply: &str) -> Value {
    let (head, body) = reply.split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with("HTTP/1.1 200"), "{reply}");
    serde_json::from_str(body).unwrap()
}

#[tokio::test]
async fn fail_and_running_respond_and_do_nothing() {
    let fail = json!({"fail": {"message": "the quota is used up", "retryAfter": "3s"}});
    let running = json!({"running": {"calls": 2, "retryAfter": "1s"}});
    let served = Served::new(json!([
        {"match": {"webhook": "ensureBackend", "times": 1}, "action": fail},
        {"match": {"webhook": "ensureBackend"}, "action": running},
    ]))
    .await;
    let expected =
        json!({"status": "Fail", "msg": "the quota is used up", "minRetryDelayInSeconds": 3});
    assert_eq!(body(&served.ensure("a:1").await.unwrap()), expected);
    for _ in 0..2 {
        let reply = body(&served.ensure("a:1").await.unwrap());
        assert_eq!(reply["status"], "Running");
        assert_eq!(reply["minRetryDelayInSeconds"], 1);
        assert!(served.addresses().is_empty());
    }
    assert_eq!(served.last_call().await["fault"], "running (rule 2)");
    assert_eq!(body(&served.ensure("a:1").await.unwrap())["status"], "Succ");
    assert_eq!(served.addresses(), ["a:1"]);
    assert_eq!(served.last_call().await["fault"], Value::Null);
}

#[tokio::test]
async fn an_http_status_comes_with_its_body() {
    let action = json!({"httpStatus": {"code": 503, "body": "busy"}});
    let served = Served::new(json!([{"action": action}])).await;
    let reply = served.ensure("a:1").await.unwrap();
    assert!(reply.starts_with("HTTP/1.1 503"), "{reply}");
    assert!(reply.ends_with("\r\n\r\nbusy"), "{reply}");
    assert!(served.addresses().is_empty());
    let call = served.last_call().await;
    assert_eq!(
        (&call["status"], &call["httpStatus"]),
        (&"Rejected".into(), &503.into())
    );
}

#[tokio::test]
async fn a_hanging_call_does_nothing_until_the_client_hangs_up() {
    let served = Served::new(json!([{"action": "hang"}])).await;
    let request = backend(&sample(), "a:1", Value::Null);
    let stream = served.connect("POST", "/ensureBackend", &request).await;
    let rules = served.cloud.faults();
    while rules.list()[0].applied == 0 {
        tokio::task::yield_now().await;
    }
    rules.clear();
    drop(stream);
    // The journal has the entry once the call has ended.
    let path = "/_mock/requests/wait?timeout=60s&status=NoAnswer";
    let reply = served.send("GET", path, &Value::Null).await.unwrap();
    assert_eq!(body(&reply)["requests"][0]["fault"], "hang (rule 1)");
    assert!(served.addresses().is_empty());
    assert_eq!(body(&served.ensure("a:1").await.unwrap())["status"], "Succ");
}

#[tokio::test]
async fn a_reset_is_an_error_and_nothing_is_done() {
    let served = Served::new(json!([{"action": "reset"}])).await;
    let error = served.ensure("a:1").await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ConnectionReset);
    assert!(served.addresses().is_empty());
    assert_eq!(served.last_call().await["status"], "NoAnswer");
}

#[tokio::test]
async fn a_malformed_response_is_complete_and_no_json() {
    let served = Served::new(json!([{"action": "malformed"}])).await;
    let reply = served.ensure("a:1").await.unwrap();
    let (head, body) = reply.split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with("HTTP/1.1 200"), "{reply}");
    assert!(
        head.contains(&format!("content-length: {}", body.len())),
        "{reply}"
    );
    assert!(serde_json::from_str::<Value>(body).is_err(), "{reply}");
    assert_eq!(served.addresses(), ["a:1"]);
    assert_eq!(served.last_call().await["status"], "Malformed");
}

#[tokio::test]
async fn a_truncated_response_ends_before_its_length() {
    let served = Served::new(json!([{"action": "truncated"}])).await;
    let reply = served.ensure("a:1").await.unwrap();
    let (head, body) = reply.split_once("\r\n\r\n").unwrap();
    let length = head
        .lines()
        .find_map(|line| line.strip_prefix("content-length: "));
    let length: usize = length.expect(&reply).parse().unwrap();
    assert!(!body.is_empty() && body.len() < length, "{reply}");
    assert_eq!(served.addresses(), ["a:1"]);
    assert_eq!(served.last_call().await["response"], body);
}

#[tokio::test]
async fn a_lost_answer_leaves_the_work_done() {
    let served = Served::new(json!([{"action": "loseAnswer"}])).await;
    assert_eq!(
        served.ensure("a:1").await.unwrap(),
        "",
        "closed without a byte"
    );
    assert_eq!(served.addresses(), ["a:1"]);
    let call = served.last_call().await;
    assert_eq!(
        (&call["status"], &call["httpStatus"]),
        (&"NoAnswer".into(), &200.into())
    );
    assert!(
        call["response"].as_str().unwrap().contains("Succ"),
        "{call}"
    );
}

#[tokio::test(start_paused = true)]
async fn a_delay_comes_before_the_work() {
    let mock = Mock::new();
    let rule = json!({"action": {"delay": {"time": "7s", "jitter": "1s"}}});
    assert_eq!(mock.post("faults", rule).await.0, StatusCode::OK);
    let begin = tokio::time::Instant::now();
    let call = mock.succ("ensureBackend", backend(&sample(), "a:1", Value::Null));
    tokio::pin!(call);
    let early = timeout(Duration::from_secs(7), call.as_mut()).await;
    assert!(early.is_err());
    assert_eq!(
        mock.observe().await,
        json!({"loadBalancers": []}),
        "nothing is done yet"
    );
    call.await;
    let took = begin.elapsed();
    assert!((7.0..8.1).contains(&took.as_secs_f64()), "{took:?}");
    assert_eq!(mock.addresses().await, ["a:1"]);
}

#[tokio::test]
async fn rules_are_listed_added_replaced_removed_and_reset() {
    let mock = Mock::new();
    let listed = async || mock.send("GET", "/_mock/faults", Body::empty()).await.1;
    let numbers = |list: &Value| {
        let rules = list["rules"].as_array().unwrap().iter();
        rules
            .map(|rule| rule["id"].as_u64().unwrap())
            .collect::<Vec<_>>()
    };
    mock.post("faults", json!({"action": "hang"})).await;
    let (status, list) = mock
        .post(
            "faults",
            json!({"rules": [{"action": "reset"}], "preset": "realistic"}),
        )
        .await;
    assert_eq!(status, StatusCode::OK);
    assert_eq!(
        list["rules"][1],
        json!({"id": 2, "matched": 0, "applied": 0, "action": "reset"})
    );
    assert_eq!(numbers(&list), [1, 2, 3, 4, 5]);
    let (status, list) = mock.send("DELETE", "/_mock/faults/2", Body::empty()).await;
    assert_eq!((status, numbers(&list)), (StatusCode::OK, vec![1, 3, 4, 5]));
    for id in ["2", "x", "-1"] {
        let path = format!("/_mock/faults/{id}");
        let (status, reply) = mock.send("DELETE", &path, Body::empty()).await;
        assert_eq!(status, StatusCode::NOT_FOUND);
        assert!(
            reply["error"].as_str().unwrap().contains("no fault rule"),
            "{reply}"
        );
    }
    // What was shown replaces what is there.
    let put = Body::from(list.to_string());
    let (_, replaced) = mock.send("PUT", "/_mock/faults", put).await;
    assert_eq!(replaced["rules"][0]["action"], "hang");
    assert_eq!(numbers(&replaced).len(), 4);
    let (_, none) = mock.send("DELETE", "/_mock/faults", Body::empty()).await;
    assert_eq!(none, json!({"seed": 0, "rules": []}));
    mock.post("faults", json!({"action": "hang"})).await;
    mock.post("reset", Value::Null).await;
    assert_eq!(numbers(&listed().await), [0; 0]);
}

#[tokio::test]
async fn wrong_rules_are_refused_and_change_nothing() {
    let mock = Mock::new();
    mock.post("faults", json!({"action": "hang"})).await;
    for method in ["POST", "PUT"] {
        for (body, expected) in [
            ("", "the body is not JSON"),
            ("{", "the body is not JSON"),
            ("7", "must be an object"),
            ("{}", "missing field `action`"),
            (r#"{"action":"hung"}"#, "hung"),
            (r#"[{"action":"reset"},{"action":"hung"}]"#, "rules[1]"),
            (r#"{"preset":"wild"}"#, "wild"),
            (r#"{"rule":[]}"#, "rule"),
        ] {
            let (status, reply) = mock.send(method, "/_mock/faults", Body::from(body)).await;
            assert_eq!(status, StatusCode::BAD_REQUEST, "{method} {body}: {reply}");
            let error = reply["error"].as_str().unwrap();
            assert!(error.contains(expected), "{method} {body}: {error}");
        }
    }
    let large = Body::from(vec![b' '; 2 << 20]);
    let (status, _) = mock.send("POST", "/_mock/faults", large).await;
    assert_eq!(status, StatusCode::PAYLOAD_TOO_LARGE);
    assert_eq!(mock.cloud.faults().list().len(), 1);
}

#[tokio::test]
async fn kubectl_alone_can_break_a_load_balancer_and_a_backend() {
    let mock = Mock::new();
    let mut request = create("1", order());
    request["attributes"] = json!({
        "mock.lbcf/fault": r#"{"match": {"webhook": "deregisterBackend"}, "action": "fail"}"#,
    });
    let created = mock.succ("createLoadBalancer", request).await;
    let lb_info = &created["lbInfo"];
    let broken = json!({"mock.lbcf/fault": "fail"});
    let message = mock
        .rejected("ensureBackend", backend(lb_info, "a:1", broken))
        .await;
    assert_eq!(message, "a fault rule");
    // The attributes in the cloud apply to backends, too, of this load balancer only.
    mock.succ("ensureBackend", backend(lb_info, "b:1", Value::Null))
        .await;
    mock.rejected("deregisterBackend", backend(lb_info, "b:1", Value::Null))
        .await;
    mock.succ("deregisterBackend", backend(&sample(), "b:1", Value::Null))
        .await;
    assert_eq!(mock.addresses().await, ["b:1"]);
    let parameters = json!({"parameters": {"mock.lbcf/fault": "hang"}});
    mock.succ("validateBackend", parameters).await;
}

#[tokio::test]
async fn faults_hit_only_calls_of_webhooks() {
    let mock = Mock::new();
    mock.post("faults", json!({"action": {"httpStatus": {"code": 500}}}))
        .await;
    let status = async |method, path| mock.response(method, path, Body::empty()).await.status();
    assert_eq!(status("GET", "/_mock/state").await, StatusCode::OK);
    assert_eq!(status("GET", "/livez").await, StatusCode::OK);
    assert_eq!(status("GET", "/readyz").await, StatusCode::OK);
    assert_eq!(status("GET", "/metrics").await, StatusCode::OK);
    assert_eq!(status("POST", "/nothing").await, StatusCode::NOT_FOUND);
    assert_eq!(
        status("GET", "/ensureBackend").await,
        StatusCode::METHOD_NOT_ALLOWED
    );
    assert_eq!(
        status("GET", "/healthz").await,
        StatusCode::INTERNAL_SERVER_ERROR
    );
}

#[tokio::test]
async fn rules_outlive_a_restart_of_the_driver() {
    let mock = Mock::new();
    let rule = json!({"match": {"times": 2}, "action": "fail"});
    mock.post("faults", rule).await;
    mock.rejected("ensureBackend", backend(&sample(), "a:1", Value::Null))
        .await;
    mock.post("restart", Value::Null).await;
    mock.rejected("ensureBackend", backend(&sample(), "a:1", Value::Null))
        .await;
    mock.succ("ensureBackend", backend(&sample(), "a:1", Value::Null))
        .await;
}

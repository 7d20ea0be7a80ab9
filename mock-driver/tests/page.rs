//! The page at `/`.

use crate::support::{Mock, backend, create, order, sample};
use crate::traffic::until;
use axum::body::Body;
use axum::http::{Request, StatusCode, header};
use axum::response::Response;
use http_body_util::BodyExt;
use mock_driver::azure::AzureDriver;
use mock_driver::{Cloud, ListenerProtocol, MockOptions, MockServer, Traffic, TrafficOptions};
use serde_json::json;
use std::time::Duration;
use tower::ServiceExt;

async fn page(mock: &Mock) -> String {
    let response = mock.response("GET", "/", Body::empty()).await;
    assert_eq!(response.status(), StatusCode::OK);
    text(response).await
}

async fn text(response: Response) -> String {
    let body = response.into_body().collect().await.unwrap().to_bytes();
    String::from_utf8(body.to_vec()).unwrap()
}

#[tokio::test]
async fn it_shows_load_balancers_backends_and_calls() {
    let mock = Mock::new();
    mock.succ("createLoadBalancer", create("1", order())).await;
    let bound = backend(&sample(), "10.0.0.7:80", json!({"weight": "7"}));
    mock.succ("ensureBackend", bound).await;
    let page = page(&mock).await;
    for shown in [
        "lb-1234",
        "TCP 80 · lbl-2234",
        "10.0.0.7:80",
        "<meter min=\"0\" max=\"100\" value=\"7\">",
        "ensureBackend(10.0.0.7:80)",
        "createLoadBalancer(1)",
        "chargeType=TRAFFIC_POSTPAID_BY_HOUR",
    ] {
        assert!(page.contains(shown), "{shown}: {page}");
    }
    let call = |webhook| page.find(&format!("<summary>{webhook}</summary>"));
    assert!(call("ensureBackend").is_some());
    assert!(
        call("ensureBackend") < call("createLoadBalancer"),
        "newest first"
    );
}

#[tokio::test]
async fn it_shows_stages_rules_and_backends_bound_by_hand() {
    let mock = Mock::with_stages_of(Duration::from_secs(1));
    let order = json!({"lbVpcID": "vpc-1", "lbListenerPort": "443", "lbListenerProtocol": "HTTPS",
        "domain": "shop.example", "url": "/cart"});
    let running = mock.call("createLoadBalancer", create("1", order)).await;
    assert_eq!(running["status"], "Running");
    assert!(page(&mock).await.contains("creating CLB instance"));
    mock.clock.advance(Duration::from_secs(3));
    let shown = page(&mock).await;
    assert!(!shown.contains("creating CLB instance</strong>"), "{shown}");
    assert!(shown.contains("shop.example/cart"), "{shown}");
    let by_hand = json!({"lbInfo": sample(), "addr": "192.0.2.7:80"});
    mock.post("observe/foreign", by_hand).await;
    assert!(page(&mock).await.contains("a user, by hand"));
}

#[tokio::test]
async fn long_lists_end() {
    let mock = Mock::new();
    for number in 1..202 {
        let bound = backend(&sample(), &format!("10.0.0.1:{number}"), json!({}));
        mock.succ("ensureBackend", bound).await;
    }
    let page = page(&mock).await;
    assert_eq!(page.matches("<meter").count(), 200);
    assert!(page.contains("and 1 more"), "{page}");
    assert_eq!(page.matches("<summary>ensureBackend</summary>").count(), 50);
}

#[tokio::test]
async fn an_empty_cloud_and_an_outage_are_shown() {
    let mock = Mock::new();
    assert!(page(&mock).await.contains("No webhook was called yet."));
    assert!(page(&mock).await.contains("aria-checked=\"false\""));
    mock.post("fault", json!({"on": true})).await;
    let page = page(&mock).await;
    assert!(page.contains("aria-checked=\"true\""), "{page}");
    assert!(
        page.contains("data-body=\"{&quot;on&quot;:false}\""),
        "{page}"
    );
}

#[tokio::test]
async fn faults_in_force_and_what_they_did_are_shown() {
    let mock = Mock::new();
    let rule =
        json!({"match": {"webhook": "ensureBackend"}, "action": {"fail": {"message": "full"}}});
    mock.post("faults", rule).await;
    let bound = backend(&sample(), "10.0.0.7:80", json!({}));
    mock.rejected("ensureBackend", bound).await;
    let page = page(&mock).await;
    for shown in [
        "&quot;message&quot;:&quot;full&quot;",
        "Remove rule 1",
        "fault: fail (rule 1)",
    ] {
        assert!(page.contains(shown), "{shown}: {page}");
    }
}

/// Whatever a user or a controller names, the page has no element of it.
#[tokio::test]
async fn markup_in_every_field_is_shown_as_text() {
    let evil = "\"><script>alert(1)</script>'&";
    let mock = Mock::new();
    // The chart shows addresses, too.
    let _traffic = Traffic::start(&mock.cloud, TrafficOptions::default());
    let mut order = order();
    order["lbVpcID"] = json!(evil);
    let mut create = create(evil, order);
    create["attributes"] = json!({(evil): evil});
    mock.succ("createLoadBalancer", create).await;
    let mut bound = backend(&sample(), evil, json!({(evil): evil}));
    bound["recordID"] = json!(evil);
    mock.call("ensureBackend", bound).await;
    let by_hand = json!({"lbInfo": sample(), "addr": evil});
    mock.post("observe/foreign", by_hand).await;
    let unknown = json!({"lbID": evil, "lblID": evil});
    mock.rejected(
        "ensureBackend",
        backend(&unknown, evil, json!({(evil): evil})),
    )
    .await;
    let endpoint = mock.cloud.add_listener(
        "lb-1234",
        ListenerProtocol::Http,
        81,
        Some(mock_driver::Rule::new(Some(evil), Some(evil))),
    );
    endpoint.unwrap();
    let page = page(&mock).await;
    assert!(page.contains("<svg"), "{page}");
    assert!(!page.contains("<script>"), "{page}");
    let escaped = "&quot;&gt;&lt;script&gt;alert(1)&lt;/script&gt;";
    // The network, token, attribute, address, recordIDs, rule and message.
    assert!(page.matches(escaped).count() >= 10, "{page}");
}

#[tokio::test]
async fn nothing_comes_from_elsewhere() {
    let mock = Mock::new();
    for path in ["/_mock/state", "/_mock/none", "/docs/", "/openapi.json"] {
        let response = mock.response("GET", path, Body::empty()).await;
        let sniffing = &response.headers()[header::X_CONTENT_TYPE_OPTIONS];
        assert_eq!(sniffing, "nosniff", "{path}");
    }
    let response = mock.response("GET", "/", Body::empty()).await;
    let policy = response.headers()[header::CONTENT_SECURITY_POLICY]
        .to_str()
        .unwrap()
        .to_owned();
    assert!(policy.starts_with("default-src 'none'; "), "{policy}");
    assert!(!policy.contains("unsafe"), "{policy}");
    assert!(!text(response).await.contains("http"));
    for (path, content_type) in [("page.css", "text/css"), ("page.js", "text/javascript")] {
        let response = mock
            .response("GET", &format!("/_mock/{path}"), Body::empty())
            .await;
        assert_eq!(response.headers()[header::CONTENT_TYPE], content_type);
        assert_eq!(
            response.headers()[header::X_CONTENT_TYPE_OPTIONS],
            "nosniff"
        );
        assert!(!text(response).await.contains("//www"));
    }
}

#[tokio::test]
async fn the_time_of_the_cloud_is_shown() {
    let mock = Mock::new();
    mock.post("clock/advance", json!({"seconds": 3723})).await;
    let page = page(&mock).await;
    assert!(
        page.contains("<span class=\"time\">1:02:03</span>"),
        "{page}"
    );
}

/// No response allows pages of other sites to read it.
#[tokio::test]
async fn no_response_has_headers_of_cors() {
    let mock = Mock::new();
    for (method, path) in [
        ("OPTIONS", "/_mock/state"),
        ("OPTIONS", "/ensureBackend"),
        ("GET", "/_mock/state"),
        ("GET", "/openapi.json"),
        ("GET", "/"),
    ] {
        for origin in ["https://evil.example", "http://127.0.0.1:8080"] {
            let request = Request::builder().method(method).uri(path);
            let request = request
                .header(header::HOST, "127.0.0.1:8080")
                .header(header::ORIGIN, origin)
                .header(header::ACCESS_CONTROL_REQUEST_METHOD, "POST")
                .body(Body::empty());
            let response = mock.router.clone().oneshot(request.unwrap()).await.unwrap();
            let allowed = response
                .headers()
                .keys()
                .find(|name| name.as_str().starts_with("access-control-"));
            assert_eq!(allowed, None, "{method} {path} from {origin}");
        }
    }
}

#[tokio::test]
async fn docs_shows_the_documents_of_both_apis() {
    let mock = Mock::new();
    let response = mock.response("GET", "/docs/", Body::empty()).await;
    assert_eq!(response.status(), StatusCode::OK);
    let script = mock
        .response("GET", "/docs/swagger-initializer.js", Body::empty())
        .await;
    let script = text(script).await;
    for (path, known) in [
        ("/openapi.json", "/ensureBackend"),
        ("/_mock/openapi.json", "/_mock/state"),
    ] {
        assert!(script.contains(&format!("\"{path}\"")), "{path}: {script}");
        let (status, document) = mock.send("GET", path, Body::empty()).await;
        assert_eq!(status, StatusCode::OK);
        assert!(document["paths"][known].is_object(), "{path}: {document}");
    }
}

/// The endpoints have no password: a browser must not be the way to them.
#[tokio::test]
async fn d103_pages_of_other_sites_reach_nothing() {
    let mock = Mock::new();
    let addr = "127.0.0.1:0".parse().unwrap();
    let options = MockOptions {
        allow_hosts: vec!["mock.example".to_owned()],
        ..MockOptions::default()
    };
    let server = MockServer::start(mock.cloud.clone(), addr, options)
        .await
        .unwrap();
    let addr = server.addr();
    let own = "127.0.0.1\r\nOrigin: http://127.0.0.1";
    let link = "localhost\r\nSec-Fetch-Site: cross-site\r\nSec-Fetch-Mode: navigate\r\nSec-Fetch-Dest: document";
    for path in ["/", "/_mock/state", "/_mock/page.js", "/healthz", "/none"] {
        for refused in [
            "evil.example",
            "127.0.0.1.evil.example",
            "localhost\r\nOrigin: https://evil.example",
            "localhost\r\nOrigin: null",
            "localhost\r\nSec-Fetch-Site: cross-site",
        ] {
            assert_eq!(
                status_of(addr, path, refused).await,
                403,
                "{path} {refused}"
            );
        }
        for served in ["localhost", "mock.example", own, link] {
            assert_ne!(status_of(addr, path, served).await, 403, "{path} {served}");
        }
    }
    server.stop().await;
}

#[tokio::test]
async fn endpoints_can_have_an_address_of_their_own() {
    let addr = "127.0.0.1:0".parse().unwrap();
    let options = MockOptions {
        endpoints_listen: Some(addr),
        ..MockOptions::default()
    };
    let cloud = Mock::new().cloud;
    let server = MockServer::start(cloud, addr, options).await.unwrap();
    for path in [
        "/",
        "/_mock/state",
        "/_mock/page.js",
        "/docs/",
        "/openapi.json",
    ] {
        assert_eq!(
            status_of(server.addr(), path, "localhost").await,
            404,
            "{path}"
        );
        assert_eq!(
            status_of(server.endpoints_addr(), path, "localhost").await,
            200,
            "{path}"
        );
    }
    assert_eq!(status_of(server.addr(), "/healthz", "localhost").await, 200);
    assert_eq!(
        status_of(server.endpoints_addr(), "/healthz", "localhost").await,
        404
    );
    server.stop().await;
}

/// The status of a GET with this `Host`.
async fn status_of(addr: std::net::SocketAddr, path: &str, host: &str) -> u16 {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    let mut stream = tokio::net::TcpStream::connect(addr).await.unwrap();
    let request = format!("GET {path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).await.unwrap();
    let mut response = Vec::new();
    stream.read_to_end(&mut response).await.unwrap();
    let response = String::from_utf8_lossy(&response);
    let status = response.split(' ').nth(1).unwrap();
    status.parse().unwrap()
}

#[tokio::test]
async fn with_traffic_it_shows_where_load_balancers_listen_and_what_they_serve() {
    let mock = Mock::new();
    let _traffic = Traffic::start(&mock.cloud, TrafficOptions::default());
    let bound = backend(&sample(), "127.0.0.1:1", json!({}));
    mock.succ("ensureBackend", bound).await;
    let listens = mock.cloud.traffic()["lb-1234"].listeners[0].listens;
    let shown = page(&mock).await;
    let place = format!(" · at <code>{}</code>", listens.unwrap());
    for part in [place.as_str(), "<th>Served</th>", "data-count=\"0\""] {
        assert!(shown.contains(part), "{part}: {shown}");
    }
}

#[tokio::test]
async fn a_switch_sends_requests_to_listeners_with_traffic_alone() {
    let mock = Mock::new();
    let send = async |rate: u32| mock.post("load", json!({"rate": rate})).await;
    assert!(page(&mock).await.contains("do not listen"));
    assert_eq!(send(5).await.0, StatusCode::BAD_REQUEST);
    let _traffic = Traffic::start(&mock.cloud, TrafficOptions::default());
    let is_on = async || {
        let page = page(&mock).await;
        let button = page
            .split("id=\"load-100\"")
            .nth(1)
            .unwrap()
            .split('>')
            .next();
        button.unwrap().contains("aria-checked=\"true\"")
    };
    let (status, error) = send(101).await;
    assert_eq!(status, StatusCode::BAD_REQUEST);
    assert!(
        error["error"].as_str().unwrap().contains("rate: 101: "),
        "{error}"
    );
    assert!(!is_on().await);
    // Of the three listeners, one has a backend, which refuses.
    let refusing = backend(&sample(), "127.0.0.1:1", json!({}));
    mock.succ("ensureBackend", refusing).await;
    assert_eq!(send(100).await.1["rate"], 100);
    assert!(is_on().await);
    until(
        "what failed is shown, of the backend and of all",
        async || {
            let page = page(&mock).await;
            let words = page.split("desc>").nth(1).unwrap_or_default().to_owned();
            words.contains("▲ registered with weight 100 at ") && !words.contains(" 0 failed")
        },
    )
    .await;
    let counts = |id: &str| mock.cloud.traffic()[id].counts.connections;
    assert_eq!((counts("lb-foo"), counts("lb-bar")), (0, 0));
    assert!(counts("lb-1234") > 0);
    mock.post("reset", json!({})).await;
    assert!(!is_on().await);
}

#[tokio::test]
async fn d85_it_shows_frontends_public_ips_and_security_rules_of_the_profile_azure() {
    let mut mock = Mock::new();
    mock.cloud = Cloud::azure();
    let driver = AzureDriver::new(mock.cloud.clone(), MockOptions::default());
    mock.router = mock_driver::router(driver);
    let order = json!({"service": "default/web", "port": "80"});
    let mut body = create("1", order);
    body["attributes"] = json!({"azure-dns-label-name": "shop"});
    let created = mock.succ("createLoadBalancer", body).await;
    let bound = backend(&created["lbInfo"], "10.0.0.7:80", json!({}));
    mock.succ("ensureBackend", bound).await;
    let page = page(&mock).await;
    for shown in [
        "kubernetes/kubernetes</h3>",
        "TCP 80 · 198.18.0.1",
        "10.0.0.7:80",
        "<td>shop</td>",
        "<td>default/web</td>",
        "TCP-80-Internet",
    ] {
        assert!(page.contains(shown), "{shown}: {page}");
    }
}

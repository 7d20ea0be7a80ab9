//! Over real sockets: repeated creations and hang-ups lead to one creation.

use crate::support::{serve, takes_maps};
use lbcf_driver_sdk::request::{
    CreateLoadBalancer, DeregisterBackend, EnsureBackend, GenerateBackendAddr,
};
use lbcf_driver_sdk::server::prometheus::{Registry, proto::Metric};
use lbcf_driver_sdk::server::{DriverRouter, Settings};
use lbcf_driver_sdk::webhook::StringMap;
use lbcf_driver_sdk::{Driver, HookError};
use serde_json::{Value, json};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::{Semaphore, watch};

/// A cloud whose creations are not idempotent.
struct Cloud {
    /// The sizes of the created load balancers, in order.
    made: Mutex<Vec<String>>,
    begun: watch::Sender<usize>,
    ended: watch::Sender<usize>,
    /// Each creation needs one permit.
    go: Semaphore,
}

impl Cloud {
    fn new() -> Arc<Self> {
        Arc::new(Self {
            made: Mutex::default(),
            begun: watch::Sender::new(0),
            ended: watch::Sender::new(0),
            go: Semaphore::new(0),
        })
    }

    fn made(&self) -> Vec<String> {
        self.made.lock().unwrap().clone()
    }
}

async fn reaches(counter: &watch::Sender<usize>, count: usize) {
    let mut counter = counter.subscribe();
    let reached = counter.wait_for(|now| *now >= count);
    let reached = tokio::time::timeout(Duration::from_secs(20), reached).await;
    reached.expect("it does not come to that").unwrap();
}

struct Creator(Arc<Cloud>);

impl Driver for Creator {
    takes_maps!(deletes nothing);

    async fn create_load_balancer(
        &self,
        request: CreateLoadBalancer<Self>,
    ) -> Result<StringMap, HookError> {
        self.0.begun.send_modify(|begun| *begun += 1);
        self.0.go.acquire().await.unwrap().forget();
        let id = {
            let mut made = self.0.made.lock().unwrap();
            made.push(request.attributes["size"].clone());
            format!("lb-{}", made.len())
        };
        self.0.ended.send_modify(|ended| *ended += 1);
        Ok(StringMap::from([("lbID".into(), id)]))
    }

    async fn generate_backend_addr(
        &self,
        _: GenerateBackendAddr<Self>,
    ) -> Result<String, HookError> {
        Err(HookError::fail("only load balancers"))
    }

    async fn ensure_backend(&self, _: EnsureBackend<Self>) -> Result<StringMap, HookError> {
        Err(HookError::fail("only load balancers"))
    }

    async fn deregister_backend(&self, _: DeregisterBackend<Self>) -> Result<(), HookError> {
        Err(HookError::fail("only load balancers"))
    }
}

async fn served(answer_within: Duration) -> (Arc<Cloud>, SocketAddr, Registry) {
    let cloud = Cloud::new();
    let settings = Settings {
        answer_within,
        ..Settings::default()
    };
    let router = DriverRouter::with(Creator(Arc::clone(&cloud)), settings);
    let registry = router.registry();
    (cloud, serve(router.build()).await, registry)
}

/// Waits until the metric has this value for the label.
async fn counted(registry: &Registry, metric: &str, label: &str, count: f64) {
    let now = || {
        let families = registry.gather();
        let family = families.iter().find(|family| family.name() == metric);
        let series = family.expect("there is such a metric").get_metric();
        let is_meant = |series: &&Metric| {
            let has = |wanted| series.get_label().iter().any(|pair| pair.value() == wanted);
            has("createLoadBalancer") && has(label)
        };
        let meant = series.iter().find(is_meant);
        meant
            .expect("there is such a series")
            .get_counter()
            .get_value()
    };
    let reached = async {
        while now() < count {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    let reached = tokio::time::timeout(Duration::from_secs(20), reached).await;
    reached.unwrap_or_else(|_| panic!("{metric} {label}: only {}", now()));
}

const LONG: Duration = Duration::from_secs(60);

async fn send(address: SocketAddr, retry_id: &str, size: &str) -> TcpStream {
    let body = json!({
        "recordID": "createLoadBalancer(1)", "retryID": retry_id,
        "lbSpec": {"name": "web"}, "attributes": {"size": size},
    })
    .to_string();
    let mut stream = TcpStream::connect(address).await.unwrap();
    let request = format!(
        "POST /createLoadBalancer HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\
         content-length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(request.as_bytes()).await.unwrap();
    stream
}

async fn answer(mut stream: TcpStream) -> Value {
    let mut text = String::new();
    let read = stream.read_to_string(&mut text);
    tokio::time::timeout(LONG, read).await.unwrap().unwrap();
    assert!(text.starts_with("HTTP/1.1 200 "), "{text}");
    serde_json::from_str(text.split("\r\n\r\n").nth(1).unwrap()).unwrap()
}

async fn call(address: SocketAddr, retry_id: &str, size: &str) -> Value {
    answer(send(address, retry_id, size).await).await
}

/// Calls until it is done.
async fn outcome(address: SocketAddr, size: &str) -> Value {
    loop {
        let answer = call(address, "again", size).await;
        if answer["status"] != "Running" {
            return answer;
        }
    }
}

/// Closes the connection and waits until the server has noticed.
async fn hang_up(registry: &Registry, stream: TcpStream) {
    stream.set_zero_linger().unwrap();
    drop(stream);
    counted(registry, "lbcf_driver_calls_total", "hung_up", 1.0).await;
}

fn is_the_first(answer: &Value) {
    assert_eq!(answer["status"], "Succ", "{answer}");
    assert_eq!(answer["lbInfo"], json!({"lbID": "lb-1"}));
}

#[tokio::test]
async fn a_hang_up_during_create_load_balancer_leads_to_one_creation_and_one_lb_info() {
    // The next call arrives while the creation continues, or when it is done.
    for done in [false, true] {
        let (cloud, address, registry) = served(LONG).await;
        let first = send(address, "1", "small").await;
        reaches(&cloud.begun, 1).await;
        hang_up(&registry, first).await;
        cloud.go.add_permits(usize::from(done));
        reaches(&cloud.ended, usize::from(done)).await;
        let again = send(address, "2", "small").await;
        cloud.go.add_permits(5);
        is_the_first(&answer(again).await);
        assert_eq!(cloud.made(), ["small"]);
    }
}

#[tokio::test]
async fn twenty_concurrent_repeats_lead_to_one_creation_and_one_lb_info() {
    let (cloud, address, registry) = served(LONG).await;
    let mut calls = Vec::new();
    for retry in 0..20 {
        calls.push(send(address, &retry.to_string(), "small").await);
    }
    reaches(&cloud.begun, 1).await;
    let repeated = "lbcf_driver_repeated_calls_total";
    counted(&registry, repeated, "joining", 19.0).await;
    cloud.go.add_permits(50);
    for call in calls {
        is_the_first(&answer(call).await);
    }
    assert_eq!(cloud.made(), ["small"]);
}

#[tokio::test]
async fn a_repeat_after_the_deadline_leads_to_one_creation_and_one_lb_info() {
    let (cloud, address, _) = served(Duration::from_millis(300)).await;
    let running = call(address, "1", "small").await;
    assert_eq!(running["status"], "Running", "{running}");
    cloud.go.add_permits(5);
    reaches(&cloud.ended, 1).await;
    is_the_first(&outcome(address, "small").await);
    assert_eq!(cloud.made(), ["small"]);
}

#[tokio::test]
async fn a_hang_up_repeats_and_the_deadline_together_lead_to_one_creation_and_one_lb_info() {
    let (cloud, address, registry) = served(Duration::from_millis(300)).await;
    let first = send(address, "1", "small").await;
    reaches(&cloud.begun, 1).await;
    hang_up(&registry, first).await;
    let mut calls = Vec::new();
    for retry in 0..20 {
        calls.push(send(address, &retry.to_string(), "small").await);
    }
    for call in calls {
        assert_eq!(answer(call).await["status"], "Running");
    }
    cloud.go.add_permits(50);
    reaches(&cloud.ended, 1).await;
    is_the_first(&outcome(address, "small").await);
    assert_eq!(cloud.made(), ["small"]);
}

#[tokio::test]
async fn a_changed_request_under_the_same_record_id_is_not_lost() {
    // It arrives while the first runs, when it is done and not collected, and afterwards.
    let (cloud, address, _) = served(Duration::from_millis(300)).await;
    assert_eq!(call(address, "1", "small").await["status"], "Running");
    assert_eq!(call(address, "2", "large").await["status"], "Running");
    assert_eq!(cloud.made(), [""; 0]);
    cloud.go.add_permits(2);
    reaches(&cloud.ended, 2).await;
    assert_eq!(cloud.made(), ["small", "large"]);
    cloud.go.add_permits(1);
    let third = outcome(address, "huge").await;
    assert_eq!(third["lbInfo"], json!({"lbID": "lb-3"}));
    cloud.go.add_permits(1);
    let back = outcome(address, "small").await;
    assert_eq!(back["lbInfo"], json!({"lbID": "lb-4"}));
    assert_eq!(cloud.made(), ["small", "large", "huge", "small"]);
}

//! A driver whose creations are jobs, in the SDK's router: one creation and one `lbInfo`,
//! whatever happens to the controller's calls.

use super::Cloud;
use crate::support::{ok, serve, spawn_ok, takes_maps};
use axum::Router;
use lbcf_driver_sdk::jobs::{Jobs, object_id};
use lbcf_driver_sdk::request::{
    CreateLoadBalancer, DeleteLoadBalancer, DeregisterBackend, EnsureBackend, GenerateBackendAddr,
};
use lbcf_driver_sdk::server::DriverRouter;
use lbcf_driver_sdk::webhook::StringMap;
use lbcf_driver_sdk::{Driver, HookError};
use serde_json::{Value, json};
use std::time::Duration;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

struct JobDriver(Jobs<Cloud>);

impl Driver for JobDriver {
    takes_maps!();

    async fn create_load_balancer(
        &self,
        request: CreateLoadBalancer<Self>,
    ) -> Result<StringMap, HookError> {
        let key = object_id(&request.record_id);
        let zone = request.lb_spec["zone"].clone();
        let id = self.0.run(key, zone).await?;
        Ok(StringMap::from([("id".into(), id)]))
    }

    async fn delete_load_balancer(
        &self,
        request: DeleteLoadBalancer<Self>,
    ) -> Result<(), HookError> {
        let key = object_id(&request.record_id);
        self.0.cancel(key).await?;
        self.0.forget(key);
        Ok(())
    }

    async fn generate_backend_addr(
        &self,
        _: GenerateBackendAddr<Self>,
    ) -> Result<String, HookError> {
        Err(HookError::fail("not asked for here"))
    }

    async fn ensure_backend(&self, _: EnsureBackend<Self>) -> Result<StringMap, HookError> {
        Err(HookError::fail("not asked for here"))
    }

    async fn deregister_backend(&self, _: DeregisterBackend<Self>) -> Result<(), HookError> {
        Err(HookError::fail("not asked for here"))
    }
}

fn router(cloud: &Cloud) -> Router {
    DriverRouter::new(JobDriver(Jobs::new(cloud.clone()))).build()
}

const CREATE: &str = "/createLoadBalancer";

fn create(retry_id: &str, zone: &str) -> Value {
    json!({
        "recordID": "createLoadBalancer(1)", "retryID": retry_id,
        "lbSpec": {"zone": zone}, "attributes": null,
    })
}

fn submits(cloud: &Cloud) -> usize {
    let log = cloud.log();
    log.iter().filter(|line| line.starts_with("submit")).count()
}

#[tokio::test]
async fn a_hang_up_and_a_repeat_lead_to_one_creation() {
    let cloud = Cloud::new(0);
    cloud.0.submit.forget_permits(1000);
    let router = router(&cloud);
    let address = serve(router.clone()).await;
    let mut stream = TcpStream::connect(address).await.unwrap();
    let body = create("1", "a").to_string();
    let head = format!(
        "POST {CREATE} HTTP/1.1\r\nhost: localhost\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    let begun = async {
        while cloud.0.log.lock().unwrap().is_empty() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    };
    tokio::time::timeout(Duration::from_secs(20), begun)
        .await
        .expect("it is submitted");
    stream.set_zero_linger().unwrap();
    drop(stream);

    cloud.0.submit.add_permits(10);
    for retry in ["2", "3"] {
        let answer = ok(&router, CREATE, &create(retry, "a")).await;
        assert_eq!(answer["lbInfo"]["id"], "made of a");
    }
    assert_eq!(submits(&cloud), 1);
}

#[tokio::test(start_paused = true)]
async fn twenty_repeats_and_one_after_the_deadline_lead_to_one_creation() {
    let cloud = Cloud::new(1);
    cloud.0.submit.forget_permits(1000);
    let router = router(&cloud);
    let calls: Vec<_> = (0..20)
        .map(|n| spawn_ok(&router, CREATE, create(&n.to_string(), "a")))
        .collect();
    for call in calls {
        assert_eq!(call.await.unwrap()["status"], "Running");
    }
    cloud.0.submit.add_permits(10);
    super::settle().await;
    // The result of the first call's hook, with the message of the poll.
    let answer = ok(&router, CREATE, &create("20", "a")).await;
    assert_eq!(
        (&answer["status"], &answer["msg"]),
        (&json!("Running"), &json!("1 to go"))
    );
    for retry in ["21", "22"] {
        let answer = ok(&router, CREATE, &create(retry, "a")).await;
        assert_eq!(answer["lbInfo"]["id"], "made of a");
    }
    assert_eq!(submits(&cloud), 1);
}

#[tokio::test(start_paused = true)]
async fn d28_a_changed_request_is_not_lost() {
    let cloud = Cloud::new(0);
    let router = router(&cloud);
    assert_eq!(
        ok(&router, CREATE, &create("1", "a")).await["lbInfo"]["id"],
        "made of a"
    );
    assert_eq!(
        ok(&router, CREATE, &create("2", "b")).await["lbInfo"]["id"],
        "made of b"
    );
    assert_eq!(submits(&cloud), 2);
}

#[tokio::test(start_paused = true)]
async fn a_deletion_cancels_the_creation() {
    let cloud = Cloud::new(3);
    let router = router(&cloud);
    assert_eq!(
        ok(&router, CREATE, &create("1", "a")).await["status"],
        "Running"
    );
    let delete = json!({"recordID": "deleteLoadBalancer(1)", "retryID": "1", "lbInfo": null});
    let answer = ok(&router, "/deleteLoadBalancer", &delete).await;
    assert_eq!(answer["status"], "Succ");
    assert_eq!(cloud.log(), ["submit a", "poll 1", "cancel 1"]);
    assert!(cloud.0.tasks.lock().unwrap().is_empty());
}

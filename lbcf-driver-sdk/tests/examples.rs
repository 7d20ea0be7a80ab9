//! Each example as a process, taken through what a controller asks of it. People copy them, so
//! they have to do right what is easily done wrong: everything twice, and what is not there.

mod process;
mod walk;

use lbcf_driver_client::DriverClient;
use lbcf_driver_sdk::webhook::{
    CreateLoadBalancer, DeleteLoadBalancer, EnsureBackend, Status, ValidateBackend,
    ValidateLoadBalancer,
};
use process::Example;
use std::time::{Duration, Instant};
use walk::{LIMIT, Walk, create, ensure, map};

#[tokio::test]
async fn async_create() {
    let example = Example::start("async_create", &["--creating-takes-seconds", "1"]);
    let driver = example.driver();
    let walk = Walk {
        lb_spec: map(&[("zone", "east")]),
        attributes: map(&[("bandwidthMbps", "20")]),
        parameters: map(&[("weight", "7")]),
        ..Walk::default()
    };

    // Under way at first, and then there.
    let first = driver
        .call_within::<CreateLoadBalancer>(&create(&walk, "1"), LIMIT)
        .await
        .unwrap();
    assert_eq!(first.status, Status::Running);
    assert!(first.msg.contains("% done"), "{}", first.msg);
    assert_eq!(first.min_retry_delay_in_seconds, 1);
    walk.through(&driver).await;

    // One that is deleted while it is being made.
    let begun = create(&walk, "2");
    let begun = driver
        .call_within::<CreateLoadBalancer>(&begun, LIMIT)
        .await;
    assert_eq!(begun.unwrap().status, Status::Running);
    let delete = DeleteLoadBalancer {
        record_id: "deleteLoadBalancer(2)".into(),
        ..Default::default()
    };
    for _ in 0..2 {
        let deleted = driver
            .call_within::<DeleteLoadBalancer>(&delete, LIMIT)
            .await;
        assert_eq!(deleted.unwrap().status, Status::Succ);
    }
    refuses_zone_and_weight(&driver).await;
}

async fn refuses_zone_and_weight(driver: &DriverClient) {
    let nowhere = ValidateLoadBalancer {
        lb_spec: map(&[("zone", "nowhere")]),
        ..Default::default()
    };
    let answer = driver
        .call_within::<ValidateLoadBalancer>(&nowhere, LIMIT)
        .await;
    let answer = answer.unwrap();
    assert!(!answer.succ && answer.msg.contains("nowhere"), "{answer:?}");
    refuses_weight(driver).await;
}

async fn refuses_weight(driver: &DriverClient) {
    let heavy = ValidateBackend {
        parameters: map(&[("weight", "101")]),
        ..Default::default()
    };
    let answer = driver
        .call_within::<ValidateBackend>(&heavy, LIMIT)
        .await
        .unwrap();
    assert!(!answer.succ && answer.msg.contains("101"), "{answer:?}");
}

#[tokio::test]
async fn http_api() {
    let example = Example::start("http_api", &[]);
    let driver = example.driver();
    let walk = Walk {
        lb_spec: map(&[("listenerPort", "80")]),
        attributes: map(&[("scheduler", "least-connections")]),
        parameters: map(&[("weight", "7")]),
        ..Walk::default()
    };
    walk.through(&driver).await;
    refuses_weight(&driver).await;

    // What the API refuses is a failure in its words.
    let mut made = Vec::new();
    for uid in ["a", "b", "c"] {
        made.push(walk.created(&driver, uid).await);
    }
    let one_too_many = create(&walk, "d");
    let answer = driver
        .call_within::<CreateLoadBalancer>(&one_too_many, LIMIT)
        .await;
    let answer = answer.unwrap();
    assert_eq!(answer.status, Status::Fail);
    assert!(answer.msg.contains("QuotaExceeded"), "{}", answer.msg);

    // An instance that is taken into use is left when the load balancer is deleted.
    let instance = &made[0]["instance"];
    let shared = Walk {
        lb_spec: map(&[("listenerPort", "81"), ("instance", instance)]),
        ..walk
    };
    shared.through(&driver).await;
    let on_the_first = ensure(&shared, &made[0], "10.0.0.9:80");
    let answer = driver
        .call_within::<EnsureBackend>(&on_the_first, LIMIT)
        .await;
    assert_eq!(answer.unwrap().status, Status::Succ);
}

#[tokio::test]
async fn http_api_does_not_tell_users_why_its_api_cannot_be_reached() {
    // Closes every connection.
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move { while listener.accept().await.is_ok() {} });
    let example = Example::start("http_api", &["--api-url", &url, "--api-key", "s3cret"]);
    let driver = example.driver();
    let walk = Walk {
        lb_spec: map(&[("listenerPort", "80")]),
        ..Walk::default()
    };
    let answer = driver
        .call_within::<CreateLoadBalancer>(&create(&walk, "1"), LIMIT)
        .await
        .unwrap();
    assert_eq!(answer.status, Status::Fail);
    assert_eq!(answer.msg, "the API does not answer");
    let log = example.stop();
    assert!(!log.contains("s3cret"), "{log}");
}

#[tokio::test]
async fn raw_maps() {
    let example = Example::start("raw_maps", &[]);
    let driver = example.driver();
    let walk = Walk {
        lb_spec: map(&[("whatever", "users write")]),
        attributes: map(&[("a", "1")]),
        parameters: map(&[("b", "2")]),
        ..Walk::default()
    };
    walk.through(&driver).await;
    let empty = ValidateLoadBalancer::default();
    let answer = driver
        .call_within::<ValidateLoadBalancer>(&empty, LIMIT)
        .await;
    assert!(!answer.unwrap().succ);
}

#[tokio::test]
async fn embed_in_axum() {
    let mut example = Example::start("embed_in_axum", &[]);
    let driver = example.driver();
    let walk = Walk {
        lb_spec: map(&[("pool", "web")]),
        // A pool is there as soon as it is named.
        always_there: true,
        ..Walk::default()
    };
    walk.through(&driver).await;

    // The program's own route shows what the driver did.
    let registered = ensure(&walk, &walk.lb_spec, "10.0.0.9:80");
    let answer = driver
        .call_within::<EnsureBackend>(&registered, LIMIT)
        .await;
    assert_eq!(answer.unwrap().status, Status::Succ);
    assert!(
        example
            .get("/backends")
            .await
            .ends_with("web 10.0.0.9:80\n")
    );

    // It shuts down although the client keeps its connection.
    example.tell_to_stop();
    let deadline = Instant::now() + Duration::from_secs(20);
    let ended = loop {
        if let Some(ended) = example.ended() {
            break ended;
        }
        assert!(Instant::now() < deadline, "it does not stop");
        tokio::time::sleep(Duration::from_millis(20)).await;
    };
    assert!(ended.success(), "{ended}");
}

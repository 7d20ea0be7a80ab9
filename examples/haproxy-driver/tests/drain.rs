//! Files that `haproxy -c` refuses, and sessions that do not end, with the real HAProxy.

use crate::haproxy::{Haproxy, free_port};
use haproxy_driver::HaproxyDriver;
use lbcf_driver_sdk::testing::{TestDriver, create_load_balancer, generate_backend_addr, pod};
use lbcf_e2e::until;
use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;

/// Servers of a TCP load balancer, one of which has an open session; `before_drain` may reload HAProxy.
async fn open_session_ends_within_the_limit(reloads: bool) {
    let Some(haproxy) = Haproxy::installed() else {
        return;
    };
    let driver = HaproxyDriver::new(haproxy.layout.clone()).unwrap();
    let mut upkeep = JoinSet::new();
    upkeep.spawn(driver.clone().keep_up(true));
    haproxy.until_running().await;
    let driver = TestDriver::new(driver);
    let port = free_port();
    let spec = create_load_balancer()
        .spec("address", "127.0.0.1")
        .spec("port", port);
    let lb = driver.create(spec).await;
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    let addr = server.local_addr().unwrap();
    let web = pod("web-0").ip(addr.ip().to_string()).port(addr.port());
    let call = generate_backend_addr()
        .lb_info(&lb)
        .pod(web)
        .parameter("drainSeconds", "2");
    let backend = driver.register(call).await;
    let name = format!("lb-127.0.0.1-{port}");
    haproxy.until_servers(&name, 1).await;
    let mut client = TcpStream::connect(("127.0.0.1", port)).unwrap();
    client.write_all(b"hello").unwrap();
    until("the session is open", async || {
        let running = haproxy.running(&name).await?;
        running
            .servers
            .get(&addr)
            .filter(|it| it.sessions > 0)
            .map(drop)
    })
    .await;
    if reloads {
        // The session stays with the old worker.
        let other = create_load_balancer()
            .spec("address", "127.0.0.1")
            .spec("port", free_port());
        driver
            .create(other.record_id("createLoadBalancer(other)"))
            .await;
    }
    driver.call(backend.deregister()).await.assert_running();
    until("the session is shut down", async || {
        let reply = driver.call(backend.deregister()).await;
        (!reply.is_running()).then(|| reply.assert_succ())
    })
    .await;
    assert_eq!(client.read(&mut [0; 8]).unwrap_or(0), 0);
    let running = haproxy.running(&name).await.unwrap();
    assert!(running.servers.is_empty());
}

#[tokio::test]
async fn an_open_session_of_an_old_worker_ends_within_the_limit() {
    open_session_ends_within_the_limit(true).await;
}

#[tokio::test]
async fn a_file_that_haproxy_refuses_replaces_none() {
    let Some(haproxy) = Haproxy::installed() else {
        return;
    };
    let driver = HaproxyDriver::new(haproxy.layout.clone()).unwrap();
    let mut upkeep = JoinSet::new();
    upkeep.spawn(driver.clone().keep_up(true));
    haproxy.until_running().await;
    let driver = TestDriver::new(driver);
    let spec = create_load_balancer()
        .spec("address", "127.0.0.1")
        .spec("port", free_port());
    driver.create(spec.clone()).await;
    let files = || -> Vec<_> {
        let entries = std::fs::read_dir(&haproxy.layout.conf_d).unwrap();
        entries
            .map(|it| std::fs::read_to_string(it.unwrap().path()).unwrap())
            .collect()
    };
    let before = files();
    // What the operator has written is wrong.
    std::fs::write(&haproxy.layout.base, "global\n  nonsense\n").unwrap();
    let changed = spec.attribute("balance", "random");
    driver
        .call(changed)
        .await
        .assert_fail("unknown keyword 'nonsense'");
    assert_eq!(files(), before);
}

#[tokio::test]
async fn an_open_session_ends_within_the_limit() {
    open_session_ends_within_the_limit(false).await;
}

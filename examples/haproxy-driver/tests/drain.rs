//! Files that `haproxy -c` refuses, and sessions that do not end, with the real HAProxy.

use crate::haproxy::{Haproxy, free_port};
use haproxy_driver::HaproxyDriver;
use haproxy_driver::plan::{Admin, RunningServer};
use lbcf_driver_sdk::drain::Drain;
use lbcf_driver_sdk::testing::{
    Registered, TestDriver, create_load_balancer, generate_backend_addr, healthz, pod,
};
use lbcf_e2e::until;
use std::io::{Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::time::{Duration, SystemTime};
use tokio::task::JoinSet;

/// A TCP load balancer with a server on which a session is open.
struct OpenSession {
    haproxy: Haproxy,
    driver: TestDriver<HaproxyDriver>,
    backend: Registered,
    name: String,
    addr: SocketAddr,
    client: TcpStream,
    /// Accepts nothing; dropping it ends the session.
    server: Option<TcpListener>,
    _upkeep: JoinSet<()>,
}

impl OpenSession {
    /// With the limit of 2 s; none where HAProxy is not installed.
    async fn open() -> Option<Self> {
        let haproxy = Haproxy::installed()?;
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
        let open = Self {
            haproxy,
            driver,
            backend,
            name,
            addr,
            client,
            server: Some(server),
            _upkeep: upkeep,
        };
        open.until_server("its session is open", |it| it.sessions > 0)
            .await;
        Some(open)
    }

    async fn until_server(&self, what: &str, is_so: impl Fn(&RunningServer) -> bool) {
        until(what, async || {
            let running = self.haproxy.running(&self.name).await?;
            let server = running.servers.get(&self.addr)?;
            is_so(server).then_some(())
        })
        .await;
    }

    /// The server returns while a deregistration waits for its session, and then something happens.
    async fn ensure_while_it_drains(&self, then: impl FnOnce()) {
        let waiting = async {
            let reply = self.driver.call(self.backend.deregister()).await;
            reply.assert_running();
        };
        let returning = async {
            self.until_server("it drains", |it| it.admin == Admin::Drain)
                .await;
            let ensure = self.backend.ensure().parameter("weight", "7");
            self.driver.call(ensure).await.assert_succ();
            then();
        };
        tokio::join!(waiting, returning);
        self.until_server("it is back", is_back).await;
    }

    async fn until_deregistered(&mut self) {
        until("the session is shut down", async || {
            let reply = self.driver.call(self.backend.deregister()).await;
            (!reply.is_running()).then(|| reply.assert_succ())
        })
        .await;
        assert_eq!(self.client.read(&mut [0; 8]).unwrap_or(0), 0);
        let running = self.haproxy.running(&self.name).await.unwrap();
        assert!(running.servers.is_empty());
    }
}

async fn open_session_ends_within_the_limit(reloads: bool) {
    let Some(mut open) = OpenSession::open().await else {
        return;
    };
    if reloads {
        // The session stays with the old worker.
        let other = create_load_balancer()
            .spec("address", "127.0.0.1")
            .spec("port", free_port());
        let other = other.record_id("createLoadBalancer(other)");
        open.driver.create(other).await;
    }
    let deregister = open.driver.call(open.backend.deregister());
    deregister.await.assert_running();
    open.until_deregistered().await;
}

/// The call that waits for the sessions neither removes the server, nor shuts down what is open.
#[tokio::test]
async fn a_server_that_is_ensured_while_it_drains_stays() {
    let Some(mut open) = OpenSession::open().await else {
        return;
    };
    open.ensure_while_it_drains(|| {}).await;

    // Longer than the drain could have lasted.
    let since = SystemTime::now();
    let limit = Duration::from_secs(2);
    until("the limit has passed", async || {
        (Drain::decide(Some(since), SystemTime::now(), limit, 1) == Drain::Expired).then_some(())
    })
    .await;
    open.until_server("it is still there", |it| is_back(it) && it.sessions == 1)
        .await;

    open.driver
        .call(open.backend.deregister())
        .await
        .assert_running();
    open.until_deregistered().await;
}

#[tokio::test]
async fn a_server_that_is_ensured_without_sessions_is_not_removed() {
    let Some(mut open) = OpenSession::open().await else {
        return;
    };
    let server = open.server.take();
    // What the waiting call waits for.
    open.ensure_while_it_drains(|| drop(server)).await;
    let health = open.driver.healthz(healthz()).await;
    assert_eq!(
        health.response().unwrap().features,
        ["cancel", "pages", "reasons"]
    );
}

fn is_back(server: &RunningServer) -> bool {
    server.admin == Admin::Ready && server.weight == 7
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

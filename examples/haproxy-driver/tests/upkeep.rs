//! What users change in HAProxy and in its files is repaired.

use crate::haproxy::{Haproxy, free_port};
use haproxy_driver::HaproxyDriver;
use haproxy_driver::haproxy::runtime;
use lbcf_driver_sdk::testing::{TestDriver, create_load_balancer, generate_backend_addr, pod};
use lbcf_e2e::until;
use std::fs;
use tokio::task::JoinSet;

#[tokio::test]
async fn changes_by_hand_are_repaired_although_one_load_balancer_cannot_be() {
    let Some(haproxy) = Haproxy::installed() else {
        return;
    };
    let driver = HaproxyDriver::new(haproxy.layout.clone()).unwrap();
    let mut upkeep = JoinSet::new();
    upkeep.spawn(driver.clone().keep_up(true));
    haproxy.until_running().await;
    let driver = TestDriver::new(driver);
    let (mut names, mut backends) = (Vec::new(), Vec::new());
    for index in 0..4 {
        let port = free_port();
        let spec = create_load_balancer()
            .spec("address", "127.0.0.1")
            .spec("port", port)
            .record_id(format!("createLoadBalancer({index})"));
        let lb = driver.create(spec).await;
        let call = generate_backend_addr().lb_info(&lb);
        backends.push(
            driver
                .register(call.pod(pod("web-0").ip("127.0.0.2")))
                .await,
        );
        names.push(format!("lb-127.0.0.1-{port}"));
    }
    let file = |name: &str| haproxy.layout.conf_d.join(format!("{name}.cfg"));
    let before: Vec<_> = names
        .iter()
        .map(|name| fs::read_to_string(file(name)).unwrap())
        .collect();
    let running = haproxy.running(&names[1]).await.unwrap();
    let address = *running.servers.keys().next().unwrap();

    // The first file cannot be replaced.
    let in_the_way = format!("{}.cfg.new", names[0]);
    fs::create_dir(haproxy.layout.conf_d.join(in_the_way)).unwrap();
    for (name, text) in names.iter().zip(&before) {
        fs::write(file(name), format!("{text}# by hand\n")).unwrap();
    }
    for name in &names[1..] {
        let server = format!("{name}/{}-{}", address.ip(), address.port());
        let command = format!("set server {server} weight 1");
        runtime::execute(&haproxy.layout, &[command]).await.unwrap();
    }
    until("all but the first are repaired", async || {
        for (name, text) in names.iter().zip(&before).skip(1) {
            let running = haproxy.running(name).await?;
            let is_file = fs::read_to_string(file(name)).ok()? == *text;
            let weight = running.servers.get(&address)?.weight;
            if !is_file || weight != 100 {
                return None;
            }
        }
        Some(())
    })
    .await;
    assert!(
        fs::read_to_string(file(&names[0]))
            .unwrap()
            .ends_with("# by hand\n")
    );
}

//! `lbcf diff`: what the cloud has beside what is declared.

use super::{BY_HAND, LIST, bind, endpoint, register_a_pod, setup};
use lbcf_cli::Drivers;
use lbcf_cli::diff::compare;
use lbcf_controller::{ObjectKey, Options};
use lbcf_e2e::manifests::{LB, NAMESPACE};
use lbcf_e2e::{ProxyAction, World};
use lbcf_inspect::diff::load_balancers;
use lbcf_inspect::{Cluster, Scope};
use std::time::Duration;

async fn differences(world: &World) -> Result<Vec<String>, String> {
    let cluster = Cluster::read(&world.client(), &Scope::All).await.unwrap();
    let own = ObjectKey::new(NAMESPACE, LB);
    let found = load_balancers(&cluster, Some(&own));
    let [lb] = &*found else { panic!("{found:?}") };
    compare(lb, &Drivers::default()).await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d127_a_difference_is_what_the_cloud_has_and_nothing_declares_or_what_it_lacks() {
    let (world, proxy) = setup().await;
    let without_audits = Options {
        audit_period: Duration::ZERO,
        ..World::quick()
    };
    world.start(without_audits);
    register_a_pod(&world).await;
    world.until_settled().await;
    assert_eq!(differences(&world).await, Ok(Vec::new()));

    bind(&world, BY_HAND, None);
    let lines = differences(&world).await.unwrap();
    let expected = format!("+ {BY_HAND}  registered by hand, or by a driver that does not tell");
    assert_eq!(lines, [expected]);

    let addresses = world.cloud.observe().load_balancers.remove(0).backends;
    let registered = addresses.iter().find(|it| it.addr != BY_HAND).unwrap();
    world
        .cloud
        .unbind(&endpoint(&world), &registered.addr)
        .unwrap();
    let lines = differences(&world).await.unwrap();
    assert!(
        lines[1].starts_with("- ") && lines[1].contains("Pod web-0 port 80"),
        "{lines:?}"
    );

    proxy.rule(|call| match call.webhook == LIST {
        true => ProxyAction::reply_json(&serde_json::json!({"status": "Fail", "msg": "not today"})),
        false => ProxyAction::Forward,
    });
    let why = differences(&world).await.unwrap_err();
    assert!(why.ends_with("kube-system/lbcf-clb: not today"), "{why}");
}

//! The cloud: its resources and what it refuses.

use super::lab::{Lab, SHARED, service};
use crate::azure::driver::steps::Steps;
use crate::azure::{
    AzureApi, AzureError, AzureLimits, Frontend, LoadBalancingRule, PublicIp, ResourceId,
    SecurityGroup, SecurityRule, SharedLoadBalancer,
};
use crate::cloud::Cloud;
use crate::resources::CloudError;
use lbcf_driver_sdk::webhook::Protocol;
use std::collections::BTreeSet;
use std::time::Duration;

fn id(name: &str) -> ResourceId {
    ResourceId::new("kubernetes", name)
}

fn code<T: std::fmt::Debug>(result: Result<T, CloudError<AzureError>>) -> (u16, &'static str) {
    match result.unwrap_err() {
        CloudError::Rejected(error) => (error.status, error.code),
        error => panic!("{error:?}"),
    }
}

fn with_frontend(public_ip: &str) -> SharedLoadBalancer {
    let mut it = SharedLoadBalancer::default();
    let mut frontend = Frontend::default();
    frontend.public_ip = Some(id(public_ip));
    it.frontends.insert("f".to_owned(), frontend);
    it
}

fn rule(priority: u16) -> SecurityRule {
    SecurityRule {
        priority,
        source: "Internet".to_owned(),
        destinations: BTreeSet::from(["198.18.0.1".to_owned()]),
        protocol: Protocol::Tcp,
        port: 80,
    }
}

#[tokio::test]
async fn a01_two_services_have_two_frontends_of_one_load_balancer() {
    let lab = Lab::new();
    let addresses = [
        lab.ensure(&service("one", &[])).await,
        lab.ensure(&service("two", &[])).await,
    ];
    assert_ne!(addresses[0], addresses[1]);
    assert_eq!(lab.left().0, ["kubernetes/kubernetes"]);
    let it = lab.load_balancer("kubernetes");
    assert_eq!(
        (it.frontends.len(), it.rules.len(), it.pools.len()),
        (2, 2, 2)
    );
}

#[test]
fn a02_resources_have_groups_ids_tags_and_etags_of_their_own() {
    let lab = Lab::new();
    let mut public_ip = PublicIp::default();
    public_ip.tags.insert("team".to_owned(), "web".to_owned());
    let first = lab.api.put(&id("ip"), None, public_ip.clone()).unwrap();
    assert_eq!(first.resource.address, "198.18.0.1");
    assert_eq!(first.resource.tags, public_ip.tags);
    // Without the etag, or with an old one, nothing is replaced.
    let stale = (412, "PreconditionFailed");
    assert_eq!(code(lab.api.put(&id("ip"), None, public_ip.clone())), stale);
    let second = lab.api.put(&id("ip"), Some(first.etag), public_ip.clone());
    let second = second.unwrap();
    assert_eq!(second.resource.address, first.resource.address);
    let put = lab.api.put(&id("ip"), Some(first.etag), public_ip.clone());
    assert_eq!(code(put), stale);
    assert_eq!(
        code(lab.api.delete::<PublicIp>(&id("ip"), first.etag)),
        stale
    );
    // The same name is another resource in another group, and another kind.
    let elsewhere = ResourceId::new("shared", "ip");
    lab.api.put(&elsewhere, None, public_ip.clone()).unwrap();
    assert_eq!(lab.api.list::<PublicIp>("shared").unwrap().len(), 1);
    assert_eq!(lab.api.get::<SharedLoadBalancer>(&id("ip")).unwrap(), None);
    let nowhere = ResourceId::new("nowhere", "ip");
    let not_found = (404, "ResourceGroupNotFound");
    assert_eq!(code(lab.api.put(&nowhere, None, public_ip)), not_found);
    lab.api.delete::<PublicIp>(&id("ip"), second.etag).unwrap();
    let again = lab.api.delete::<PublicIp>(&id("ip"), second.etag);
    assert_eq!(code(again), (404, "ResourceNotFound"));
}

#[test]
fn a02_public_ips_take_time_and_nothing_refers_to_them_before() {
    let lab = Lab::with_provisioning_of(Duration::from_secs(5));
    let created = lab.api.put(&id("ip"), None, PublicIp::default()).unwrap();
    assert!(created.updating);
    let change = lab
        .api
        .put(&id("ip"), Some(created.etag), PublicIp::default());
    assert_eq!(code(change), (409, "AnotherOperationInProgress"));
    let early = lab.api.put(&id("lb"), None, with_frontend("ip"));
    assert_eq!(code(early), (409, "ReferencedResourceNotProvisioned"));
    lab.clock.advance(Duration::from_secs(5));
    let lb = lab.api.put(&id("lb"), None, with_frontend("ip")).unwrap();
    assert_eq!(lb.resource.frontends["f"].address, "", "not provisioned");
    lab.clock.advance(Duration::from_secs(5));
    let lb = lab.api.get::<SharedLoadBalancer>(&id("lb")).unwrap();
    assert_eq!(lb.unwrap().resource.frontends["f"].address, "198.18.0.1");
}

#[test]
fn a03_a_public_ip_is_not_deleted_while_a_frontend_uses_it() {
    let lab = Lab::new();
    let ip = lab.api.put(&id("ip"), None, PublicIp::default()).unwrap();
    let lb = lab.api.put(&id("lb"), None, with_frontend("ip")).unwrap();
    let refused = lab.api.delete::<PublicIp>(&id("ip"), ip.etag);
    assert_eq!(code(refused), (400, "PublicIPAddressCannotBeDeleted"));
    let other = lab.api.put(&id("other"), None, with_frontend("ip"));
    assert_eq!(code(other), (400, "PublicIPAddressInUse"));
    lab.api
        .delete::<SharedLoadBalancer>(&id("lb"), lb.etag)
        .unwrap();
    lab.api.delete::<PublicIp>(&id("ip"), ip.etag).unwrap();
}

#[test]
fn a03_what_does_not_exist_is_not_referred_to() {
    let lab = Lab::new();
    let unknown = (400, "InvalidResourceReference");
    assert_eq!(
        code(lab.api.put(&id("lb"), None, with_frontend("ip"))),
        unknown
    );
    lab.api.put(&id("ip"), None, PublicIp::default()).unwrap();
    let rule = LoadBalancingRule {
        frontend: "f".to_owned(),
        pool: "p".to_owned(),
        probe: None,
        protocol: Protocol::Tcp,
        port: 80,
        idle_timeout_minutes: 4,
    };
    let mut it = with_frontend("ip");
    it.rules.insert("r".to_owned(), rule.clone());
    assert_eq!(code(lab.api.put(&id("lb"), None, it.clone())), unknown);
    it.pools.entry("p".to_owned()).or_default();
    lab.api.put(&id("lb"), None, it.clone()).unwrap();
    it.rules.insert("same port".to_owned(), rule);
    let twice = lab.api.put(&id("other"), None, it.clone());
    let same = "RulesUseSameFrontendPortProtocolAndIPConfig";
    assert_eq!(code(twice), (400, same));
    let mut it = SharedLoadBalancer::default();
    it.frontends.insert("none".to_owned(), Frontend::default());
    let neither = lab.api.put(&id("third"), None, it);
    assert_eq!(code(neither).1, "InvalidFrontendIPConfiguration");
}

#[test]
fn a22_rules_of_a_security_group_are_checked_and_the_group_stays() {
    let lab = Lab::new();
    let nsg = id("kubernetes-nsg");
    let mut group = SecurityGroup::default();
    group.rules.insert("one".to_owned(), rule(500));
    group.rules.insert("two".to_owned(), rule(500));
    let put = |group: &SecurityGroup| lab.api.put(&nsg, Some(1), group.clone());
    assert_eq!(code(put(&group)).1, "SecurityRuleConflict");
    group.rules.insert("two".to_owned(), rule(99));
    assert_eq!(code(put(&group)).1, "SecurityRuleInvalid");
    let deleted = lab.api.delete::<SecurityGroup>(&nsg, 1);
    assert_eq!(code(deleted).1, "InUseNetworkSecurityGroupCannotBeDeleted");
}

#[tokio::test]
async fn a08_a_full_load_balancer_says_so_and_freed_capacity_is_used_at_once() {
    let lab = Lab::new();
    lab.api.set_limits(AzureLimits {
        rules_per_load_balancer: 1,
        ..AzureLimits::default()
    });
    let [first, second] = ["first", "second"].map(|name| service(name, &[]));
    lab.ensure(&first).await;
    let full = lab.steps().ensure(&second).await.unwrap_err();
    assert!(!full.is_running());
    assert!(
        full.message()
            .contains("LoadBalancingRuleCountLimitReached"),
        "{full}"
    );
    lab.delete(&first).await;
    lab.ensure(&second).await;
}

#[tokio::test]
async fn a08_quotas_of_security_rules_and_public_ips_say_so() {
    let lab = Lab::new();
    let limits = AzureLimits {
        rules_per_security_group: 1,
        ..AzureLimits::default()
    };
    lab.api.set_limits(limits);
    lab.ensure(&service("one", &[])).await;
    let refused = lab.steps().ensure(&service("two", &[])).await.unwrap_err();
    assert!(
        refused.message().contains("SecurityRuleCountLimitReached"),
        "{refused}"
    );
    lab.api.set_limits(AzureLimits {
        public_ips: 2,
        ..AzureLimits::default()
    });
    let refused = lab.steps().ensure(&service("three", &[SHARED])).await;
    let refused = refused.unwrap_err();
    assert!(
        refused.message().contains("PublicIPCountLimitReached"),
        "{refused}"
    );
}

#[tokio::test]
async fn d85_outage_dry_run_state_and_reset_are_those_of_every_profile() {
    let lab = Lab::new();
    let it = service("web", &[]);
    lab.cloud.set_outage(true);
    let outage = lab.steps().ensure(&it).await.unwrap_err();
    assert!(
        outage.message().contains("temporarily unavailable"),
        "{outage}"
    );
    lab.cloud.set_outage(false);
    // A dry run is made on a copy.
    let copy = AzureApi::new(lab.cloud.snapshot(), Duration::ZERO);
    Steps::new(copy).ensure(&it).await.unwrap();
    assert_eq!(lab.left(), (vec![], vec![], 0));
    let address = lab.ensure(&it).await;
    // A document and back.
    let document = serde_json::to_string(&lab.cloud.state()).unwrap();
    let restored = Cloud::with_state(serde_json::from_str(&document).unwrap()).unwrap();
    assert!(restored.is_azure());
    assert_eq!(restored.state(), lab.cloud.state());
    let observed = restored.observe().load_balancers.remove(0);
    assert_eq!(observed.lb_info["address"], address);
    assert_eq!(observed, lab.cloud.observe().load_balancers[0]);
    lab.cloud.reset();
    assert_eq!(lab.left(), (vec![], vec![], 0));
    assert!(lab.cloud.is_azure() && !Cloud::with_samples().is_azure());
}

//! The order of the steps, and how much they write.

use super::lab::{AUTO, INTERNAL, Lab, SHARED, service};
use crate::azure::fields::AzureLbInfo;
use crate::azure::naming::{FRONTEND_TAG, SERVICE_TAG};
use crate::azure::{PublicIp, ResourceId};
use std::collections::BTreeMap;
use std::time::Duration;

const PUT: [&str; 3] = [
    "PUT publicIPAddresses",
    "PUT loadBalancers",
    "PUT networkSecurityGroups",
];

#[tokio::test]
async fn a26_public_ip_then_load_balancer_then_security_group() {
    let lab = Lab::new();
    lab.ensure(&service("web", &[])).await;
    assert_eq!(lab.requests_since(0), PUT);
}

#[tokio::test]
async fn a05_without_a_frontend_there_are_no_security_rules() {
    let lab = Lab::with_provisioning_of(Duration::from_secs(5));
    let it = service("web", &[]);
    let mut waits = Vec::new();
    loop {
        match lab.steps().ensure(&it).await {
            Ok(address) => break assert_eq!(address, "198.18.0.1"),
            Err(running) => {
                assert!(running.is_running(), "{running}");
                waits.push(running.message().split(' ').nth(2).unwrap().to_owned());
                assert_eq!(lab.left().2, 0, "{waits:?}");
                lab.clock.advance(Duration::from_secs(5));
            }
        }
    }
    assert_eq!(waits, ["publicIPAddresses", "frontend"]);
    assert_eq!(lab.requests_since(0), PUT);
}

#[tokio::test]
async fn a21_a27_nothing_is_written_when_nothing_changed() {
    let lab = Lab::new();
    for pairs in [&[][..], &[INTERNAL], &[SHARED, AUTO]] {
        let it = service(&format!("web{}", pairs.len()), pairs);
        lab.ensure(&it).await;
        let (writes, state) = (lab.api.writes(), lab.state());
        lab.ensure(&it).await;
        assert_eq!((lab.api.writes(), lab.state()), (writes, state));
    }
}

#[tokio::test]
async fn a21_a_load_balancer_without_frontends_is_deleted() {
    let lab = Lab::new();
    let [one, two] = ["one", "two"].map(|name| service(name, &[INTERNAL]));
    lab.ensure(&one).await;
    lab.ensure(&two).await;
    lab.delete(&one).await;
    assert_eq!(lab.left().0, ["kubernetes/kubernetes-internal"]);
    lab.delete(&two).await;
    assert_eq!(lab.left(), (vec![], vec![], 0));
}

#[tokio::test]
async fn a23_only_public_ips_whose_tags_name_the_service_are_touched() {
    let lab = Lab::new();
    let it = service("web", &[]);
    let put = |name: &str, tags: &[(&str, &str)]| {
        let tags = super::lab::map(tags);
        let public_ip = PublicIp {
            tags,
            ..PublicIp::default()
        };
        let id = ResourceId::new("kubernetes", name);
        lab.api.put(&id, None, public_ip).unwrap();
    };
    put("foreign", &[]);
    put(
        "of-another",
        &[(SERVICE_TAG, "default/web"), (FRONTEND_TAG, "a1")],
    );
    // As an earlier version of the driver might have named it.
    put(
        "old-name",
        &[(SERVICE_TAG, "default/web"), (FRONTEND_TAG, &it.frontend)],
    );
    lab.ensure(&it).await;
    let names = |lab: &Lab| lab.left().1;
    let mut expected =
        [&it.frontend, "foreign", "of-another"].map(|name| format!("kubernetes/{name}"));
    expected.sort();
    assert_eq!(names(&lab), expected);
    lab.delete(&it).await;
    assert_eq!(names(&lab), ["kubernetes/foreign", "kubernetes/of-another"]);
    // One with the right name that belongs to somebody else is neither used nor changed.
    put(&it.frontend, &[("team", "web")]);
    let refused = lab.steps().ensure(&it).await.unwrap_err();
    assert!(
        refused.message().contains("belongs to somebody else"),
        "{refused}"
    );
    lab.delete(&it).await;
    assert_eq!(names(&lab).len(), 3);
}

#[tokio::test]
async fn a25_the_status_is_read_without_writes() {
    let lab = Lab::new();
    let it = service("web", &[]);
    let address = lab.ensure(&it).await;
    lab.bind(&it, "10.0.0.1:80");
    let writes = lab.api.requests().len();
    let lb_info = AzureLbInfo::new(
        it.frontend.clone(),
        "kubernetes".to_owned(),
        it.spec.clone(),
        address,
    );
    let members = lab.steps().members(&lb_info).unwrap();
    assert_eq!(Vec::from_iter(members.into_keys()), ["10.0.0.1:80"]);
    lab.steps().check_exists(&it).unwrap();
    lab.steps().validate(&it.spec, &it.attributes).unwrap();
    assert_eq!(lab.api.requests().len(), writes);
}

#[tokio::test]
async fn a28_security_group_then_load_balancer_then_public_ip() {
    let lab = Lab::new();
    let it = service("web", &[]);
    lab.ensure(&it).await;
    let before = lab.requests_since(0).len();
    lab.delete(&it).await;
    let deleted = [
        "PUT networkSecurityGroups",
        "DELETE loadBalancers",
        "DELETE publicIPAddresses",
    ];
    assert_eq!(lab.requests_since(before), deleted);
    lab.delete(&it).await;
    assert_eq!(
        lab.requests_since(before).len(),
        3,
        "deleting again writes nothing"
    );
}

#[tokio::test]
async fn a28_the_cloud_refuses_the_reversed_order() {
    let lab = Lab::new();
    let it = service("web", &[]);
    lab.ensure(&it).await;
    let before = lab.requests_since(0).len();
    let refused = lab.steps().public_ip(&it, false).await.unwrap_err();
    assert!(
        refused.message().contains("PublicIPAddressCannotBeDeleted"),
        "{refused}"
    );
    let request = "DELETE publicIPAddresses PublicIPAddressCannotBeDeleted";
    assert_eq!(lab.requests_since(before), [request]);
}

#[tokio::test]
async fn a29_d86_a_service_flips_with_its_backends_and_leaves_nothing_on_the_other_side() {
    let lab = Lab::new();
    let [public, internal] = [&[SHARED][..], &[SHARED, INTERNAL]].map(|it| service("web", it));
    let other = service("other", &[SHARED]);
    let kept = lab.ensure(&other).await;
    lab.ensure(&public).await;
    lab.bind(&public, "10.0.0.1:80");
    let before = lab.requests_since(0).len();
    let address = lab.ensure(&internal).await;
    let requests = [
        // The flipped side first, with the rules that admit to an address which goes.
        "PUT networkSecurityGroups",
        "PUT loadBalancers",
        "DELETE publicIPAddresses",
        "PUT loadBalancers",
        "PUT networkSecurityGroups",
        // The pool has held the backends until now.
        "PUT loadBalancers",
    ];
    assert_eq!(lab.requests_since(before), requests);
    let it = lab.load_balancer("kubernetes-internal");
    assert_eq!(it.pools[&public.frontend].members.len(), 1);
    assert!(
        !lab.load_balancer("kubernetes")
            .tags
            .contains_key(&public.frontend)
    );
    assert_eq!(lab.left().1, [format!("kubernetes/{}", other.frontend)]);
    let rules: BTreeMap<_, _> = lab.security_rules().into_iter().collect();
    assert_eq!(rules["shared-TCP-80-Internet"], [kept]);
    assert_eq!(rules["shared-TCP-80-VirtualNetwork"], [address]);
    // And back.
    lab.ensure(&public).await;
    assert_eq!(lab.left().0, ["kubernetes/kubernetes"]);
    let it = lab.load_balancer("kubernetes");
    assert_eq!(it.pools[&public.frontend].members.len(), 1);
    lab.delete(&public).await;
    lab.delete(&other).await;
    assert_eq!(lab.left(), (vec![], vec![], 0));
}

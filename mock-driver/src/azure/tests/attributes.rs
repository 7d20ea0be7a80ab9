//! The annotations as attributes, and their bounds.

use super::lab::{INTERNAL, Lab, SHARED, attributes, map, service};
use crate::azure::ResourceId;
use crate::azure::fields::{AzureAttributes, AzureLbSpec};
use lbcf_driver_sdk::fields;

const IDLE: &str = "azure-load-balancer-tcp-idle-timeout";
const DNS: &str = "azure-dns-label-name";

fn refused(pairs: &[(&str, &str)]) -> String {
    let read = fields::read::<AzureAttributes>("attributes", &map(pairs));
    read.unwrap_err().to_string()
}

/// What validateLoadBalancer says.
fn validated(lab: &Lab, name: &str, pairs: &[(&str, &str)]) -> Result<(), String> {
    let it = service(name, pairs);
    let validated = lab.steps().validate(&it.spec, &it.attributes);
    validated.map_err(|rejection| rejection.message().to_owned())
}

#[tokio::test]
async fn a13_a_service_is_public_unless_it_is_internal() {
    let lab = Lab::new();
    let public = lab.ensure(&service("public", &[])).await;
    let not = ("azure-load-balancer-internal", "false");
    let also = lab.ensure(&service("also", &[not])).await;
    let internal = lab.ensure(&service("internal", &[INTERNAL])).await;
    assert!(public.starts_with("198.18.") && also.starts_with("198.18."));
    assert!(internal.starts_with("10.240."), "{internal}");
    assert_eq!(
        lab.left().1.len(),
        2,
        "an internal service has no public IP"
    );
    for wrong in ["yes", "1", "True"] {
        let message = refused(&[("azure-load-balancer-internal", wrong)]);
        let field = format!("attributes.azure-load-balancer-internal: {wrong:?}");
        assert!(message.starts_with(&field), "{message}");
    }
}

#[tokio::test]
async fn a14_an_internal_frontend_is_in_its_subnet() {
    let lab = Lab::new();
    let subnet = "azure-load-balancer-internal-subnet";
    let subnet_of = |name: &str| {
        let it = lab.load_balancer("kubernetes-internal");
        let frontend = &it.frontends[&service(name, &[]).frontend];
        frontend.subnet.clone().unwrap()
    };
    let first = lab.ensure(&service("web", &[INTERNAL])).await;
    assert_eq!(subnet_of("web"), "default");
    let moved = lab
        .ensure(&service("web", &[INTERNAL, (subnet, "back")]))
        .await;
    assert_eq!(subnet_of("web"), "back");
    assert_ne!(first, moved);
    let rules = lab.security_rules();
    assert_eq!(rules[0].1, [moved], "the rules follow the address");
}

#[tokio::test]
async fn a16_a_dns_label_is_unique_and_well_formed() {
    let lab = Lab::new();
    lab.ensure(&service("web", &[(DNS, "shop")])).await;
    let public_ip = lab.state().public_ips.into_values().next().unwrap();
    assert_eq!(public_ip.resource.dns_label.as_deref(), Some("shop"));
    let other = service("other", &[(DNS, "shop")]);
    let taken = lab.steps().ensure(&other).await.unwrap_err();
    assert!(taken.message().contains("DnsRecordInUse"), "{taken}");
    let message = validated(&lab, "other", &[(DNS, "shop")]).unwrap_err();
    assert!(
        message.starts_with("attributes.azure-dns-label-name: \"shop\""),
        "{message}"
    );
    assert_eq!(validated(&lab, "web", &[(DNS, "shop")]), Ok(()));
    // The label is free again when its owner does not want it any more.
    lab.ensure(&service("web", &[])).await;
    lab.ensure(&other).await;
    for wrong in ["Shop", "1shop", "sh", "shop-", "a.shop", "shop_1"] {
        let message = refused(&[(DNS, wrong)]);
        assert!(
            message.contains(DNS) && message.contains(wrong),
            "{message}"
        );
    }
}

#[tokio::test]
async fn a17_services_share_a_security_rule_and_each_leaves_with_its_address() {
    let lab = Lab::new();
    let [one, two] = ["one", "two"].map(|name| service(name, &[SHARED]));
    let first = lab.ensure(&one).await;
    let second = lab.ensure(&two).await;
    let mut both = vec![first, second.clone()];
    both.sort();
    let name = "shared-TCP-80-Internet".to_owned();
    assert_eq!(lab.security_rules(), [(name.clone(), both)]);
    lab.delete(&one).await;
    assert_eq!(lab.security_rules(), [(name, vec![second.clone()])]);
    // A service that shares no more gets a rule of its own.
    lab.ensure(&service("two", &[])).await;
    let own = format!("{}-TCP-80-Internet", two.frontend);
    assert_eq!(lab.security_rules(), [(own, vec![second])]);
    let wrong = refused(&[("azure-shared-securityrule", "maybe")]);
    assert!(
        wrong.starts_with("attributes.azure-shared-securityrule: \"maybe\""),
        "{wrong}"
    );
}

#[tokio::test]
async fn a18_load_balancer_and_public_ip_are_in_the_named_resource_group() {
    let lab = Lab::new();
    let group = "azure-load-balancer-resource-group";
    let mut it = service("web", &[(group, "shared")]);
    it.resource_group = "shared".to_owned();
    lab.ensure(&it).await;
    let ids = (
        vec!["shared/kubernetes".to_owned()],
        vec![format!("shared/{}", it.frontend)],
        1,
    );
    assert_eq!(lab.left(), ids);
    lab.delete(&it).await;
    assert_eq!(lab.left(), (vec![], vec![], 0));
    let message = validated(&lab, "web", &[(group, "nowhere")]).unwrap_err();
    assert!(message.starts_with("attributes.azure-load-balancer-resource-group: \"nowhere\""));
}

#[tokio::test]
async fn a19_each_service_tag_has_a_rule_of_its_own() {
    let lab = Lab::new();
    let tags = |list| service("web", &[("azure-allowed-service-tags", list)]);
    let names = || {
        let frontend = service("web", &[]).frontend;
        let rules = lab.security_rules().into_iter();
        let sources = rules.map(|(name, _)| name.replace(&format!("{frontend}-TCP-80-"), ""));
        Vec::from_iter(sources)
    };
    lab.ensure(&tags("AzureCloud, Storage,")).await;
    assert_eq!(names(), ["AzureCloud", "Storage"]);
    lab.ensure(&tags("Storage")).await;
    assert_eq!(names(), ["Storage"]);
    lab.ensure(&tags("")).await;
    assert_eq!(names(), ["Internet"]);
    lab.ensure(&service("web", &[INTERNAL])).await;
    assert_eq!(names(), ["VirtualNetwork"]);
}

#[tokio::test]
async fn a20_the_idle_timeout_is_a_whole_number_from_4_to_30() {
    for wrong in ["3", "31", "4.5", "x", "+4", "-4", "256"] {
        let message = refused(&[(IDLE, wrong)]);
        let field =
            format!("attributes.{IDLE}: {wrong:?}: not a whole number of minutes from 4 to 30");
        assert_eq!(message, field);
    }
    assert_eq!(attributes(&[]).idle_minutes(), 4);
    let lab = Lab::new();
    for minutes in ["4", "30"] {
        let it = service("web", &[(IDLE, minutes)]);
        lab.ensure(&it).await;
        let rule = lab.load_balancer("kubernetes").rules[&it.frontend].clone();
        assert_eq!(rule.idle_timeout_minutes.to_string(), minutes);
    }
}

#[test]
fn a_service_is_named_with_its_namespace_and_has_one_port() {
    let read = |pairs: &[(&str, &str)]| {
        let read = fields::read::<AzureLbSpec>("lbSpec", &map(pairs));
        read.map_err(|error| error.to_string())
    };
    let web = ("service", "default/web");
    assert!(read(&[web, ("port", "80"), ("protocol", "UDP")]).is_ok());
    for (pairs, field) in [
        (&[web][..], "lbSpec.port"),
        (&[("port", "80")], "lbSpec.service"),
        (&[("service", "web"), ("port", "80")], "lbSpec.service"),
        (&[("service", "/web"), ("port", "80")], "lbSpec.service"),
        (&[web, ("port", "0")], "lbSpec.port"),
        (
            &[web, ("port", "80"), ("protocol", "SCTP")],
            "lbSpec.protocol",
        ),
    ] {
        let message = read(pairs).unwrap_err();
        assert!(message.contains(field), "{message}");
    }
    assert!(ResourceId::try_from("no group".to_owned()).is_err());
}

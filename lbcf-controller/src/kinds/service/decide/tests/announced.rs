//! Whatever a driver announces, a Service shows what the operator's lists allow.

use super::*;
use crate::kinds::service::ingress::announced;
use crate::process::announced::Announced;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Addresses in few networks, so that many are in those of a list, in each spelling, and names.
fn address() -> impl Strategy<Value = String> {
    let v4 = || {
        (
            prop::sample::select(&[10_u8, 127, 169, 203, 224][..]),
            0..4_u8,
        )
    };
    let v4 = || v4().prop_map(|(first, last)| Ipv4Addr::new(first, 254, 0, last));
    let v6 = prop::sample::select(&[0_u16, 0x2001, 0xfd00, 0xfe80, 0xff02][..]);
    prop_oneof![
        v4().prop_map(|it| it.to_string()),
        v4().prop_map(|it| it.to_ipv6_mapped().to_string()),
        (v6, 0..4_u16).prop_map(|(first, last)| {
            Ipv6Addr::new(first, 0, 0, 0, 0, 0, 0, last)
                .to_string()
                .to_uppercase()
        }),
        prop::sample::select(
            &[
                "lb.example.com",
                "LB.cloud.example",
                "localhost",
                " ",
                "a b"
            ][..]
        )
        .prop_map(str::to_owned),
    ]
}

/// A network as bits and their number, and as an item of a list.
fn network() -> impl Strategy<Value = (u128, u32, String)> {
    (address(), 0..=128_u32).prop_filter_map("a name", |(address, length)| {
        let (bits, most, address) = match address.parse::<IpAddr>().ok()?.to_canonical() {
            IpAddr::V4(v4) => (v4.to_ipv6_mapped().to_bits(), 32, v4.to_string()),
            IpAddr::V6(v6) => (v6.to_bits(), 128, v6.to_string()),
        };
        let length = length.min(most);
        Some((bits, 128 - most + length, format!("{address}/{length}")))
    })
}

fn is_special(ip: IpAddr) -> bool {
    match ip {
        IpAddr::V4(it) => it.is_link_local() || it.is_loopback() || it.is_multicast(),
        IpAddr::V6(it) => {
            it.is_unicast_link_local()
                || it.is_loopback()
                || it.is_multicast()
                || it.is_unspecified()
        }
    }
}

proptest! {
    #![proptest_config(Config { rng_seed: RngSeed::Fixed(35), failure_persistence: None, ..Config::default() })]

    #[test]
    fn d100_a_service_shows_only_what_the_lists_allow(
        texts in prop::collection::vec(address(), 1..4),
        networks in prop::collection::vec(network(), 0..3),
        is_any in any::<bool>(),
    ) {
        let mut list: Vec<&str> = networks.iter().map(|(.., item)| item.as_str()).collect();
        list.extend(is_any.then_some("any"));
        let allowed: Announced = list.join(",").parse().unwrap();
        let mut state = settled(service(), &json!({}));
        let class = driver(&json!({}));
        for lb in state.load_balancers.values_mut() {
            let status = Arc::make_mut(lb).status.as_mut().unwrap();
            status.lb_info = [("address", texts.join(", ").as_str())].into();
            let refused = announced(lb, &class).into_iter().filter(|it| !allowed.allow(it));
            state.refused.extend(refused.map(|it| (it, "not allowed".to_owned())));
        }
        for action in decide(&state).actions {
            perform(&mut state, action);
        }
        for shown in &state.service.load_balancer.as_ref().unwrap().ingress {
            let Ok(ip) = shown.ip.parse::<IpAddr>() else {
                prop_assert!(is_any, "{}", shown.hostname);
                continue;
            };
            let bits = match ip {
                IpAddr::V4(v4) => v4.to_ipv6_mapped().to_bits(),
                IpAddr::V6(v6) => v6.to_bits(),
            };
            let is_in = |(network, length, _): &(u128, u32, String)| {
                (bits ^ network).leading_zeros() >= *length
            };
            let is_listed = networks.iter().any(is_in);
            prop_assert!(is_listed || (is_any && !is_special(ip)), "{list:?}: {ip}");
        }
    }
}

//! Where load balancers listen (d79).

use super::lab::{Lab, connect, echo};
use crate::support::Mock;
use axum::body::Body;
use mock_driver::{AddressMode, Cloud, ListenerProtocol, Traffic, TrafficOptions};
use std::net::Ipv4Addr;

#[tokio::test]
async fn d79_each_load_balancer_has_an_address_and_low_ports_an_offset_that_is_shown() {
    let lab = Lab::new();
    let [first, second] = [80, 80].map(|port| lab.create(ListenerProtocol::Tcp, port));
    let addresses = [&first, &second].map(|endpoint| lab.addr(endpoint));
    assert_ne!(addresses[0].ip(), addresses[1].ip());
    for addr in addresses {
        assert_eq!((addr.ip().is_loopback(), addr.port()), (true, 8080));
    }
    let note = lab.listener(&first).note.unwrap();
    assert_eq!(note, "port 80 is served at 8080 on this machine");
    // A further listener has the same address.
    let tls = lab
        .cloud
        .add_listener(&first.load_balancer, ListenerProtocol::Https, 8443, None);
    let tls = tls.unwrap();
    assert_eq!(lab.addr(&tls).ip(), addresses[0].ip());
    assert_eq!(
        (lab.addr(&tls).port(), lab.listener(&tls).note),
        (8443, None)
    );
    // A port that the offset has taken is replaced.
    let same = lab
        .cloud
        .add_listener(&first.load_balancer, ListenerProtocol::Tcp, 8080, None);
    let same = lab.listener(&same.unwrap());
    assert_ne!(same.listens.unwrap().port(), 8080);
    assert!(same.note.unwrap().starts_with("port 8080 is served at "));
    // UDP has ports of its own.
    let udp = lab
        .cloud
        .add_listener(&first.load_balancer, ListenerProtocol::Udp, 80, None);
    assert_eq!(lab.addr(&udp.unwrap()), addresses[0]);
}

#[tokio::test]
async fn d79_another_mock_on_this_machine_takes_other_addresses() {
    let (one, other) = (Lab::new(), Lab::new());
    let endpoints = [&one, &other].map(|lab| lab.addr(&lab.create(ListenerProtocol::Tcp, 80)));
    assert_ne!(endpoints[0], endpoints[1]);
    assert_eq!(endpoints[0].port(), endpoints[1].port());
}

#[tokio::test]
async fn d79_where_only_one_address_can_be_bound_ports_are_used_and_it_is_shown() {
    let lab = Lab::shared();
    let a = echo(b'a').await;
    let endpoints = [80, 80].map(|port| lab.create(ListenerProtocol::Tcp, port));
    let mut ports = Vec::new();
    for endpoint in &endpoints {
        lab.bind(endpoint, a.addr, 1);
        let addr = lab.addr(endpoint);
        assert_eq!(addr.ip(), Ipv4Addr::LOCALHOST);
        ports.push(addr.port());
        assert_eq!(connect(addr).await.1, 'a');
        let note = lab.listener(endpoint).note.unwrap();
        assert!(
            note.ends_with("so all load balancers have 127.0.0.1"),
            "{note}"
        );
    }
    assert_ne!(ports[0], ports[1]);
}

#[tokio::test]
async fn what_exists_at_the_start_listens_and_a_reset_closes_the_rest() {
    let cloud = Cloud::with_samples();
    let options = TrafficOptions {
        addresses: AddressMode::Shared,
        ..TrafficOptions::default()
    };
    let _traffic = Traffic::start(&cloud, options);
    let ids = || cloud.traffic().into_keys().collect::<Vec<_>>();
    assert_eq!(ids(), ["lb-1234", "lb-bar", "lb-foo"]);
    let added = cloud.add_listener("lb-foo", ListenerProtocol::Tcp, 81, None);
    added.unwrap();
    assert_eq!(cloud.traffic()["lb-foo"].listeners.len(), 2);
    cloud.reset();
    assert_eq!(cloud.traffic()["lb-foo"].listeners.len(), 1);
}

#[tokio::test]
async fn the_inspection_shows_what_is_served() {
    let mock = Mock::new();
    let without = mock
        .send("GET", "/_mock/loadbalancers/lb-foo", Body::empty())
        .await;
    assert_eq!((without.0.as_u16(), without.1.get("traffic")), (200, None));
    let _traffic = Traffic::start(&mock.cloud, TrafficOptions::default());
    let (status, all) = mock
        .send("GET", "/_mock/loadbalancers", Body::empty())
        .await;
    assert_eq!(
        (
            status.as_u16(),
            all["loadBalancers"].as_array().unwrap().len()
        ),
        (200, 3)
    );
    let (_, one) = mock
        .send("GET", "/_mock/loadbalancers/lb-foo", Body::empty())
        .await;
    assert_eq!(
        (&one["id"], &one["traffic"]["counts"]["open"]),
        (&"lb-foo".into(), &0.into())
    );
    assert_eq!(one["traffic"]["listeners"][0]["id"], "lsn-foo");
    assert_eq!(one["traffic"]["listeners"][0]["port"], 80);
    let (status, error) = mock
        .send("GET", "/_mock/loadbalancers/none", Body::empty())
        .await;
    assert_eq!(status, 404);
    assert_eq!(
        error["error"],
        r#"loadbalancers/none: there is no load balancer "none""#
    );
}

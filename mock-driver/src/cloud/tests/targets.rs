//! Targets and attributes of endpoints.

use super::*;

#[test]
fn ens_02_a_bound_target_is_bound_once() {
    let cloud = Cloud::with_samples();
    let foo = endpoint("lb-foo", "lsn-foo");
    for weight in [1, 1, 80] {
        cloud.bind(&foo, "a", target(weight)).unwrap();
    }
    let backends = cloud.observe().load_balancers.swap_remove(0).backends;
    assert_eq!(
        backends,
        [ObservedBackend {
            addr: "a".into(),
            parameters: map([("weight", "80")]),
        }]
    );
}

#[test]
fn drg_05_other_targets_stay() {
    let cloud = Cloud::with_samples();
    let foo = endpoint("lb-foo", "lsn-foo");
    for address in ["a", "b"] {
        cloud.bind(&foo, address, target(1)).unwrap();
    }
    assert_eq!(cloud.unbind(&foo, "a"), Ok(true));
    assert_eq!(cloud.unbind(&foo, "a"), Ok(false));
    let left = cloud.observe().load_balancers.swap_remove(0).backends;
    assert_eq!(left.len(), 1);
    assert_eq!(left[0].addr, "b");
}

#[test]
fn rules_of_one_listener_have_targets_of_their_own() {
    let cloud = Cloud::with_samples();
    let any = cloud
        .add_listener("lb-foo", ListenerProtocol::Http, 8080, None)
        .unwrap();
    assert_eq!(any.rule(), Rule::new(None, None));
    let shop = created(&cloud, "t", http(80));
    cloud.bind(&any, "a", target(1)).unwrap();
    cloud.bind(&shop, "b", target(1)).unwrap();
    let unspoken = Endpoint {
        domain: None,
        url: None,
        ..any
    };
    assert_eq!(cloud.unbind(&unspoken, "a"), Ok(true));
    let shop_seen = cloud.observe();
    let shop_seen = shop_seen.load_balancer(&shop.lb_info()).unwrap();
    assert_eq!(shop_seen.backends[0].addr, "b");
}

#[test]
fn what_is_not_there_is_named() {
    let cloud = Cloud::with_samples();
    let shop = created(&cloud, "t", http(80));
    let message = |endpoint: Endpoint| cloud.find(&endpoint).unwrap_err().to_string();
    assert_eq!(
        message(endpoint("lb-notexist", "lsn-foo")),
        "clb instance lb-notexist not found"
    );
    assert_eq!(
        message(endpoint("lb-foo", "lsn-bar")),
        "listener lsn-bar of clb instance lb-foo not found"
    );
    assert_eq!(
        message(Endpoint { url: None, ..shop }),
        "forward rule www.example.com/ of listener lbl-00000001 not found"
    );
    assert_eq!(
        message(Endpoint {
            url: Some("/".into()),
            ..endpoint("lb-foo", "lsn-foo")
        }),
        "listener lsn-foo is a TCP listener: domain and url are for HTTP and HTTPS only"
    );
}

#[test]
fn elb_03_attributes_are_replaced() {
    let cloud = Cloud::empty();
    let made = created(&cloud, "t", tcp(80));
    cloud.set_attributes(&made, map([("a", "1")])).unwrap();
    cloud.set_attributes(&made, map([("b", "2")])).unwrap();
    assert_eq!(
        cloud.observe().load_balancers[0].attributes,
        map([("b", "2")])
    );
}

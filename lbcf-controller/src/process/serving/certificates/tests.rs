//! The rules, with real certificates and any time.

mod damage;
mod rotation;

use super::*;
use jiff::Timestamp;

pub(in crate::process::serving) const NOW: Timestamp = Timestamp::constant(1_800_000_000, 0);

pub(in crate::process::serving) fn names() -> Names {
    Names::of_service("lbcf", "kube-system", &[]).unwrap()
}

pub(in crate::process::serving) const fn days(days: i64) -> SignedDuration {
    SignedDuration::from_hours(24 * days)
}

/// What a first start makes.
pub(in crate::process::serving) fn first(now: Timestamp) -> Bundle {
    let plan = decide(&Found::default(), &names(), None, now).unwrap();
    carry_out(&plan, &Found::default(), &names(), now).unwrap()
}

/// What the next decision makes of a bundle.
fn next(bundle: &Bundle, published: Option<SignedDuration>, now: Timestamp) -> Option<Bundle> {
    let found = Found::read(bundle);
    let plan = decide(&found, &names(), published, now)?;
    Some(carry_out(&plan, &found, &names(), now).unwrap())
}

/// Whether a client that trusts these CAs accepts the server for all its names.
fn is_accepted(server: &Bundle, trusted: &Bundle, now: Timestamp) -> bool {
    let mut found = Found::read(server);
    found.cas = Found::read(trusted).cas;
    names()
        .iter()
        .all(|name| found.accepted_by(name, now).is_some())
}

fn number_of_cas(bundle: &Bundle) -> usize {
    Found::read(bundle).cas.len()
}

#[test]
fn u47_a_first_start_makes_a_ca_and_a_certificate_that_it_signed() {
    let bundle = first(NOW);
    let found = Found::read(&bundle);
    assert_eq!(found.problem, None);
    assert!(is_accepted(&bundle, &bundle, NOW));
    let [ca] = &*found.cas else { panic!() };
    let server = found.server.unwrap();
    assert_eq!(ca.validity.end, NOW + days(365));
    assert_eq!(server.validity.end, NOW + days(90));
    let hour = SignedDuration::from_hours(1);
    assert_eq!(ca.validity.start, NOW - hour);
    assert_eq!(server.validity.start, NOW - hour);
    // And that is all there is to do.
    assert_eq!(next(&bundle, None, NOW), None);
}

#[test]
fn u47_no_two_installations_share_a_key() {
    let (one, other) = (first(NOW), first(NOW));
    assert_ne!(one.ca_key, other.ca_key);
    assert_ne!(one.server_key, other.server_key);
    assert!(!is_accepted(&one, &other, NOW));
}

#[test]
fn u47_a_certificate_is_for_its_names_only_and_for_servers_only() {
    let found = Found::read(&first(NOW));
    let accepted = |name: &str| {
        let name = rustls::pki_types::ServerName::try_from(name.to_owned()).unwrap();
        found.accepted_by(&name, NOW).is_some()
    };
    for name in [
        "lbcf.kube-system.svc",
        "lbcf.kube-system.svc.cluster.local",
        "lbcf",
    ] {
        assert!(accepted(name), "{name}");
    }
    assert!(!accepted("other.kube-system.svc") && !accepted("127.0.0.1"));
    let server = found.server.unwrap();
    let certificate = server::whole_certificate(server.own().unwrap()).unwrap();
    assert!(!certificate.is_ca());
    let usage = certificate.extended_key_usage().unwrap().unwrap().value;
    assert!(usage.server_auth && !usage.client_auth && !usage.any);
}

#[test]
fn u47_nothing_shows_a_key() {
    let bundle = first(NOW);
    let found = Found::read(&bundle);
    let shown = format!("{bundle:?} {found:?} {:?}", found.server);
    for key in [&bundle.ca_key, &bundle.server_key] {
        let text = String::from_utf8(key.0.clone()).unwrap();
        // Each line of the key but the first and the last.
        for line in text.lines().filter(|line| !line.starts_with("---")) {
            assert!(!shown.contains(line), "{shown}");
        }
    }
    assert!(shown.contains("PrivatePem(..)") && !shown.contains("PRIVATE KEY"));
}

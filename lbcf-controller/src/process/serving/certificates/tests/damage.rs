//! What is stored may be anything.

use super::*;
use rcgen::{CertificateParams, IsCa, KeyPair, PKCS_ED25519};

/// Follows the decisions until there are none.
fn settled(mut bundle: Bundle, now: Timestamp) -> Bundle {
    for _ in 0..4 {
        match next(&bundle, Some(days(1)), now) {
            Some(next) => bundle = next,
            None => return bundle,
        }
    }
    panic!("it does not settle");
}

fn pem(text: &str) -> PrivatePem {
    PrivatePem(text.into())
}

#[test]
fn u47_whatever_is_broken_the_rest_stays_in_use() {
    let whole = first(NOW);
    let other = first(NOW);
    let cut = |text: &[u8]| text[..text.len() / 2].to_vec();
    let ca_key = whole.ca_key.clone().unwrap();
    let with = |change: &dyn Fn(&mut Bundle)| {
        let mut bundle = whole.clone();
        change(&mut bundle);
        bundle
    };
    // What is broken; whether the CA stays; whether the server's certificate stays.
    let cases = [
        ("no CA", with(&|b| b.cas.clear()), false, false),
        (
            "half a CA",
            with(&|b| b.cas = cut(&whole.cas)),
            false,
            false,
        ),
        (
            "other CA",
            with(&|b| b.cas.clone_from(&other.cas)),
            false,
            false,
        ),
        (
            "server as CA",
            with(&|b| b.cas.clone_from(&whole.server)),
            false,
            false,
        ),
        (
            "CA twice",
            with(&|b| b.cas.extend_from_slice(&whole.cas)),
            true,
            true,
        ),
        ("text", with(&|b| b.ca_key = Some(pem("x"))), false, true),
        (
            "empty key",
            with(&|b| b.ca_key = Some(pem(""))),
            false,
            true,
        ),
        (
            "half a CA key",
            with(&|b| b.ca_key = Some(PrivatePem(cut(&ca_key.0)))),
            false,
            true,
        ),
        (
            "other CA key",
            with(&|b| b.ca_key.clone_from(&other.ca_key)),
            false,
            true,
        ),
        ("no server", with(&|b| b.server.clear()), true, false),
        (
            "half a server",
            with(&|b| b.server = cut(&whole.server)),
            true,
            false,
        ),
        (
            "other server",
            with(&|b| b.server.clone_from(&other.server)),
            true,
            false,
        ),
        (
            "no server key",
            with(&|b| b.server_key = pem("")),
            true,
            false,
        ),
        (
            "no text",
            with(&|b| b.server_key = PrivatePem(vec![0xff; 99])),
            true,
            false,
        ),
        (
            "CA key as server's",
            with(&|b| b.server_key = ca_key.clone()),
            true,
            false,
        ),
    ];
    for (what, broken, keeps_ca, keeps_server) in cases {
        let found = Found::read(&broken);
        assert!(!found.problems.is_empty(), "{what}");
        let step = next(&broken, None, NOW).unwrap();
        assert_eq!(step.ca_key == whole.ca_key, keeps_ca, "{what}");
        assert_eq!(step.server == whole.server, keeps_server, "{what}");
        // It can be served at once, and in the end it is whole.
        assert!(is_accepted(&step, &step, NOW), "{what}");
        let repaired = settled(step, NOW);
        assert_eq!(Found::read(&repaired).problems, [""; 0], "{what}");
        assert!(is_accepted(&repaired, &repaired, NOW), "{what}");
    }
}

#[test]
fn problems_quote_nothing_of_what_is_stored() {
    let whole = first(NOW);
    let swapped = Bundle {
        cas: whole.server_key.0.clone(),
        ca_key: Some(PrivatePem(whole.server)),
        server: b"-----BEGIN SECRET-----".to_vec(),
        server_key: pem("SECRET"),
    };
    let problems = Found::read(&swapped).problems.join("; ");
    assert_eq!(
        problems,
        "there is no CA certificate; the CA's key is not a private key in PEM and PKCS #8; \
         the server: damaged PEM"
    );
}

#[test]
fn u47_what_is_lost_is_replaced_without_harm_to_callers() {
    let held = first(NOW);
    // The Secret is gone, or both of its certificates.
    for left in [
        Found::default(),
        Found::read(&Bundle {
            ca_key: None,
            ..Bundle::default()
        }),
    ] {
        let found = left.completed_by(&Found::read(&held));
        let plan = decide(&found, &names(), Some(days(9)), NOW).unwrap();
        let new = carry_out(&plan, &found, &names(), NOW).unwrap();
        // The key may have been deleted because it leaked: there is a new CA, in two steps.
        assert_ne!(new.ca_key, held.ca_key);
        assert_eq!(new.server, held.server);
        assert!(is_accepted(&new, &held, NOW) && is_accepted(&new, &new, NOW));
    }
    // Only the server's key is broken: what this replica serves is put back.
    let broken = Bundle {
        server_key: PrivatePem::default(),
        ..held.clone()
    };
    let found = Found::read(&broken).completed_by(&Found::read(&held));
    let plan = decide(&found, &names(), None, NOW).unwrap();
    assert_eq!(carry_out(&plan, &found, &names(), NOW).unwrap(), held);
    // What is whole is not mixed with what was.
    let other = first(NOW);
    let found = Found::read(&other).completed_by(&Found::read(&held));
    assert_eq!(found.ca_bundle().into_bytes(), other.cas);
}

#[test]
fn u47_damage_again_and_again_does_not_make_the_bundle_grow() {
    let mut bundle = first(NOW);
    for _ in 0..20 {
        bundle.ca_key = Some(pem("broken"));
        let served = bundle.server.clone();
        bundle = next(&bundle, None, NOW).unwrap();
        assert!(number_of_cas(&bundle) <= MAX_CAS);
        assert_eq!(bundle.server, served);
        assert!(is_accepted(&bundle, &bundle, NOW));
    }
    assert_eq!(number_of_cas(&bundle), MAX_CAS);
    let settled = settled(bundle, NOW);
    assert!(is_accepted(&settled, &settled, NOW));
}

#[test]
fn u47_the_key_decides_which_ca_is_first() {
    let (mut one, other) = (first(NOW), first(NOW));
    one.cas = [other.cas, one.cas].concat();
    let found = Found::read(&one);
    assert_eq!(found.problems, [""; 0]);
    assert_eq!(next(&one, None, NOW), None);
    assert_eq!(decide(&found, &names(), None, NOW), None);
}

#[test]
fn u47_a_ca_of_the_users_own_signs_like_ours() {
    let key = KeyPair::generate_for(&PKCS_ED25519).unwrap();
    let mut params = CertificateParams::default();
    params.is_ca = IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
    let ca = params.self_signed(&key).unwrap();
    let users = Bundle {
        cas: ca.pem().into_bytes(),
        ca_key: Some(PrivatePem(key.serialize_pem().into_bytes())),
        ..Bundle::default()
    };
    let signed = next(&users, None, NOW).unwrap();
    assert_eq!(number_of_cas(&signed), 1);
    assert!(is_accepted(&signed, &users, NOW));
    assert_eq!(next(&signed, None, NOW), None);
}

#[test]
fn u47_a_ca_that_cannot_sign_is_reported_and_nothing_is_written() {
    let with_constraints = |permitted: &str| {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::default();
        params.is_ca = IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
        params.name_constraints = Some(rcgen::NameConstraints {
            permitted_subtrees: vec![rcgen::GeneralSubtree::DnsName(permitted.into())],
            excluded_subtrees: Vec::new(),
        });
        Bundle {
            cas: params.self_signed(&key).unwrap().pem().into_bytes(),
            ca_key: Some(PrivatePem(key.serialize_pem().into_bytes())),
            ..Bundle::default()
        }
    };
    let found = Found::read(&with_constraints("example.com"));
    let plan = decide(&found, &names(), None, NOW).unwrap();
    let error = carry_out(&plan, &found, &names(), NOW).unwrap_err();
    assert!(matches!(error, MakeError::NotAccepted(_)), "{error}");
}

#[test]
fn u47_certificates_of_another_manager_are_not_replaced() {
    let theirs = Bundle {
        ca_key: None,
        ..first(NOW)
    };
    assert_eq!(next(&theirs, None, NOW), None);
    assert_eq!(next(&theirs, None, NOW + days(80)), None);
    // It was not renewed: the controller creates a CA of its own, in two steps.
    let then = NOW + days(82);
    let announced = next(&theirs, None, then).unwrap();
    assert_eq!(announced.server, theirs.server);
    assert_eq!(number_of_cas(&announced), 2);
    let ours = next(&announced, Some(days(1)), then).unwrap();
    assert!(is_accepted(&ours, &announced, then));
}

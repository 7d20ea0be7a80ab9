//! What is stored may be anything.

use super::*;
use rcgen::{CertificateParams, IsCa, KeyPair, PKCS_ED25519};

fn pem(text: &str) -> PrivatePem {
    PrivatePem(text.into())
}

/// The next bundle of a replica that serves what it holds.
fn next_of(bundle: &Bundle, held: Option<&Bundle>, now: Timestamp) -> Option<Bundle> {
    let found = Found::read(bundle).or_held(held);
    let plan = decide(&found, &names(), None, now)?;
    Some(carry_out(&plan, &found, &names(), now).unwrap())
}

#[test]
fn u47_whatever_is_broken_no_caller_is_harmed_and_the_next_bundle_is_whole() {
    let whole = first(NOW);
    let other = first(NOW);
    let cut = |text: &[u8]| text[..text.len() / 2].to_vec();
    let with = |change: &dyn Fn(&mut Bundle)| {
        let mut bundle = whole.clone();
        change(&mut bundle);
        bundle
    };
    // What is broken; whether the CA stays.
    let cases = [
        ("everything", Bundle::default(), false),
        ("no CA", with(&|b| b.cas.clear()), false),
        ("half a CA", with(&|b| b.cas = cut(&whole.cas)), false),
        ("other CA", with(&|b| b.cas.clone_from(&other.cas)), false),
        (
            "server as CA",
            with(&|b| b.cas.clone_from(&whole.server)),
            false,
        ),
        ("text", with(&|b| b.ca_key = pem("x")), false),
        ("no CA key", with(&|b| b.ca_key = pem("")), false),
        (
            "half a CA key",
            with(&|b| b.ca_key = PrivatePem(cut(&whole.ca_key.0))),
            false,
        ),
        (
            "other CA key",
            with(&|b| b.ca_key.clone_from(&other.ca_key)),
            false,
        ),
        ("no server", with(&|b| b.server.clear()), true),
        (
            "half a server",
            with(&|b| b.server = cut(&whole.server)),
            true,
        ),
        (
            "other server",
            with(&|b| {
                b.server.clone_from(&other.server);
                b.server_key.clone_from(&other.server_key);
            }),
            true,
        ),
        ("no server key", with(&|b| b.server_key = pem("")), true),
        (
            "no text",
            with(&|b| b.server_key = PrivatePem(vec![0xff; 99])),
            true,
        ),
        (
            "CA key as server's",
            with(&|b| b.server_key.clone_from(&whole.ca_key)),
            true,
        ),
    ];
    for (what, broken, keeps_ca) in cases {
        // A replica that starts makes again what cannot be used.
        let made = next_of(&broken, None, NOW).unwrap();
        assert_eq!(made.ca_key == whole.ca_key, keeps_ca, "{what}");
        assert!(is_accepted(&made, &made, NOW), "{what}");
        assert_eq!(Found::read(&made).problem, None, "{what}");
        assert_eq!(next(&made, None, NOW), None, "{what}");
        // One that serves goes on, and is trusted with what it stores.
        let kept = next_of(&broken, Some(&whole), NOW).unwrap();
        assert_eq!(kept.ca_key == whole.ca_key, keeps_ca, "{what}");
        assert!(is_accepted(&whole, &kept, NOW), "{what}");
        assert!(is_accepted(&kept, &kept, NOW), "{what}");
        assert!(keeps_ca || kept.server == whole.server, "{what}");
        assert_eq!(Found::read(&kept).problem, None, "{what}");
    }
    // What is whole is not mixed with what was.
    assert_eq!(next_of(&other, Some(&whole), NOW), None);
}

#[test]
fn problems_quote_nothing_of_what_is_stored() {
    let whole = first(NOW);
    for (broken, expected) in [
        (
            Bundle {
                cas: whole.server_key.0.clone(),
                ..whole.clone()
            },
            "there is no CA certificate",
        ),
        (
            Bundle {
                ca_key: PrivatePem(whole.server.clone()),
                ..whole.clone()
            },
            "the CA's key is not a private key in PEM and PKCS #8",
        ),
        (
            Bundle {
                server: b"-----BEGIN SECRET-----".to_vec(),
                server_key: pem("SECRET"),
                ..whole
            },
            "the server: damaged PEM",
        ),
    ] {
        assert_eq!(Found::read(&broken).problem.as_deref(), Some(expected));
    }
}

#[test]
fn u47_damage_again_and_again_does_not_make_the_bundle_grow() {
    let mut held = first(NOW);
    for _ in 0..20 {
        let served = held.server.clone();
        held = next_of(&Bundle::default(), Some(&held), NOW).unwrap();
        assert!(number_of_cas(&held) <= MAX_CAS);
        assert_eq!(held.server, served);
        assert!(is_accepted(&held, &held, NOW));
    }
    assert_eq!(number_of_cas(&held), MAX_CAS);
    let signed = next(&held, Some(days(1)), NOW).unwrap();
    assert!(is_accepted(&signed, &held, NOW) && is_accepted(&held, &signed, NOW));
}

#[test]
fn u47_a_ca_of_the_users_own_signs_like_ours() {
    let key = KeyPair::generate_for(&PKCS_ED25519).unwrap();
    let mut params = CertificateParams::default();
    params.is_ca = IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
    let ca = params.self_signed(&key).unwrap();
    let users = Bundle {
        cas: ca.pem().into_bytes(),
        ca_key: PrivatePem(key.serialize_pem().into_bytes()),
        ..Bundle::default()
    };
    let signed = next(&users, None, NOW).unwrap();
    assert_eq!(number_of_cas(&signed), 1);
    assert_eq!(signed.ca_key, users.ca_key);
    assert!(is_accepted(&signed, &users, NOW));
    assert_eq!(next(&signed, None, NOW), None);
}

//! Certificates grow old.

use super::*;

#[test]
fn u47_the_servers_certificate_is_renewed_after_two_thirds_of_its_life() {
    let old = first(NOW);
    assert_eq!(next(&old, None, NOW + days(59)), None);
    let then = NOW + days(60);
    let new = next(&old, None, then).unwrap();
    assert_ne!(new.server_key, old.server_key);
    assert_eq!((&new.cas, &new.ca_key), (&old.cas, &old.ca_key));
    assert!(is_accepted(&new, &old, then) && is_accepted(&new, &old, then + days(89)));
    assert_eq!(next(&new, None, then), None);
}

#[test]
fn u47_an_expired_certificate_is_renewed_at_once_by_the_ca_that_is_published() {
    let old = first(NOW);
    let then = NOW + days(91);
    let new = next(&old, None, then).unwrap();
    assert!(!is_accepted(&old, &old, then) && is_accepted(&new, &old, then));
    // Even when the CA is due as well: it comes second.
    let then = NOW + days(300);
    let new = next(&old, None, then).unwrap();
    assert_eq!(new.cas, old.cas);
    assert!(is_accepted(&new, &old, then));
    assert_eq!(number_of_cas(&next(&new, None, then).unwrap()), 2);
}

#[test]
fn u47_no_certificate_outlives_its_ca() {
    let then = NOW + days(364);
    let new = next(&first(NOW), None, then).unwrap();
    let end = Found::read(&new).server.unwrap().validity.end;
    assert_eq!(end, NOW + days(365));
}

#[test]
fn u47_when_everything_has_expired_everything_is_issued_again() {
    let then = NOW + days(400);
    let new = next(&first(NOW), None, then).unwrap();
    assert_eq!(number_of_cas(&new), 1);
    assert!(is_accepted(&new, &new, then));
    assert_eq!(next(&new, None, then), None);
}

/// A bundle whose CA is due and whose server's certificate is young.
fn with_old_ca() -> (Bundle, Timestamp) {
    let mut bundle = first(NOW);
    for age in [60, 120, 180, 240] {
        bundle = next(&bundle, None, NOW + days(age)).unwrap();
    }
    let then = NOW + days(243);
    assert_eq!(next(&bundle, None, then), None);
    (bundle, NOW + days(244))
}

#[test]
fn u47_a_new_ca_is_published_before_it_signs_what_is_served() {
    let (old, then) = with_old_ca();
    let announced = next(&old, Some(days(200)), then).unwrap();
    assert_eq!(number_of_cas(&announced), 2);
    assert_ne!(announced.ca_key, old.ca_key);
    // What is served stays, and is accepted by those who know both CAs and those who know one.
    assert_eq!(announced.server_key, old.server_key);
    assert!(is_accepted(&announced, &old, then));
    assert!(is_accepted(&announced, &announced, then));

    let early = PUBLISH_GRACE - SignedDuration::from_secs(1);
    for published in [None, Some(SignedDuration::ZERO), Some(early)] {
        assert_eq!(next(&announced, published, then), None, "{published:?}");
    }
    let signed = next(&announced, Some(PUBLISH_GRACE), then).unwrap();
    assert_eq!(signed.cas, announced.cas);
    assert_ne!(signed.server_key, announced.server_key);
    assert!(!is_accepted(&signed, &old, then));
    assert!(is_accepted(&signed, &announced, then));
    // A replica that has not noticed still serves the old certificate.
    assert!(is_accepted(&old, &signed, then));
    assert_eq!(next(&signed, Some(days(1)), then), None);
}

#[test]
fn u47_a_ca_that_cannot_be_published_waits_until_there_is_nothing_to_lose() {
    let (old, then) = with_old_ca();
    let announced = next(&old, None, then).unwrap();
    // Past two thirds of the certificate's life, but it is accepted, and a new one would not be.
    assert_eq!(next(&announced, None, NOW + days(329)), None);
    let end = NOW + days(331);
    let signed = next(&announced, None, end).unwrap();
    assert!(is_accepted(&signed, &announced, end));
}

#[test]
fn u47_an_old_ca_is_dropped_when_no_replica_can_serve_its_certificates() {
    let (old, then) = with_old_ca();
    let announced = next(&old, None, then).unwrap();
    let signed = next(&announced, Some(days(1)), then).unwrap();
    assert_eq!(next(&signed, None, then + days(6)), None);
    let alone = next(&signed, None, then + days(7)).unwrap();
    assert_eq!(number_of_cas(&alone), 1);
    assert_eq!(
        (&alone.ca_key, &alone.server),
        (&signed.ca_key, &signed.server)
    );
    assert!(is_accepted(&alone, &alone, then + days(7)));
    assert_eq!(next(&alone, None, then + days(7)), None);
}

#[test]
fn u47_an_expired_ca_is_dropped_while_others_stay() {
    let (old, then) = with_old_ca();
    let mut announced = next(&old, None, then).unwrap();
    announced
        .cas
        .extend_from_slice(&first(then - days(364)).cas);
    assert_eq!(next(&announced, None, then), None);
    let later = next(&announced, None, then + days(2)).unwrap();
    assert_eq!(number_of_cas(&announced), 3);
    assert_eq!(number_of_cas(&later), 2);
    assert_eq!(later.server, announced.server);
}

#[test]
fn u47_new_names_need_a_new_certificate_and_no_new_ca() {
    let old = first(NOW);
    let more = Names::of_service("lbcf", "kube-system", &["127.0.0.1".into()]).unwrap();
    let found = Found::read(&old);
    let plan = decide(&found, &more, None, NOW).unwrap();
    assert!(plan.reason.contains("127.0.0.1"), "{}", plan.reason);
    let new = carry_out(&plan, &found, &more, NOW).unwrap();
    assert_eq!(new.cas, old.cas);
    assert_eq!(decide(&Found::read(&new), &more, None, NOW), None);
    // A replica with fewer names has nothing against it: two versions side by side do not
    // write in turns.
    assert_eq!(next(&new, None, NOW), None);
}

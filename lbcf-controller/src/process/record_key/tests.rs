use super::RecordKey;
use crate::api::{BackendRecord, BackendRecordStatus, PortSelector, names};
use jiff::Timestamp;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::Time;
use kube::ResourceExt;
use lbcf_driver_sdk::webhook::Protocol;
use proptest::prelude::*;
use proptest::test_runner::{Config, RngSeed};
use serde_json::json;

fn record() -> BackendRecord {
    serde_json::from_value(json!({
        "apiVersion": "lbcf.tkestack.io/v1beta1",
        "kind": "BackendRecord",
        "metadata": {"namespace": "blue", "name": "record"},
        "spec": {
            "lbDriver": "lbcf-clb",
            "lbName": "web",
            "lbInfo": {"id": "lb-1", "port": 443},
            "podBackend": {"name": "web-0", "port": {"port": 80, "protocol": "TCP"}},
            "parameters": {"weight": "80"},
        },
    }))
    .unwrap()
}

/// What a user can edit.
const FIELDS: [&str; 9] = [
    "/metadata/namespace",
    "/metadata/name",
    "/spec/lbDriver",
    "/spec/lbName",
    "/spec/lbInfo",
    "/spec/lbInfo/id",
    "/spec/podBackend/name",
    "/spec/podBackend/port/port",
    "/spec/parameters",
];
/// What the signature covers of it.
const SIGNED: [&str; 6] = [
    "/metadata/namespace",
    "/metadata/name",
    "/spec/lbDriver",
    "/spec/lbName",
    "/spec/lbInfo",
    "/spec/podBackend",
];
/// Other texts, and those that would read the same if parts were only put together.
const VALUES: [&str; 12] = [
    r#""""#,
    r#""web""#,
    r#""web-0""#,
    r#""lbcf-clb""#,
    r#""blue""#,
    r#""record""#,
    r#""lb-1\",\"443""#,
    r#"{}"#,
    r#"{"id": "lb-1"}"#,
    r#"{"id": "lb-1", "port": "443"}"#,
    "80",
    "443",
];

fn key(byte: u8) -> RecordKey {
    RecordKey::new(&[byte; 32], "2026-03-01T00:00:00Z".parse().unwrap())
}

fn signed() -> BackendRecord {
    let mut record = record();
    key(1).sign(&mut record, None);
    record
}

#[test]
fn d110_a_signature_that_is_stored_stays_valid_in_later_versions() {
    let signed = signed();
    let signature = &signed.annotations()[names::ANNOTATION_SIGNATURE];
    assert_eq!(signature, "Ld6NaF2yBszVaFRaH0le5ALp4cl2Rts8Odx4ZDxpKUA");
}

#[test]
fn d110_what_identifies_the_backend_is_signed_and_nothing_else() {
    let is_own = |change: fn(&mut BackendRecord)| {
        let mut record = signed();
        change(&mut record);
        key(1).is_own(&record)
    };
    assert!(is_own(|_| {}));
    assert!(is_own(|it| it.spec.parameters = [("weight", "1")].into()));
    assert!(is_own(|it| it.metadata.owner_references = None));
    assert!(is_own(|it| it.status = Some(BackendRecordStatus::default())));
    assert!(!key(2).is_own(&signed()), "another cluster's key");
    assert!(!is_own(|it| it.metadata.namespace = Some("green".into())));
    assert!(!is_own(|it| it.metadata.name = Some("other".into())));
    assert!(!is_own(
        |it| it.spec.lb_driver = "kube-system/lbcf-clb".into()
    ));
    assert!(!is_own(|it| it.spec.lb_name = "other".into()));
    assert!(!is_own(|it| it.spec.lb_info = [("id", "lb-2")].into()));
    assert!(!is_own(
        |it| it.spec.static_addr = Some("10.0.0.7:80".into())
    ));
    assert!(!is_own(
        |it| it.spec.service_backend = Some(Default::default())
    ));
    assert!(!is_own(
        |it| it.spec.endpoint_backend = Some(Default::default())
    ));
    assert!(!is_own(|it| {
        let pod = it.spec.pod_backend.as_mut().unwrap();
        pod.port = PortSelector::new(81, Protocol::Tcp);
    }));
    assert!(!is_own(|it| {
        let signature = it.annotations_mut().get_mut(names::ANNOTATION_SIGNATURE);
        *signature.unwrap() = "not base64".into();
    }));
}

#[test]
fn d110_a_record_without_a_signature_counts_if_it_is_older_than_the_key_and_has_an_address() {
    let is_own = |created: &str, address: &str| {
        let mut record = record();
        let created: Timestamp = created.parse().unwrap();
        record.metadata.creation_timestamp = Some(Time(created));
        record.status = Some(BackendRecordStatus {
            backend_addr: address.to_owned(),
            ..BackendRecordStatus::default()
        });
        key(1).is_own(&record)
    };
    assert!(is_own("2026-02-28T23:59:59Z", "10.0.0.1:80"));
    assert!(
        !is_own("2026-02-28T23:59:59Z", ""),
        "nothing was registered"
    );
    assert!(!is_own("2026-03-01T00:00:01Z", "10.0.0.1:80"), "forged");
    assert!(!key(1).is_own(&record()), "never stored");
}

proptest! {
    #![proptest_config(Config { rng_seed: RngSeed::Fixed(35), failure_persistence: None, ..Config::default() })]

    /// Whatever a user writes into a record, it stays the controller's only with the same identity.
    #[test]
    fn d110_no_edit_of_the_identity_keeps_the_signature_valid(
        edits in prop::collection::vec((prop::sample::select(&FIELDS[..]), prop::sample::select(&VALUES[..])), 0..4),
    ) {
        let original = serde_json::to_value(signed()).unwrap();
        let mut edited = original.clone();
        for (field, value) in edits {
            if let Some(part) = edited.pointer_mut(field) {
                *part = serde_json::from_str(value).unwrap();
            }
        }
        let is_same = SIGNED.iter().all(|field| edited.pointer(field) == original.pointer(field));
        if let Ok(record) = serde_json::from_value(edited) {
            prop_assert_eq!(key(1).is_own(&record), is_same);
        }
    }
}

#[test]
fn d119_the_address_that_a_record_is_created_with_is_signed_too() {
    let with = |address: &str| {
        let mut record = record();
        key(1).sign(&mut record, Some(address));
        record
    };
    let mut signed = with("[2001:db8::1]:80 of a pod");
    assert!(key(1).is_own(&signed));
    // Those that do not know of it find the signature that they know.
    let signature = &signed.annotations()[names::ANNOTATION_SIGNATURE];
    assert_eq!(
        signature,
        &self::signed().annotations()[names::ANNOTATION_SIGNATURE]
    );
    signed.read_address();
    let address = |record: &BackendRecord| record.status.clone().unwrap().backend_addr;
    assert_eq!(address(&signed), "[2001:db8::1]:80 of a pod");
    let mut stored = with("10.0.0.7:80");
    stored.status = Some(BackendRecordStatus {
        backend_addr: "10.0.0.8:80".into(),
        ..BackendRecordStatus::default()
    });
    stored.read_address();
    assert_eq!(address(&stored), "10.0.0.8:80", "what is stored counts");

    let other = with("10.0.0.8:80");
    let other = &other.annotations()[names::ANNOTATION_ADDRESS];
    let (_, of_other) = other.split_once(' ').unwrap();
    for address in [format!("10.0.0.7:80 {of_other}"), "10.0.0.7:80 -".into()] {
        let mut record = with("10.0.0.7:80");
        let annotations = record.annotations_mut();
        annotations.insert(names::ANNOTATION_ADDRESS.to_owned(), address);
        assert!(!key(1).is_own(&record));
        // Nor one without a signature, which is older than the key.
        record.annotations_mut().remove(names::ANNOTATION_SIGNATURE);
        let created: Timestamp = "2026-02-28T23:59:59Z".parse().unwrap();
        record.metadata.creation_timestamp = Some(Time(created));
        record.read_address();
        assert!(!key(1).is_own(&record));
    }
}

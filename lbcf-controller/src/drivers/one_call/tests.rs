use super::*;
use crate::api::{BackendRecord, BackendRecordStatus};

fn shared(annotations: &[(&str, &str)], load_balancer: &StringMap) -> Option<StringMap> {
    let annotations = annotations.iter();
    let annotations = annotations.map(|&(name, value)| (name.to_owned(), value.to_owned()));
    shared_fields(&annotations.collect(), load_balancer)
}

#[test]
fn b159_calls_share_a_slot_by_all_fields_of_their_load_balancer() {
    let lb: StringMap = [("id", "1"), ("port", "80")].into();
    assert_eq!(shared(&[], &lb), None);
    assert_eq!(shared(&[(ANNOTATION_ONE_CALL, "false")], &lb), None);
    assert_eq!(shared(&[(ANNOTATION_ONE_CALL, "True")], &lb), Some(lb));
}

#[test]
fn b159_d88_or_by_one_field() {
    let by_id = (ANNOTATION_ONE_CALL_FIELD, "id");
    let slot = |lb: StringMap| shared(&[by_id, (ANNOTATION_ONE_CALL, "true")], &lb);
    let first = slot([("id", "1"), ("port", "80")].into());
    assert_eq!(first, Some([("id", "1")].into()));
    assert_eq!(first, slot([("id", "1"), ("port", "443")].into()));
    assert_ne!(first, slot([("id", "2"), ("port", "80")].into()));
    // Not the same as an empty value, and one slot for all without the field.
    assert_ne!(slot([("id", "")].into()), slot([].into()));
    assert_eq!(
        slot([("port", "80")].into()),
        slot([("port", "443")].into())
    );
    assert_eq!(shared(&[(ANNOTATION_ONE_CALL_FIELD, "")], &[].into()), None);
}

fn address() -> AddressKey {
    let record = BackendRecord {
        status: Some(BackendRecordStatus {
            backend_addr: "10.0.0.1:80".into(),
            ..BackendRecordStatus::default()
        }),
        ..BackendRecord::default()
    };
    AddressKey::of(&record).unwrap()
}

#[test]
fn u19_the_records_that_waited_for_an_address_are_returned_once() {
    let (locks, record) = (AddressLocks::default(), ObjectKey::new("ns", "a"));
    let other = ObjectKey::new("ns", "b");
    let lock = locks.try_lock(address(), Some(&record)).unwrap();
    assert!(locks.try_lock(address(), Some(&other)).is_none());
    assert_eq!(lock.release(), [other.clone()].into());
    let lock = locks.try_lock(address(), Some(&other)).unwrap();
    assert_eq!(lock.release(), BTreeSet::new());
    // A reconciliation that is aborted leaves no lock.
    drop(locks.try_lock(address(), Some(&record)));
    assert!(locks.try_lock(address(), Some(&other)).is_some());
}

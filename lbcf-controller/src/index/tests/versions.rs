use super::*;

#[test]
fn an_older_state_never_replaces_a_newer_one() {
    let mut index = Index::default();
    Indexed::apply(&mut index, StoreEvent::Apply(record("r", 1)));
    Indexed::apply(
        &mut index,
        StoreEvent::Written(with_address(record("r", 5))),
    );
    assert!(
        Indexed::apply(&mut index, StoreEvent::Apply(record("r", 3))).is_empty(),
        "it is outdated"
    );
    let known = index.find::<BackendRecord>(&key("r")).unwrap();
    assert!(known.status.is_some());
    // The watch is at 9: the response to an older write is outdated.
    Indexed::apply(&mut index, StoreEvent::Apply(record("other", 9)));
    assert!(Indexed::apply(&mut index, StoreEvent::Written(record("r", 7))).is_empty());
}

#[test]
fn an_object_that_a_write_removed_does_not_return() {
    let mut index = Index::default();
    Indexed::apply(&mut index, StoreEvent::Apply(with_address(record("r", 1))));
    let mut removed = deleting(record("r", 4));
    removed.metadata.finalizers = None;
    Indexed::apply(&mut index, StoreEvent::Written(removed));
    assert_eq!(index.get::<BackendRecord>(&key("r")), Lookup::Missing);
    assert!(Indexed::apply(&mut index, StoreEvent::Apply(deleting(record("r", 3)))).is_empty());
    assert_eq!(index.get::<BackendRecord>(&key("r")), Lookup::Missing);
    // A later record of this name is not removed with the old one.
    Indexed::apply(&mut index, StoreEvent::Written(record("r", 6)));
    Indexed::apply(&mut index, StoreEvent::Delete(record("r", 4)));
    assert!(index.find::<BackendRecord>(&key("r")).is_some());
}

#[test]
fn an_object_that_a_write_removed_is_removed_even_if_the_response_has_an_old_version() {
    let mut index = Index::default();
    Indexed::apply(&mut index, StoreEvent::Apply(deleting(record("r", 5))));
    let mut removed = deleting(record("r", 5));
    removed.metadata.finalizers = None;
    let requests = keys(Indexed::apply(
        &mut index,
        StoreEvent::Written(removed.clone()),
    ));
    assert!(
        requests.contains(&"BackendRecord ns/r".to_owned()),
        "{requests:?}"
    );
    assert_eq!(index.get::<BackendRecord>(&key("r")), Lookup::Missing);
    assert!(Indexed::apply(&mut index, StoreEvent::Delete(removed.clone())).is_empty());
    // The watch reports that version after the response: the record does not return.
    let mut index = Index::default();
    Indexed::apply(&mut index, StoreEvent::Apply(record("r", 4)));
    Indexed::apply(&mut index, StoreEvent::Written(deleting(record("r", 5))));
    Indexed::apply(&mut index, StoreEvent::Written(removed.clone()));
    assert!(Indexed::apply(&mut index, StoreEvent::Apply(deleting(record("r", 5)))).is_empty());
    assert_eq!(index.get::<BackendRecord>(&key("r")), Lookup::Missing);
    // A later record of this name is kept.
    Indexed::apply(&mut index, StoreEvent::Apply(record("r", 8)));
    Indexed::apply(&mut index, StoreEvent::Written(removed));
    assert!(index.find::<BackendRecord>(&key("r")).is_some());
}

#[test]
fn a_new_list_removes_what_it_does_not_contain_unless_it_was_created_since() {
    let mut index = Index::default();
    Indexed::apply(&mut index, StoreEvent::Apply(record("old", 1)));
    Indexed::apply(&mut index, StoreEvent::Apply(record("kept", 2)));
    BackendRecord::apply(&mut index, StoreEvent::Init);
    BackendRecord::apply(&mut index, StoreEvent::InitApply(record("kept", 5)));
    Indexed::apply(&mut index, StoreEvent::Written(record("new", 8)));
    let requests = BackendRecord::apply(&mut index, StoreEvent::InitDone);
    assert_eq!(index.get::<BackendRecord>(&key("old")), Lookup::Missing);
    assert!(index.find::<BackendRecord>(&key("kept")).is_some());
    assert!(index.find::<BackendRecord>(&key("new")).is_some());
    assert!(keys(requests).contains(&"BackendGroup ns/web".to_owned()));
}

#[test]
fn a_new_list_also_removes_what_only_a_write_reported() {
    let mut index = Index::default();
    Indexed::apply(&mut index, StoreEvent::Apply(record("r", 1)));
    // Written at 5, removed at 6 with a lost response: the list contains no version.
    Indexed::apply(&mut index, StoreEvent::Written(record("r", 5)));
    BackendRecord::apply(&mut index, StoreEvent::Init);
    BackendRecord::apply(&mut index, StoreEvent::InitDone);
    assert_eq!(index.get::<BackendRecord>(&key("r")), Lookup::Missing);
    // Responses from before the list stay outdated.
    Indexed::apply(&mut index, StoreEvent::Written(record("r", 4)));
    assert_eq!(index.get::<BackendRecord>(&key("r")), Lookup::Missing);
}

#[test]
fn an_object_that_is_not_found_is_removed_but_not_a_newer_one_of_its_name() {
    let mut index = Index::default();
    Indexed::apply(&mut index, StoreEvent::Apply(record("r", 5)));
    let requests = BackendRecord::apply(&mut index, StoreEvent::NotFound(key("r"), 5));
    assert_eq!(index.get::<BackendRecord>(&key("r")), Lookup::Missing);
    assert!(keys(requests).contains(&"BackendGroup ns/web".to_owned()));
    // An earlier watch event is outdated.
    Indexed::apply(&mut index, StoreEvent::Apply(record("r", 5)));
    assert_eq!(index.get::<BackendRecord>(&key("r")), Lookup::Missing);
    Indexed::apply(&mut index, StoreEvent::Apply(record("r", 9)));
    assert!(BackendRecord::apply(&mut index, StoreEvent::NotFound(key("r"), 5)).is_empty());
    assert!(index.find::<BackendRecord>(&key("r")).is_some());
    assert!(BackendRecord::apply(&mut index, StoreEvent::NotFound(key("other"), 5)).is_empty());
}

#[test]
fn u9_an_unreadable_object_is_not_missing() {
    let mut index = Index::default();
    LoadBalancer::apply(&mut index, StoreEvent::Unreadable(key("lb")));
    assert_eq!(index.get::<LoadBalancer>(&key("lb")), Lookup::Unreadable);
    LoadBalancer::apply(&mut index, StoreEvent::UnreadableDelete(key("lb")));
    assert_eq!(index.get::<LoadBalancer>(&key("lb")), Lookup::Missing);
    BackendRecord::apply(&mut index, StoreEvent::Unreadable(key("r")));
    assert!(index.records.has_unreadable());
    Indexed::apply(&mut index, StoreEvent::Apply(record("r", 2)));
    assert!(!index.records.has_unreadable());
}

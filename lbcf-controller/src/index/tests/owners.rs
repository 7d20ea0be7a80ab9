use super::*;

fn orphan(version: u64, labels: &[(&str, &str)]) -> BackendRecord {
    let mut record = record("r", version);
    record.metadata.owner_references = None;
    let labels = labels.iter();
    let labels = labels.map(|&(label, value)| (label.to_owned(), value.to_owned()));
    record.metadata.labels = Some(labels.collect());
    record
}

fn of_uid(mut group: BackendGroup, uid: &str) -> BackendGroup {
    group.metadata.uid = Some(uid.into());
    group
}

const OF_WEB: (&str, &str) = (crate::api::names::LABEL_BACKEND_GROUP, "web");

#[test]
fn d34_the_owner_of_a_record_is_known_by_its_uid_or_else_by_labels() {
    let mut index = Index::default();
    let mut owned = record("r", 1);
    owned.metadata.owner_references.as_mut().unwrap()[0].uid = "uid-1".into();
    let mut foreign = owned.clone();
    foreign.metadata.owner_references.as_mut().unwrap()[0].kind = "Other".into();
    let (labelled, unlabelled) = (orphan(1, &[OF_WEB]), orphan(1, &[]));
    let ownership = |index: &Index| {
        [&owned, &labelled, &unlabelled, &foreign].map(|record| index.ownership(record))
    };
    use Ownership::{Adoptable, Owned, Ownerless};
    assert_eq!(ownership(&index), [Ownerless, Ownerless, Ownerless, Owned]);
    let created = of_uid(group("web", &[], 2), "uid-1");
    Indexed::apply(&mut index, StoreEvent::Apply(created));
    assert_eq!(ownership(&index), [Owned, Adoptable, Ownerless, Owned]);
    Indexed::apply(
        &mut index,
        StoreEvent::Delete(of_uid(group("web", &[], 3), "uid-1")),
    );
    assert_eq!(ownership(&index), [Ownerless, Ownerless, Ownerless, Owned]);
    let another = of_uid(group("web", &[], 4), "uid-2");
    Indexed::apply(&mut index, StoreEvent::Apply(another));
    assert_eq!(ownership(&index), [Ownerless, Adoptable, Ownerless, Owned]);
    // u9: nothing is concluded from an owner that cannot be parsed.
    BackendGroup::apply(&mut index, StoreEvent::Unreadable(key("web")));
    assert_eq!(ownership(&index), [Owned, Adoptable, Ownerless, Owned]);
}

#[test]
fn d34_an_owner_that_comes_or_goes_enqueues_its_records() {
    let mut index = Index::default();
    Indexed::apply(&mut index, StoreEvent::Apply(orphan(1, &[OF_WEB])));
    Indexed::apply(&mut index, StoreEvent::Apply(record("owned", 2)));
    let expected = [
        "BackendGroup ns/web",
        "BackendRecord ns/owned",
        "BackendRecord ns/r",
    ];
    let created = of_uid(group("web", &[], 3), "uid-1");
    let requests = Indexed::apply(&mut index, StoreEvent::Apply(created));
    assert_eq!(keys(requests), expected);
    let mut changed = of_uid(group("web", &[], 4), "uid-1");
    changed.spec.parameters = [("weight", "1")].into();
    let requests = Indexed::apply(&mut index, StoreEvent::Apply(changed));
    assert_eq!(keys(requests), ["BackendGroup ns/web"]);
    let another = of_uid(group("web", &[], 5), "uid-2");
    let requests = Indexed::apply(&mut index, StoreEvent::Apply(another.clone()));
    assert_eq!(keys(requests), expected);
    // The orphan is among the records that the group compares with what it wants.
    let owner = of_group("web");
    let units = index.take_units(&owner, 10);
    assert_eq!(index.records_of(&owner, &units).len(), 2);
    let requests = Indexed::apply(&mut index, StoreEvent::Delete(another));
    assert_eq!(keys(requests), expected);
}

#[test]
fn d36_a_record_that_appears_or_is_edited_is_compared_by_its_owner() {
    let mut index = Index::default();
    Indexed::apply(&mut index, StoreEvent::Apply(group("web", &[], 1)));
    pending(&mut index);
    let of_owner = Request::batched(RequestKey::Group(key("web")));
    let requests = Indexed::apply(&mut index, StoreEvent::Apply(record("r", 2)));
    assert!(requests.contains(&of_owner), "{requests:?}");
    assert_eq!(pending(&mut index), ["p0"]);
    // Its own writes tell the controller nothing new.
    let requests = Indexed::apply(&mut index, StoreEvent::Written(record("written", 3)));
    assert_eq!(keys(requests), ["BackendRecord ns/written"]);
    assert!(pending(&mut index).is_empty());
    let mut version = 3;
    let mut apply = |index: &mut Index, change: fn(&mut BackendRecord)| {
        version += 1;
        let mut edited = record("r", version);
        change(&mut edited);
        let requests = Indexed::apply(index, StoreEvent::Apply(edited));
        let is_record_enqueued = keys(requests.clone()).contains(&"BackendRecord ns/r".to_owned());
        (requests.contains(&of_owner), is_record_enqueued)
    };
    let status = apply(&mut index, |record| *record = with_address(record.clone()));
    assert_eq!(status, (false, false));
    let labels = apply(&mut index, |record| {
        record.metadata.labels = Some([("a".to_owned(), "b".to_owned())].into());
    });
    assert_eq!(labels, (true, false));
    let parameters = apply(&mut index, |record| {
        record.spec.parameters = [("weight", "1")].into();
        record.metadata.generation = Some(2);
    });
    assert_eq!(parameters, (true, true));
    let _ = apply(&mut index, |_| {});
    let finalizers = apply(&mut index, |record| record.metadata.finalizers = None);
    assert_eq!(finalizers, (false, true));
    let _ = apply(&mut index, |_| {});
    // The former owner is enqueued, too.
    let owner = apply(&mut index, |record| record.metadata.owner_references = None);
    assert_eq!(owner, (true, true));
    assert_eq!(pending(&mut index), ["p0"]);
}

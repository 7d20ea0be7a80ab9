use super::*;
use crate::api::names::ANNOTATION_PAUSED;

fn paused<K: Resource>(mut object: K) -> K {
    let annotations = BTreeMap::from([(ANNOTATION_PAUSED.to_owned(), "true".to_owned())]);
    object.meta_mut().annotations = Some(annotations);
    object
}

#[test]
fn d121_only_resuming_an_object_enqueues_its_records() {
    let record_key = "BackendRecord ns/r".to_owned();
    let lb = |version| {
        placed(
            LoadBalancer::new("lb", LoadBalancerSpec::default()),
            version,
        )
    };
    let group = |version| group("web", &[("app", "web")], version);
    let mut index = Index::default();
    Indexed::apply(&mut index, StoreEvent::Apply(record("r", 1)));
    Indexed::apply(&mut index, StoreEvent::Apply(lb(1)));
    let by_group = index.paused_by(&record("r", 1));
    assert_eq!(by_group, None);
    let mut applied = |lb| keys(Indexed::apply(&mut index, StoreEvent::Apply(lb)));
    assert_eq!(applied(paused(lb(2))), ["LoadBalancer ns/lb"]);
    assert_eq!(applied(paused(lb(3))), Vec::<String>::new());
    assert_eq!(applied(lb(4)), [&record_key, "LoadBalancer ns/lb"]);
    Indexed::apply(&mut index, StoreEvent::Apply(paused(lb(5))));
    let by = index.paused_by(&record("r", 1)).unwrap();
    assert_eq!(by.to_string(), "LoadBalancer ns/lb");
    let deleted = keys(Indexed::apply(&mut index, StoreEvent::Delete(lb(6))));
    assert!(!deleted.contains(&record_key), "{deleted:?}");

    Indexed::apply(&mut index, StoreEvent::Apply(group(7)));
    let mut applied = |group| keys(Indexed::apply(&mut index, StoreEvent::Apply(group)));
    assert!(!applied(paused(group(8))).contains(&record_key));
    assert!(applied(group(9)).contains(&record_key));
}

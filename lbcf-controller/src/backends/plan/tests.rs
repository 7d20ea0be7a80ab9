use super::*;
use crate::api::names::LABEL_BIND;
use crate::api::{BackendRecordSpec, PortSelector};

const OWNER: &str = "group-uid";

fn owner(uid: &str) -> OwnerReference {
    OwnerReference {
        kind: "BackendGroup".into(),
        name: "web".into(),
        uid: uid.into(),
        controller: Some(true),
        ..OwnerReference::default()
    }
}

fn desired() -> BackendRecord {
    let spec = BackendRecordSpec {
        lb_driver: "driver".into(),
        lb_name: "lb".into(),
        lb_info: [("id", "1")].into(),
        pod_backend: Some(PodBackendRecord {
            name: "p0".into(),
            port: PortSelector::new(80, Protocol::Tcp),
        }),
        parameters: [("weight", "50")].into(),
        ..BackendRecordSpec::default()
    };
    let mut record = BackendRecord::new("r", spec);
    record.labels_mut().insert("a".into(), "1".into());
    record.metadata.owner_references = Some(vec![owner(OWNER)]);
    record
}

/// The plan for a record that differs so from the desired one, and whether it is only kept.
fn plan(is_kept: bool, change: impl FnOnce(&mut BackendRecord)) -> RecordPlan {
    let mut existing = desired();
    change(&mut existing);
    let mut wanted = DesiredRecords::default();
    if is_kept {
        wanted.kept.insert("r".into());
    } else {
        wanted.records.insert("r".into(), desired());
    }
    let settings = RecordSettings {
        owner: Some(&owner(OWNER)),
        parameters: &[("weight", "50")].into(),
        ensure_policy: None,
    };
    compare(wanted, &[Arc::new(existing)], &settings, |_| false)
}

fn counts(plan: &RecordPlan) -> (usize, usize, usize) {
    (plan.create.len(), plan.update.len(), plan.delete.len())
}

#[test]
fn d34_a_record_without_a_controller_is_adopted_if_it_fits() {
    for is_kept in [false, true] {
        let plan = plan(is_kept, |record| record.metadata.owner_references = None);
        assert_eq!(counts(&plan), (0, 1, 0));
        assert!(plan.adopts());
        assert_eq!(plan.update[0].1, desired(), "only its owner changes");
    }
    let other = OwnerReference {
        controller: None,
        ..owner("other")
    };
    let former = OwnerReference {
        controller: None,
        ..owner(OWNER)
    };
    let plan = plan(false, |record| {
        record.metadata.owner_references = Some(vec![other.clone(), former]);
    });
    assert_eq!(
        plan.update[0].1.metadata.owner_references,
        Some(vec![other, owner(OWNER)]),
        "owners that are not its controller stay"
    );
}

#[test]
fn d34_a_record_that_does_not_fit_or_is_another_controllers_is_not_adopted() {
    let orphan = |record: &mut BackendRecord| record.metadata.owner_references = None;
    let changes: [fn(&mut BackendRecord); 4] = [
        |record| record.spec.lb_info = [("id", "2")].into(),
        |record| record.spec.pod_backend.as_mut().unwrap().port.port = Some(81),
        |record| record.spec.static_addr = Some("addr".into()),
        |record| record.spec.lb_name = "other".into(),
    ];
    for change in changes {
        let plan = plan(false, |record| {
            orphan(record);
            change(record);
        });
        assert_eq!(counts(&plan), (0, 0, 1));
    }
    let plan = plan(false, |record| {
        record.metadata.owner_references = Some(vec![owner("earlier-uid")]);
    });
    assert_eq!((counts(&plan), plan.adopts()), ((0, 0, 1), false));
}

#[test]
fn d36_labels_and_settings_are_put_back() {
    let labels = |record: &mut BackendRecord, value: &str| {
        let labels = [("a", value), ("mine", "2")].map(|(k, v)| (k.to_owned(), v.to_owned()));
        record.metadata.labels = Some(labels.into());
    };
    assert_eq!(
        counts(&plan(false, |record| labels(record, "1"))),
        (0, 0, 0)
    );
    let changed = plan(false, |record| labels(record, "edited"));
    assert_eq!(counts(&changed), (0, 1, 0));
    assert!(!changed.adopts());
    let (_, new) = &changed.update[0];
    let labels = new.labels().iter();
    let labels: Vec<_> = labels.map(|(k, v)| (k.as_str(), v.as_str())).collect();
    assert_eq!(labels, [("a", "1"), ("mine", "2")]);
    let changed = plan(false, |record| {
        record.spec.parameters = [("weight", "99")].into();
        record.metadata.labels = None;
    });
    assert_eq!(changed.update[0].1, desired());
}

#[test]
fn d27_a_pods_port_in_the_originals_field_is_the_same() {
    let plan = plan(false, |record| {
        let pod = record.spec.pod_backend.as_mut().unwrap();
        pod.port = PortSelector {
            port: None,
            port_number: Some(80),
            protocol: None,
        };
    });
    assert_eq!(counts(&plan), (0, 0, 0));
}

fn of_bind(name: &str) -> BackendRecord {
    let spec = BackendRecordSpec {
        static_addr: Some(format!("addr-{name}")),
        ..BackendRecordSpec::default()
    };
    let mut record = BackendRecord::new(name, spec);
    record
        .labels_mut()
        .insert(LABEL_BIND.to_owned(), "ours".to_owned());
    record
}

#[test]
fn u21_a_record_gets_its_other_name_if_another_owner_has_the_first() {
    let other_names = ["theirs", "both", "ours"].map(|name| {
        let name = name.to_owned();
        (name.clone(), format!("other-{name}"))
    });
    let mut plan = RecordPlan {
        create: ["theirs", "both", "ours", "free"].map(of_bind).to_vec(),
        other_names: other_names.into(),
        ..RecordPlan::default()
    };
    let mut theirs = of_bind("theirs");
    let labels = theirs.labels_mut();
    labels.insert(LABEL_BIND.to_owned(), "another".to_owned());
    let taken = TakenNames::take_from(&mut plan, |record| match &*record.name_any() {
        "theirs" | "both" | "other-both" => Lookup::Found(Arc::new(theirs.clone())),
        "ours" => Lookup::Found(Arc::new(record.clone())),
        _ => Lookup::Missing,
    });
    let names = plan.create.iter().map(ResourceExt::name_any);
    assert_eq!(names.collect::<Vec<_>>(), ["other-theirs", "free"]);
    let units: Vec<_> = taken.units.keys().map(|unit| &**unit).collect();
    assert_eq!(units, ["addr-both", "addr-ours"]);
}

#[test]
fn d35_a_record_whose_name_is_taken_is_not_created_but_reported() {
    let mut foreign = of_bind("foreign");
    foreign.metadata.owner_references = Some(vec![OwnerReference {
        kind: "ConfigMap".into(),
        name: "other".into(),
        controller: Some(true),
        ..OwnerReference::default()
    }]);
    let mut plan = RecordPlan {
        create: ["free", "foreign", "orphan", "odd"].map(of_bind).to_vec(),
        ..RecordPlan::default()
    };
    let taken = TakenNames::take_from(&mut plan, |record| match record.name_any().as_str() {
        "foreign" => Lookup::Found(Arc::new(foreign.clone())),
        "orphan" => Lookup::Found(Arc::new(record.clone())),
        "odd" => Lookup::Unreadable,
        _ => Lookup::Missing,
    });
    assert_eq!(plan.create, [of_bind("free")]);
    let units: Vec<_> = taken.units.keys().map(|unit| &**unit).collect();
    assert_eq!(units, ["addr-foreign", "addr-odd", "addr-orphan"]);
    assert_eq!(
        taken.message().as_deref(),
        Some(
            "a backend is not registered until the record of its name is gone: BackendRecord \
             foreign exists and is controlled by ConfigMap other, and 2 more"
        )
    );
    assert_eq!(TakenNames::default().message(), None);
}

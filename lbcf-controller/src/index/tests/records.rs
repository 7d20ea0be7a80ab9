use super::*;
use crate::api::{StringMap, reasons};

#[test]
fn b118_b125_a_records_status_enqueues_only_its_group() {
    let mut index = Index::default();
    Indexed::apply(&mut index, StoreEvent::Apply(with_address(record("r", 1))));
    let mut registered = with_address(record("r", 2));
    registered.status.as_mut().unwrap().conditions =
        vec![Condition::met(condition_types::REGISTERED, Some(1))];
    let requests = Indexed::apply(&mut index, StoreEvent::Written(registered));
    assert_eq!(requests, [Request::batched(RequestKey::Group(key("web")))]);
    let requests = Indexed::apply(
        &mut index,
        StoreEvent::Apply(deleting(with_address(record("r", 3)))),
    );
    assert!(requests.contains(&Request::high(RequestKey::Record(key("r")))));
}

#[test]
fn d128_the_condition_of_the_first_record_that_fails_enqueues_its_owner() {
    let mut index = Index::default();
    let mut version = 0;
    let mut apply = |name: &str, message: Option<&str>| {
        version += 1;
        let mut failed = with_address(record(name, version));
        let condition = message.map_or_else(
            || Condition::met(condition_types::REGISTERED, Some(1)),
            |message| {
                Condition::unmet(
                    condition_types::REGISTERED,
                    reasons::NOT_FOUND,
                    message,
                    None,
                )
            },
        );
        failed.status.as_mut().unwrap().conditions = vec![condition];
        let requests = Indexed::apply(&mut index, StoreEvent::Written(failed));
        let first = index.records.first_troubled(&of_group("web"));
        let first = first.map(|first| first.metadata.name.clone().unwrap());
        let group = Request::batched(RequestKey::Group(key("web")));
        (first, requests.contains(&group))
    };
    let first = |name: &str| Some(name.to_owned());
    // A record that appears is compared by its owner anyway.
    assert_eq!(apply("b", None), (None, false));
    assert_eq!(apply("c", None), (None, false));
    assert_eq!(apply("b", Some("quota")), (first("b"), true));
    assert_eq!(apply("b", Some("limit")), (first("b"), true));
    assert_eq!(apply("b", Some("limit")), (first("b"), false));
    assert_eq!(apply("c", Some("quota")).0, first("b"));
    assert_eq!(apply("c", Some("limit")), (first("b"), false));
    assert_eq!(apply("b", None), (first("c"), true));
    assert_eq!(apply("c", None), (None, true));
}

#[test]
fn u18_u19_the_removal_of_a_record_enqueues_what_waited_for_it() {
    let mut index = Index::default();
    let mut lb = placed(LoadBalancer::new("lb", LoadBalancerSpec::default()), 1);
    lb.metadata.deletion_timestamp = Some(Time(Timestamp::UNIX_EPOCH));
    Indexed::apply(&mut index, StoreEvent::Apply(lb));
    Indexed::apply(&mut index, StoreEvent::Apply(with_address(record("r", 2))));
    Indexed::apply(
        &mut index,
        StoreEvent::Apply(with_address(record("neighbour", 3))),
    );
    assert_eq!(
        index
            .records
            .neighbours(&with_address(record("r", 2)))
            .len(),
        1
    );
    assert_eq!(
        index
            .records
            .count_of_load_balancer(&RequestKey::LoadBalancer(key("lb"))),
        2
    );
    let requests = keys(Indexed::apply(
        &mut index,
        StoreEvent::Delete(with_address(record("r", 4))),
    ));
    assert_eq!(
        requests,
        [
            "BackendGroup ns/web",
            "BackendRecord ns/neighbour",
            "BackendRecord ns/r",
            "LoadBalancer ns/lb"
        ]
    );
    assert_eq!(
        index
            .records
            .count_of_load_balancer(&RequestKey::LoadBalancer(key("lb"))),
        1
    );
}

/// A record of a group, with an address that others have too.
fn record_of(name: &str, group: &str, version: u64) -> BackendRecord {
    let mut record = with_address(record(name, version));
    record.metadata.owner_references.as_mut().unwrap()[0].name = group.into();
    record
}

#[test]
fn d41_the_record_of_the_oldest_owner_takes_precedence() {
    let created = |seconds| Some(Time(Timestamp::from_second(seconds).unwrap()));
    let mut index = Index::default();
    for (name, age, version) in [("young", 30, 1), ("old", 10, 2), ("also-old", 10, 3)] {
        let mut group = group(name, &[("app", "web")], version);
        group.metadata.creation_timestamp = created(age);
        Indexed::apply(&mut index, StoreEvent::Apply(group));
    }
    // The age of a record counts only where its owner does not exist.
    let owners = ["young", "old", "also-old", "deleted"];
    for (version, owner) in (4..).zip(owners) {
        let mut record = record_of(&format!("of-{owner}"), owner, version);
        record.metadata.creation_timestamp = created(20 - i64::try_from(version).unwrap());
        Indexed::apply(&mut index, StoreEvent::Apply(record));
    }
    let neighbours = |name| {
        let record = index.find::<BackendRecord>(&key(name)).unwrap();
        let neighbours = index.neighbours(&record).into_iter();
        let name = |it: Neighbour| {
            (
                it.record.metadata.name.clone().unwrap(),
                it.takes_precedence,
            )
        };
        neighbours.map(name).collect::<Vec<_>>()
    };
    let expected = |names: [(&str, bool); 3]| names.map(|(name, it)| (name.to_owned(), it));
    assert_eq!(
        neighbours("of-deleted"),
        expected([("of-also-old", true), ("of-old", true), ("of-young", false)])
    );
    assert_eq!(
        neighbours("of-also-old"),
        expected([
            ("of-old", false),
            ("of-deleted", false),
            ("of-young", false)
        ])
    );
}

#[test]
fn d41_a_record_enqueues_its_neighbours_when_they_depend_on_the_change() {
    let mut index = Index::default();
    Indexed::apply(&mut index, StoreEvent::Apply(record_of("a", "web", 1)));
    let mut change = |record: BackendRecord| {
        let requests = keys(Indexed::apply(&mut index, StoreEvent::Apply(record)));
        requests.contains(&"BackendRecord ns/a".to_owned())
    };
    let mut other = record_of("b", "other", 2);
    other.status = None;
    assert!(!change(other.clone()), "it has no address");
    let mut step = |version: u64, change_to: &dyn Fn(&mut BackendRecord)| {
        other.metadata.resource_version = Some(version.to_string());
        change_to(&mut other);
        change(other.clone())
    };
    assert!(step(3, &|it| it.status = record_of("b", "other", 0).status));
    assert!(!step(4, &|it| it.metadata.labels = Some(BTreeMap::new())));
    assert!(step(5, &|it| it.spec.parameters = [("weight", "1")].into()));
    let met = Condition::met(condition_types::REGISTERED, Some(1));
    let status =
        |it: &mut BackendRecord| it.status.get_or_insert_default().conditions = vec![met.clone()];
    assert!(step(6, &status));
    assert!(step(7, &|it| it.metadata.deletion_timestamp =
        Some(Time(Timestamp::UNIX_EPOCH))));
    assert!(step(8, &|it| it
        .status
        .get_or_insert_default()
        .backend_addr = "10.0.0.2".into()));
    assert!(
        !step(9, &|it| it.spec.parameters = [("weight", "2")].into()),
        "elsewhere"
    );
}

#[test]
fn b120_a_pod_enqueues_its_records_without_an_address() {
    let mut index = Index::default();
    Indexed::apply(&mut index, StoreEvent::Apply(record("r", 1)));
    assert_eq!(
        keys(Indexed::apply(
            &mut index,
            StoreEvent::Apply(pod("p0", &[], 2))
        )),
        ["BackendRecord ns/r"]
    );
    Indexed::apply(&mut index, StoreEvent::Apply(with_address(record("r", 3))));
    let mut not_ready = pod("p0", &[], 4);
    not_ready.ready = false;
    assert!(Indexed::apply(&mut index, StoreEvent::Apply(not_ready)).is_empty());
}

/// What the indexes say of the record, its owners, load balancers, pods and addresses.
fn look_ups(index: &Index) -> String {
    let records = &index.records;
    let owners = ["web", "other"].map(|owner| {
        let owner = of_group(owner);
        let units: Vec<String> = records.units(&owner).map(ToString::to_string).collect();
        let of_units: usize = units
            .iter()
            .map(|it| records.of_unit(&owner, it).count())
            .sum();
        let tallies = (
            records.tallies.records(&owner),
            records.tallies.units(&owner, 1),
        );
        (units, of_units, records.count_kept(&owner), tallies)
    });
    let lbs = ["lb", "other"].map(|lb| RequestKey::LoadBalancer(key(lb)));
    let lbs = lbs.map(|lb| records.count_of_load_balancer(&lb));
    let pods = ["p0", "p1"].map(|pod| records.without_address(&key(pod)).count());
    let drivers = ["driver", "other"].map(|driver| index.users_of_driver(&key(driver)).len());
    let addresses = ["10.0.0.1", "10.0.0.2"].map(|addr| {
        let address = AddressKey::new(key("driver"), StringMap::default(), addr.to_owned());
        records.has_address(&address)
    });
    format!(
        "{owners:?} {lbs:?} {pods:?} {drivers:?} {addresses:?} {}",
        records.unregistered
    )
}

#[test]
fn any_change_of_a_record_leaves_the_indexes_as_if_it_had_always_been_so() {
    let registered = |mut record: BackendRecord| {
        let condition = Condition::met(condition_types::REGISTERED, Some(1));
        record.status.as_mut().unwrap().conditions = vec![condition];
        record
    };
    let with = |change: fn(&mut BackendRecord)| {
        let mut record = registered(with_address(record("r", 1)));
        change(&mut record);
        record
    };
    let states = [
        record("r", 1),
        with_address(record("r", 1)),
        registered(with_address(record("r", 1))),
        with(|record| record.status.as_mut().unwrap().backend_addr = "10.0.0.2".into()),
        with(|record| record.metadata.owner_references.as_mut().unwrap()[0].name = "other".into()),
        with(|record| record.metadata.owner_references = None),
        with(|record| record.spec.pod_backend.as_mut().unwrap().name = "p1".into()),
        with(|record| record.spec.lb_name = "other".into()),
        with(|record| record.spec.lb_driver = "other".into()),
        with(|record| record.spec.lb_info = StringMap::from([("id", "1")])),
        deleting(with_address(record("r", 1))),
        deleting(registered(with_address(record("r", 1)))),
    ];
    for (from, old) in states.iter().enumerate() {
        for (to, new) in states.iter().enumerate() {
            let mut new = new.clone();
            new.metadata.resource_version = Some("2".to_owned());
            let (mut changed, mut fresh) = (Index::default(), Index::default());
            Indexed::apply(&mut changed, StoreEvent::Apply(old.clone()));
            Indexed::apply(&mut changed, StoreEvent::Apply(new.clone()));
            Indexed::apply(&mut fresh, StoreEvent::Apply(new.clone()));
            assert_eq!(look_ups(&changed), look_ups(&fresh), "from {from} to {to}");
            Indexed::apply(&mut changed, StoreEvent::Delete(new));
            assert_eq!(look_ups(&changed), look_ups(&Index::default()), "of {to}");
        }
    }
}

#[test]
fn d90_a_record_that_waits_to_leave_does_not_count_until_it_is_wanted_again() {
    let registered = |name, version| {
        let mut record = with_address(record(name, version));
        let status = record.status.get_or_insert_default();
        status.conditions = vec![Condition::met(condition_types::REGISTERED, Some(1))];
        record
    };
    let mut index = Index::default();
    let owner = of_group("web");
    for (name, version) in [("a", 1), ("b", 2)] {
        Indexed::apply(&mut index, StoreEvent::Apply(registered(name, version)));
    }
    let counts = |index: &Index| {
        let records = &index.records;
        (records.tallies.records(&owner), records.count_kept(&owner))
    };
    assert!(index.leave(&owner, key("a")) && index.leave(&owner, key("a")));
    assert_eq!((counts(&index), index.is_replacing(&owner)), ((1, 1), true));
    // Its status may change meanwhile.
    let mut unregistered = registered("a", 3);
    unregistered.status.as_mut().unwrap().conditions.clear();
    Indexed::apply(&mut index, StoreEvent::Apply(unregistered));
    Indexed::apply(&mut index, StoreEvent::Apply(registered("a", 4)));
    assert_eq!(counts(&index), (1, 1));
    index.stay(&owner, &key("a"));
    assert_eq!(
        (counts(&index), index.is_replacing(&owner)),
        ((2, 2), false)
    );

    index.leave(&owner, key("a"));
    assert_eq!(index.release_leaving(&owner), 1);
    assert!(!index.leave(&owner, key("a")), "it has waited");
    Indexed::apply(&mut index, StoreEvent::Apply(deleting(registered("a", 5))));
    assert_eq!((counts(&index), index.has_leaving()), ((1, 1), false));
}

#[test]
fn d91_a_deletion_that_the_leader_has_seen_has_not_begun_to_deregister() {
    let mut index = Index::default();
    let is_deregistering = |index: &Index| {
        let record = index.find::<BackendRecord>(&key("r")).unwrap();
        index.is_deregistering(&record)
    };
    let leaves = || deleting(with_address(record("r", 2)));
    Indexed::apply(&mut index, StoreEvent::Apply(with_address(record("r", 1))));
    assert!(!is_deregistering(&index));
    Indexed::apply(&mut index, StoreEvent::Apply(leaves()));
    assert!(!is_deregistering(&index));
    index.begin_deregistration(&leaves());
    assert!(is_deregistering(&index));

    // Another leader may have begun before.
    let mut index = Index::default();
    Indexed::apply(&mut index, StoreEvent::Apply(with_address(record("r", 1))));
    Indexed::apply(&mut index, StoreEvent::Apply(leaves()));
    index.begin_lead();
    assert!(is_deregistering(&index));
}

#[test]
fn d91_the_successor_of_a_record_is_to_register_the_same_port_at_the_same_load_balancer() {
    let mut index = Index::default();
    let leaves = deleting(with_address(record("r", 1)));
    Indexed::apply(&mut index, StoreEvent::Apply(leaves.clone()));
    let mut other = record("other", 2);
    let mut successor = |version: u64, change: &dyn Fn(&mut BackendRecord)| {
        other.metadata.resource_version = Some(version.to_string());
        change(&mut other);
        Indexed::apply(&mut index, StoreEvent::Apply(other.clone()));
        index.successor(&leaves)
    };
    let found = Some("other".to_owned());
    assert_eq!(successor(3, &|_| {}), found, "it has no address yet");
    assert_eq!(
        successor(4, &|it| it.status = with_address(record("", 0)).status),
        found
    );
    let elsewhere = |it: &mut BackendRecord| it.spec.lb_info = [("id", "other")].into();
    assert_eq!(successor(5, &elsewhere), None);
}

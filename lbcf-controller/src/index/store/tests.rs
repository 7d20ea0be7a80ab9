//! Lists of a cluster that was restored to an earlier version (d39).

use super::*;
use crate::index::PodView;

fn pod(name: &str, version: u64, ip: &str) -> PodView {
    PodView {
        key: ObjectKey::new("ns", name),
        version,
        ip: ip.into(),
        ..PodView::default()
    }
}

fn known(store: &Store<PodView>) -> Vec<String> {
    let pods = store.objects.values();
    let pods = pods.map(|pod| format!("{}@{} {}", pod.key.name, pod.version, pod.ip));
    let mut pods: Vec<_> = pods.collect();
    pods.sort();
    pods
}

/// Applies a list; returns the names of the objects that it changed.
fn list(store: &mut Store<PodView>, pods: impl IntoIterator<Item = PodView>) -> Vec<String> {
    let events = pods.into_iter().map(StoreEvent::InitApply);
    let events = [StoreEvent::Init].into_iter().chain(events);
    let events = events.chain([StoreEvent::InitDone]);
    let changed = events.flat_map(|event| store.apply(event));
    changed.map(|(key, _)| key.name.to_string()).collect()
}

fn written(store: &mut Store<PodView>, pod: PodView) {
    store.apply(StoreEvent::Written(pod));
}

/// A store that has seen versions up to 90.
fn store() -> Store<PodView> {
    let mut store = Store::default();
    for (name, version) in [("old", 10), ("changed", 80), ("new", 90)] {
        store.apply(StoreEvent::Apply(pod(name, version, "before")));
    }
    store
}

#[test]
fn d39_an_older_list_replaces_newer_states_and_removes_what_it_does_not_contain() {
    let mut store = store();
    let restored = [pod("old", 10, "before"), pod("changed", 20, "restored")];
    assert_eq!(list(&mut store, restored), ["changed", "new"]);
    assert_eq!(known(&store), ["changed@20 restored", "old@10 before"]);
    // Versions begin again with the list.
    written(&mut store, pod("changed", 21, "written"));
    written(&mut store, pod("later", 22, "written"));
    assert_eq!(
        known(&store),
        ["changed@21 written", "later@22 written", "old@10 before"]
    );
    store.apply(StoreEvent::Apply(pod("changed", 20, "late event")));
    assert_eq!(known(&store)[0], "changed@21 written");
}

#[test]
fn d39_a_list_without_a_known_object_restarts_the_versions_of_a_new_leader() {
    let mut store = store();
    store.forget_versions();
    list(&mut store, []);
    assert!(known(&store).is_empty());
    written(&mut store, pod("later", 11, "written"));
    assert_eq!(known(&store), ["later@11 written"]);
}

#[test]
fn d39_a_new_leader_takes_a_listed_state_whose_version_was_used_twice() {
    let mut store = store();
    store.forget_versions();
    // The first list fails after the first page.
    store.apply(StoreEvent::Init);
    store.apply(StoreEvent::InitApply(pod("changed", 80, "failed")));
    list(&mut store, [pod("changed", 80, "other")]);
    assert_eq!(known(&store), ["changed@80 other"]);
}

#[test]
fn d39_an_object_that_was_removed_before_the_list_is_restored() {
    let mut store = store();
    let newest = ObjectKey::new("ns", "new");
    store.apply(StoreEvent::NotFound(newest, 90));
    assert_eq!(known(&store).len(), 2);
    list(&mut store, [pod("new", 30, "restored")]);
    assert_eq!(known(&store), ["new@30 restored"]);
}

#[test]
fn an_older_list_does_not_replace_what_was_written_while_it_was_on_its_way() {
    let mut store = store();
    store.apply(StoreEvent::Init);
    written(&mut store, pod("old", 95, "written"));
    store.apply(StoreEvent::InitApply(pod("changed", 80, "before")));
    store.apply(StoreEvent::InitApply(pod("old", 10, "before")));
    store.apply(StoreEvent::InitDone);
    assert_eq!(known(&store), ["changed@80 before", "old@95 written"]);
    // Responses from before the list stay outdated.
    written(&mut store, pod("late", 85, "written"));
    assert_eq!(known(&store).len(), 2);
}

#[test]
fn d125_an_object_does_not_return_with_a_state_that_the_watch_repeats() {
    let mut store = store();
    let apply = |store: &mut Store<PodView>, name, version| {
        store.apply(StoreEvent::Apply(pod(name, version, "before")));
    };
    store.apply(StoreEvent::Delete(pod("old", 91, "before")));
    store.apply(StoreEvent::Delete(pod("new", 92, "before")));
    for (name, version) in [("old", 10), ("changed", 80), ("new", 90)] {
        apply(&mut store, name, version);
    }
    assert_eq!(known(&store), ["changed@80 before"]);
    apply(&mut store, "old", 93);
    // Versions begin again with a list, also one that does not tell that the cluster was restored.
    list(&mut store, []);
    apply(&mut store, "old", 10);
    assert_eq!(known(&store), ["old@10 before"]);
}

use super::*;
use kube::api::ApiResource;
use kube::core::Status;

fn object(name: &str) -> DynamicObject {
    let resource = ApiResource::erase::<k8s_openapi::api::core::v1::Pod>(&());
    DynamicObject::new(name, &resource).within("shop")
}

/// Each object declares its name, `bad` cannot be read.
fn declared(object: DynamicObject) -> (ObjectKey, Result<Vec<String>, String>) {
    let key = ObjectKey::of(&object);
    let declared = match &*key.name {
        "bad" => Err("spec: missing field".to_owned()),
        name => Ok(vec![name.to_owned()]),
    };
    (key, declared)
}

fn after(events: impl IntoIterator<Item = Event<DynamicObject>>) -> Listed<String> {
    let mut listed = Listed::default();
    for event in events {
        listed.apply(Ok(event), declared);
    }
    listed
}

fn listing(names: &[&str]) -> Vec<Event<DynamicObject>> {
    let objects = names.iter().map(|name| Event::InitApply(object(name)));
    let all = [Event::Init].into_iter().chain(objects);
    all.chain([Event::InitDone]).collect()
}

#[test]
fn d81_before_the_list_is_complete_nothing_is_known() {
    let mut events = listing(&["a", "b"]);
    assert!(matches!(events.pop(), Some(Event::InitDone)));
    let mut listed = after(events);
    assert_eq!(listed.all().unwrap_err(), "not listed yet");
    listed.apply(Ok(Event::InitDone), declared);
    assert_eq!(listed.all().unwrap(), ["a", "b"]);
}

#[test]
fn d81_changes_are_followed() {
    let mut listed = after(listing(&["a", "b"]));
    listed.apply(Ok(Event::Apply(object("c"))), declared);
    listed.apply(Ok(Event::Delete(object("a"))), declared);
    assert_eq!(listed.all().unwrap(), ["b", "c"]);
    // What is in no new list is gone, but only when that is complete.
    listed.apply(Ok(Event::Init), declared);
    listed.apply(Ok(Event::InitApply(object("c"))), declared);
    assert_eq!(listed.all().unwrap(), ["b", "c"]);
    listed.apply(Ok(Event::InitDone), declared);
    assert_eq!(listed.all().unwrap(), ["c"]);
}

#[test]
fn d81_a_failed_watch_is_a_problem_until_the_next_list() {
    let mut listed = after(listing(&["a"]));
    listed.apply(Err(WatchError::NoResourceVersion), declared);
    let problem = listed.all().unwrap_err();
    assert!(problem.contains("resourceVersion"), "{problem}");
    for event in listing(&["b"]) {
        assert!(listed.all().is_err());
        listed.apply(Ok(event), declared);
    }
    assert_eq!(listed.all().unwrap(), ["b"]);
}

#[test]
fn d81_a_kind_that_is_not_installed_says_how_to_install_it() {
    let status = Status::failure("not found", "NotFound").with_code(404);
    let error = WatchError::InitialListFailed(kube::Error::Api(status.boxed()));
    let mut listed = Listed::<String>::default();
    listed.apply(Err(error), declared);
    let problem = listed.all().unwrap_err();
    assert!(problem.contains("lbcf crds"), "{problem}");
}

#[test]
fn d81_an_object_that_cannot_be_read_is_named() {
    let mut listed = after(listing(&["a", "bad"]));
    assert_eq!(listed.all().unwrap_err(), "shop/bad: spec: missing field");
    listed.apply(Ok(Event::Delete(object("bad"))), declared);
    assert_eq!(listed.all().unwrap(), ["a"]);
}

#[test]
fn d81_a_cluster_with_too_many_objects_is_not_compared() {
    let names: Vec<_> = (0..=MOST).map(|number| format!("o{number}")).collect();
    let names: Vec<_> = names.iter().map(String::as_str).collect();
    let mut listed = after(listing(&names));
    let problem = listed.all().unwrap_err();
    assert!(problem.contains("more than 100000"), "{problem}");
    listed.apply(Ok(Event::Apply(object("another"))), declared);
    assert_eq!(listed.objects.len(), MOST + 1, "no more than the limit");
    // Those beyond the limit are not known, so only a list shows that there are few enough.
    listed.apply(Ok(Event::Delete(object("o1"))), declared);
    assert!(listed.all().is_err());
    for event in listing(&names[..MOST]) {
        listed.apply(Ok(event), declared);
    }
    assert_eq!(listed.all().unwrap().len(), MOST);
}

//! Documents of the state: restored as they were, refused where they cannot be, and kept in a file.

use super::*;
use serde_json::{Value, json};

/// A cloud with everything that a state can have.
fn full() -> (Cloud, Clock) {
    let (cloud, clock) = with_clock();
    let shop = created(&cloud, "t", http(80));
    cloud.bind(&shop, "1.1.1.1:80", target(7)).unwrap();
    let foo = endpoint("lb-foo", "lsn-foo");
    for token in ["u", "v"] {
        cloud.take_into_use(token, &foo, map([("a", "b")])).unwrap();
    }
    cloud.release("u", &foo).unwrap();
    bind_by_hand(&cloud, &foo, "2.2.2.2:80");
    let paces = [
        CreationPace::Time(10 * SECOND),
        CreationPace::Polls(3),
        CreationPace::Held,
    ];
    for (token, pace) in ["w", "x", "y"].into_iter().zip(paces) {
        cloud
            .create(token, http(81), map([("c", "d")]), pace)
            .unwrap();
    }
    clock.advance(4 * SECOND);
    (cloud, clock)
}

fn through_json(cloud: &Cloud) -> Cloud {
    let text = serde_json::to_string(&cloud.state()).unwrap();
    Cloud::with_state(serde_json::from_str(&text).unwrap()).unwrap()
}

#[test]
fn a_restored_cloud_goes_on_where_it_was() {
    let (cloud, _) = full();
    let clock = Clock::manual();
    let restored = through_json(&cloud).with_clock(clock.clone());
    assert_eq!(restored.state(), cloud.state());
    // The first stage of ten seconds has lasted four.
    let stage = |token, pace| match restored.create(token, http(81), map([]), pace) {
        Ok(Creation::Running { stage, remaining }) => Some((stage, remaining)),
        Ok(Creation::Done(_)) => None,
        Err(error) => panic!("{error}"),
    };
    let time = CreationPace::Time(10 * SECOND);
    assert_eq!(
        stage("w", time),
        Some((CreationStage::Instance, Some(6 * SECOND)))
    );
    clock.advance(26 * SECOND);
    assert_eq!(stage("w", time), None);
    // One of three calls was before.
    assert!(stage("x", CreationPace::Polls(3)).is_some());
    assert!(stage("x", CreationPace::Polls(3)).is_some());
    assert_eq!(stage("x", CreationPace::Polls(3)), None);
    assert!(stage("y", CreationPace::Held).is_some());
    assert_eq!(restored.release_creations(Some("y")).len(), 1);
    assert_eq!(stage("y", CreationPace::Held), None);
    // The last release ends the use, and a new ID is new.
    let foo = endpoint("lb-foo", "lsn-foo");
    assert_eq!(
        restored.state().load_balancers[6].listeners[0]
            .targets
            .as_ref()
            .unwrap()
            .used_by
            .len(),
        2
    );
    restored.release("v", &foo).unwrap();
    let lbs = restored.state().load_balancers;
    assert!(
        lbs[6].listeners[0]
            .targets
            .as_ref()
            .unwrap()
            .used_by
            .is_empty()
    );
    assert_eq!(created(&restored, "z", tcp(1)).load_balancer, "lb-00000005");
}

#[test]
fn a_reset_returns_to_the_state_of_the_start() {
    let (cloud, _) = full();
    let restored = through_json(&cloud);
    let start = restored.state();
    restored
        .release("t", &endpoint_of(&restored, "lb-00000001"))
        .unwrap();
    bind_by_hand(&restored, &endpoint("lb-bar", "lsn-bar"), "a");
    created(&restored, "z", tcp(1));
    // One by one: created later, gone, changed, unknown.
    assert!(restored.reset_load_balancer("lb-00000005"));
    assert!(restored.reset_load_balancer("lb-00000001"));
    assert!(restored.reset_load_balancer("lb-bar"));
    assert!(!restored.reset_load_balancer("lb-99"));
    assert_eq!(restored.state().load_balancers, start.load_balancers);
    restored.reset();
    assert_eq!(restored.state(), start);
}

fn endpoint_of(cloud: &Cloud, id: &str) -> Endpoint {
    let lbs = cloud.state().load_balancers;
    let instance = lbs.iter().find(|instance| instance.id == id).unwrap();
    let rule = &instance.listeners[0].rules.as_ref().unwrap()[0];
    let rule = Rule::new(Some(&rule.domain), Some(&rule.url));
    Endpoint::new(id, &instance.listeners[0].id, Some(&rule))
}

fn problem(document: Value) -> String {
    let read = crate::strict::read::<CloudState>(document);
    match read.and_then(Cloud::with_state) {
        Ok(cloud) => panic!("{:?}", cloud.state()),
        Err(problem) => problem,
    }
}

fn with_instance(instance: Value) -> Value {
    json!({"loadBalancers": [instance]})
}

fn with_listener(listener: Value) -> Value {
    with_instance(json!({"id": "lb-1", "listeners": [listener]}))
}

#[test]
fn a_document_by_hand_needs_little() {
    let document = with_instance(json!({
        "id": "lb-00000003",
        "listeners": [
            {"id": "a", "protocol": "TCP", "port": 80, "targets": [{"addr": "1.1.1.1:80"}]},
            {"id": "b", "protocol": "UDP", "port": 80},
            {"id": "c", "protocol": "HTTP", "port": 81, "rules": [{"domain": "*", "url": "/"}]},
        ],
    }));
    let cloud = Cloud::with_state(crate::strict::read(document).unwrap()).unwrap();
    assert_eq!(
        cloud.observe().load_balancers[0].backends[0].addr,
        "1.1.1.1:80"
    );
    assert_eq!(created(&cloud, "t", tcp(1)).load_balancer, "lb-00000004");
    let empty = crate::strict::read(json!({})).unwrap();
    assert_eq!(
        Cloud::with_state(empty).unwrap().state(),
        Cloud::empty().state()
    );
}

#[test]
fn what_cannot_be_is_refused_with_its_place() {
    let tcp = |field: &str, value: Value| {
        let mut listener = json!({"id": "a", "protocol": "TCP", "port": 80});
        listener[field] = value;
        with_listener(listener)
    };
    let creation = |field: &str, value: Value| {
        let mut instance = json!({
            "id": "lb-1", "clientToken": "t",
            "creation": {"protocol": "TCP", "port": 80},
        });
        match field {
            "clientToken" => instance[field] = value,
            _ => instance["creation"][field] = value,
        }
        with_instance(instance)
    };
    for (document, expected) in [
        (json!([]), "must be an object"),
        (
            json!({"version": 2}),
            "version 2: this mock reads version 1",
        ),
        (json!({"loadBalancer": []}), "did you mean loadBalancers?"),
        (with_instance(json!({})), "missing field `id`"),
        (
            with_instance(json!({"id": ""})),
            "loadBalancers[0].id: is empty",
        ),
        (
            json!({"loadBalancers": [{"id": "a"}, {"id": "a"}]}),
            "loadBalancers[1].id: \"a\": is given twice",
        ),
        (
            with_instance(json!({"id": "a", "vpcs": "b"})),
            "did you mean vpc?",
        ),
        (
            with_instance(json!({"id": "a", "type": "PUBLIC"})),
            "loadBalancers[0].type: unknown variant",
        ),
        (
            tcp("port", 0.into()),
            "loadBalancers[0].listeners[0].port: 0: not a number from 1 to 65535",
        ),
        (
            tcp("port", 65536.into()),
            "listeners[0].port: invalid value",
        ),
        (tcp("protocol", "SCTP".into()), "unknown variant `SCTP`"),
        (tcp("target", json!([])), "did you mean targets?"),
        (tcp("rules", json!([])), "rules: a TCP listener has none"),
        (
            tcp("targets", json!([{"addr": ""}])),
            "targets[0].addr: is empty",
        ),
        (
            tcp("targets", json!([{"addr": "a"}, {"addr": "a"}])),
            "targets[1].addr: \"a\": is given twice",
        ),
        (
            tcp("targets", json!([{"addr": "a", "weight": 101}])),
            "targets[0].weight: 101",
        ),
        (
            tcp("targets", json!([{"addr": "a", "wait": 1}])),
            "unknown field `wait`",
        ),
        (
            with_instance(json!({"id": "a", "listeners": [
                {"id": "a", "protocol": "TCP", "port": 80}, {"id": "b", "protocol": "HTTP", "port": 80},
            ]})),
            "listeners[1].port: 80: is taken by listener a",
        ),
        (
            with_listener(
                json!({"id": "a", "protocol": "HTTP", "port": 80, "targets": [{"addr": "a"}]}),
            ),
            "those of a HTTP listener are in its rules",
        ),
        (
            with_listener(
                json!({"id": "a", "protocol": "HTTP", "port": 80, "rules": [{"domain": "*", "url": "x"}]}),
            ),
            "rules[0].url: \"x\": does not start with a slash",
        ),
        (
            with_listener(json!({"id": "a", "protocol": "HTTP", "port": 80, "rules": [
                {"domain": "*", "url": "/"}, {"domain": "*", "url": "/"},
            ]})),
            "rules[1].domain: with this url it is given twice",
        ),
        (
            creation("clientToken", Value::Null),
            "creation: comes with clientToken",
        ),
        (creation("port", 0.into()), "creation.port: 0"),
        (
            creation("complete", true.into()),
            "a complete creation has one of the listeners",
        ),
    ] {
        let problem = problem(document.clone());
        assert!(problem.contains(expected), "{document}: {problem}");
    }
}

/// A folder that is deleted with this.
struct Folder(std::path::PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let name = format!("lbcf-mock-{name}-{}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&folder).unwrap();
        Self(folder)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn stored(path: &Path) -> CloudState {
    serde_json::from_slice(&std::fs::read(path).unwrap()).unwrap()
}

#[test]
fn every_change_is_in_the_file_when_it_is_visible() {
    let folder = Folder::new("saved");
    let path = folder.0.join("state.json");
    let cloud = Cloud::with_samples();
    cloud.keep_in_file(&path).unwrap();
    assert_eq!(stored(&path), cloud.state());
    let made = created(&cloud, "t", tcp(80));
    assert_eq!(stored(&path), cloud.state());
    cloud.bind(&made, "a", target(1)).unwrap();
    assert_eq!(stored(&path), cloud.state());
    // The next process continues, whatever it would have begun with.
    let state = cloud.state();
    drop(cloud);
    let next = Cloud::empty();
    next.keep_in_file(&path).unwrap();
    assert_eq!(next.state(), state);
    next.reset();
    assert_eq!(stored(&path), Cloud::empty().state());
    // What does not change is not written.
    let written = std::fs::metadata(&path).unwrap().modified().unwrap();
    assert!(next.observe().load_balancers.is_empty());
    assert_eq!(
        std::fs::metadata(&path).unwrap().modified().unwrap(),
        written
    );
}

#[test]
fn a_damaged_file_is_refused_and_stays_as_it_is() {
    let folder = Folder::new("damaged");
    let path = folder.0.join("state.json");
    for (text, expected) in [
        ("", "state.json: "),
        ("{", "state.json: not JSON: "),
        (
            r#"{"version": 7}"#,
            "state.json: version: version 7: this mock reads version 1",
        ),
        (
            r#"{"loadBalancers": [{"id": ""}]}"#,
            "state.json: loadBalancers[0].id: is empty",
        ),
    ] {
        std::fs::write(&path, text).unwrap();
        let cloud = Cloud::with_samples();
        let problem = cloud.keep_in_file(&path).unwrap_err();
        assert!(problem.contains(expected), "{text}: {problem}");
        created(&cloud, "t", tcp(80));
        assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
    }
}

#[test]
fn a_file_that_cannot_be_written_is_reported_until_it_can() {
    let folder = Folder::new("unwritable");
    let path = folder.0.join("sub").join("state.json");
    let cloud = Cloud::empty();
    let problem = cloud.keep_in_file(&path).unwrap_err();
    assert!(problem.contains("state.json: "), "{problem}");
    std::fs::create_dir(folder.0.join("sub")).unwrap();
    cloud.keep_in_file(&path).unwrap();
    std::fs::remove_dir_all(folder.0.join("sub")).unwrap();
    created(&cloud, "t", tcp(80));
    assert!(cloud.unsaved().unwrap().contains("state.json: "));
    std::fs::create_dir(folder.0.join("sub")).unwrap();
    created(&cloud, "u", tcp(80));
    assert_eq!(cloud.unsaved(), None);
    assert_eq!(stored(&path), cloud.state());
}

#[test]
fn a_file_is_one_clouds_alone_until_that_is_gone() {
    let folder = Folder::new("claimed");
    let path = folder.0.join("state.json");
    let link = folder.0.join("link.json");
    std::os::unix::fs::symlink(&path, &link).unwrap();
    let first = Cloud::empty();
    first.keep_in_file(&link).unwrap();
    created(&first, "t", tcp(80));
    let second = Cloud::empty();
    let problem = second.keep_in_file(&path).unwrap_err();
    assert!(problem.contains("in use by another mock"), "{problem}");
    created(&second, "u", tcp(81));
    assert_eq!(stored(&path), first.state());
    drop(first);
    second.keep_in_file(&path).unwrap();
    assert_eq!(second.state().load_balancers.len(), 1);
}

#[test]
fn a_file_may_be_a_link_and_keeps_its_mode() {
    use std::os::unix::fs::PermissionsExt as _;
    let folder = Folder::new("linked");
    let (path, link) = (folder.0.join("state.json"), folder.0.join("link.json"));
    let mode = || std::fs::metadata(&path).unwrap().permissions().mode() & 0o777;
    std::os::unix::fs::symlink("state.json", &link).unwrap();
    let cloud = Cloud::empty();
    cloud.keep_in_file(&link).unwrap();
    assert_eq!(mode(), 0o600);
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o640)).unwrap();
    created(&cloud, "t", tcp(80));
    assert_eq!((mode(), stored(&path)), (0o640, cloud.state()));
    assert!(link.is_symlink());
}

#[tokio::test]
async fn no_call_succeeds_whose_change_is_not_in_the_file() {
    use tower::ServiceExt as _;
    let folder = Folder::new("full");
    let path = folder.0.join("sub").join("state.json");
    std::fs::create_dir(folder.0.join("sub")).unwrap();
    let cloud = Cloud::with_samples();
    cloud.keep_in_file(&path).unwrap();
    let driver = crate::ClbDriver::new(cloud.clone(), crate::MockOptions::default());
    let router = crate::router(driver);
    let ensure = async || {
        let body = r#"{"recordID":"e","retryID":"r","lbInfo":{"lbID":"lb-1234","lblID":"lbl-2234"},"backendAddr":"a:1","parameters":{"weight":"7"}}"#;
        let request = axum::http::Request::post("/ensureBackend").header("host", "localhost");
        let response = router
            .clone()
            .oneshot(request.body(axum::body::Body::from(body)).unwrap());
        response.await.unwrap().status().as_u16()
    };
    std::fs::remove_dir_all(folder.0.join("sub")).unwrap();
    assert_eq!(ensure().await, 503);
    // Nothing is left to do, and still nothing is in the file.
    assert_eq!(ensure().await, 503);
    std::fs::create_dir(folder.0.join("sub")).unwrap();
    assert_eq!(ensure().await, 200);
    assert_eq!(stored(&path), cloud.state());
}

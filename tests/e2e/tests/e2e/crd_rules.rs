//! What the CRDs refuse where no admission webhook is installed (d48).

use k8s_openapi::apiextensions_apiserver::pkg::apis::apiextensions::v1::CustomResourceDefinition;
use kube::Client;
use kube::api::{Api, DynamicObject, Patch, PatchParams, PostParams};
use kube::core::ApiResource;
use lbcf_controller::api::{
    BackendGroup, Bind, LoadBalancer, LoadBalancerDriver, NamespacedKind as Kind, crds,
};
use lbcf_e2e::manifests::{CLASS, NAMESPACE};
use lbcf_e2e::{World, until};
use serde_json::{Value, json};

fn driver() -> Value {
    json!({"driverType": "Webhook", "url": "http://driver.example"})
}

fn load_balancer() -> Value {
    json!({"lbDriver": "lbcf-clb", "lbSpec": {"lbID": "lb-1"}})
}

fn group() -> Value {
    json!({
        "loadBalancers": ["web-lb"],
        "pods": {
            "ports": [{"port": 80, "protocol": "TCP"}],
            "byLabel": {"selector": {"app": "web"}},
        },
    })
}

fn bind() -> Value {
    json!({
        "loadBalancers": [{"name": "a", "driver": "lbcf-clb", "spec": {"lbID": "lb-1"}}],
        "pods": {"ports": [{"port": 80, "protocol": "tcp"}], "byName": ["web-0"]},
    })
}

/// The selection of a service.
fn service() -> Value {
    json!({"name": "web", "port": {"port": 80}})
}

/// A spec with another value at this JSON pointer.
fn with(mut spec: Value, pointer: &str, value: Value) -> Value {
    set(&mut spec, pointer, value);
    spec
}

/// A spec with other values at the JSON pointers of a line: `POINTER VALUE; POINTER VALUE`.
fn changed(mut spec: Value, changes: &str) -> Value {
    for change in changes.split(';') {
        let (pointer, value) = change.trim().split_once(' ').unwrap();
        set(&mut spec, pointer, serde_json::from_str(value).unwrap());
    }
    spec
}

fn set(spec: &mut Value, pointer: &str, value: Value) {
    // A dot stands for all of it.
    let Some((parent, key)) = pointer.rsplit_once('/') else {
        *spec = value;
        return;
    };
    match spec.pointer_mut(parent).unwrap() {
        Value::Array(list) => list[key.parse::<usize>().unwrap()] = value,
        parent => parent[key] = value,
    }
}

/// The specs of a table: in each line the changes of `spec`, as JSON pointers with their values between
/// semicolons, and behind a bar a part of the message that refuses it, or `ok`.
fn rows<'a>(spec: &Value, table: &'a str) -> Vec<(Value, &'a str)> {
    let row = |line: &'a str| {
        let (changes, expected) = line.rsplit_once(" | ").unwrap();
        (changed(spec.clone(), changes), expected)
    };
    let lines = table.lines().filter(|line| !line.trim().is_empty());
    lines.map(row).collect()
}

/// Asserts that a spec and each row of its table is refused or accepted as the table says.
async fn validated<K: Kind>(world: &World, spec: Value, table: &str) {
    for (spec, expected) in rows(&spec, table) {
        match expected {
            "ok" => accepted::<K>(world, spec).await,
            expected => refused::<K>(world, spec, expected).await,
        }
    }
    accepted::<K>(world, spec).await;
}

fn api<K: Kind>(client: Client) -> Api<DynamicObject> {
    Api::namespaced_with(client, NAMESPACE, &ApiResource::erase::<K>(&()))
}

fn object<K: Kind>(name: &str, spec: &Value) -> DynamicObject {
    let mut object = DynamicObject::new(name, &ApiResource::erase::<K>(&()));
    object.data = json!({ "spec": spec });
    object
}

/// Asserts that creating the object is refused with this message.
async fn refused<K: Kind>(world: &World, spec: Value, expected: &str) {
    let api = api::<K>(world.client());
    let object = object::<K>("refused", &spec);
    let message = match api.create(&PostParams::default(), &object).await {
        Ok(_) => panic!("accepted: {spec}"),
        Err(error) => error.to_string(),
    };
    assert!(message.contains(expected), "{expected}\n{message}");
}

/// Asserts that an object can be created.
async fn accepted<K: Kind>(world: &World, spec: Value) {
    let api = api::<K>(world.client());
    let object = object::<K>("accepted", &spec);
    let created = api.create(&PostParams::default(), &object).await;
    let _ = created.unwrap_or_else(|error| panic!("{spec}: {error}"));
    api.delete("accepted", &Default::default()).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b73_b79_d48_a_group_is_validated_without_admission() {
    let world = World::bare().await;
    let of_pods = r#"
        /pods/ports/0/protocol "UPD" | spec.pods.ports[0].protocol: Invalid value: "UPD": must be TCP or UDP
        /pods/ports/0/protocol "tcp" | must be TCP or UDP
        /pods/ports/0/port -1 | spec.pods.ports[0].port: Invalid value: -1: must be a number from 1 to 65535
        /pods/ports/0/port 65536 | 65536: must be a number from 1 to 65535
        /pods/ports/0/port 0 | spec.pods.ports[0].port: Invalid value: required; must be a number from 1 to 65535
        /pods/ports [] | spec.pods.ports: Invalid value: at least one is required, as in ports: [{port: 80, protocol: TCP}]
        /pods/port {"port": 70000} | spec.pods.port.port: Invalid value: 70000
        /ensurePolicy {"policy": "Always", "minPeriod": "banana"} | spec.ensurePolicy.minPeriod: Invalid value: "banana": must be at least 30s
        /ensurePolicy {"policy": "Always", "minPeriod": "29s"} | "29s": must be at least 30s
        /ensurePolicy {"minPeriod": "40s"} | spec.ensurePolicy.minPeriod: Invalid value: only allowed with spec.ensurePolicy.policy Always
        /pods {"ports": [{"port": 80}]} | spec.pods: Invalid value: byLabel or byName is required
        /pods {"ports": [{"port": 80}], "byName": []} | byLabel or byName is required
        /pods/byLabel {"selector": {}} | selector is required
        /pods/byName ["web-0"] | spec.pods.byName: Invalid value: byLabel and byName cannot both be set
        /pods/byLabel/selector {"-a": "b"} | spec.pods.byLabel.selector: Invalid value: not a label's key
        /pods/byLabel/selector {"a": "b/c"} | not a label's value
        /pods/byLabel/except ["Web-0"] | spec.pods.byLabel.except[0]: Invalid value: "Web-0": must be an object's name
        /loadBalancers ["../x"] | spec.loadBalancers[0]: Invalid value: "../x": must be an object's name
        /loadBalancers [] | spec.loadBalancers: Invalid value: at least one is required
        /deregisterPolicy "Webhook"; /deregisterWebhook {"driverName": "My driver"} | spec.deregisterWebhook.driverName: Invalid value: must be an object's name
        /deregisterPolicy "Webhook" | deregisterWebhook is required with deregisterPolicy Webhook
        /pods/ports/0 {"portNumber": 80} | ok
        /pods/ports/0 {"port": 0, "portNumber": 80, "protocol": ""} | ok
        /pods/ports/0 {"port": 65535, "protocol": null} | ok
        /pods {"port": {"port": 80}, "byName": ["web-0"]} | ok
        /pods/byLabel/selector {"example.com/App_1.x": "", "b": "A.b_c-1"} | ok
        /ensurePolicy {"policy": "Always", "minPeriod": "30s"} | ok
        /ensurePolicy {"policy": "Always", "minPeriod": "1h0m0.5s"} | ok
        /ensurePolicy null; /lbName null | ok
    "#;
    validated::<BackendGroup>(&world, group(), of_pods).await;
    let of_service = r#"
        /service {"name": "Web", "port": {"port": 80, "protocol": "SCTP"}} | spec.service.name: Invalid value: "Web": must be an object's name
        /service/mode "Pods" | spec.service.mode: Unsupported value: "Pods": supported values: "NodePort", "Endpoints"
        /service/port {"name": "http", "port": 80} | spec.service.port: Invalid value: a name can be set only alone
        /service/port {"name": "Http"} | spec.service.port.name: Invalid value: "Http": must be at most 63 of a-z
        /service/port {} | spec.service.port.port: Invalid value: required; must be a number from 1 to 65535
        /service/port {"port": 80, "protocol": "SCTP"} | spec.service.port.protocol: Invalid value: must be TCP or UDP
        /service/addressFamilies ["IPv6"] | spec.service.addressFamilies: Invalid value: only allowed with spec.service.mode Endpoints
        /service/zones ["a"] | spec.service.zones: Invalid value: only allowed with spec.service.mode Endpoints
        /service/mode "Endpoints"; /service/zones ["a b"] | spec.service.zones[0]: Invalid value: "a b": must be the name of a zone
        /service/mode "Endpoints"; /service/addressFamilies ["IPX"] | spec.service.addressFamilies[0]: Unsupported value: "IPX": supported values: "IPv4", "IPv6", "FQDN"
        /service/mode "Endpoints"; /service/nodeSelector {"a": "b"} | spec.service.nodeSelector: Invalid value: only allowed with spec.service.mode NodePort
        /service/mode "NodePort"; /service/nodeSelector {"a": "b"} | ok
        /service/port {"name": "http"} | ok
        /service {"name": "web", "mode": "Endpoints", "port": {"name": "", "port": 80, "protocol": "SCTP"}, "addressFamilies": ["IPv4", "IPv6", "FQDN"], "zones": ["zone-a"]} | ok
        . {"lbName": "web-lb", "service": {"name": "web", "port": {"port": 80}, "nodeSelector": {"kubernetes.io/os": "linux"}}} | ok
    "#;
    let group_of_service = json!({"loadBalancers": ["web-lb"], "service": service()});
    validated::<BackendGroup>(&world, group_of_service, of_service).await;
    let of_addresses = r#"
        /static null | spec: Invalid value: one of pods, service and static is required
        /static [] | one of pods, service and static is required
        /static [" "] | spec.static[0]: Invalid value: " ": must be an address that the driver understands
        . {"lbName": "web-lb", "static": ["{\"ip\":\"1.1.1.1\"}"]} | ok
    "#;
    let group_of_addresses = json!({"loadBalancers": ["web-lb"], "static": ["1.1.1.1:80"]});
    validated::<BackendGroup>(&world, group_of_addresses, of_addresses).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b67_d48_a_driver_is_validated_without_admission() {
    let world = World::bare().await;
    let table = r#"
        /url "not a url" | spec.url: Invalid value: not a driver's URL, which is http://HOST[:PORT][/PATH] or the same with https
        /url "ftp://driver.example" | not a driver's URL
        /url "http:///path" | not a driver's URL
        /webhooks [{"name": "ensureBackend", "timeout": "99h"}] | spec.webhooks[0].timeout: Invalid value: "99h": must be more than 0 and at most 1m, as in 15s
        /webhooks [{"name": "ensureBackend", "timeout": "banana"}] | "banana": must be more than 0 and at most 1m
        /webhooks [{"name": "ensureBackend", "timeout": "0s"}] | "0s": must be more than 0
        /webhooks [{"name": "ensureBackend", "timeout": "-1s"}] | "-1s": must be more than 0
        /webhooks [{"name": "ensureBackend", "timeout": "61s"}] | "61s": must be more than 0 and at most 1m
        /webhooks [{"name": "ensureBackend", "timeout": "999999h999999h"}] | must be more than 0 and at most 1m
        /webhooks [{"name": "ensureBackends"}] | spec.webhooks[0].name: Invalid value: "ensureBackends": must be one of
        /webhooks [{"name": "healthz"}, {"name": "healthz"}] | spec.webhooks: Invalid value: duplicate; each webhook may be listed once
        /driverType "Socket" | driverType must be Webhook
        /url "HTTPS://me:pw@[::1]:8443/lbcf?zone=1" | ok
        /webhooks [{"name": "ensureBackend", "timeout": "1m"}] | ok
        /webhooks [{"name": "ensureBackend", "timeout": "0h1m0s"}] | ok
        /webhooks [{"name": "ensureBackend", "timeout": ".5s"}] | ok
        /webhooks [{"name": "ensureBackend", "timeout": "60000ms"}] | ok
        /webhooks [{"name": "judgePodDeregister", "timeout": null}] | ok
        /webhooks null | ok
    "#;
    validated::<LoadBalancerDriver>(&world, driver(), table).await;
    let secret = with(driver(), "/url", json!("http//me:secret@driver"));
    let api = api::<LoadBalancerDriver>(world.client());
    let object = object::<LoadBalancerDriver>("secret", &secret);
    let error = api.create(&PostParams::default(), &object).await;
    let message = error.unwrap_err().to_string();
    assert!(!message.contains("secret@"), "{message}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b72_b73_d48_a_load_balancer_is_validated_without_admission() {
    let world = World::bare().await;
    let table = r#"
        /scope ["*"] | spec.scope is only allowed where the name starts with "lbcf-"
        /scope ["Web"] | spec.scope[0]: Invalid value: "Web": must be * or the name of a namespace
        /lbDriver "" | spec.lbDriver: Invalid value: "": must be an object's name
        /ensurePolicy {"policy": "Always", "minPeriod": "banana"} | spec.ensurePolicy.minPeriod: Invalid value: "banana"
        /ensurePolicy {"policy": "Always", "minPeriod": "29.9s"} | "29.9s": must be at least 30s
        /ensurePolicy {"policy": "IfNotSucc", "minPeriod": "1m"} | only allowed with spec.ensurePolicy.policy Always
        /lbSpec {"port": 80} | ok
        /attributes null; /scope null | ok
    "#;
    validated::<LoadBalancer>(&world, load_balancer(), table).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b93_b96_d14_d48_a_bind_is_validated_without_admission() {
    let world = World::bare().await;
    let first = &bind()["loadBalancers"][0];
    let twice = with(bind(), "/loadBalancers", json!([first, first]));
    let message =
        "spec.loadBalancers: Invalid value: duplicate; names must be unique within a Bind";
    refused::<Bind>(&world, twice, message).await;
    // The original controller accepted names that end with a hyphen and protocols in lower case.
    let table = r#"
        /loadBalancers [] | spec.loadBalancers: Invalid value: at least one is required
        /loadBalancers/0/name "a.b" | spec.loadBalancers[0].name: Invalid value: "a.b": must be at most 63 of
        /loadBalancers/0/driver "A" | spec.loadBalancers[0].driver: Invalid value: "A": must be an object's name
        /loadBalancers/0/spec {} | spec.loadBalancers[0].spec: Invalid value: required; it identifies a load balancer
        /pods/ports/0/protocol "UPD" | "UPD": must be TCP or UDP
        /pods/byName [] | byLabel or byName is required
        /ensurePolicy {"policy": "Always", "resyncPeriodInSeconds": 9} | spec.ensurePolicy.resyncPeriodInSeconds: Invalid value: 9: must be at least 10
        /ensurePolicy {"policy": "Always", "minPeriod": "9s"} | "9s": must be at least 10s
        /loadBalancers/0/name "a-" | ok
        /pods/ports/0/protocol "Udp" | ok
        /ensurePolicy {"policy": "IfNotSucc", "resyncPeriodInSeconds": 10} | ok
    "#;
    validated::<Bind>(&world, bind(), table).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d72_d75_a_service_class_is_validated_without_admission() {
    let world = World::bare().await;
    let class = json!({"name": CLASS, "lbSpec": {"id": "$(name)"}});
    let driver = with(driver(), "/serviceClass", class);
    let table = r#"
        /serviceClass/lbSpec {"port": "$(prot)"} | lbSpec: Invalid value: placeholders are $(port), $(protocol), $(namespace), $(name) and $(uid)
        /serviceClass/lbSpec {"port": "$(port"} | lbSpec: Invalid value: placeholders are $(port), $(protocol), $(namespace), $(name) and $(uid)
        /serviceClass/parameters {"port": "a$()"} | parameters: Invalid value: placeholders are $(port), $(protocol), $(namespace), $(name) and $(uid)
        /serviceClass/loadBalancers "PerService"; /serviceClass/lbSpec {"port": "$(port)"} | spec.serviceClass.lbSpec: Invalid value: $(port) and $(protocol) are only allowed with loadBalancers PerPort
        /serviceClass/serviceFields {"ports": "x"} | spec.serviceClass.serviceFields: Invalid value: the fields are externalTrafficPolicy,
        /serviceClass/name "a/b/c" | spec.serviceClass.name: Invalid value: "a/b/c": must be a class
        /serviceClass/lbSpec {"a": "$(namespace)-$(name)-$(uid)", "b": "$5 $$", "c": "$(port)/$(protocol)"} | ok
        /serviceClass/loadBalancers "PerService"; /serviceClass/parameters {"port": "$(port)"} | ok
    "#;
    validated::<LoadBalancerDriver>(&world, driver, table).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d77_a_bind_of_a_service_is_validated_without_admission() {
    let world = World::bare().await;
    let lbs = bind()["loadBalancers"].clone();
    let neither = json!({"loadBalancers": lbs});
    refused::<Bind>(&world, neither, "one of pods and service is required").await;
    let both = with(bind(), "/service", service());
    refused::<Bind>(&world, both, "only one of pods and service can be set").await;
    let table = r#"
        /service/mode "Pods" | spec.service.mode: Unsupported value: "Pods"
        /service/name "Web" | spec.service.name: Invalid value: "Web": must be an object's name
        /service/port {"name": "HTTP"} | spec.service.port.name: Invalid value: "HTTP": must be at most 63 of
        /service/port {"name": "http", "port": 80} | spec.service.port: Invalid value: a name can be set only alone
        /service/port {} | spec.service.port.port: Invalid value: required; must be a number from 1 to 65535
        /service/port {"port": 80, "protocol": "SCTP"} | spec.service.port.protocol: Invalid value: must be TCP or UDP
        /service/zones ["a"] | spec.service.zones: Invalid value: only allowed with spec.service.mode Endpoints
        /service/mode "Endpoints"; /service/nodeSelector {"pool": "web"} | spec.service.nodeSelector: Invalid value: only allowed with spec.service.mode NodePort
        /service/nodeSelector {"pool": "web"} | ok
        /service/mode "Endpoints"; /service/port {"name": "http"}; /service/zones ["a"] | ok
        /pods null | ok
    "#;
    validated::<Bind>(
        &world,
        json!({"loadBalancers": lbs, "service": service()}),
        table,
    )
    .await;
    // One may replace the other, and neither joins it.
    let pods = &bind()["pods"];
    let patches = [
        (
            json!({"service": service()}),
            Some("only one of pods and service can be set"),
        ),
        (
            json!({"pods": null}),
            Some("one of pods and service is required"),
        ),
        (json!({"pods": null, "service": service()}), None),
        (json!({"pods": pods, "service": null}), None),
    ];
    changes::<Bind>(&world, bind(), &patches).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b40_d13_u8_d48_the_identity_of_a_binds_load_balancers_is_immutable_without_admission() {
    let world = World::bare().await;
    let another = json!({"name": "b", "driver": "other", "spec": {"lbID": "lb-2"}});
    let prefix = "spec.loadBalancers: Invalid value";
    let messages = ["driver", "spec"]
        .map(|field| format!("{prefix}: {field} of a load balancer is immutable"));
    let changed = |pointer: &str, value: Value| with(bind(), pointer, value);
    let patches = [
        (
            changed("/loadBalancers/0/driver", json!("other")),
            Some(&*messages[0]),
        ),
        (
            changed("/loadBalancers/0/spec/lbID", json!("lb-2")),
            Some(&*messages[1]),
        ),
        (changed("/loadBalancers/0", another), None),
    ];
    changes::<Bind>(&world, bind(), &patches).await;
}

/// Stores an object and applies merge patches to its spec, each of which is refused with its message or
/// accepted.
async fn changes<K: Kind>(world: &World, spec: Value, patches: &[(Value, Option<&str>)]) {
    let api = api::<K>(world.client());
    // A name that may have a scope.
    let stored = object::<K>("lbcf-changed", &spec);
    api.create(&PostParams::default(), &stored).await.unwrap();
    for (patch, expected) in patches {
        let params = PatchParams::default();
        let merge = Patch::Merge(json!({ "spec": patch }));
        let patched = api.patch("lbcf-changed", &params, &merge).await;
        match (patched, expected) {
            (Ok(_), None) => {}
            (Err(error), Some(expected)) if error.to_string().contains(expected) => {}
            (patched, expected) => panic!("{spec}, {patch}: {expected:?}, not {patched:?}"),
        }
    }
    let deleted = api.delete("lbcf-changed", &Default::default()).await;
    deleted.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b68_b74_d10_d11_d48_what_identifies_a_driver_or_load_balancer_never_changes() {
    let world = World::bare().await;
    let webhooks = json!([{"name": "validateBackend", "timeout": "5s"}]);
    changes::<LoadBalancerDriver>(
        &world,
        driver(),
        &[
            (json!({"url": "http://elsewhere"}), Some("url is immutable")),
            (json!({"driverType": "Socket"}), Some("must be Webhook")),
            (
                json!({"webhooks": webhooks, "acceptDryRunCall": true}),
                None,
            ),
        ],
    )
    .await;
    changes::<LoadBalancer>(
        &world,
        load_balancer(),
        &[
            (json!({"lbDriver": "other"}), Some("lbDriver is immutable")),
            (
                json!({"lbSpec": {"lbID": "lb-2"}}),
                Some("lbSpec is immutable"),
            ),
            (
                json!({"attributes": {"a": "b"}, "ensurePolicy": {"policy": "Always"}, "scope": ["a"]}),
                None,
            ),
        ],
    )
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b82_d48_the_kind_of_backends_of_a_group_never_changes() {
    let world = World::bare().await;
    let lbs = json!(["web-lb"]);
    let kinds = [
        ("pods", group()),
        (
            "service",
            json!({"loadBalancers": lbs, "service": service()}),
        ),
        ("static", json!({"loadBalancers": lbs, "static": ["a"]})),
    ];
    for (old_name, old) in &kinds {
        let mut patches = Vec::new();
        for (name, new) in kinds.iter().filter(|(name, _)| name != old_name) {
            let patch = json!({ *old_name: null, *name: new[name] });
            patches.push((patch, Some("the type of backends cannot be changed from")));
        }
        // The rest may change.
        let rest = json!({"loadBalancers": ["other"], "parameters": {"weight": "1"},
            "ensurePolicy": {"policy": "Always"}, "deregisterPolicy": "IfNotRunning"});
        patches.push((rest, None));
        changes::<BackendGroup>(&world, old.clone(), &patches).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b82_d48_what_a_group_selects_may_become_nothing() {
    let world = World::bare().await;
    let addresses = json!({"loadBalancers": ["web-lb"], "static": ["1.1.1.1:80"]});
    let emptied = (json!({"static": null}), None);
    changes::<BackendGroup>(&world, addresses, &[emptied]).await;
    let pods = json!({"ports": [{"port": 80}], "byName": ["web-0"]});
    let named = json!({"loadBalancers": ["web-lb"], "pods": pods});
    let emptied = (json!({"pods": {"byName": []}}), None);
    changes::<BackendGroup>(&world, named, &[emptied]).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d47_what_is_too_large_is_refused() {
    let world = World::bare().await;
    let map = |count: usize, length: usize| -> Value {
        let value = json!("x".repeat(length));
        let entries = (0..count).map(|number| (format!("key-{number:04}"), value.clone()));
        entries.collect::<serde_json::Map<_, _>>().into()
    };
    let lb = |field: &str, map: Value| with(load_balancer(), field, map);
    let long_key = json!({"k".repeat(254): ""});
    for (spec, expected) in [
        (
            lb("/attributes", map(1, 1_000_000)),
            "spec.attributes.key-0000: Too long: may not be more than 16384 bytes",
        ),
        (
            lb("/attributes", map(257, 1)),
            "spec.attributes: Too many: 257: must have at most 256 items",
        ),
        (
            lb("/lbSpec", map(200, 400)),
            "spec.lbSpec: Invalid value: keys and values have at most 65536 characters in all",
        ),
        (
            lb("/attributes", long_key),
            "spec.attributes: Invalid value: keys have at most 253 characters",
        ),
    ] {
        refused::<LoadBalancer>(&world, spec, expected).await;
    }
    // The largest that is allowed.
    let largest = lb("/attributes", map(256, 65536 / 256 - 8));
    accepted::<LoadBalancer>(&world, largest).await;
    let of_bind = |name: &str| json!({"name": name, "driver": "lbcf-clb", "spec": {"lbID": "lb-1"}, "attributes": map(100, 500)});
    let lbs = json!(["a", "b", "c"].map(of_bind));
    let spec = with(bind(), "/loadBalancers", lbs);
    let expected = "spec.loadBalancers: Invalid value: the keys and values of spec and attributes have at most 131072 characters in all";
    refused::<Bind>(&world, spec, expected).await;
    let spec = with(group(), "/parameters", map(257, 1));
    let expected = "spec.parameters: Too many: 257: must have at most 256 items";
    refused::<BackendGroup>(&world, spec, expected).await;
    let addresses = vec!["x".repeat(1000); 300];
    let spec = json!({"loadBalancers": ["web-lb"], "static": addresses});
    let expected = "spec.static: Invalid value: at most 262144 characters in all";
    refused::<BackendGroup>(&world, spec, expected).await;
}

/// Everything that today's rules refuse and that a cluster may have stored before.
fn stored_before() -> Vec<(ApiResource, DynamicObject)> {
    fn of<K: Kind>(name: &str, spec: Value) -> (ApiResource, DynamicObject) {
        (ApiResource::erase::<K>(&()), object::<K>(name, &spec))
    }
    let long = "x".repeat(300_000);
    let many = (0..500).map(|number| (format!("key-{number}"), json!("value")));
    let many = Value::Object(many.collect());
    let names = |count: usize| {
        json!(Vec::from_iter(
            (0..count).map(|number| format!("pod-{number}"))
        ))
    };
    let first = &bind()["loadBalancers"][0];
    let of_driver = format!(
        r#"/url "not a url"; /webhooks [{{"name": "ensureBackend", "timeout": "9999999h"}},
            {{"name": "ensureBackend", "timeout": "banana"}}, {{"name": "{long}"}}]"#
    );
    let of_lb = format!(
        r#"/lbDriver "No driver"; /attributes {many}; /scope ["Web"];
            /ensurePolicy {{"policy": "Always", "minPeriod": "999999999h"}}"#
    );
    let of_group = format!(
        r#"/pods/ports/0 {{"port": -1, "protocol": "UPD"}}; /parameters {{"weight": "{long}"}};
            /pods/byLabel/selector {{"{long}": "{long}"}}; /pods/byLabel/except {}"#,
        names(2100)
    );
    let of_bind = format!(
        r#"/loadBalancers [{first}, {first},
            {{"name": "c", "driver": "No driver", "spec": {{}}, "attributes": {many}}}];
            /ensurePolicy {{"policy": "Always", "resyncPeriodInSeconds": 1}}"#
    );
    let nothing = json!({"loadBalancers": ["web-lb"]});
    let many = json!({"loadBalancers": names(200), "static": names(5000)});
    vec![
        of::<LoadBalancerDriver>("clb", changed(driver(), &of_driver)),
        of::<LoadBalancer>("web-lb", changed(load_balancer(), &of_lb)),
        of::<BackendGroup>("odd", changed(group(), &of_group)),
        of::<BackendGroup>("nothing", nothing),
        of::<BackendGroup>("many", many),
        of::<Bind>("twice", changed(bind(), &of_bind)),
    ]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d48_objects_that_were_stored_before_the_rules_can_be_written_and_deleted() {
    if lbcf_e2e::needs_embedded("CRDs without rules") {
        return;
    }
    let world = World::without_rules().await;
    let objects = stored_before();
    let api = |kind: &ApiResource| -> Api<DynamicObject> {
        Api::namespaced_with(world.client(), NAMESPACE, kind)
    };
    let (params, patching) = (PostParams::default(), PatchParams::default());
    for (kind, object) in &objects {
        let mut object = object.clone();
        object.metadata.finalizers = Some(vec!["example.com/test".to_owned()]);
        api(kind).create(&params, &object).await.unwrap();
    }
    world.upgrade_crds().await;
    for (kind, object) in &objects {
        let (api, name) = (api(kind), object.metadata.name.as_deref().unwrap());
        let mut again = object.clone();
        again.metadata.name = Some(format!("{name}-again"));
        let refused = api.create(&params, &again).await;
        assert!(refused.is_err(), "{name} can be created again");
        // As the controller writes: labels, status, finalizers.
        let label = Patch::Merge(json!({"metadata": {"labels": {"a": "b"}}}));
        api.patch(name, &patching, &label).await.unwrap();
        let status = Patch::Merge(json!({"status": {"conditions": []}}));
        api.patch_status(name, &patching, &status).await.unwrap();
        api.delete(name, &Default::default()).await.unwrap();
        let status = Patch::Merge(json!({"status": {"conditions": [
            {"type": "Created", "status": "False"}]}}));
        api.patch_status(name, &patching, &status).await.unwrap();
        let done = Patch::Merge(json!({"metadata": {"finalizers": null}}));
        api.patch(name, &patching, &done).await.unwrap();
        until("it is deleted", async || {
            api.get_opt(name).await.unwrap().is_none().then_some(())
        })
        .await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d48_a_real_cluster_accepts_the_crds() {
    let world = World::bare().await;
    let kinds: Api<CustomResourceDefinition> = Api::all(world.client());
    // A dry run validates the rules and estimates their cost.
    let params = PatchParams::apply("lbcf-e2e").force().dry_run();
    for crd in crds() {
        let name = crd.metadata.name.clone().unwrap();
        let applied = kinds.patch(&name, &params, &Patch::Apply(&crd)).await;
        applied.unwrap_or_else(|error| panic!("{name}: {error}"));
    }
}

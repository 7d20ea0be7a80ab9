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

/// A group of a service with these changes of its selection.
fn of_service(changes: Value) -> Value {
    let mut service = json!({"name": "web", "port": {"port": 80}});
    if let (Some(service), Value::Object(changes)) = (service.as_object_mut(), changes) {
        service.extend(changes);
    }
    json!({"loadBalancers": ["web-lb"], "service": service})
}

/// A spec with other values at these JSON pointers.
fn with<const N: usize>(mut spec: Value, changes: [(&str, Value); N]) -> Value {
    for (pointer, value) in changes {
        let (parent, key) = pointer.rsplit_once('/').unwrap();
        match spec.pointer_mut(parent).unwrap() {
            Value::Array(list) => list[key.parse::<usize>().unwrap()] = value,
            parent => parent[key] = value,
        }
    }
    spec
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
    let ports = "/pods/ports";
    for (spec, expected) in [
        (
            with(group(), [("/pods/ports/0/protocol", json!("UPD"))]),
            r#"spec.pods.ports[0].protocol: Invalid value: "UPD": must be TCP or UDP"#,
        ),
        (
            with(group(), [("/pods/ports/0/protocol", json!("tcp"))]),
            "must be TCP or UDP",
        ),
        (
            with(group(), [("/pods/ports/0/port", json!(-1))]),
            "spec.pods.ports[0].port: Invalid value: -1: must be a number from 1 to 65535",
        ),
        (
            with(group(), [("/pods/ports/0/port", json!(65536))]),
            "65536: must be a number from 1 to 65535",
        ),
        (
            with(group(), [("/pods/ports/0/port", json!(0))]),
            "spec.pods.ports[0].port: Invalid value: required; must be a number from 1 to 65535",
        ),
        (
            with(group(), [(ports, json!([]))]),
            "spec.pods.ports: Invalid value: at least one is required, as in ports: [{port: 80, protocol: TCP}]",
        ),
        (
            with(group(), [("/pods/port", json!({"port": 70000}))]),
            "spec.pods.port.port: Invalid value: 70000",
        ),
        (
            with(
                group(),
                [(
                    "/ensurePolicy",
                    json!({"policy": "Always", "minPeriod": "banana"}),
                )],
            ),
            r#"spec.ensurePolicy.minPeriod: Invalid value: "banana": must be at least 30s"#,
        ),
        (
            with(
                group(),
                [(
                    "/ensurePolicy",
                    json!({"policy": "Always", "minPeriod": "29s"}),
                )],
            ),
            r#""29s": must be at least 30s"#,
        ),
        (
            with(group(), [("/ensurePolicy", json!({"minPeriod": "40s"}))]),
            "spec.ensurePolicy.minPeriod: Invalid value: only allowed with spec.ensurePolicy.policy Always",
        ),
        // Groups that select nothing.
        (
            json!({"loadBalancers": ["web-lb"]}),
            "spec: Invalid value: one of pods, service and static is required",
        ),
        (
            json!({"loadBalancers": ["web-lb"], "static": []}),
            "one of pods, service and static is required",
        ),
        (
            with(group(), [("/pods", json!({"ports": [{"port": 80}]}))]),
            "spec.pods: Invalid value: byLabel or byName is required",
        ),
        (
            with(
                group(),
                [("/pods", json!({"ports": [{"port": 80}], "byName": []}))],
            ),
            "byLabel or byName is required",
        ),
        (
            with(group(), [("/pods/byLabel", json!({"selector": {}}))]),
            "selector is required",
        ),
        (
            with(group(), [("/pods/byName", json!(["web-0"]))]),
            "spec.pods.byName: Invalid value: byLabel and byName cannot both be set",
        ),
        (
            with(group(), [("/pods/byLabel/selector", json!({"-a": "b"}))]),
            "spec.pods.byLabel.selector: Invalid value: not a label's key",
        ),
        (
            with(group(), [("/pods/byLabel/selector", json!({"a": "b/c"}))]),
            "not a label's value",
        ),
        (
            with(group(), [("/pods/byLabel/except", json!(["Web-0"]))]),
            r#"spec.pods.byLabel.except[0]: Invalid value: "Web-0": must be an object's name"#,
        ),
        (
            with(group(), [("/loadBalancers", json!(["../x"]))]),
            r#"spec.loadBalancers[0]: Invalid value: "../x": must be an object's name"#,
        ),
        (
            with(group(), [("/loadBalancers", json!([]))]),
            "spec.loadBalancers: Invalid value: at least one is required",
        ),
        (
            json!({"loadBalancers": ["web-lb"], "static": [" "]}),
            r#"spec.static[0]: Invalid value: " ": must be an address that the driver understands"#,
        ),
        (
            json!({"loadBalancers": ["web-lb"],
                "service": {"name": "Web", "port": {"port": 80, "protocol": "SCTP"}}}),
            r#"spec.service.name: Invalid value: "Web": must be an object's name"#,
        ),
        (
            of_service(json!({"mode": "Pods"})),
            r#"spec.service.mode: Unsupported value: "Pods": supported values: "NodePort", "Endpoints""#,
        ),
        (
            of_service(json!({"port": {"name": "http", "port": 80}})),
            "spec.service.port: Invalid value: a name can be set only alone",
        ),
        (
            of_service(json!({"port": {"name": "Http"}})),
            r#"spec.service.port.name: Invalid value: "Http": must be at most 63 of a-z"#,
        ),
        (
            of_service(json!({"port": {}})),
            "spec.service.port.port: Invalid value: required; must be a number from 1 to 65535",
        ),
        (
            of_service(json!({"port": {"port": 80, "protocol": "SCTP"}})),
            "spec.service.port.protocol: Invalid value: must be TCP or UDP",
        ),
        (
            of_service(json!({"addressFamilies": ["IPv6"]})),
            "spec.service.addressFamilies: Invalid value: only allowed with spec.service.mode Endpoints",
        ),
        (
            of_service(json!({"zones": ["a"]})),
            "spec.service.zones: Invalid value: only allowed with spec.service.mode Endpoints",
        ),
        (
            of_service(json!({"mode": "Endpoints", "zones": ["a b"]})),
            r#"spec.service.zones[0]: Invalid value: "a b": must be the name of a zone"#,
        ),
        (
            of_service(json!({"mode": "Endpoints", "addressFamilies": ["IPX"]})),
            r#"spec.service.addressFamilies[0]: Unsupported value: "IPX": supported values: "IPv4", "IPv6", "FQDN""#,
        ),
        (
            of_service(json!({"mode": "Endpoints", "nodeSelector": {"a": "b"}})),
            "spec.service.nodeSelector: Invalid value: only allowed with spec.service.mode NodePort",
        ),
        (
            with(
                group(),
                [
                    ("/deregisterPolicy", json!("Webhook")),
                    ("/deregisterWebhook", json!({"driverName": "My driver"})),
                ],
            ),
            "spec.deregisterWebhook.driverName: Invalid value: must be an object's name",
        ),
        (
            with(group(), [("/deregisterPolicy", json!("Webhook"))]),
            "deregisterWebhook is required with deregisterPolicy Webhook",
        ),
    ] {
        refused::<BackendGroup>(&world, spec, expected).await;
    }
    for spec in [
        group(),
        of_service(json!({"mode": "NodePort", "nodeSelector": {"a": "b"}})),
        of_service(json!({"port": {"name": "http"}})),
        of_service(json!({
            "mode": "Endpoints", "port": {"name": "", "port": 80, "protocol": "SCTP"},
            "addressFamilies": ["IPv4", "IPv6", "FQDN"], "zones": ["zone-a"],
        })),
        with(group(), [("/pods/ports/0", json!({"portNumber": 80}))]),
        with(
            group(),
            [(
                "/pods/ports/0",
                json!({"port": 0, "portNumber": 80, "protocol": ""}),
            )],
        ),
        with(
            group(),
            [("/pods/ports/0", json!({"port": 65535, "protocol": null}))],
        ),
        with(
            group(),
            [("/pods", json!({"port": {"port": 80}, "byName": ["web-0"]}))],
        ),
        with(
            group(),
            [(
                "/pods/byLabel/selector",
                json!({"example.com/App_1.x": "", "b": "A.b_c-1"}),
            )],
        ),
        with(
            group(),
            [(
                "/ensurePolicy",
                json!({"policy": "Always", "minPeriod": "30s"}),
            )],
        ),
        with(
            group(),
            [(
                "/ensurePolicy",
                json!({"policy": "Always", "minPeriod": "1h0m0.5s"}),
            )],
        ),
        with(
            group(),
            [("/ensurePolicy", json!(null)), ("/lbName", json!(null))],
        ),
        json!({"lbName": "web-lb", "static": [r#"{"ip":"1.1.1.1"}"#]}),
        json!({"lbName": "web-lb", "service": {"name": "web", "port": {"port": 80},
            "nodeSelector": {"kubernetes.io/os": "linux"}}}),
    ] {
        accepted::<BackendGroup>(&world, spec).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b67_d48_a_driver_is_validated_without_admission() {
    let world = World::bare().await;
    let webhooks = |webhooks: Value| with(driver(), [("/webhooks", webhooks)]);
    let timeout = |text: &str| webhooks(json!([{"name": "ensureBackend", "timeout": text}]));
    for (spec, expected) in [
        (
            with(driver(), [("/url", json!("not a url"))]),
            "spec.url: Invalid value: not a driver's URL, which is http://HOST[:PORT][/PATH] or the same with https",
        ),
        (
            with(driver(), [("/url", json!("ftp://driver.example"))]),
            "not a driver's URL",
        ),
        (
            with(driver(), [("/url", json!("http:///path"))]),
            "not a driver's URL",
        ),
        (
            timeout("99h"),
            r#"spec.webhooks[0].timeout: Invalid value: "99h": must be more than 0 and at most 1m, as in 15s"#,
        ),
        (
            timeout("banana"),
            r#""banana": must be more than 0 and at most 1m"#,
        ),
        (timeout("0s"), r#""0s": must be more than 0"#),
        (timeout("-1s"), r#""-1s": must be more than 0"#),
        (
            timeout("61s"),
            r#""61s": must be more than 0 and at most 1m"#,
        ),
        (
            timeout("999999h999999h"),
            "must be more than 0 and at most 1m",
        ),
        (
            webhooks(json!([{"name": "ensureBackends"}])),
            r#"spec.webhooks[0].name: Invalid value: "ensureBackends": must be one of "#,
        ),
        (
            webhooks(json!([{"name": "healthz"}, {"name": "healthz"}])),
            "spec.webhooks: Invalid value: duplicate; each webhook may be listed once",
        ),
        (
            with(driver(), [("/driverType", json!("Socket"))]),
            "driverType must be Webhook",
        ),
    ] {
        refused::<LoadBalancerDriver>(&world, spec, expected).await;
    }
    let secret = with(driver(), [("/url", json!("http//me:secret@driver"))]);
    let api = api::<LoadBalancerDriver>(world.client());
    let object = object::<LoadBalancerDriver>("secret", &secret);
    let error = api.create(&PostParams::default(), &object).await;
    let message = error.unwrap_err().to_string();
    assert!(!message.contains("secret@"), "{message}");
    for spec in [
        with(
            driver(),
            [("/url", json!("HTTPS://me:pw@[::1]:8443/lbcf?zone=1"))],
        ),
        timeout("1m"),
        timeout("0h1m0s"),
        timeout(".5s"),
        timeout("60000ms"),
        webhooks(json!([{"name": "judgePodDeregister", "timeout": null}])),
        webhooks(json!(null)),
    ] {
        accepted::<LoadBalancerDriver>(&world, spec).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b72_b73_d48_a_load_balancer_is_validated_without_admission() {
    let world = World::bare().await;
    for (spec, expected) in [
        (
            with(load_balancer(), [("/scope", json!(["*"]))]),
            r#"spec.scope is only allowed where the name starts with "lbcf-""#,
        ),
        (
            with(load_balancer(), [("/scope", json!(["Web"]))]),
            r#"spec.scope[0]: Invalid value: "Web": must be * or the name of a namespace"#,
        ),
        (
            with(load_balancer(), [("/lbDriver", json!(""))]),
            r#"spec.lbDriver: Invalid value: "": must be an object's name"#,
        ),
        (
            with(
                load_balancer(),
                [(
                    "/ensurePolicy",
                    json!({"policy": "Always", "minPeriod": "banana"}),
                )],
            ),
            r#"spec.ensurePolicy.minPeriod: Invalid value: "banana""#,
        ),
        (
            with(
                load_balancer(),
                [(
                    "/ensurePolicy",
                    json!({"policy": "Always", "minPeriod": "29.9s"}),
                )],
            ),
            r#""29.9s": must be at least 30s"#,
        ),
        (
            with(
                load_balancer(),
                [(
                    "/ensurePolicy",
                    json!({"policy": "IfNotSucc", "minPeriod": "1m"}),
                )],
            ),
            "only allowed with spec.ensurePolicy.policy Always",
        ),
    ] {
        refused::<LoadBalancer>(&world, spec, expected).await;
    }
    for spec in [
        load_balancer(),
        with(load_balancer(), [("/lbSpec", json!({"port": 80}))]),
        with(
            load_balancer(),
            [("/attributes", json!(null)), ("/scope", json!(null))],
        ),
    ] {
        accepted::<LoadBalancer>(&world, spec).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b93_b96_d14_d48_a_bind_is_validated_without_admission() {
    let world = World::bare().await;
    let first = bind()["loadBalancers"][0].clone();
    for (spec, expected) in [
        (
            with(bind(), [("/loadBalancers", json!([first, first]))]),
            "spec.loadBalancers: Invalid value: duplicate; names must be unique within a Bind",
        ),
        (
            with(bind(), [("/loadBalancers", json!([]))]),
            "spec.loadBalancers: Invalid value: at least one is required",
        ),
        (
            with(bind(), [("/loadBalancers/0/name", json!("a.b"))]),
            r#"spec.loadBalancers[0].name: Invalid value: "a.b": must be at most 63 of"#,
        ),
        (
            with(bind(), [("/loadBalancers/0/driver", json!("A"))]),
            r#"spec.loadBalancers[0].driver: Invalid value: "A": must be an object's name"#,
        ),
        (
            with(bind(), [("/loadBalancers/0/spec", json!({}))]),
            "spec.loadBalancers[0].spec: Invalid value: required; it identifies a load balancer",
        ),
        (
            with(bind(), [("/pods/ports/0/protocol", json!("UPD"))]),
            r#""UPD": must be TCP or UDP"#,
        ),
        (
            with(bind(), [("/pods/byName", json!([]))]),
            "byLabel or byName is required",
        ),
        (
            with(
                bind(),
                [(
                    "/ensurePolicy",
                    json!({"policy": "Always", "resyncPeriodInSeconds": 9}),
                )],
            ),
            "spec.ensurePolicy.resyncPeriodInSeconds: Invalid value: 9: must be at least 10",
        ),
        (
            with(
                bind(),
                [(
                    "/ensurePolicy",
                    json!({"policy": "Always", "minPeriod": "9s"}),
                )],
            ),
            r#""9s": must be at least 10s"#,
        ),
    ] {
        refused::<Bind>(&world, spec, expected).await;
    }
    for spec in [
        bind(),
        // The original controller accepted these.
        with(bind(), [("/loadBalancers/0/name", json!("a-"))]),
        with(bind(), [("/pods/ports/0/protocol", json!("Udp"))]),
        with(
            bind(),
            [(
                "/ensurePolicy",
                json!({"policy": "IfNotSucc", "resyncPeriodInSeconds": 10}),
            )],
        ),
    ] {
        accepted::<Bind>(&world, spec).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d72_d75_a_service_class_is_validated_without_admission() {
    let world = World::bare().await;
    let driver = |changes: Value| {
        let mut class = json!({"name": CLASS, "lbSpec": {"id": "$(name)"}});
        if let (Some(class), Value::Object(changes)) = (class.as_object_mut(), changes) {
            class.extend(changes);
        }
        json!({"driverType": "Webhook", "url": "http://driver", "serviceClass": class})
    };
    let placeholders = "placeholders are $(port), $(protocol), $(namespace), $(name) and $(uid)";
    for (changes, field, expected) in [
        (
            json!({"lbSpec": {"port": "$(prot)"}}),
            "lbSpec",
            placeholders,
        ),
        (
            json!({"lbSpec": {"port": "$(port"}}),
            "lbSpec",
            placeholders,
        ),
        (
            json!({"parameters": {"port": "a$()"}}),
            "parameters",
            placeholders,
        ),
        (
            json!({"loadBalancers": "PerService", "lbSpec": {"port": "$(port)"}}),
            "lbSpec",
            "$(port) and $(protocol) are only allowed with loadBalancers PerPort",
        ),
        (
            json!({"serviceFields": {"ports": "x"}}),
            "serviceFields",
            "the fields are externalTrafficPolicy,",
        ),
        (json!({"name": "a/b/c"}), "name", "must be a class"),
    ] {
        let field = format!("spec.serviceClass.{field}: Invalid value: ");
        refused::<LoadBalancerDriver>(&world, driver(changes.clone()), &field).await;
        refused::<LoadBalancerDriver>(&world, driver(changes), expected).await;
    }
    for changes in [
        json!({}),
        json!({"lbSpec": {"a": "$(namespace)-$(name)-$(uid)", "b": "$5 $$", "c": "$(port)/$(protocol)"}}),
        json!({"loadBalancers": "PerService", "parameters": {"port": "$(port)"}}),
    ] {
        accepted::<LoadBalancerDriver>(&world, driver(changes)).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn d77_a_bind_of_a_service_is_validated_without_admission() {
    let world = World::bare().await;
    let declared = bind()["loadBalancers"].clone();
    let of_service = |changes: Value| {
        let mut bind = of_service(changes);
        bind["loadBalancers"] = declared.clone();
        bind
    };
    let neither = json!({"loadBalancers": bind()["loadBalancers"]});
    let both = with(
        bind(),
        [("/service", of_service(json!({}))["service"].clone())],
    );
    for (spec, expected) in [
        (neither, "one of pods and service is required"),
        (both.clone(), "only one of pods and service can be set"),
        (
            of_service(json!({"mode": "Pods"})),
            r#"spec.service.mode: Unsupported value: "Pods""#,
        ),
        (
            of_service(json!({"name": "Web"})),
            r#"spec.service.name: Invalid value: "Web": must be an object's name"#,
        ),
        (
            of_service(json!({"port": {"name": "HTTP"}})),
            r#"spec.service.port.name: Invalid value: "HTTP": must be at most 63 of"#,
        ),
        (
            of_service(json!({"port": {"name": "http", "port": 80}})),
            "spec.service.port: Invalid value: a name can be set only alone",
        ),
        (
            of_service(json!({"port": {}})),
            "spec.service.port.port: Invalid value: required; must be a number from 1 to 65535",
        ),
        (
            of_service(json!({"port": {"port": 80, "protocol": "SCTP"}})),
            "spec.service.port.protocol: Invalid value: must be TCP or UDP",
        ),
        (
            of_service(json!({"zones": ["a"]})),
            "spec.service.zones: Invalid value: only allowed with spec.service.mode Endpoints",
        ),
        (
            of_service(json!({"mode": "Endpoints", "nodeSelector": {"pool": "web"}})),
            "spec.service.nodeSelector: Invalid value: only allowed with spec.service.mode NodePort",
        ),
    ] {
        refused::<Bind>(&world, spec, expected).await;
    }
    for spec in [
        of_service(json!({})),
        of_service(json!({"nodeSelector": {"pool": "web"}})),
        of_service(json!({"mode": "Endpoints", "port": {"name": "http"}, "zones": ["a"]})),
        with(of_service(json!({})), [("/pods", Value::Null)]),
    ] {
        accepted::<Bind>(&world, spec).await;
    }
    // One may replace the other, and neither joins it.
    let binds = api::<Bind>(world.client());
    let stored = object::<Bind>("bind", &bind());
    binds.create(&PostParams::default(), &stored).await.unwrap();
    let patch = async |spec: Value| {
        let patch = Patch::Merge(json!({ "spec": spec }));
        binds.patch("bind", &PatchParams::default(), &patch).await
    };
    let service = of_service(json!({}))["service"].clone();
    for spec in [json!({"service": service}), json!({"pods": null})] {
        patch(spec).await.unwrap_err();
    }
    patch(json!({"pods": null, "service": service}))
        .await
        .unwrap();
    let pods = bind()["pods"].clone();
    patch(json!({"pods": pods, "service": null})).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn b40_d13_u8_d48_the_identity_of_a_binds_load_balancers_is_immutable_without_admission() {
    let world = World::bare().await;
    let api = api::<Bind>(world.client());
    let stored = object::<Bind>("bind", &bind());
    api.create(&PostParams::default(), &stored).await.unwrap();
    let patch = async |spec: Value| {
        let patch = Patch::Merge(json!({ "spec": spec }));
        api.patch("bind", &PatchParams::default(), &patch).await
    };
    for (spec, field) in [
        (
            with(bind(), [("/loadBalancers/0/driver", json!("other"))]),
            "driver",
        ),
        (
            with(bind(), [("/loadBalancers/0/spec/lbID", json!("lb-2"))]),
            "spec",
        ),
    ] {
        let message = patch(spec).await.unwrap_err().to_string();
        let expected =
            format!("spec.loadBalancers: Invalid value: {field} of a load balancer is immutable");
        assert!(message.contains(&expected), "{message}");
    }
    let mut renamed = bind();
    renamed["loadBalancers"][0] = json!({"name": "b", "driver": "other", "spec": {"lbID": "lb-2"}});
    patch(renamed).await.unwrap();
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
        ("service", of_service(json!({}))),
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
    let api = api::<BackendGroup>(world.client());
    for (name, spec, emptied) in [
        (
            "static",
            json!({"loadBalancers": ["web-lb"], "static": ["1.1.1.1:80"]}),
            json!({"static": null}),
        ),
        (
            "named",
            json!({"loadBalancers": ["web-lb"],
                "pods": {"ports": [{"port": 80}], "byName": ["web-0"]}}),
            json!({"pods": {"byName": []}}),
        ),
    ] {
        let stored = object::<BackendGroup>(name, &spec);
        api.create(&PostParams::default(), &stored).await.unwrap();
        let patch = Patch::Merge(json!({ "spec": emptied }));
        api.patch(name, &PatchParams::default(), &patch)
            .await
            .unwrap();
    }
}

/// Everything that today's rules refuse and that a cluster may have stored before.
fn stored_before() -> Vec<(ApiResource, DynamicObject)> {
    fn of<K: Kind>(name: &str, spec: Value) -> (ApiResource, DynamicObject) {
        (ApiResource::erase::<K>(&()), object::<K>(name, &spec))
    }
    let long = "x".repeat(300_000);
    let mut many = serde_json::Map::new();
    for number in 0..500 {
        many.insert(format!("key-{number}"), json!("value"));
    }
    let names = |count: usize| -> Value {
        let names = (0..count).map(|number| format!("pod-{number}"));
        names.collect::<Vec<_>>().into()
    };
    let first = bind()["loadBalancers"][0].clone();
    vec![
        of::<LoadBalancerDriver>(
            "clb",
            with(
                driver(),
                [
                    ("/url", json!("not a url")),
                    (
                        "/webhooks",
                        json!([{"name": "ensureBackend", "timeout": "9999999h"},
                        {"name": "ensureBackend", "timeout": "banana"}, {"name": long}]),
                    ),
                ],
            ),
        ),
        of::<LoadBalancer>(
            "web-lb",
            with(
                load_balancer(),
                [
                    ("/lbDriver", json!("No driver")),
                    ("/attributes", many.clone().into()),
                    ("/scope", json!(["Web"])),
                    (
                        "/ensurePolicy",
                        json!({"policy": "Always", "minPeriod": "999999999h"}),
                    ),
                ],
            ),
        ),
        of::<BackendGroup>(
            "odd",
            with(
                group(),
                [
                    ("/pods/ports/0", json!({"port": -1, "protocol": "UPD"})),
                    ("/pods/byLabel/selector", json!({long.clone(): long})),
                    ("/pods/byLabel/except", names(2100)),
                    ("/parameters", json!({"weight": long})),
                ],
            ),
        ),
        of::<BackendGroup>("nothing", json!({"loadBalancers": ["web-lb"]})),
        of::<BackendGroup>(
            "many",
            json!({"loadBalancers": names(200), "static": names(5000)}),
        ),
        of::<Bind>(
            "twice",
            with(
                bind(),
                [
                    (
                        "/loadBalancers",
                        json!([first, first,
                        {"name": "c", "driver": "No driver", "spec": {}, "attributes": many}]),
                    ),
                    (
                        "/ensurePolicy",
                        json!({"policy": "Always", "resyncPeriodInSeconds": 1}),
                    ),
                ],
            ),
        ),
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

use super::*;
use serde_json::json;

fn file(name: &str, text: &str) -> ManifestFile {
    ManifestFile {
        name: name.to_owned(),
        text: text.to_owned(),
    }
}

/// The converted object, and what changed without the object's name.
fn converted_with(object: &Value, labels: Option<&str>) -> Result<(Value, Vec<String>), String> {
    let labels = labels.map(|labels| labels.parse().unwrap());
    let result = convert(&[file("f", &object.to_string())], labels.as_ref());
    let result = result.map_err(|errors| errors.to_string())?;
    let changes = result.changes.iter().map(|change| {
        let text = change.to_string();
        let (_, change) = text.split_once(": ").unwrap();
        let (_, change) = change.split_once(": ").unwrap();
        change.split_once(": ").unwrap().1.to_owned()
    });
    let changes = changes.collect();
    let after = serde_saphyr::from_str(result.yaml.strip_prefix("---").unwrap()).unwrap();
    // The result is today's.
    let again = convert(&[file("f", &result.yaml)], None).unwrap();
    assert_eq!((again.changes, &again.yaml), (Vec::new(), &result.yaml));
    Ok((after, changes))
}

fn converted(object: &Value) -> (Value, Vec<String>) {
    converted_with(object, None).unwrap()
}

fn error(object: &Value) -> String {
    converted_with(object, None).unwrap_err()
}

fn group(spec: Value) -> Value {
    of_kind("BackendGroup", "v1beta1", spec)
}

fn of_kind(kind: &str, version: &str, spec: Value) -> Value {
    json!({
        "apiVersion": format!("lbcf.tkestack.io/{version}"), "kind": kind,
        "metadata": {"name": "web", "namespace": "shop"}, "spec": spec,
    })
}

#[test]
fn b4_the_former_group_becomes_todays() {
    for (kind, version) in [
        ("LoadBalancerDriver", "v1beta1"),
        ("LoadBalancer", "v1beta1"),
        ("BackendGroup", "v1beta1"),
        ("BackendRecord", "v1beta1"),
        ("Bind", "v1"),
    ] {
        let mut object = of_kind(kind, version, json!({}));
        assert_eq!(converted(&object), (object.clone(), Vec::new()));
        let today = object["apiVersion"].take();
        object["apiVersion"] = json!("tke.cloud.tencent.com/v1beta1");
        let (after, changes) = converted(&object);
        assert_eq!(after["apiVersion"], today);
        let expected = format!("apiVersion: \"tke.cloud.tencent.com/v1beta1\" -> {today}");
        assert_eq!(changes, [expected]);
        object["apiVersion"] = json!("lbcf.tkestack.io/v2");
        let allowed = format!(
            "f: document 1: {kind} shop/web: apiVersion: \"lbcf.tkestack.io/v2\": must be {}, or \
             tke.cloud.tencent.com/v1beta1, which is converted",
            today.as_str().unwrap()
        );
        assert_eq!(error(&object), allowed);
    }
}

#[test]
fn b89_b90_b91_fields_of_the_first_edition_are_moved() {
    let (after, changes) = converted(&group(json!({
        "lbName": "lb",
        "pods": {"port": {"portNumber": 80, "protocol": "UDP"}, "byName": ["a"]},
    })));
    assert_eq!(
        after["spec"],
        json!({
            "loadBalancers": ["lb"],
            "pods": {"ports": [{"port": 80, "protocol": "UDP"}], "byName": ["a"]},
        })
    );
    assert_eq!(
        changes,
        [
            r#"spec.lbName: "lb" -> spec.loadBalancers: ["lb"]"#,
            r#"spec.pods.port: {"portNumber":80,"protocol":"UDP"} -> spec.pods.ports: [{"port":80,"protocol":"UDP"}]"#,
        ]
    );
    let (after, changes) = converted(&group(json!({
        "loadBalancers": ["lb"],
        "service": {"name": "s", "port": {"portNumber": 80}},
    })));
    assert_eq!(after["spec"]["service"]["port"], json!({"port": 80}));
    assert_eq!(
        changes,
        ["spec.service.port.portNumber: 80 -> spec.service.port.port: 80"]
    );
    let (_, changes) = converted(&group(json!({
        "pods": {"ports": [{"port": 80, "portNumber": 81}], "byName": []},
    })));
    assert_eq!(changes, ["spec.pods.ports[0].portNumber: 81 -> (removed)"]);
}

#[test]
fn d21_labels_move_into_the_selector() {
    let (after, changes) = converted(&group(json!({"pods": {
        "byLabel": {"app": "web", "tier": 2, "except": ["web-3"]},
    }})));
    assert_eq!(
        after["spec"]["pods"]["byLabel"],
        json!({"selector": {"app": "web", "tier": "2"}, "except": ["web-3"]})
    );
    assert_eq!(
        changes,
        [
            r#"spec.pods.byLabel.app: "web" -> spec.pods.byLabel.selector.app: "web""#,
            r#"spec.pods.byLabel.tier: 2 -> spec.pods.byLabel.selector.tier: "2""#,
        ]
    );
    // What is in both is not lost.
    let (after, _) = converted(&group(json!({"pods": {
        "byLabel": {"app": "web", "selector": {"app": "web", "a": "b"}},
    }})));
    assert_eq!(
        after["spec"]["pods"]["byLabel"],
        json!({"selector": {"app": "web", "a": "b"}})
    );
}

#[test]
fn d21_a_selection_without_pods_gets_the_given_labels_or_is_an_error() {
    for pods in [
        json!({}),
        json!({"byLabel": null, "byName": null}),
        json!({"byLabel": {}}),
        json!({"byLabel": {"selector": {}}}),
    ] {
        for object in [
            group(json!({"pods": pods})),
            of_kind("Bind", "v1", json!({"pods": pods})),
        ] {
            let problem = error(&object);
            for text in ["shop/web: spec.pods: ", "byName: [", "--pod-selector app="] {
                assert!(problem.contains(text), "{text}: {problem}");
            }
            let (after, changes) = converted_with(&object, Some("app=web")).unwrap();
            assert_eq!(
                after["spec"]["pods"]["byLabel"],
                json!({"selector": {"app": "web"}})
            );
            assert_eq!(
                changes,
                [r#"spec.pods.byLabel.selector: (absent) -> {"app":"web"}"#]
            );
        }
    }
    // These select pods, or did before their names were removed.
    for pods in [
        json!({"byLabel": {"selector": {"a": "b"}}}),
        json!({"byName": ["a"]}),
        json!({"byName": []}),
    ] {
        let object = group(json!({"pods": pods}));
        let (after, changes) = converted_with(&object, Some("app=web")).unwrap();
        assert_eq!((after, changes), (object, Vec::new()));
    }
}

#[test]
fn d20_numbers_in_maps_of_strings_become_strings() {
    let map = json!({"weight": 50, "text": "1"});
    let record = json!({"lbInfo": map, "lbAttributes": map, "parameters": map});
    let lbs = json!([{"name": "a", "spec": map, "attributes": map}]);
    let bind = json!({"loadBalancers": lbs, "parameters": map});
    let lb = json!({"lbSpec": map, "attributes": map});
    for (object, fields) in [
        (of_kind("LoadBalancer", "v1beta1", lb), "lbSpec attributes"),
        (group(json!({"parameters": map})), "parameters"),
        (
            of_kind("Bind", "v1", bind),
            "loadBalancers[0].spec loadBalancers[0].attributes parameters",
        ),
        (
            of_kind("BackendRecord", "v1beta1", record),
            "lbInfo lbAttributes parameters",
        ),
    ] {
        let change = |field| format!("spec.{field}.weight: 50 -> \"50\"");
        let expected = Vec::from_iter(fields.split(' ').map(change));
        assert_eq!(converted(&object).1, expected);
    }
    for (value, shown) in [
        ("1.10", "1.1"),
        ("true", "true"),
        ("null", "null"),
        ("[a]", "[\"a\"]"),
    ] {
        let text = format!(
            "apiVersion: lbcf.tkestack.io/v1beta1\nkind: BackendGroup\nmetadata: {{name: x}}\n\
             spec: {{parameters: {{version: {value}}}}}\n"
        );
        let errors = convert(&[file("f", &text)], None).unwrap_err();
        assert_eq!(
            errors.to_string(),
            format!(
                "f: document 1: BackendGroup x: spec.parameters.version: {shown}: must be a string; \
                 write the value in quotes, as it is meant"
            )
        );
    }
}

#[test]
fn d18_a_record_of_the_documents_becomes_one_of_the_controllers() {
    let object = json!({
        "apiVersion": "tke.cloud.tencent.com/v1beta1", "kind": "BackendRecord",
        "metadata": {
            "name": "0123", "namespace": "shop", "uid": "u", "resourceVersion": "7",
            "generation": 1, "creationTimestamp": "2020-01-01T00:00:00Z", "selfLink": "/x",
            "managedFields": [],
            "finalizers": ["lbcf.tkestack.io/deregister-backend"],
            "ownerReferences": [
                {"apiVersion": "tke.cloud.tencent.com/v1beta1", "kind": "BackendGroup", "name": "web", "uid": "v"},
                {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "rs", "uid": "w"},
            ],
        },
        "spec": {
            "attributes": {"a": "b"},
            "podBackend": {"name": "web-0", "port": {"portNumber": 80}},
            "serviceBackend": {"port": {"portNumber": 81}},
        },
    });
    let (after, changes) = converted(&object);
    assert_eq!(
        after,
        json!({
            "apiVersion": "lbcf.tkestack.io/v1beta1", "kind": "BackendRecord",
            "metadata": {
                "name": "0123", "namespace": "shop",
                "finalizers": ["lbcf.tkestack.io/deregister-backend"],
                "ownerReferences": [
                    {"apiVersion": "lbcf.tkestack.io/v1beta1", "kind": "BackendGroup", "name": "web", "uid": "v"},
                    {"apiVersion": "apps/v1", "kind": "ReplicaSet", "name": "rs", "uid": "w"},
                ],
            },
            "spec": {
                "lbAttributes": {"a": "b"},
                "podBackend": {"name": "web-0", "port": {"port": 80}},
                "serviceBackend": {"port": {"port": 81}},
            },
        })
    );
    assert_eq!(changes.len(), 1 + 6 + 1 + 3, "{changes:?}");
    assert!(changes.contains(&r#"metadata.uid: "u" -> (removed)"#.to_owned()));
}

const SHARED: &str = "
apiVersion: lbcf.tkestack.io/v1beta1
kind: LoadBalancer
metadata: {name: edge, namespace: kube-system}
spec: {lbDriver: lbcf-d, lbSpec: {id: a}, scope: [shop, blog]}
";

fn group_in(namespace: &str) -> String {
    format!(
        "
apiVersion: lbcf.tkestack.io/v1beta1
kind: BackendGroup
metadata: {{name: web{namespace}}}
spec: {{loadBalancers: [edge], static: [a]}}
"
    )
}

#[test]
fn b58_a_shared_load_balancer_gets_the_prefix_and_groups_follow() {
    let files = [
        file("group.yaml", &group_in(", namespace: shop")),
        file(
            "rest.yaml",
            &format!("{SHARED}---{}", group_in(", namespace: other")),
        ),
        file("anywhere.yaml", &group_in("")),
    ];
    let changes: Vec<String> = convert(&files, None)
        .unwrap()
        .changes
        .iter()
        .map(Change::to_string)
        .collect();
    assert_eq!(
        changes,
        [
            "group.yaml: document 1: BackendGroup shop/web: spec.loadBalancers[0]: \"edge\" -> \"lbcf-edge\"",
            "rest.yaml: document 1: LoadBalancer kube-system/edge: metadata.name: \"edge\" -> \"lbcf-edge\"",
            "anywhere.yaml: document 1: BackendGroup web: spec.loadBalancers[0]: \"edge\" -> \"lbcf-edge\"",
        ]
    );
    // The namespace has a load balancer of that name.
    let own = SHARED
        .replace("kube-system", "shop")
        .replace(", scope: [shop, blog]", "");
    let files = [
        file("a", SHARED),
        file("b", &own),
        file("c", &group_in(", namespace: shop")),
    ];
    assert_eq!(convert(&files, None).unwrap().changes.len(), 1);
}

#[test]
fn b55_a_scope_that_no_name_can_repair_is_an_error() {
    for (text, parts) in [
        (
            SHARED.replace("kube-system", "shop"),
            [
                "spec.scope: [\"shop\",\"blog\"]: ",
                "namespace: kube-system",
            ],
        ),
        (
            SHARED.replace(", namespace: kube-system", ""),
            [
                "spec.scope: [\"shop\",\"blog\"]: ",
                "namespace: kube-system",
            ],
        ),
        (
            format!("{SHARED}---{}", SHARED.replace("edge", "lbcf-edge")),
            ["metadata.name: \"edge\": ", "lbcf-edge is another one"],
        ),
    ] {
        let errors = convert(&[file("f", &text)], None).unwrap_err().to_string();
        for part in parts {
            assert!(errors.contains(part), "{part}: {errors}");
        }
    }
}

#[test]
fn what_needs_no_conversion_keeps_its_text() {
    let text = "# why\nkind: ConfigMap\napiVersion: v1 # core\ndata: {a: 1.10}\n--- # next\n\n\
                {\"kind\": \"LoadBalancer\", \"apiVersion\": \"example.com/v1\", \"spec\": 7}";
    let converted = convert(&[file("f", text)], None).unwrap();
    assert_eq!(
        converted.yaml,
        "---\n# why\nkind: ConfigMap\napiVersion: v1 # core\ndata: {a: 1.10}\n---\n # next\n\n\
         {\"kind\": \"LoadBalancer\", \"apiVersion\": \"example.com/v1\", \"spec\": 7}\n"
    );
    assert!(converted.changes.is_empty());
    let nothing = convert(&[file("f", "# nothing\n---\n\n")], None).unwrap();
    assert_eq!(nothing.yaml, "");
}

#[test]
fn lists_are_converted_item_by_item() {
    let old = |kind: &str| format!("{{apiVersion: tke.cloud.tencent.com/v1beta1, kind: {kind}");
    let text = format!(
        "apiVersion: v1\nkind: List\nitems:\n- {{apiVersion: v1, kind: Pod}}\n\
         - {}, metadata: {{name: web}}, spec: {{lbName: a, static: [b]}}}}\n\
         ---\n{}, items: []}}\n",
        old("BackendGroup"),
        old("BackendGroupList"),
    );
    let converted = convert(&[file("f", &text)], None).unwrap();
    let changes: Vec<String> = converted.changes.iter().map(Change::to_string).collect();
    assert_eq!(changes.len(), 3, "{changes:?}");
    assert_eq!(
        changes[1],
        "f: document 1, items[1]: BackendGroup web: spec.lbName: \"a\" -> spec.loadBalancers: [\"a\"]"
    );
    assert!(
        changes[2].starts_with("f: document 2: apiVersion: "),
        "{changes:?}"
    );
}

#[test]
fn strings_that_look_like_other_types_stay_strings() {
    let odd = [
        "yes", "on", "~", "null", "0123", "1e3", "0x1f", "1_000", "12:30", " x ", "#a", "a: b",
        "…\n\t",
    ];
    let parameters: Value = odd
        .iter()
        .map(|odd| ((*odd).to_owned(), json!(odd)))
        .collect();
    let object = group(json!({"lbName": "a", "static": ["b"], "parameters": parameters}));
    let (after, _) = converted(&object);
    assert_eq!(after["spec"]["parameters"], parameters);
}

#[test]
fn u23_fields_of_the_wrong_type_are_named() {
    // The spec of a kind, or a whole object.
    let table = r#"
        Object {"a": 1} | kind: null: must be the name of a kind
        Object {"kind": 7} | kind: 7: must be the name of a kind
        Object {"kind": "Bind"} | Bind: apiVersion: null: must be the group and version
        Object {"kind": "Bind", "apiVersion": "lbcf.tkestack.io/v1beta2", "spec": {}} | must be lbcf.tkestack.io/v1, or tke
        Object {"kind": "Bind", "apiVersion": "lbcf.tkestack.io/v1"} | metadata: null: must be an object
        Object {"kind": "Bind", "apiVersion": "lbcf.tkestack.io/v1", "metadata": {}} | spec: null: must be an object
        Object {"kind": "Bind", "apiVersion": "lbcf.tkestack.io/v1", "metadata": {"name": 1e31}, "spec": {}} | Bind: metadata.name: 1e+31: must be a string
        BackendGroup {"lbName": 7} | shop/web: spec.lbName: 7: must be the name of a LoadBalancer
        BackendGroup {"lbName": "a", "loadBalancers": "b"} | spec.loadBalancers: "b": must be a list
        BackendGroup {"service": []} | spec.service: []: must be an object
        BackendGroup {"service": {"port": {"portNumber": "http"}}} | spec.service.port.portNumber: "http": must be a number from 1 to 65535
        Bind {"service": {"port": {"portNumber": 0}}} | spec.service.port.portNumber: 0: must be a number from 1 to 65535
        BackendGroup {"pods": {"port": {"portNumber": 70000}, "byName": ["a"]}} | spec.pods.port.portNumber: 70000: must be a number from 1 to 65535
        BackendGroup {"pods": 7} | spec.pods: 7: must be an object
        BackendGroup {"pods": {"port": 80, "byName": ["a"]}} | spec.pods.port: 80: must be an object
        BackendGroup {"pods": {"ports": 80, "byName": ["a"]}} | spec.pods.ports: 80: must be a list
        BackendGroup {"pods": {"byLabel": "app=web"}} | spec.pods.byLabel: "app=web": must be an object
        BackendGroup {"pods": {"byLabel": {"app": ["a"]}}} | spec.pods.byLabel.app: ["a"]: must be a string, the value of a label
        BackendGroup {"pods": {"byLabel": {"app": "a", "selector": {"app": "b"}}}} | spec.pods.byLabel.app: "a": must be "b" as in spec.pods.byLabel.selector
        BackendGroup {"pods": {"byLabel": {"app": "a", "selector": "x"}}} | spec.pods.byLabel.selector: "x": must be an object
        BackendGroup {"pods": {"byLabel": {"app": "a", "except": "web-3"}}} | spec.pods.byLabel.except: "web-3": must be a list
        BackendGroup {"parameters": "weight=50"} | spec.parameters: "weight=50": must be an object
        Bind {"loadBalancers": {}} | spec.loadBalancers: {}: must be a list
        BackendRecord {"podBackend": "web-0"} | spec.podBackend: "web-0": must be an object
    "#;
    for line in table.lines().filter(|line| !line.trim().is_empty()) {
        let (object, expected) = line.trim().split_once(" | ").unwrap();
        let (kind, value) = object.split_once(' ').unwrap();
        let value: Value = serde_json::from_str(value).unwrap();
        let object = match kind {
            "Object" => value,
            "Bind" => of_kind(kind, "v1", value),
            kind => of_kind(kind, "v1beta1", value),
        };
        let problem = error(&object);
        assert!(problem.contains(expected), "{expected}: {problem}");
    }
}

#[test]
fn all_errors_are_reported_and_values_are_shortened() {
    let long = "x".repeat(5000);
    let files = [
        file(
            "a",
            &group(json!({"lbName": [long], "pods": {}})).to_string(),
        ),
        file("b", "kind: {"),
    ];
    let errors = convert(&files, None).unwrap_err();
    assert_eq!(errors.0.len(), 3, "{errors}");
    assert!(errors.to_string().len() < 1500, "{errors}");
    assert_eq!(errors.to_string().lines().count(), 3, "{errors}");
}

#[test]
fn u23_whatever_a_manifest_looks_like_conversion_returns() {
    let odd = json!([null, 7, "x", [], {}, [null, 7, "x", [], {}]]);
    let api_version = "tke.cloud.tencent.com/v1beta1";
    let kinds = "LoadBalancerDriver LoadBalancer BackendGroup BackendRecord Bind List BindList";
    let of_spec = "lbName loadBalancers pods service static parameters lbSpec attributes scope lbInfo podBackend webhooks";
    for kind in kinds.split(' ') {
        for value in odd.as_array().unwrap() {
            let with = |metadata: Value, spec: Value| {
                let object = json!({
                    "apiVersion": api_version, "kind": kind, "metadata": metadata, "spec": spec, "items": value,
                });
                drop(convert(&[file("f", &object.to_string())], None));
            };
            with(value.clone(), value.clone());
            for field in ["name", "namespace", "ownerReferences", "labels", "uid"] {
                with(json!({field: value}), json!({"scope": ["*"]}));
            }
            for field in of_spec.split(' ') {
                let metadata = json!({"name": "x", "namespace": "kube-system"});
                with(metadata, json!({field: value}));
            }
            for field in ["port", "ports", "byLabel", "byName"] {
                let part = json!({field: value});
                let spec =
                    json!({"pods": part, "service": part, "podBackend": part, "lbName": "a"});
                with(json!({"name": "x"}), spec);
            }
            for field in ["selector", "except", "app"] {
                let spec = json!({"pods": {"byLabel": {field: value}}});
                with(json!({"name": "x"}), spec);
            }
        }
    }
}

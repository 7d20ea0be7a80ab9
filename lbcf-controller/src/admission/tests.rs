//! The documents' samples, one file each, through all that an API server puts an object through:
//! the schema, mutation, the schema again, validation.

pub(super) mod fixture;

use fixture::{World, ask, driver, load_balancer, patched, paths, review, verdict, with};
use kube::Client;
use kube::api::{Api, DynamicObject, Patch, PatchParams, PostParams};
use kube::core::{ApiResource, GroupVersionKind};
use local_cluster::{LocalCluster, LocalClusterOptions};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The group that the documents' samples still have; the kinds have moved since (b4).
const OLD_GROUP: &str = "tke.cloud.tencent.com";

fn seeds() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/seeds")
}

fn read(path: &Path) -> Value {
    let text = std::fs::read_to_string(path).unwrap();
    serde_saphyr::from_str(&text.replace(OLD_GROUP, "lbcf.tkestack.io")).unwrap()
}

fn seed(name: &str) -> Value {
    let mut object = read(&seeds().join(format!("{name}.yaml")));
    let metadata = object["metadata"].as_object_mut().unwrap();
    // What only a server sets.
    for field in [
        "creationTimestamp",
        "generation",
        "resourceVersion",
        "selfLink",
        "uid",
    ] {
        metadata.remove(field);
    }
    metadata.entry("namespace").or_insert(json!("default"));
    object
}

struct Cluster {
    cluster: LocalCluster,
    world: Arc<World>,
}

impl Cluster {
    /// The cluster that the samples speak of: their drivers and load balancers are there.
    async fn start() -> Self {
        let cluster = LocalCluster::start(LocalClusterOptions::default())
            .await
            .unwrap();
        let client = cluster.client_as("test");
        let crds = Api::all(client.clone());
        for crd in crate::api::crds() {
            crds.create(&PostParams::default(), &crd).await.unwrap();
        }
        let namespaces: Api<k8s_openapi::api::core::v1::Namespace> = Api::all(client);
        let namespace =
            serde_json::from_value(json!({"metadata": {"name": "my-namespace"}})).unwrap();
        namespaces
            .create(&PostParams::default(), &namespace)
            .await
            .unwrap();

        let drivers = [
            "lbcf-clb-application",
            "lbcf-example-driver",
            "lbcf-foo-driver",
        ];
        let world = drivers.into_iter().fold(World::usual(), |world, name| {
            world.with_driver(driver(name))
        });
        let lbs = [
            ("my-namespace", "my-load-balancer-1"),
            ("my-namespace", "my-load-balancer-2"),
            ("default", "lb-1"),
            ("default", "lb1"),
            ("default", "lb2"),
            ("kube-system", "lbcf-shared-lb"),
        ];
        let world = lbs.into_iter().fold(world, |world, (namespace, name)| {
            let scope = if name.starts_with("lbcf-") {
                json!(["*"])
            } else {
                json!(null)
            };
            world.with_load_balancer(with(
                load_balancer(name),
                [
                    ("/metadata/namespace", json!(namespace)),
                    ("/spec/scope", scope),
                ],
            ))
        });
        Self {
            cluster,
            world: Arc::new(world),
        }
    }

    fn api(&self, object: &Value) -> Api<DynamicObject> {
        let client: Client = self.cluster.client_as("test");
        let (group, version) = object["apiVersion"]
            .as_str()
            .unwrap()
            .split_once('/')
            .unwrap();
        let kind = object["kind"].as_str().unwrap();
        let resource = ApiResource::from_gvk(&GroupVersionKind::gvk(group, version, kind));
        let namespace = object["metadata"]["namespace"].as_str().unwrap();
        Api::namespaced_with(client, namespace, &resource)
    }

    async fn create(&self, object: &Value, dry_run: bool) -> Result<Value, String> {
        let params = PostParams {
            dry_run,
            ..PostParams::default()
        };
        let sent = serde_json::from_value(object.clone()).unwrap();
        let created = self.api(object).create(&params, &sent).await;
        created
            .map(|object| serde_json::to_value(object).unwrap())
            .map_err(|error| error.to_string())
    }

    /// What is stored of an object, or why it is not.
    async fn apply(&self, object: &Value) -> Result<Value, String> {
        let mut known = self.create(object, true).await?;
        for field in [
            "creationTimestamp",
            "generation",
            "resourceVersion",
            "uid",
            "managedFields",
        ] {
            known["metadata"].as_object_mut().unwrap().remove(field);
        }
        if object["kind"] == "BackendRecord" {
            return self.create(&known, false).await; // It has no webhook.
        }
        let (mutate, validate) = paths(&known);
        let response = ask(&self.world, mutate, &review("CREATE", &known, &Value::Null)).await;
        let mutated = patched(&known, &response);
        let complete = self.create(&mutated, true).await?;
        let response = ask(
            &self.world,
            validate,
            &review("CREATE", &complete, &Value::Null),
        )
        .await;
        verdict(&response)?;
        self.create(&mutated, false).await
    }
}

#[tokio::test]
async fn b4_the_samples_group_is_not_served() {
    let cluster = Cluster::start().await;
    let group = with(
        seed("edition-1.4-group-1"),
        [("/apiVersion", json!(format!("{OLD_GROUP}/v1beta1")))],
    );
    let error = cluster.create(&group, true).await.unwrap_err();
    assert!(
        error.contains("404") || error.contains("not find"),
        "{error}"
    );
}

#[tokio::test]
async fn d20_d21_every_sample_is_stored_or_refused_with_a_correction() {
    let by_label = &[
        "spec.pods.byLabel",
        "byLabel: {selector: {app: my-web-server}}",
    ][..];
    let no_pods = &[
        "spec.pods: ",
        "byLabel or byName is required",
        "byLabel: {selector:",
        "byName: [",
    ][..];
    let samples: [(&str, Result<(), &[&str]>); 21] = [
        ("edition-1.4-driver", Ok(())),
        ("edition-1.4-bind", Ok(())),
        ("edition-1.4-load-balancer-1", Ok(())),
        ("edition-1.4-load-balancer-2", Ok(())),
        // Its scope needs another name (b58), which a rule of the CRD refuses first.
        (
            "edition-1.4-load-balancer-3",
            Err(&["spec.scope", "\"lbcf-\"", "my-load-balancer-1"]),
        ),
        ("edition-1.4-group-1", Ok(())),
        ("edition-1.4-group-2", Err(by_label)),
        ("edition-1.4-group-3", Ok(())),
        ("edition-1.4-group-4", Ok(())),
        ("edition-1.4-group-5", Ok(())),
        ("edition-1.4-group-6", Err(no_pods)),
        ("edition-1.4-record", Ok(())),
        ("earlier-edition-driver", Ok(())),
        ("earlier-edition-load-balancer-1", Ok(())),
        ("earlier-edition-load-balancer-2", Ok(())),
        ("earlier-edition-group-1", Ok(())),
        ("earlier-edition-group-2", Err(by_label)),
        ("earlier-edition-group-3", Ok(())),
        ("earlier-edition-group-4", Ok(())),
        ("earlier-edition-record", Ok(())),
        ("deregister-policy-group", Err(no_pods)),
    ];
    let files = std::fs::read_dir(seeds()).unwrap().filter(|entry| {
        let name = entry.as_ref().unwrap().file_name();
        !name.to_str().unwrap().ends_with("-status.yaml")
    });
    assert_eq!(files.count(), samples.len());
    for (name, expected) in samples {
        // Each in a cluster of its own: many have the same name.
        let cluster = Cluster::start().await;
        match (cluster.apply(&seed(name)).await, expected) {
            (Ok(_), Ok(())) => {}
            (Err(message), Err(says)) => {
                for text in says {
                    assert!(message.contains(text), "{name}: {text}: {message}");
                }
            }
            (result, expected) => panic!("{name}: {result:?}, not {expected:?}"),
        }
    }
}

#[tokio::test]
async fn d20_the_samples_numbers_are_stored_as_strings_and_old_fields_as_new_ones() {
    let cluster = Cluster::start().await;
    let stored = cluster
        .apply(&seed("earlier-edition-group-4"))
        .await
        .unwrap();
    assert_eq!(stored["spec"]["parameters"], json!({"weight": "50"}));
    assert_eq!(
        stored["spec"]["loadBalancers"],
        json!(["my-load-balancer-1"])
    );
    let stored = cluster
        .apply(&seed("earlier-edition-group-3"))
        .await
        .unwrap();
    assert_eq!(
        stored["spec"]["pods"]["ports"],
        json!([{"port": 80, "protocol": "TCP"}])
    );
    assert!(stored["spec"].get("lbName").is_none() && stored["spec"]["pods"].get("port").is_none());
    let stored = cluster
        .apply(&seed("earlier-edition-load-balancer-2"))
        .await
        .unwrap();
    assert_eq!(stored["spec"]["attributes"]["max-bandwidth-out"], "10");
}

#[tokio::test]
async fn every_status_sample_is_stored_as_it_is() {
    let mut seen = 0;
    for entry in std::fs::read_dir(seeds()).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let Some(of) = name.strip_suffix("-status") else {
            continue;
        };
        let of = match of
            .strip_suffix("-group")
            .or(of.strip_suffix("-load-balancer"))
        {
            Some(_) => format!("{of}-1"),
            None => of.to_owned(),
        };
        let cluster = Cluster::start().await;
        let object = cluster.apply(&seed(&of)).await.unwrap();
        let status = read(&path);
        let stored = cluster
            .api(&object)
            .patch_status(
                object["metadata"]["name"].as_str().unwrap(),
                &PatchParams::default(),
                &Patch::Merge(&status),
            )
            .await
            .unwrap();
        contains(
            &serde_json::to_value(&stored.data["status"]).unwrap(),
            &status["status"],
            &name,
        );
        seen += 1;
    }
    assert_eq!(seen, 11);
}

/// Asserts that all of `part` is in `whole`; null and absence are the same.
#[track_caller]
fn contains(whole: &Value, part: &Value, at: &str) {
    match part {
        Value::Object(fields) => {
            for (field, part) in fields.iter().filter(|(_, part)| !part.is_null()) {
                contains(&whole[field], part, &format!("{at}.{field}"));
            }
        }
        Value::Array(items) => {
            for (i, part) in items.iter().enumerate() {
                contains(&whole[i], part, &format!("{at}[{i}]"));
            }
        }
        part => assert_eq!(whole, part, "{at}"),
    }
}

#[tokio::test]
async fn d21_our_own_examples_are_stored() {
    let cluster = Cluster::start().await;
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../deploy/examples");
    let mut seen = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let object = read(&entry.unwrap().path());
        if object["apiVersion"].as_str().unwrap().starts_with("lbcf.") {
            cluster.apply(&object).await.unwrap();
            seen += 1;
        }
    }
    assert!(seen >= 8, "{seen}");
}

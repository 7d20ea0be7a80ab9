//! Definitions and validation by their schemas, as clients see them.

mod definitions;
mod deployed;

use http::StatusCode;
use local_cluster::LocalCluster;
use serde_json::{Value, json};

use crate::fixture::{call, eventually, quick};

pub(crate) const CRDS: &str = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

/// A definition of `pets.x.io` with this schema.
fn pets(schema: Value) -> Value {
    json!({
        "apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
        "metadata": {"name": "pets.x.io"},
        "spec": {
            "group": "x.io", "scope": "Namespaced", "names": {"kind": "Pet", "plural": "pets"},
            "versions": [{
                "name": "v1", "served": true, "storage": true, "subresources": {"status": {}},
                "selectableFields": [{"jsonPath": ".spec.colour"}],
                "schema": {"openAPIV3Schema": schema},
            }],
        },
    })
}

const PETS: &str = "/apis/x.io/v1/namespaces/default/pets";

fn pet(name: &str, spec: Value) -> Value {
    json!({"apiVersion": "x.io/v1", "kind": "Pet", "metadata": {"name": name}, "spec": spec})
}

/// Waits until the resource is served.
pub(crate) async fn served(cluster: &LocalCluster, path: &str) {
    eventually("the kind is served", || async {
        let (status, _) = call(cluster, "GET", path, None).await;
        (status == StatusCode::OK).then_some(())
    })
    .await;
}

async fn cluster_with_pets() -> LocalCluster {
    let cluster = LocalCluster::start(quick()).await.unwrap();
    let schema = json!({"type": "object", "properties": {
        "spec": {
            "type": "object",
            "properties": {
                "colour": {"type": "string", "default": "red", "pattern": "^[a-z]+$"},
                "legs": {"type": "integer", "maximum": 4},
                "toys": {"type": "array", "x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["name"],
                    "items": {"type": "object", "required": ["name"], "properties": {
                        "name": {"type": "string"}, "size": {"type": "integer", "default": 1}}}},
            },
            "x-kubernetes-validations": [{"rule": "!has(self.legs) || !has(oldSelf.legs) || self.legs >= oldSelf.legs", "message": "legs do not go", "fieldPath": ".legs"}],
        },
        "status": {"type": "object", "properties": {"mood": {"type": "string", "enum": ["good", "bad"]}},
            "x-kubernetes-validations": [{"rule": "!has(self.mood) || self.mood != 'bad'", "message": "cheer up"}]},
    }});
    let (status, made) = call(&cluster, "POST", CRDS, Some(pets(schema))).await;
    assert_eq!(status, StatusCode::CREATED, "{made}");
    served(&cluster, PETS).await;
    cluster
}

#[tokio::test]
async fn writes_are_validated_by_schema_and_transition_rules() {
    let cluster = cluster_with_pets().await;
    let (status, refused) = call(
        &cluster,
        "POST",
        PETS,
        Some(pet("a", json!({"colour": "RED"}))),
    )
    .await;
    assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY);
    assert_eq!(
        refused["message"],
        "Pet.x.io \"a\" is invalid: spec.colour: Invalid value: \"RED\": spec.colour in body should match '^[a-z]+$'"
    );
    assert_eq!(
        refused["details"]["causes"][0]["reason"],
        "FieldValueInvalid"
    );
    let toys = json!({"legs": 4, "toys": [{"name": "ball"}, {"name": "ball"}]});
    let (_, refused) = call(&cluster, "POST", PETS, Some(pet("a", toys))).await;
    assert_eq!(
        refused["details"]["causes"],
        json!([{"reason": "FieldValueDuplicate", "field": "spec.toys[1]", "message": "Duplicate value: {\"name\":\"ball\"}"}])
    );
    let (status, made) = call(
        &cluster,
        "POST",
        PETS,
        Some(pet("a", json!({"legs": 4, "toys": [{"name": "ball"}]}))),
    )
    .await;
    assert_eq!(status, StatusCode::CREATED);
    assert_eq!(
        made["spec"],
        json!({"colour": "red", "legs": 4, "toys": [{"name": "ball", "size": 1}]})
    );

    let one = format!("{PETS}/a");
    let (_, refused) = call(&cluster, "PATCH", &one, Some(json!({"spec": {"legs": 3}}))).await;
    assert_eq!(
        refused["message"],
        "Pet.x.io \"a\" is invalid: spec.legs: Invalid value: legs do not go"
    );
    let status_path = format!("{one}/status");
    let mood = |mood: &str| Some(json!({"status": {"mood": mood}}));
    let (_, refused) = call(&cluster, "PATCH", &status_path, mood("odd")).await;
    assert_eq!(
        refused["details"]["causes"],
        json!([
            {"reason": "FieldValueNotSupported", "field": "status.mood", "message": "Unsupported value: \"odd\": supported values: \"good\", \"bad\""},
            {"reason": "FieldValueInvalid", "field": "<nil>", "message": "Invalid value: null: some validation rules were not checked because the object was invalid; correct the existing errors to complete validation"},
        ])
    );
    let (_, refused) = call(&cluster, "PATCH", &status_path, mood("bad")).await;
    assert_eq!(
        refused["message"],
        "Pet.x.io \"a\" is invalid: status: Invalid value: cheer up"
    );
    let (status, _) = call(&cluster, "PATCH", &status_path, mood("good")).await;
    assert_eq!(status, StatusCode::OK);
}

#[tokio::test]
async fn a_stricter_schema_ratchets_existing_objects() {
    let cluster = cluster_with_pets().await;
    let old = pet("a", json!({"colour": "red", "legs": 4}));
    call(&cluster, "POST", PETS, Some(old)).await;
    let crd = format!("{CRDS}/pets.x.io");
    let (_, mut definition) = call(&cluster, "GET", &crd, None).await;
    let spec = "/spec/versions/0/schema/openAPIV3Schema/properties/spec";
    let spec = definition.pointer_mut(spec).unwrap();
    spec["properties"]["colour"] = json!({"type": "string", "enum": ["green"]});
    spec["properties"]["name"] = json!({"type": "string", "default": "Rex"});
    let (status, _) = call(&cluster, "PUT", &crd, Some(definition)).await;
    assert_eq!(status, StatusCode::OK);
    eventually("the new schema is in force", || async {
        let blue = pet("b", json!({"colour": "blue"}));
        let dry = format!("{PETS}?dryRun=All");
        let (status, _) = call(&cluster, "POST", &dry, Some(blue)).await;
        (status == StatusCode::UNPROCESSABLE_ENTITY).then_some(())
    })
    .await;
    let one = format!("{PETS}/a");
    let label = json!({"metadata": {"labels": {"a": "b"}}});
    let (status, changed) = call(&cluster, "PATCH", &one, Some(label)).await;
    assert_eq!(status, StatusCode::OK);
    // A new default does not change the desired state.
    assert_eq!(changed["spec"]["name"], "Rex");
    assert_eq!(changed["metadata"]["generation"], 1);
    let blue = json!({"spec": {"colour": "blue"}});
    let (status, _) = call(&cluster, "PATCH", &one, Some(blue)).await;
    assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY);
}

#[tokio::test]
async fn objects_are_selected_by_their_own_fields() {
    let cluster = cluster_with_pets().await;
    for (name, colour) in [("a", "red"), ("b", "blue"), ("c", "red")] {
        let body = pet(name, json!({ "colour": colour }));
        call(&cluster, "POST", PETS, Some(body)).await;
    }
    let path = format!("{PETS}?fieldSelector=spec.colour%3Dred");
    let (_, list) = call(&cluster, "GET", &path, None).await;
    let names: Vec<&str> = list["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|item| item["metadata"]["name"].as_str().unwrap())
        .collect();
    assert_eq!(names, ["a", "c"]);
    let path = format!("{PETS}?fieldSelector=spec.legs%3D4");
    let (status, _) = call(&cluster, "GET", &path, None).await;
    assert_eq!(status, StatusCode::BAD_REQUEST);
}

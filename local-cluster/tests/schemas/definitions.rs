//! Validation and names of definitions.

use http::StatusCode;
use local_cluster::LocalCluster;
use serde_json::{Value, json};

use super::{CRDS, PETS, pets, served};
use crate::fixture::{call, eventually, quick};

fn named(plural: &str, kind: &str) -> Value {
    let mut crd = pets(
        json!({"type": "object", "properties": {"spec": {"type": "object", "properties": {"colour": {"type": "string"}}}}}),
    );
    crd["metadata"]["name"] = json!(format!("{plural}.x.io"));
    crd["spec"]["names"] = json!({"kind": kind, "plural": plural});
    crd
}

async fn condition(cluster: &LocalCluster, name: &str, kind: &str) -> Option<Value> {
    let (_, crd) = call(cluster, "GET", &format!("{CRDS}/{name}.x.io"), None).await;
    let conditions = crd["status"]["conditions"].as_array()?;
    conditions.iter().find(|c| c["type"] == kind).cloned()
}

#[tokio::test]
async fn an_invalid_definition_is_refused() {
    let cluster = LocalCluster::start(quick()).await.unwrap();
    let mut crd = named("pets", "Pet");
    crd["spec"]["versions"][0]["schema"]["openAPIV3Schema"]["properties"]["spec"] = json!({
        "type": "object", "properties": {"n": {"type": "integer"}},
        "x-kubernetes-validations": [{"rule": "self.n > 'a'"}],
    });
    crd["spec"]["versions"][0]["selectableFields"] = json!([]);
    let (status, refused) = call(&cluster, "POST", CRDS, Some(crd.clone())).await;
    assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY);
    let cause = &refused["details"]["causes"][0];
    assert_eq!(
        cause["field"],
        "spec.validation.openAPIV3Schema.properties[spec].x-kubernetes-validations[0].rule"
    );
    assert!(cause["message"].as_str().unwrap().ends_with(
        "compilation failed: ERROR: <input>:1:8: found no matching overload for '_>_' applied to '(int, string)'\n | self.n > 'a'\n | .......^"
    ));
    let (status, _) = call(&cluster, "GET", PETS, None).await;
    assert_eq!(status, StatusCode::NOT_FOUND);
}

#[tokio::test]
async fn stored_versions_are_recorded() {
    let cluster = LocalCluster::start(quick()).await.unwrap();
    let (_, made) = call(&cluster, "POST", CRDS, Some(named("pets", "Pet"))).await;
    assert_eq!(made["status"]["storedVersions"], json!(["v1"]));
    served(&cluster, PETS).await;
    let path = format!("{CRDS}/pets.x.io");
    let (_, mut crd) = call(&cluster, "GET", &path, None).await;
    let mut second = crd["spec"]["versions"][0].clone();
    second["name"] = json!("v2");
    crd["spec"]["versions"][0]["storage"] = json!(false);
    crd["spec"]["versions"].as_array_mut().unwrap().push(second);
    let (status, mut crd) = call(&cluster, "PUT", &path, Some(crd)).await;
    assert_eq!(status, StatusCode::OK, "{crd}");
    assert_eq!(crd["status"]["storedVersions"], json!(["v1", "v2"]));
    crd["spec"]["versions"].as_array_mut().unwrap().remove(0);
    let (status, refused) = call(&cluster, "PUT", &path, Some(crd)).await;
    assert_eq!(status, StatusCode::UNPROCESSABLE_ENTITY);
    assert_eq!(
        refused["details"]["causes"][0]["field"],
        "status.storedVersions[0]"
    );
}

#[tokio::test]
async fn names_are_unique_within_a_group() {
    let cluster = LocalCluster::start(quick()).await.unwrap();
    call(&cluster, "POST", CRDS, Some(named("pets", "Pet"))).await;
    served(&cluster, PETS).await;
    let (status, _) = call(&cluster, "POST", CRDS, Some(named("animals", "Pet"))).await;
    assert_eq!(status, StatusCode::CREATED);
    let refused = eventually("the names are judged", || async {
        condition(&cluster, "animals", "NamesAccepted").await
    })
    .await;
    assert_eq!(
        (&refused["status"], &refused["reason"], &refused["message"]),
        (
            &json!("False"),
            &json!("ListKindConflict"),
            &json!("\"PetList\" is already in use")
        )
    );
    let established = condition(&cluster, "animals", "Established").await.unwrap();
    assert_eq!(established["status"], "False");
    let animals = PETS.replace("pets", "animals");
    let (status, _) = call(&cluster, "GET", &animals, None).await;
    assert_eq!(status, StatusCode::NOT_FOUND);
    // Deleting the first definition frees its names.
    call(&cluster, "DELETE", &format!("{CRDS}/pets.x.io"), None).await;
    served(&cluster, &animals).await;
}

#[tokio::test]
async fn an_object_that_exceeds_the_storage_is_refused() {
    let cluster = LocalCluster::start(quick()).await.unwrap();
    call(&cluster, "POST", CRDS, Some(named("pets", "Pet"))).await;
    served(&cluster, PETS).await;
    let pet = |length: usize| super::pet("a", json!({"colour": "x".repeat(length)}));
    let (status, mut made) = call(&cluster, "POST", PETS, Some(pet(1 << 20))).await;
    assert_eq!(status, StatusCode::CREATED);
    made["spec"] = pet(1_600_000)["spec"].take();
    let one = format!("{PETS}/a");
    let (status, refused) = call(&cluster, "PUT", &one, Some(made)).await;
    assert_eq!(status, StatusCode::INTERNAL_SERVER_ERROR);
    assert_eq!(refused["message"], "etcdserver: request is too large");
    // What is stored can be changed and deleted.
    let label = json!({"metadata": {"labels": {"a": "b"}}});
    let (status, _) = call(&cluster, "PATCH", &one, Some(label)).await;
    assert_eq!(status, StatusCode::OK);
    let (status, _) = call(&cluster, "DELETE", &one, None).await;
    assert_eq!(status, StatusCode::OK);
}

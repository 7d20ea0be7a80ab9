//! Which pods stay registered although they are not ready: those that ask for it. It is for pods
//! that are unready for a moment on purpose, such as during an in-place update (b159).

use k8s_openapi::api::core::v1::Pod;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;

/// The annotation or label by which a pod asks to stay registered; its value must be `true`.
pub const KEEP_REGISTERED: &str = "mock.lbcf/keep-registered";

pub(crate) fn stays_registered(pod: &Pod) -> bool {
    let maps = [&pod.metadata.annotations, &pod.metadata.labels];
    maps.into_iter().flatten().any(|map| {
        map.get(KEEP_REGISTERED)
            .is_some_and(|value| value == "true")
    })
}

/// The pod's name, namespace and UID; some controllers compare only the UID (u25).
pub(crate) fn reference(pod: Pod) -> Pod {
    Pod {
        metadata: ObjectMeta {
            name: pod.metadata.name,
            namespace: pod.metadata.namespace,
            uid: pod.metadata.uid,
            ..ObjectMeta::default()
        },
        ..Pod::default()
    }
}

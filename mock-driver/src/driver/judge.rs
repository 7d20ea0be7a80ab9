//! Which pods keep their place although they are not ready: those that say so themselves. It is
//! for pods that are unready for a moment on purpose, such as during an upgrade in place (b159).

use k8s_openapi::api::core::v1::Pod;
use k8s_openapi::apimachinery::pkg::apis::meta::v1::ObjectMeta;

/// The annotation or label by which a pod asks to stay; its value must be `true`.
pub const KEEP_REGISTERED: &str = "mock.lbcf/keep-registered";

/// Whether this pod stays.
pub(super) fn stays(pod: &Pod) -> bool {
    [&pod.metadata.annotations, &pod.metadata.labels]
        .into_iter()
        .flatten()
        .any(|map| {
            map.get(KEEP_REGISTERED)
                .is_some_and(|value| value == "true")
        })
}

/// What identifies a pod, its uid too: some controllers compare nothing else (u25).
pub(super) fn reference(pod: Pod) -> Pod {
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

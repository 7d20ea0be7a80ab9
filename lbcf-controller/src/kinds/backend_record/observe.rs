//! The state that a record is decided on.

use super::backend::is_endpoint_available;
use super::decide::RecordState;
use crate::api::names::{self, FINALIZER_BACKEND_RECORD, FINALIZER_DRIVER};
use crate::api::{BackendRecord, LoadBalancerDriver, ObjectExt, ObjectKey};
use crate::index::{Lookup, NodeView, Ownership, PodView, RequestKey};
use crate::runtime::Context;
use crate::runtime::periodic::period;
use kube::Resource;
use std::sync::Arc;
use std::time::Duration;

pub(super) fn observe(context: &Context, key: &ObjectKey) -> Option<RecordState> {
    let index = context.index();
    let mut record = index.find::<BackendRecord>(key)?;
    let mut driver = index.get(&names::resolve(&key.namespace, &record.spec.lb_driver));
    if context.options.dry_run && !record.is_deleting() {
        // A dry run continues as if the finalizers were stored.
        add_finalizer(&mut record, FINALIZER_BACKEND_RECORD);
        if let Lookup::Found(driver) = &mut driver {
            add_finalizer::<LoadBalancerDriver>(driver, FINALIZER_DRIVER);
        }
    }
    let backend_is_available = if record.spec.endpoint_backend.is_some() {
        is_endpoint_available(&index, &record)
    } else if let Some(pod) = &record.spec.pod_backend {
        let pod = ObjectKey::new(key.namespace.clone(), pod.name.clone());
        let pod = index.find::<PodView>(&pod);
        pod.is_some_and(|pod| pod.is_available())
    } else if let Some(service) = &record.spec.service_backend {
        let node = ObjectKey::new("", service.node_name.clone());
        index.find::<NodeView>(&node).is_some()
    } else {
        false
    };
    let request_key = RequestKey::Record(key.clone());
    let ownership = index.ownership(&record);
    let grace_period = context.options.orphan_grace_period;
    Some(RecordState {
        owner_wait: if ownership == Ownership::Ownerless {
            context.orphans.wait(key, grace_period)
        } else {
            context.orphans.remove(key);
            grace_period
        },
        ownership,
        driver,
        neighbours: index.neighbours(&record),
        backend_is_available,
        due: context
            .periods
            .due(&request_key, period_of(context, &record)),
        record,
    })
}

fn add_finalizer<K: Resource + Clone>(object: &mut Arc<K>, finalizer: &str) {
    let metadata = Arc::make_mut(object).meta_mut();
    let finalizers = metadata.finalizers.get_or_insert_default();
    finalizers.push(finalizer.to_owned());
}

pub(super) fn period_of(context: &Context, record: &BackendRecord) -> Option<Duration> {
    let policy = record.spec.ensure_policy.as_ref();
    period(policy, context.options.min_ensure_period)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drivers::CallCounts;
    use crate::index::StoreEvent;
    use crate::process::metrics::Metrics;
    use crate::process::options::Options;
    use local_cluster::{LocalCluster, LocalClusterOptions};

    #[tokio::test]
    async fn u32_a_change_of_the_observed_state_leaves_the_object_in_the_index_unchanged() {
        let cluster = LocalCluster::start(LocalClusterOptions::default());
        let client = cluster.await.unwrap().client_as("test");
        let options = Options {
            dry_run: true,
            ..Options::default()
        };
        let (context, _events) =
            Context::new(client, options, CallCounts::default(), Metrics::new());
        let mut record = BackendRecord::default();
        record.metadata.namespace = Some("ns".into());
        record.metadata.name = Some("record".into());
        let key = ObjectKey::of(&record);
        context.apply(StoreEvent::Apply(record.clone()));
        for _ in 0..2 {
            // A dry run adds the finalizer to the state that it decides on.
            let state = observe(&context, &key).unwrap();
            let finalizers = state.record.metadata.finalizers.as_deref().unwrap();
            assert_eq!(finalizers, [FINALIZER_BACKEND_RECORD]);
            let indexed = context.index().find::<BackendRecord>(&key).unwrap();
            assert_eq!(*indexed, record);
        }
    }
}

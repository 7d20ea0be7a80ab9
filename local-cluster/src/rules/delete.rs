//! Deletions: immediate, or marked until finalizers and the grace period allow removal.

use serde_json::{Value, json};

use super::{DEFINITION_CLEANUP, FOREGROUND, ORPHAN};
use crate::object::{self, Object, at, child, finalizers, is_deleting, set_finalizers};
use crate::resources::Kind;
use crate::status::ApiError;
use crate::store::Stored;

/// The fate of the dependents of a deleted object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Propagation {
    /// Deleted after their owner.
    Background,
    /// Deleted before their owner.
    Foreground,
    /// Kept without a reference to their owner.
    Orphan,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct DeleteOptions {
    pub(crate) grace_seconds: Option<i64>,
    pub(crate) propagation: Option<Propagation>,
    pub(crate) uid: Option<String>,
    pub(crate) resource_version: Option<String>,
    pub(crate) dry_run: bool,
    /// The object is one of a collection that is deleted.
    pub(crate) collection: bool,
}

impl DeleteOptions {
    /// A cluster begins the deletion of a definition in a way of its own, but not that of several.
    fn begins_cleanup(&self, kind: &Kind, object: &Object) -> bool {
        let is_definition = kind.is("apiextensions.k8s.io", "customresourcedefinitions");
        is_definition && !self.collection && !is_deleting(object)
    }
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Deletion {
    /// The object is removed; this is its last state.
    Remove(Object),
    /// Deletion begins, or its options change.
    Mark(Object),
    /// Deletion had begun before.
    Unchanged,
}

/// Decides a request to delete; `in_seconds` formats the time that many seconds from now.
pub(crate) fn decide_deletion(
    kind: &Kind,
    current: &Stored,
    options: &DeleteOptions,
    in_seconds: impl Fn(i64) -> String,
) -> Result<Deletion, ApiError> {
    check_preconditions(kind, current, options)?;
    let before = &current.object;
    let deleting = is_deleting(before);
    // Only namespaces have finalizers in their spec.
    if deleting && !object::list(before, &["spec", "finalizers"]).is_empty() {
        return Ok(Deletion::Unchanged);
    }
    let cleans_up = options.begins_cleanup(kind, before);
    let mut next = before.clone();
    let grace = grace_seconds(kind, before, options);
    let kept = finalizers_after(kind, before, options, cleans_up);
    set_finalizers(&mut next, &kept);

    let began_with =
        at(before, &["metadata", "deletionGracePeriodSeconds"]).and_then(Value::as_i64);
    // A later request may only shorten the grace period, and only explicitly.
    let shortens = options.grace_seconds.is_some() && grace < began_with.unwrap_or(0);
    if !deleting || shortens {
        let meta = child(&mut next, "metadata");
        let time = in_seconds(grace);
        meta.insert("deletionTimestamp".to_owned(), time.into());
        if !cleans_up && !kind.is("", "namespaces") {
            meta.insert("deletionGracePeriodSeconds".to_owned(), Value::from(grace));
        }
    }
    if !deleting {
        if !cleans_up && kind.has_generation {
            let generation = object::generation(before) + 1;
            child(&mut next, "metadata").insert("generation".to_owned(), Value::from(generation));
        }
        if kind.is("", "namespaces") {
            child(&mut next, "status").insert("phase".to_owned(), json!("Terminating"));
        }
    }
    Ok(if super::update::is_removable(&next) {
        // Watchers never saw the object with a deletion timestamp, so its last state has none. Pods
        // are an exception because of their grace period.
        let last = if kind.is("", "pods") && (!deleting || shortens) {
            next
        } else {
            before.clone()
        };
        Deletion::Remove(last)
    } else if next == *before {
        Deletion::Unchanged
    } else {
        Deletion::Mark(next)
    })
}

fn check_preconditions(
    kind: &Kind,
    current: &Stored,
    options: &DeleteOptions,
) -> Result<(), ApiError> {
    let (name, revision) = (&current.name, current.revision.to_string());
    let version = options.resource_version.as_deref();
    let given = [
        ("UID", options.uid.as_deref(), current.uid()),
        ("ResourceVersion", version, &revision),
    ];
    for (what, given, actual) in given {
        let Some(given) = given.filter(|given| *given != actual) else {
            continue;
        };
        if kind.is("", "namespaces") || options.begins_cleanup(kind, &current.object) {
            let why = format!(
                "Precondition failed: {what} in precondition: {given}, {what} in object meta: {actual}"
            );
            return Err(ApiError::conflict(kind, name, &why));
        }
        return Err(ApiError::precondition(kind, name, (what, given, actual)));
    }
    Ok(())
}

/// The grace period: zero but for pods that run on a node.
fn grace_seconds(kind: &Kind, object: &Object, options: &DeleteOptions) -> i64 {
    if !kind.is("", "pods") {
        return 0;
    }
    let runs = object::text(object, &["spec", "nodeName"]).is_some_and(|n| !n.is_empty());
    let phase = object::text(object, &["status", "phase"]);
    if !runs || matches!(phase, Some("Succeeded" | "Failed")) {
        return 0;
    }
    let own = at(object, &["spec", "terminationGracePeriodSeconds"]).and_then(Value::as_i64);
    match options.grace_seconds.or(own).unwrap_or(30) {
        seconds if seconds < 0 => 1,
        seconds => seconds,
    }
}

fn finalizers_after<'a>(
    kind: &Kind,
    object: &'a Object,
    options: &DeleteOptions,
    cleans_up: bool,
) -> Vec<&'a str> {
    let mut kept = finalizers(object);
    if cleans_up {
        if !kept.contains(&DEFINITION_CLEANUP) {
            kept.push(DEFINITION_CLEANUP);
        }
        return kept;
    }
    // The propagation policy can change until the object is removed.
    if let Some(propagation) = options
        .propagation
        .filter(|_| &*kind.storage.plural != "events")
    {
        kept.retain(|f| *f != FOREGROUND && *f != ORPHAN);
        match propagation {
            Propagation::Foreground => kept.push(FOREGROUND),
            Propagation::Orphan => kept.push(ORPHAN),
            Propagation::Background => {}
        }
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::object;
    use crate::resources::Registry;

    fn decide(plural: &str, body: Value, options: DeleteOptions) -> Deletion {
        let kind = Registry::new().builtin("", plural).unwrap();
        let current = Stored::new(object(body), 5);
        decide_deletion(&kind, &current, &options, |s| format!("+{s}")).unwrap()
    }

    fn with(propagation: Option<Propagation>, grace_seconds: Option<i64>) -> DeleteOptions {
        DeleteOptions {
            propagation,
            grace_seconds,
            ..DeleteOptions::default()
        }
    }

    #[test]
    fn a_running_pod_gets_a_grace_period_that_can_be_shortened() {
        let pod = json!({"metadata": {"name": "p", "generation": 1}, "spec": {"nodeName": "n"}});
        let Deletion::Mark(marked) = decide("pods", pod, with(None, None)) else {
            panic!()
        };
        assert_eq!(marked["metadata"]["deletionGracePeriodSeconds"], 30);
        assert_eq!(marked["metadata"]["deletionTimestamp"], "+30");
        assert_eq!(marked["metadata"]["generation"], 2);
        let again = decide("pods", Value::Object(marked.clone()), with(None, Some(60)));
        assert_eq!(again, Deletion::Unchanged);
        let mut changed_spec = marked.clone();
        changed_spec["spec"]["terminationGracePeriodSeconds"] = json!(5);
        let again = decide("pods", Value::Object(changed_spec), with(None, None));
        assert_eq!(again, Deletion::Unchanged);
        let hurried = decide("pods", Value::Object(marked), with(None, Some(0)));
        assert!(matches!(hurried, Deletion::Remove(_)));
    }

    #[test]
    fn a_pod_without_a_node_is_removed_immediately() {
        let removed = decide(
            "pods",
            json!({"metadata": {"name": "p"}}),
            with(None, Some(30)),
        );
        assert!(matches!(removed, Deletion::Remove(_)));
    }

    #[test]
    fn finalizers_delay_removal() {
        let object = json!({"metadata": {"name": "c", "finalizers": ["a/b"]}});
        let Deletion::Mark(marked) = decide(
            "configmaps",
            object,
            with(Some(Propagation::Foreground), None),
        ) else {
            panic!()
        };
        assert_eq!(finalizers(&marked), ["a/b", FOREGROUND]);
        let back = decide(
            "configmaps",
            Value::Object(marked.clone()),
            with(Some(Propagation::Background), None),
        );
        let Deletion::Mark(back) = back else { panic!() };
        assert_eq!(finalizers(&back), ["a/b"]);
        assert_eq!(
            decide("configmaps", Value::Object(marked), with(None, None)),
            Deletion::Unchanged
        );
    }

    #[test]
    fn preconditions_are_checked_first() {
        let kind = Registry::new().builtin("", "configmaps").unwrap();
        let current = Stored::new(object(json!({"metadata": {"name": "c", "uid": "u"}})), 5);
        for options in [
            DeleteOptions {
                uid: Some("v".into()),
                ..DeleteOptions::default()
            },
            DeleteOptions {
                resource_version: Some("4".into()),
                ..DeleteOptions::default()
            },
        ] {
            let refused = decide_deletion(&kind, &current, &options, |_| String::new());
            assert_eq!(refused.unwrap_err().code(), 409);
        }
    }
}

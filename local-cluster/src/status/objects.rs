//! Errors of requests for an object of a kind.

use serde_json::{Value, json};

use super::{ApiError, kind_details, resource_details};
use crate::field_error::FieldError;
use crate::names::qualified;
use crate::object::Object;
use crate::resources::Kind;

impl ApiError {
    pub(crate) fn not_found(kind: &Kind, name: &str) -> Self {
        let message = format!("{} \"{name}\" not found", kind.qualified_resource());
        Self::new(404, message).with(resource_details(kind, name))
    }

    /// `leaves`: the object that exists is being deleted.
    pub(crate) fn already_exists(kind: &Kind, name: &str, leaves: bool) -> Self {
        let why = if leaves {
            "object is being deleted: "
        } else {
            ""
        };
        let resource = kind.qualified_resource();
        let message = format!("{why}{resource} \"{name}\" already exists");
        Self::with_reason(409, "AlreadyExists", message).with(resource_details(kind, name))
    }

    /// Refuses an object that has errors.
    pub(crate) fn check(kind: &Kind, name: &str, errors: &[FieldError]) -> Result<(), Self> {
        match errors {
            [] => Ok(()),
            errors => Err(Self::invalid(&kind.group, &kind.kind, name, errors)),
        }
    }

    /// `what` is the plural of a resource, or a kind.
    fn not_fulfilled((group, what): (&str, &str), name: &str, why: &str) -> Self {
        let resource = qualified(what, group);
        let message = format!("Operation cannot be fulfilled on {resource} \"{name}\": {why}");
        Self::new(409, message).with(kind_details(group, what, name))
    }

    pub(crate) fn conflict(kind: &Kind, name: &str, why: &str) -> Self {
        Self::not_fulfilled((&kind.group, &kind.plural), name, why)
    }

    /// The object was written in between.
    pub(crate) fn modified(kind: &Kind, name: &str) -> Self {
        Self::modified_in((&kind.group, &kind.plural), name)
    }

    /// As [`Self::modified`], for a resource.
    pub(crate) fn modified_in(resource: (&str, &str), name: &str) -> Self {
        let why = "the object has been modified; please apply your changes to the latest version and try again";
        Self::not_fulfilled(resource, name, why)
    }

    /// The `UID` or the `ResourceVersion` of an object to be deleted is another one than given.
    pub(crate) fn precondition(
        kind: &Kind,
        name: &str,
        (what, given, actual): (&str, &str, &str),
    ) -> Self {
        let fate = match what {
            "UID" => "deleted and then recreated",
            _ => "modified",
        };
        let why = format!(
            "the {what} in the precondition ({given}) does not match the {what} in record ({actual}). The object might have been {fate}"
        );
        Self::not_fulfilled((&kind.storage.group, &kind.kind), name, &why)
    }

    /// An update lacks the `resourceVersion`.
    pub(crate) fn version_required(kind: &Kind, name: &str) -> Self {
        let why = "must be specified for an update";
        let error = FieldError::invalid("metadata.resourceVersion", &Value::from(0), why);
        Self::invalid(&kind.group, &kind.plural, name, &[error])
    }

    pub(crate) fn cannot_handle(kind: &Kind, why: &str) -> Self {
        Self::bad_request(format!(
            "{0} in version \"{1}\" cannot be handled as a {0}: {why}",
            kind.kind, kind.version
        ))
    }

    pub(crate) fn forbidden(kind: &Kind, name: &str, why: &str) -> Self {
        let resource = kind.qualified_resource();
        let message = format!("{resource} \"{name}\" is forbidden: {why}");
        Self::new(403, message).with(resource_details(kind, name))
    }

    pub(crate) fn namespace_terminating(kind: &Kind, name: &str, namespace: &str) -> Self {
        let why = format!(
            "unable to create new content in namespace {namespace} because it is being terminated"
        );
        let mut details = resource_details(kind, name);
        details["causes"] = json!([{
            "reason": "NamespaceTerminating",
            "message": format!("namespace {namespace} is being terminated"),
            "field": "metadata.namespace",
        }]);
        Self::forbidden(kind, name, &why).with(details)
    }

    pub(crate) fn apply_conflicts(conflicts: &[(String, String)]) -> Self {
        let causes: Vec<Value> = conflicts
            .iter()
            .map(|(manager, field)| {
                json!({
                    "reason": "FieldManagerConflict",
                    "message": format!("conflict with {manager}"),
                    "field": field,
                })
            })
            .collect();
        let mut message = format!("Apply failed with {} conflict", conflicts.len());
        if let [(manager, field)] = conflicts {
            message.push_str(&format!(": conflict with {manager}: {field}"));
        } else {
            let mut last = "";
            for (manager, field) in conflicts {
                if manager != last {
                    let separator = if last.is_empty() { "s: " } else { "\n" };
                    message.push_str(&format!("{separator}conflicts with {manager}:"));
                    last = manager;
                }
                message.push_str(&format!("\n- {field}"));
            }
        }
        Self::new(409, message).with(json!({"causes": causes}))
    }

    pub(crate) fn other_version(given: &str, kind: &Kind) -> Self {
        let version = kind.api_version();
        Self::bad_request(format!(
            "the API version in the data ({given}) does not match the expected API version ({version})"
        ))
    }

    pub(crate) fn untyped_patch(kind: &Kind, wanted: &Object, why: &str) -> Self {
        let message = format!(
            "failed to create typed patch object ({}/{}; {}, Kind={}): {why}",
            crate::object::namespace(wanted),
            crate::object::name(wanted),
            kind.api_version(),
            kind.kind,
        );
        Self::unexplained(message)
    }
}

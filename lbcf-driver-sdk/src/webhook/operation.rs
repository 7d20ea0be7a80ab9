//! The common parts of the six operations.

use super::{Reason, StringMap};
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// The state of an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum Status {
    /// The operation is done.
    Succ,
    /// The operation failed; the controller retries it.
    Fail,
    /// The operation is not done; the controller calls again.
    Running,
}

/// The identity of a load balancer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LoadBalancer<Spec, Info> {
    /// The `lbSpec` of a load balancer that is to be created.
    Wanted(Spec),
    /// The `lbInfo` of a load balancer that exists.
    Created(Info),
}

impl<T> LoadBalancer<T, T> {
    /// The `lbSpec` or the `lbInfo`.
    pub fn either(self) -> T {
        match self {
            Self::Wanted(spec) => spec,
            Self::Created(info) => info,
        }
    }
}

/// The object of an operation, from its `recordID`: `42` for `createLoadBalancer(42)` as well as for
/// `deleteLoadBalancer(42)`. A `recordID` of another form is returned whole.
///
/// ```
/// use lbcf_driver_sdk::webhook::object_id;
///
/// assert_eq!(object_id("createLoadBalancer(42)"), "42");
/// assert_eq!(object_id("42"), "42");
/// ```
#[must_use]
pub fn object_id(record_id: &str) -> &str {
    let object = record_id.split_once('(');
    object
        .and_then(|(_, object)| object.strip_suffix(')'))
        .filter(|object| !object.is_empty())
        .unwrap_or(record_id)
}

/// The fields that the requests of all operations have on the wire.
pub trait OperationRequest {
    /// Identifies the operation on one object, such as `ensureBackend(<uid>)`. It is opaque and the
    /// same in every call, also after parameters change: concurrent calls with equal
    /// identifiers may be joined, but a past result must not be reused.
    fn record_id(&self) -> &str;
    /// Different in each call, for logs.
    fn retry_id(&self) -> &str;
    /// True to check only and change nothing.
    fn dry_run(&self) -> bool;
    /// The identity of the load balancer.
    fn load_balancer(&self) -> LoadBalancer<&StringMap, &StringMap>;
    /// The address of the backend that the operation registers or deregisters, if it does.
    fn backend_addr(&self) -> Option<&str> {
        None
    }
    /// The request without the field that differs between retries.
    #[must_use]
    fn without_retry_id(self) -> Self;
    /// The request as a dry run.
    #[must_use]
    fn into_dry_run(self) -> Self;
    /// The request with the object that it is about.
    #[must_use]
    fn about(self, namespace: &str, name: &str) -> Self;
}

/// The response of an operation.
pub trait OperationResponse: Sized {
    /// A response with the status `Running`, and the least time until the next call.
    fn running(message: String, delay: Option<Duration>) -> Self;
    /// A response with the status `Fail`, and the least time until the next call.
    fn fail(message: String, delay: Option<Duration>) -> Self;
    /// The state of the operation.
    fn status(&self) -> Status;
    /// The text for events and conditions.
    fn message(&self) -> &str;
    /// The least time until the next call, if the driver sets one.
    fn min_retry_delay(&self) -> Option<Duration>;
    /// Why the operation failed, if the driver says so in a word of this edition.
    fn failure_reason(&self) -> Option<Reason>;
}

/// Whole seconds for the wire, rounded up.
pub(super) fn to_whole_seconds(delay: Option<Duration>) -> i32 {
    let Some(delay) = delay else { return 0 };
    let started = u64::from(delay.subsec_nanos() > 0);
    let seconds = delay.as_secs().saturating_add(started);
    i32::try_from(seconds).unwrap_or(i32::MAX)
}

/// Declares an operation's request, generic over its maps: the common fields and its own, of which one
/// identifies the load balancer and one may be the backend's address. Serde's bounds are those of the wire's
/// types, the parameters' defaults.
macro_rules! operation_request {
    (
        $(#[$doc:meta])*
        $name:ident<$($map:ident),+ $(; $addr:ident)?> of $known_by:ident($load_balancer:ident) $(at $backend_addr:ident)?,
        written if $written:literal, read if $read:literal
        { $($fields:tt)* }
    ) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Default, PartialEq, serde::Serialize, serde::Deserialize)]
        #[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
        #[serde(rename_all = "camelCase", bound(serialize = $written, deserialize = $read))]
        pub struct $name<$($map = $crate::webhook::StringMap),+ $(, $addr = String)?> {
            /// Identifies the operation on one object, such as `ensureBackend(<uid>)`. It is
            /// the same in every call, also after parameters change. Suitable as a client token for
            /// creations.
            #[serde(rename = "recordID", default, deserialize_with = "crate::wire::null_as_default")]
            #[cfg_attr(feature = "openapi", schema(required))]
            pub record_id: String,
            /// Different in each call, for logs.
            #[serde(rename = "retryID", default, deserialize_with = "crate::wire::null_as_default")]
            #[cfg_attr(feature = "openapi", schema(required))]
            pub retry_id: String,
            /// True to check only and change nothing.
            #[serde(default, deserialize_with = "crate::wire::null_as_default")]
            pub dry_run: bool,
            /// The namespace of the object that the call is about: a LoadBalancer, a Bind or a BackendRecord. Empty if the controller does not send it.
            #[serde(default, deserialize_with = "crate::wire::null_as_default", skip_serializing_if = "String::is_empty")]
            pub namespace: String,
            /// The name of that object.
            #[serde(default, deserialize_with = "crate::wire::null_as_default", skip_serializing_if = "String::is_empty")]
            pub name: String,
            $($fields)*
        }

        impl<$($map),+ $(, $addr)?> $name<$($map),+ $(, $addr)?> {
            /// The object in the cluster that the operation belongs to, from
            /// [`record_id`](Self::record_id): the same for the creation, the updates and the
            /// deletion of one load balancer, and for all operations on one backend but the first
            /// `generateBackendAddr`, which comes before the object. Opaque; a good name or tag for what is
            /// created, so that a deletion without `lbInfo` finds it.
            #[must_use]
            pub fn object_id(&self) -> &str {
                $crate::webhook::object_id(&self.record_id)
            }
        }

        impl $crate::webhook::OperationRequest for $name {
            fn record_id(&self) -> &str {
                &self.record_id
            }
            fn retry_id(&self) -> &str {
                &self.retry_id
            }
            fn dry_run(&self) -> bool {
                self.dry_run
            }
            fn load_balancer(
                &self,
            ) -> $crate::webhook::LoadBalancer<&$crate::webhook::StringMap, &$crate::webhook::StringMap>
            {
                $crate::webhook::LoadBalancer::$known_by(&self.$load_balancer)
            }
            $(fn backend_addr(&self) -> Option<&str> {
                Some(&self.$backend_addr)
            })?
            fn without_retry_id(mut self) -> Self {
                self.retry_id.clear();
                self
            }
            fn into_dry_run(mut self) -> Self {
                self.dry_run = true;
                self
            }
            fn about(self, namespace: &str, name: &str) -> Self {
                let (namespace, name) = (namespace.to_owned(), name.to_owned());
                Self { namespace, name, ..self }
            }
        }
    };
}
pub(super) use operation_request;

/// Declares an operation's response: its state, and on success a result of its own, the tuple of its fields.
macro_rules! operation_response {
    ($(#[$doc:meta])* $name:ident => $result:ty { $($(#[$field_doc:meta])* $field:ident: $type:ty),* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
        #[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
        #[serde(rename_all = "camelCase")]
        pub struct $name {
            /// The state of the operation.
            pub status: $crate::webhook::Status,
            /// The text for events and conditions, which `Fail` needs. 2,000 characters of it are shown.
            #[serde(default, deserialize_with = "crate::wire::null_as_default")]
            pub msg: String,
            /// The least number of seconds until the next call, for which 0 to 600 are reasonable; 0 leaves
            /// it to the controller. Read as a number or a numeric string, written as a number.
            #[serde(
                default,
                skip_serializing_if = "crate::wire::is_zero",
                deserialize_with = "crate::wire::whole_seconds"
            )]
            #[cfg_attr(feature = "openapi", schema(minimum = 0))]
            pub min_retry_delay_in_seconds: i32,
            /// With `Fail`: the class of the failure, such as `QuotaExceeded`, or empty. An unknown word means the
            /// same as none.
            #[serde(
                default,
                skip_serializing_if = "String::is_empty",
                deserialize_with = "crate::wire::null_as_default"
            )]
            pub reason: String,
            $($(#[$field_doc])* pub $field: $type,)*
        }

        impl $crate::webhook::OperationResponse for $name {
            fn running(message: String, delay: Option<std::time::Duration>) -> Self {
                Self::unfinished($crate::webhook::Status::Running, message, delay)
            }
            fn fail(message: String, delay: Option<std::time::Duration>) -> Self {
                Self::unfinished($crate::webhook::Status::Fail, message, delay)
            }
            fn status(&self) -> $crate::webhook::Status {
                self.status
            }
            fn message(&self) -> &str {
                &self.msg
            }
            fn min_retry_delay(&self) -> Option<std::time::Duration> {
                u64::try_from(self.min_retry_delay_in_seconds)
                    .ok()
                    .filter(|seconds| *seconds > 0)
                    .map(std::time::Duration::from_secs)
            }
            fn failure_reason(&self) -> Option<$crate::webhook::Reason> {
                match self.status {
                    $crate::webhook::Status::Fail => $crate::webhook::Reason::of(&self.reason),
                    _ => None,
                }
            }
        }

        impl $name {
            fn unfinished(
                status: $crate::webhook::Status,
                msg: String,
                delay: Option<std::time::Duration>,
            ) -> Self {
                Self {
                    status,
                    msg,
                    min_retry_delay_in_seconds: super::operation::to_whole_seconds(delay),
                    reason: String::new(),
                    $($field: Default::default(),)*
                }
            }
        }

        impl From<Result<$result, $crate::HookError>> for $name {
            // The tuple of one field is that field in parentheses.
            #[allow(unused_parens)]
            fn from(result: Result<$result, $crate::HookError>) -> Self {
                match result {
                    Ok(($($field),*)) => Self {
                        status: $crate::webhook::Status::Succ,
                        msg: String::new(),
                        min_retry_delay_in_seconds: 0,
                        reason: String::new(),
                        $($field,)*
                    },
                    Err(hook_error) => Self {
                        reason: hook_error.reason().map_or("", |reason| reason.name()).to_owned(),
                        ..Self::unfinished(
                            hook_error.status(),
                            hook_error.message().to_owned(),
                            hook_error.delay(),
                        )
                    },
                }
            }
        }
    };
}
pub(super) use operation_response;

//! What the six webhooks that do work have in common (b140, b151).

use super::StringMap;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// How far an operation is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum Status {
    /// Done.
    Succ,
    /// Failed; the controller calls again.
    Fail,
    /// Still at it; the controller calls again to ask.
    Running,
}

/// What a load balancer is known by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LoadBalancer<Spec, Info> {
    /// One that is to be created, by its `lbSpec`.
    Wanted(Spec),
    /// One that is there, by its `lbInfo`.
    Created(Info),
}

impl<T> LoadBalancer<T, T> {
    /// It, whichever it is.
    pub fn either(self) -> T {
        match self {
            Self::Wanted(spec) => spec,
            Self::Created(info) => info,
        }
    }
}

/// The request of an operation: which task it belongs to.
pub trait OperationRequest {
    /// Names the operation on one object, such as `ensureBackend(<uid>)`. It is opaque, it stays
    /// the same in every call, and it stays the same when parameters change (d28): it joins calls
    /// that run at the same time, it never answers for one that is over.
    fn record_id(&self) -> &str;
    /// New in each call; for logs.
    fn retry_id(&self) -> &str;
    /// Whether only a check was asked for: nothing may change.
    fn dry_run(&self) -> bool;
    /// What the load balancer is known by.
    fn load_balancer(&self) -> LoadBalancer<&StringMap, &StringMap>;
    /// The address of the backend that the operation registers or takes away; none where it does
    /// neither.
    fn backend_addr(&self) -> Option<&str> {
        None
    }
    /// The request as one of another try: without what differs between tries.
    #[must_use]
    fn without_retry_id(self) -> Self;
    /// The request as one that only asks for a check: nothing may change.
    #[must_use]
    fn into_dry_run(self) -> Self;
}

/// The response of an operation.
pub trait OperationResponse: Sized {
    /// A response that says `Running`: ask again, at the earliest after `delay`.
    fn running(message: String, delay: Option<Duration>) -> Self;
    /// A response that says `Fail`.
    fn fail(message: String, delay: Option<Duration>) -> Self;
    /// How far the operation is.
    fn status(&self) -> Status;
    /// What people read in events and conditions.
    fn message(&self) -> &str;
    /// The least time until the next call, if the driver asks for one.
    fn min_retry_delay(&self) -> Option<Duration>;
}

/// Whole seconds for the wire: rounded up, so that nobody calls too early.
pub(super) fn to_whole_seconds(delay: Option<Duration>) -> i32 {
    let Some(delay) = delay else { return 0 };
    let started = u64::from(delay.subsec_nanos() > 0);
    let seconds = delay.as_secs().saturating_add(started);
    i32::try_from(seconds).unwrap_or(i32::MAX)
}

/// Declares an operation's request: its own fields behind those that all have, which of them is
/// the load balancer, and which the backend's address.
macro_rules! operation_request {
    ($(#[$doc:meta])* $name:ident of $known_by:ident($load_balancer:ident) $(at $backend_addr:ident)? { $($fields:tt)* }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, Default, PartialEq, serde::Serialize, serde::Deserialize)]
        #[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
        #[serde(rename_all = "camelCase")]
        pub struct $name {
            /// Names the operation on one object, such as `ensureBackend(<uid>)`. It is opaque,
            /// and it stays the same when parameters change.
            #[serde(rename = "recordID", default, deserialize_with = "crate::wire::null_as_default")]
            pub record_id: String,
            /// New in each call; for logs.
            #[serde(rename = "retryID", default, deserialize_with = "crate::wire::null_as_default")]
            pub retry_id: String,
            /// Whether only a check is asked for: nothing may change.
            #[serde(default, deserialize_with = "crate::wire::null_as_default")]
            pub dry_run: bool,
            $($fields)*
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
        }
    };
}
pub(super) use operation_request;

/// Declares an operation's response: how far it is, and on success a result of its own.
macro_rules! operation_response {
    ($(#[$doc:meta])* $name:ident => $result:ty { $($(#[$field_doc:meta])* $field:ident: $type:ty)? }) => {
        $(#[$doc])*
        #[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
        #[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
        #[serde(rename_all = "camelCase")]
        pub struct $name {
            /// How far the operation is.
            pub status: $crate::webhook::Status,
            /// What people read in events and conditions.
            #[serde(default, deserialize_with = "crate::wire::null_as_default")]
            pub msg: String,
            /// The least number of seconds until the next call; 0 leaves it to the controller.
            /// Read as a number or a numeric string, written as a number (d1).
            #[serde(
                default,
                skip_serializing_if = "crate::wire::is_zero",
                deserialize_with = "crate::wire::whole_seconds"
            )]
            pub min_retry_delay_in_seconds: i32,
            $($(#[$field_doc])* pub $field: $type,)?
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
                    $($field: Default::default(),)?
                }
            }
        }

        impl From<Result<$result, $crate::HookError>> for $name {
            fn from(result: Result<$result, $crate::HookError>) -> Self {
                match result {
                    Ok(_done) => Self {
                        status: $crate::webhook::Status::Succ,
                        msg: String::new(),
                        min_retry_delay_in_seconds: 0,
                        $($field: _done,)?
                    },
                    Err(hook_error) => Self::unfinished(
                        hook_error.status(),
                        hook_error.message().to_owned(),
                        hook_error.delay(),
                    ),
                }
            }
        }
    };
}
pub(super) use operation_response;

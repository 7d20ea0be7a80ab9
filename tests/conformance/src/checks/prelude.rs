//! The names that most checks use.

pub(super) use crate::call::{
    Backend, DriverReply, LoadBalancer, Source, Status, WebhookCall, healthz, in_any_case,
    validate_backend, validate_backend_update,
};
pub(super) use crate::check::{Check, Concurrency, Need, Observer};
pub(super) use crate::classification::{Feature, Group};
pub(super) use crate::exchange::{Exchange, NoResponse, Received, RequestKind};
pub(super) use crate::lab::Lab;
pub(super) use crate::lab::cloud::{BOUND, CREATED, json};
pub(super) use crate::outcome::{Blame as _, CheckError, CheckOutcome, Failure};
pub(super) use crate::transport::Request;
pub(super) use lbcf_driver_sdk::specification::rules;
pub(super) use lbcf_driver_sdk::webhook::StringMap;
pub(super) use serde_json::{Map, Value, json};
pub(super) use std::sync::Arc;
pub(super) use std::time::Duration;
pub(super) use tokio::time::Instant;

/// Why a call with the fixture's `unknownLBInfo` has to fail.
pub(super) const UNKNOWN: &str = "since the fixture declares that no load balancer has this lbInfo";

//! Answers of drivers that were asked for an address before its record was created, and named none.

use crate::api::ObjectKey;
use crate::drivers::DriverError;
use crate::process::lock::Mutex;
use lbcf_driver_sdk::webhook::GenerateBackendAddrResponse;
use std::collections::HashMap;

type Answer = Result<GenerateBackendAddrResponse, DriverError>;

/// By record. Each is taken by its first reconciliation, or when it could not be created.
#[derive(Debug, Default)]
pub(crate) struct FirstAnswers(Mutex<HashMap<ObjectKey, Answer>>);

impl FirstAnswers {
    pub(crate) fn insert(&self, record: ObjectKey, answer: Answer) {
        self.0.lock().insert(record, answer);
    }

    pub(crate) fn take(&self, record: &ObjectKey) -> Option<Answer> {
        self.0.lock().remove(record)
    }
}

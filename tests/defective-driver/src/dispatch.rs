//! The way of a request through the defects of all kinds.

use crate::driver::Driver;
use crate::hook_request::HookRequest;
use crate::reply::Reply;
use crate::{
    Defect, address, concurrency, create, deregister, dry_run, ensure_backend, judge, list,
    load_balancer, malformed, reply_form, request_form, retry, running, validate_backend,
    validate_load_balancer,
};

/// What a defect does before the driver: it may change the request, or reply in the driver's place.
pub(crate) fn before(defect: Defect, driver: &Driver, request: &mut HookRequest) -> Option<Reply> {
    concurrency::before(defect, driver, request);
    request_form::before(defect, request)
        .or_else(|| malformed::before(defect, driver, request))
        .or_else(|| dry_run::before(defect, driver, request))
        .or_else(|| retry::before(defect, driver, request))
        .or_else(|| validate_load_balancer::before(defect, driver, request))
        .or_else(|| create::before(defect, driver, request))
        .or_else(|| running::before(defect, driver, request))
        .or_else(|| load_balancer::before(defect, driver, request))
        .or_else(|| validate_backend::before(defect, driver, request))
        .or_else(|| address::before(defect, request))
        .or_else(|| ensure_backend::before(defect, driver, request))
        .or_else(|| deregister::before(defect, driver, request))
        .or_else(|| judge::before(defect, request))
}

/// What a defect does after the driver: it may change the cloud and the reply.
pub(crate) fn after(defect: Defect, driver: &Driver, request: &HookRequest, reply: &mut Reply) {
    concurrency::after(defect, driver, request, reply);
    validate_load_balancer::after(defect, driver, request, reply);
    create::after(defect, driver, request, reply);
    running::after(defect, driver, request, reply);
    load_balancer::after(defect, driver, request, reply);
    validate_backend::after(defect, driver, request, reply);
    address::after(defect, driver, request, reply);
    ensure_backend::after(defect, driver, request, reply);
    deregister::after(defect, driver, request, reply);
    judge::after(defect, request, reply);
    list::after(defect, driver, request, reply);
    retry::after(defect, driver, request, reply);
    dry_run::after(defect, driver, request, reply);
    malformed::after(defect, driver, request, reply);
    reply_form::after(defect, driver, request, reply);
}

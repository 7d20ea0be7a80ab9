//! Bind: load balancers and backends in one object.
//!
//! Its backends are reconciled like a BackendGroup's, by [`backends`](crate::backends). Each of its
//! [load balancers](load_balancer) is reconciled on its own, so that a slow or failing one delays neither
//! the others nor the backends.

pub(crate) mod load_balancer;
mod owner;
mod status;

use crate::api::names::FINALIZER_LOAD_BALANCER;
use crate::api::{Bind, ObjectExt, ObjectKey};
use crate::backends;
use crate::index::{BindLoadBalancerKey, Owner, Request, RequestKey};
use crate::runtime::{Action, Context, Error};

/// Reconciles a Bind's finalizer and backends.
pub(crate) async fn reconcile(context: &Context, key: &ObjectKey) -> Result<Action, Error> {
    context.confirm::<Bind>(key).await?;
    let bind = context.index().find::<Bind>(key);
    let Some(bind) = bind else {
        return Ok(Action::AwaitChange);
    };
    if !bind.is_deleting() && !bind.has_finalizer(FINALIZER_LOAD_BALANCER) {
        if !context.options.dry_run {
            context
                .add_finalizer(&*bind, FINALIZER_LOAD_BALANCER)
                .await?;
            return Ok(Action::RequeueNow);
        }
        // Storing the finalizer would enqueue them.
        let names = bind.spec.load_balancers.iter().map(|lb| lb.name.clone());
        let lbs = names.map(|name| BindLoadBalancerKey {
            bind: key.clone(),
            name,
        });
        let requests = lbs.map(RequestKey::BindLoadBalancer).map(Request::normal);
        context.queue.add(requests);
    }
    backends::reconcile::<Bind>(context, &Owner::Bind(key.clone())).await
}

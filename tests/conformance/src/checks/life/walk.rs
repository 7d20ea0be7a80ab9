//! The life of a load balancer and a backend, step by step, and how each call of it is made.

use crate::checks::{dlb, drg, elb, ens};
use crate::exchange::{Kind, NoAnswer};
use crate::lab::{
    Answer, Backend, Call, Lab, LoadBalancer, Source, validate_backend, validate_backend_update,
};
use crate::verdict::{Failure, NotPassed, Verdict};
use lbcf_driver_sdk::webhook::StringMap;
use std::time::Duration;
use tokio::time::Instant;

/// How each call of a life is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::checks) enum Strategy {
    /// As it is.
    Once,
    /// And once more when it is done.
    Twice,
    /// After tries that are hung up on: one in the middle of the request, one while the driver is
    /// at work.
    AfterHangUps,
    /// After a restart of the driver.
    AfterRestart,
}

/// How long the driver is at work at most before it is hung up on, in milliseconds.
const LINGER: u64 = 30;

/// A life that is walked through.
#[derive(Debug, Clone, Copy)]
pub(in crate::checks) struct Walk<'a> {
    lab: &'a Lab,
    strategy: Strategy,
    /// The check that is about this life without anything special.
    basis: Option<&'static str>,
}

impl<'a> Walk<'a> {
    /// The life that a check is about.
    pub(in crate::checks) const fn new(lab: &'a Lab, strategy: Strategy) -> Self {
        Self {
            lab,
            strategy,
            basis: None,
        }
    }

    /// The same where what goes wrong anyway is this check's failure.
    pub(in crate::checks) const fn based_on(mut self, basis: &'static str) -> Self {
        self.basis = Some(basis);
        self
    }

    /// The whole life, from the validation of a load balancer to its deletion. Fails at the first
    /// step that goes wrong, and when something is left in the end.
    pub(in crate::checks) async fn whole(&self) -> Verdict {
        let lab = self.lab;
        // Without it all of this would only wait.
        lab.is_given("CLB-01")?;
        let before = lab.look().await?;
        let mut load_balancer = lab.load_balancer();
        self.decided(
            &load_balancer.validate(),
            "since lbSpec and attributes are right",
        )
        .await?;
        load_balancer.lb_info = self.same(|| self.created(&load_balancer), "lbInfo").await?;
        let attributes = load_balancer.wanted.attributes.clone();
        self.step(|| self.ensured(&load_balancer, &attributes))
            .await?;
        let backend = if lab.has_backends() {
            Some(self.backend(&load_balancer).await?)
        } else {
            None
        };
        if lab.fixture().load_balancer.update.is_some() {
            let attributes = lab.updated_attributes(&load_balancer);
            let since = "since the fixture says that attributes can be changed to these";
            self.decided(&load_balancer.validate_update(&attributes), since)
                .await?;
            self.step(|| self.ensured(&load_balancer, &attributes))
                .await?;
            load_balancer.wanted.attributes = attributes;
        }
        if let Some(backend) = backend {
            self.step(|| self.deregistered(&backend)).await?;
        }
        self.step(|| self.deleted(&load_balancer)).await?;
        let (Some(before), Some(seen)) = (before, lab.look().await?) else {
            return Ok(());
        };
        if let Some(left) = seen.since(&before).first() {
            let failure = Failure::new("nothing left in the cloud at the end", format!("{left:?}"));
            return Err(self.first_time(failure.into()));
        }
        Ok(())
    }

    /// A backend, from its validation to changed parameters.
    async fn backend(&self, load_balancer: &LoadBalancer) -> Result<Backend, NotPassed> {
        let lab = self.lab;
        let mut backend = lab.backend(load_balancer);
        let backend_type = match backend.source {
            Source::Pod(_) => "Pod",
            Source::Service(_) => "Service",
            Source::Static => "Static",
        };
        let validate = validate_backend(load_balancer, backend_type, &backend.parameters);
        self.decided(&validate, "since the parameters are right")
            .await?;
        backend.addr = self
            .same(|| self.generated(&backend), "backendAddr")
            .await?;
        backend.injected_info = self.step(|| self.registered(&backend)).await?;
        if lab.fixture().backend.update.is_some() {
            let old = backend.parameters.clone();
            backend.parameters = lab.updated_parameters(&backend);
            let validate =
                validate_backend_update(load_balancer, backend_type, &backend.parameters, &old);
            let since = "since the fixture says that parameters can be changed to these";
            self.decided(&validate, since).await?;
            backend.injected_info = self.step(|| self.registered(&backend)).await?;
        }
        Ok(backend)
    }

    async fn created(&self, load_balancer: &LoadBalancer) -> Result<StringMap, NotPassed> {
        let answer = self.done(&load_balancer.create()).await?;
        answer.succ("since lbSpec and attributes are right")?;
        let lb_info = self.lab.identity_in(&answer, load_balancer);
        let since = "since createLoadBalancer answered Succ";
        self.lab.look_at(&lb_info, since).await?;
        Ok(lb_info)
    }

    async fn ensured(&self, load_balancer: &LoadBalancer, attributes: &StringMap) -> Verdict {
        let answer = self.done(&load_balancer.ensure_with(attributes)).await?;
        answer.succ("since the load balancer is there and the attributes are right")?;
        elb::has_attributes(self.lab, &load_balancer.lb_info, attributes).await
    }

    async fn generated(&self, backend: &Backend) -> Result<String, NotPassed> {
        if backend.source == Source::Static {
            return Ok(backend.addr.clone());
        }
        let answer = self.done(&backend.generate()).await?;
        answer.succ("since the backend has all that an address is made of")?;
        let addr = answer.field("backendAddr").and_then(|addr| addr.as_str());
        match addr {
            Some(addr) if !addr.is_empty() => Ok(addr.to_owned()),
            _ => {
                let got = "status Succ without a backendAddr";
                Err(answer.failed("a backendAddr that is not empty", got))
            }
        }
    }

    /// What is to be remembered of the backend then.
    async fn registered(&self, backend: &Backend) -> Result<StringMap, NotPassed> {
        let answer = self.done(&backend.ensure()).await?;
        answer.succ("since the load balancer is there and the parameters are right")?;
        ens::basis::is_there(self.lab, backend, &backend.parameters).await?;
        let injected_info = answer.map("injectedInfo");
        if injected_info.is_empty() {
            return Ok(backend.injected_info.clone());
        }
        Ok(injected_info)
    }

    async fn deregistered(&self, backend: &Backend) -> Verdict {
        let answer = self.done(&backend.deregister()).await?;
        answer.succ("since taking a backend away succeeds whether it is there or not")?;
        drg::basis::is_gone(self.lab, backend).await
    }

    async fn deleted(&self, load_balancer: &LoadBalancer) -> Verdict {
        let answer = self.done(&load_balancer.delete()).await?;
        answer.succ("since deleting a load balancer succeeds whether it is there or not")?;
        dlb::is_gone(self.lab, load_balancer).await
    }

    /// A decision, which has to be yes.
    async fn decided(&self, call: &Call, since: &str) -> Verdict {
        self.step(|| async {
            self.hang_ups(call).await;
            self.lab.call(call).await.accepted(since).map(drop)
        })
        .await
    }

    /// An operation, until it is done.
    async fn done(&self, call: &Call) -> Result<Answer, NotPassed> {
        self.hang_ups(call).await;
        self.lab.until_done(call).await
    }

    /// A step as the strategy has it; what it came to the last time.
    async fn step<T, F>(&self, act: impl Fn() -> F) -> Result<T, NotPassed>
    where
        F: Future<Output = Result<T, NotPassed>>,
    {
        self.step_twice(act)
            .await
            .map(|(first, second)| second.unwrap_or(first))
    }

    /// A step that comes to the same each time.
    async fn same<T, F>(&self, act: impl Fn() -> F, field: &str) -> Result<T, NotPassed>
    where
        T: PartialEq + std::fmt::Debug,
        F: Future<Output = Result<T, NotPassed>>,
    {
        let (first, second) = self.step_twice(act).await?;
        match second {
            Some(second) if second != first => {
                let expected = format!("{field} as the first call had it, {first:?}");
                Err(Failure::new(expected, format!("{second:?}")).into())
            }
            _ => Ok(first),
        }
    }

    async fn step_twice<T, F>(&self, act: impl Fn() -> F) -> Result<(T, Option<T>), NotPassed>
    where
        F: Future<Output = Result<T, NotPassed>>,
    {
        if self.strategy == Strategy::AfterRestart {
            self.lab.restart().await?;
        }
        let first = act().await.map_err(|problem| self.first_time(problem))?;
        if self.strategy != Strategy::Twice {
            return Ok((first, None));
        }
        let second = act().await.map_err(|problem| {
            problem.hint("The same call was made before and succeeded: this is its repeat.")
        })?;
        Ok((first, Some(second)))
    }

    /// What goes wrong the first time would do so in a plain life, too.
    fn first_time(&self, problem: NotPassed) -> NotPassed {
        match self.basis {
            Some(basis) => problem.blocked_by(basis),
            None => problem,
        }
    }

    /// The tries that are hung up on. That the driver is not there, the call after them tells.
    async fn hang_ups(&self, call: &Call) {
        if self.strategy != Strategy::AfterHangUps {
            return;
        }
        let request = self.lab.request_of(call);
        let length = u64::try_from(request.body.len()).unwrap_or(u64::MAX);
        let part = usize::try_from(self.lab.random(0..length.max(1))).unwrap_or_default();
        let began = Instant::now();
        let transport = self.lab.transport();
        let sent = transport.send_part_and_hang_up(&request, part).await;
        let about = (Some(call.webhook()), Kind::Improper, began.elapsed());
        let outcome = Err(sent.err().unwrap_or(NoAnswer::HungUp));
        self.lab.recorded(&request, about, outcome);
        let linger = Duration::from_millis(self.lab.random(0..LINGER));
        // The same: see above.
        self.lab.call_and_hang_up(call, linger).await.ok();
    }
}

//! The life cycle of a load balancer and a backend, with several strategies for its calls.

use crate::checks::prelude::*;

/// The way in which each call of a life cycle is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::checks) enum Strategy {
    Once,
    /// Again after it is done.
    Twice,
    /// After two attempts whose connections were closed: during the request, and while the driver
    /// was working.
    AfterHangUps,
    /// After a restart of the driver.
    AfterRestart,
}

/// The longest time that the driver works before the connection is closed, in milliseconds.
const LINGER: u64 = 30;

/// The life cycle of a load balancer and a backend.
#[derive(Debug, Clone, Copy)]
pub(in crate::checks) struct LifeCycle<'a> {
    pub(in crate::checks) lab: &'a Lab,
    pub(in crate::checks) strategy: Strategy,
}

impl LifeCycle<'_> {
    /// Runs the life cycle, from the validation of a load balancer to its deletion. Fails at the
    /// first wrong response, and when something is left behind.
    pub(in crate::checks) async fn run(&self) -> CheckOutcome {
        let lab = self.lab;
        lab.run.require("CLB-01")?;
        let before = lab.observe().await?;
        let mut lb = lab.load_balancer();
        let since = "since lbSpec and attributes are valid";
        self.accepted(&lb.validate(), since).await?;
        lb.lb_info = self.same(|| self.created(&lb), "lbInfo").await?;
        let attributes = lb.sample.attributes.clone();
        self.each(|| self.ensured(&lb, &attributes)).await?;
        let backend = if lab.has_backends() {
            Some(self.backend(&lb).await?)
        } else {
            None
        };
        if lab.run.fixture.load_balancer.update.attributes.is_some() {
            let attributes = lab.updated_attributes(&lb);
            let since = "since the fixture allows these attributes";
            self.accepted(&lb.validate_update(&attributes), since)
                .await?;
            self.each(|| self.ensured(&lb, &attributes)).await?;
            lb.sample.attributes = attributes;
        }
        if let Some(backend) = backend {
            self.each(|| self.deregistered(&backend)).await?;
        }
        self.each(|| self.deleted(&lb)).await?;
        let expected = "nothing left in the cloud at the end";
        let left = lab.created_since(before.as_ref(), 0, expected).await;
        left.map_err(|error| self.first_time(error))
    }

    /// A backend, from its validation to changed parameters.
    async fn backend(&self, lb: &LoadBalancer) -> CheckOutcome<Backend> {
        let lab = self.lab;
        let mut backend = lab.backend(lb);
        let backend_type = backend.source.backend_type();
        let validate = validate_backend(lb, backend_type, &backend.parameters);
        self.accepted(&validate, "since the parameters are valid")
            .await?;
        let generated = || self.generated(&backend);
        backend.addr = self.same(generated, "backendAddr").await?;
        backend.injected_info = self.each(|| self.registered(&backend)).await?;
        if lab.run.fixture.backend.parameters.update.is_some() {
            let old = backend.parameters.clone();
            backend.parameters = lab.updated_parameters(&backend);
            let validate = validate_backend_update(lb, backend_type, &backend.parameters, &old);
            let since = "since the fixture allows these parameters";
            self.accepted(&validate, since).await?;
            backend.injected_info = self.each(|| self.registered(&backend)).await?;
        }
        Ok(backend)
    }

    async fn created(&self, lb: &LoadBalancer) -> CheckOutcome<StringMap> {
        self.hang_ups(&lb.create()).await;
        let created = self.lab.created(lb.clone()).await?;
        let since = "since createLoadBalancer returned Succ";
        self.lab.observed(&created.lb_info, since).await?;
        Ok(created.lb_info)
    }

    async fn ensured(&self, lb: &LoadBalancer, attributes: &StringMap) -> CheckOutcome {
        let call = lb.ensure_with(attributes);
        self.hang_ups(&call).await;
        let since = "since the load balancer exists and the attributes are valid";
        self.lab.succeeds(&call, since).await?;
        self.lab.has_attributes(&lb.lb_info, attributes).await
    }

    async fn generated(&self, backend: &Backend) -> CheckOutcome<String> {
        if backend.source == Source::Static {
            return Ok(backend.addr.clone());
        }
        self.hang_ups(&backend.generate()).await;
        self.lab.generated(backend).await
    }

    /// Registers the backend and returns its `injectedInfo`.
    async fn registered(&self, backend: &Backend) -> CheckOutcome<StringMap> {
        self.hang_ups(&backend.ensure()).await;
        let registered = self.lab.registered(backend.clone()).await?;
        self.lab.is_registered(&registered).await?;
        Ok(registered.injected_info)
    }

    async fn deregistered(&self, backend: &Backend) -> CheckOutcome {
        self.hang_ups(&backend.deregister()).await;
        self.lab.deregistered(backend).await?;
        self.lab.is_deregistered(backend).await
    }

    async fn deleted(&self, lb: &LoadBalancer) -> CheckOutcome {
        self.hang_ups(&lb.delete()).await;
        self.lab.deleted(lb).await?;
        self.lab.is_deleted(lb).await
    }

    /// A validation that has to accept.
    async fn accepted(&self, call: &WebhookCall, since: &str) -> CheckOutcome {
        self.each(|| async {
            self.hang_ups(call).await;
            self.lab.call(call).await.accepted(since).map(drop)
        })
        .await
    }

    /// Makes a call as the strategy requires, and returns the last result.
    async fn each<T, F>(&self, call: impl Fn() -> F) -> CheckOutcome<T>
    where
        F: Future<Output = CheckOutcome<T>>,
    {
        let (first, second) = self.results(call).await?;
        Ok(second.unwrap_or(first))
    }

    /// [`each`](Self::each) for a call that has to return the same result each time.
    async fn same<T, F>(&self, call: impl Fn() -> F, field: &str) -> CheckOutcome<T>
    where
        T: PartialEq + serde::Serialize,
        F: Future<Output = CheckOutcome<T>>,
    {
        let (first, second) = self.results(call).await?;
        match second {
            Some(second) if second != first => {
                let expected = format!("{field} of the first call, {}", json(&first));
                Err(Failure::new(expected, json(&second)).into())
            }
            _ => Ok(first),
        }
    }

    async fn results<T, F>(&self, call: impl Fn() -> F) -> CheckOutcome<(T, Option<T>)>
    where
        F: Future<Output = CheckOutcome<T>>,
    {
        if self.strategy == Strategy::AfterRestart {
            self.lab.restart().await?;
        }
        let first = call().await.map_err(|error| self.first_time(error))?;
        if self.strategy != Strategy::Twice {
            return Ok((first, None));
        }
        let second = call().await.map_err(|error| {
            error.hint("The same call succeeded before: this is its repetition.")
        })?;
        Ok((first, Some(second)))
    }

    /// The first call would fail in a plain life cycle, too.
    fn first_time(&self, error: CheckError) -> CheckError {
        match self.strategy {
            Strategy::Once => error,
            _ => error.blocked_by("LIFE-01"),
        }
    }

    /// The attempts whose connections are closed. The call after them shows whether the driver still
    /// responds.
    async fn hang_ups(&self, call: &WebhookCall) {
        if self.strategy != Strategy::AfterHangUps {
            return;
        }
        let request = self.lab.request_of(call);
        let length = u64::try_from(request.body.len()).unwrap_or(u64::MAX);
        let part = usize::try_from(self.lab.random(0..length.max(1))).unwrap_or_default();
        let webhook = call.webhook();
        let no_time = Duration::ZERO;
        self.lab.hang_up(&request, webhook, part, no_time).await;
        let linger = Duration::from_millis(self.lab.random(0..LINGER));
        self.lab.call_and_hang_up(call, linger).await;
    }
}

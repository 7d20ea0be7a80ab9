//! A driver of a small cloud in memory, with flaws to order.

use lbcf_driver_sdk::webhook::{JudgePodDeregister, KubernetesObject, StringMap};
use lbcf_driver_sdk::{Driver, HookError, Rejection, request};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Mutex, MutexGuard};
use std::time::Duration;

#[derive(Debug, Default)]
pub(crate) struct Cloudlet {
    flaws: &'static [&'static str],
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    load_balancers: BTreeSet<String>,
    /// Weights by load balancer and address.
    backends: BTreeMap<(String, String), String>,
    calls: usize,
    ids: Vec<(String, String)>,
    waited: usize,
}

#[derive(Debug, serde::Serialize, serde::Deserialize)]
pub(crate) struct Spec {
    name: String,
}

#[derive(Debug, serde::Serialize, serde::Deserialize)]
pub(crate) struct Info {
    #[serde(default, skip_serializing_if = "String::is_empty")]
    id: String,
}

impl Cloudlet {
    pub(crate) fn with(flaws: &'static [&'static str]) -> Self {
        Self {
            flaws,
            ..Self::default()
        }
    }

    fn has(&self, flaw: &str) -> bool {
        self.flaws.contains(&flaw)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }

    pub(crate) fn calls(&self) -> usize {
        self.state().calls
    }

    pub(crate) fn ids(&self) -> Vec<(String, String)> {
        self.state().ids.clone()
    }

    pub(crate) fn load_balancers(&self) -> usize {
        self.state().load_balancers.len()
    }

    pub(crate) fn backends(&self) -> Vec<String> {
        let state = self.state();
        let line = |((lb, addr), weight): (&(String, String), &String)| {
            format!("{lb} {addr} weight {weight}")
        };
        state.backends.iter().map(line).collect()
    }

    fn check_name(&self, spec: &Spec) -> Result<(), String> {
        if spec.name.contains('!') && !self.has("takes any name") {
            return Err(format!("lbSpec.name: {:?}: not a name", spec.name));
        }
        Ok(())
    }
}

fn weight(parameters: &StringMap) -> Result<String, String> {
    match parameters
        .get("weight")
        .map(|weight| (weight, weight.parse::<u8>()))
    {
        Some((text, Err(_))) => Err(format!(
            "parameters.weight: {text:?}: not a number from 0 to 255"
        )),
        Some((_, Ok(weight))) => Ok(weight.to_string()),
        None => Ok("1".into()),
    }
}

impl Driver for Cloudlet {
    type LbSpec = Spec;
    type LbInfo = Info;
    type Attributes = StringMap;
    type Parameters = StringMap;
    type BackendAddr = String;

    async fn validate_load_balancer(
        &self,
        request: request::ValidateLoadBalancer<Self>,
    ) -> Result<(), Rejection> {
        if self.has("refuses everything") {
            return Err(Rejection::new("no"));
        }
        if self.has("refuses without a name") {
            return self
                .check_name(&request.lb_spec)
                .map_err(|_| Rejection::new("something is wrong"));
        }
        self.check_name(&request.lb_spec).map_err(Rejection::new)
    }

    async fn create_load_balancer(
        &self,
        request: request::CreateLoadBalancer<Self>,
    ) -> Result<Info, HookError> {
        self.check_name(&request.lb_spec).map_err(HookError::fail)?;
        let mut state = self.state();
        state.calls += 1;
        if self.has("cannot create") {
            return Err(HookError::fail("quota exceeded"));
        }
        if self.has("never ends") {
            return Err(HookError::running("wait"));
        }
        if self.has("slow") && state.waited < 2 {
            state.waited += 1;
            return Err(HookError::running("wait").retry_after(Duration::from_secs(3)));
        }
        let mut id = format!("lb-{}", request.lb_spec.name);
        if self.has("creates again") {
            id = format!("{id}-{}", state.calls);
        }
        state.load_balancers.insert(id.clone());
        if self.has("empty lbInfo") {
            id.clear();
        }
        Ok(Info { id })
    }

    async fn delete_load_balancer(
        &self,
        request: request::DeleteLoadBalancer<Self>,
    ) -> Result<(), HookError> {
        let Some(lb_info) = request.lb_info else {
            return match self.has("needs an lbInfo") {
                true => Err(HookError::fail("lbInfo is missing")),
                false => Ok(()),
            };
        };
        let was_there = self.state().load_balancers.remove(&lb_info.id);
        if !was_there && self.has("deletes once") {
            return Err(HookError::fail("no such load balancer"));
        }
        Ok(())
    }

    async fn ensure_load_balancer(
        &self,
        _: request::EnsureLoadBalancer<Self>,
    ) -> Result<(), HookError> {
        if self.has("cannot ensure attributes") {
            return Err(HookError::fail("nothing to change"));
        }
        Ok(())
    }

    async fn validate_backend(
        &self,
        request: request::ValidateBackend<Self>,
    ) -> Result<(), Rejection> {
        if self.has("takes any weight") {
            return Ok(());
        }
        weight(&request.parameters)
            .map(drop)
            .map_err(Rejection::new)
    }

    async fn generate_backend_addr(
        &self,
        request: request::GenerateBackendAddr<Self>,
    ) -> Result<String, HookError> {
        let request::Backend::Pod(backend) = request.backend()? else {
            return Err(HookError::fail("pods only"));
        };
        let mut state = self.state();
        state.calls += 1;
        if self.has("same address for all") {
            return Ok("10.0.0.1:80".into());
        }
        let ip = backend.pod.ips.first();
        let ip = ip.ok_or_else(|| HookError::running("the pod has no address yet"))?;
        if self.has("another address each time") {
            return Ok(format!("{ip}:{}", state.calls));
        }
        Ok(format!("{ip}:{}", backend.port.port))
    }

    async fn ensure_backend(
        &self,
        request: request::EnsureBackend<Self>,
    ) -> Result<StringMap, HookError> {
        {
            let mut state = self.state();
            state.calls += 1;
            state
                .ids
                .push((request.record_id.clone(), request.retry_id.clone()));
        }
        assert!(!self.has("panics"), "on purpose");
        if self.has("hangs") {
            tokio::time::sleep(Duration::from_secs(30)).await;
        }
        if self.has("hangs for ever") {
            std::future::pending::<()>().await;
        }
        let weight = weight(&request.parameters).map_err(HookError::fail)?;
        let key = (request.lb_info.id.clone(), request.backend_addr);
        let before = self.state().backends.insert(key, weight);
        if before.is_some() && self.has("registers once") {
            return Err(HookError::fail("the backend exists"));
        }
        Ok(StringMap::from([("on".to_owned(), request.lb_info.id)]))
    }

    async fn deregister_backend(
        &self,
        request: request::DeregisterBackend<Self>,
    ) -> Result<(), HookError> {
        if self.has("needs its load balancer")
            && !self.state().load_balancers.contains(&request.lb_info.id)
        {
            return Err(HookError::fail("no such load balancer"));
        }
        let key = (request.lb_info.id, request.backend_addr);
        if self.state().backends.remove(&key).is_none() && self.has("deregisters once") {
            return Err(HookError::fail("no such backend"));
        }
        Ok(())
    }

    async fn judge_pod_deregister(
        &self,
        request: JudgePodDeregister,
    ) -> Result<Vec<KubernetesObject>, Rejection> {
        let kept = |pod: &KubernetesObject| pod.labels.contains_key("keep");
        Ok(request.not_ready_pods.into_iter().filter(kept).collect())
    }

    async fn healthz(&self) -> bool {
        !self.has("sick")
    }
}

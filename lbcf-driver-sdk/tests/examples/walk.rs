//! The calls of a controller in order, each of them twice.

use lbcf_driver_client::DriverClient;
use lbcf_driver_sdk::webhook::{
    BackendPort, CreateLoadBalancer, DeleteLoadBalancer, DeregisterBackend, EnsureBackend,
    EnsureLoadBalancer, GenerateBackendAddr, Healthz, PodBackend, Status, StringMap,
    ValidateBackend, ValidateLoadBalancer,
};
use serde_json::json;
use std::time::{Duration, Instant};

/// The timeout of a call.
pub(super) const LIMIT: Duration = Duration::from_secs(30);

/// The values of a user.
#[derive(Debug, Default)]
pub(super) struct Walk {
    pub(super) lb_spec: StringMap,
    pub(super) attributes: StringMap,
    pub(super) parameters: StringMap,
    /// Whether backends can be registered on a load balancer that was deleted.
    pub(super) always_there: bool,
}

pub(super) fn map(entries: &[(&str, &str)]) -> StringMap {
    let entries = entries.iter();
    entries.map(|(k, v)| ((*k).into(), (*v).into())).collect()
}

pub(super) fn create(walk: &Walk, uid: &str) -> CreateLoadBalancer {
    CreateLoadBalancer {
        record_id: format!("createLoadBalancer({uid})"),
        lb_spec: walk.lb_spec.clone(),
        attributes: walk.attributes.clone(),
        ..Default::default()
    }
}

pub(super) fn ensure(walk: &Walk, lb_info: &StringMap, addr: &str) -> EnsureBackend {
    EnsureBackend {
        record_id: "ensureBackend(1)".into(),
        lb_info: lb_info.clone(),
        backend_addr: addr.into(),
        parameters: walk.parameters.clone(),
        ..Default::default()
    }
}

impl Walk {
    /// Creates the load balancer `uid`, with as many calls as necessary.
    pub(super) async fn created(&self, driver: &DriverClient, uid: &str) -> StringMap {
        let deadline = Instant::now() + LIMIT;
        loop {
            let request = create(self, uid);
            let answer = driver
                .call_within::<CreateLoadBalancer>(&request, LIMIT)
                .await;
            let answer = answer.unwrap();
            match answer.status {
                Status::Succ if answer.lb_info.is_empty() => return self.lb_spec.clone(),
                Status::Succ => return answer.lb_info,
                Status::Running if Instant::now() < deadline => {
                    tokio::time::sleep(Duration::from_millis(50)).await;
                }
                _ => panic!("{answer:?}"),
            }
        }
    }

    /// From creating load balancer `1` to deleting it.
    pub(super) async fn through(&self, driver: &DriverClient) {
        let health = driver.call_within::<Healthz>(&Healthz {}, LIMIT).await;
        assert!(health.unwrap().healthy);
        self.validated(driver).await;

        let lb_info = self.created(driver, "1").await;
        assert_eq!(self.created(driver, "1").await, lb_info);
        let attributes = EnsureLoadBalancer {
            record_id: "ensureLoadBalancer(1)".into(),
            lb_info: lb_info.clone(),
            attributes: self.attributes.clone(),
            ..Default::default()
        };
        for _ in 0..2 {
            let answer = driver
                .call_within::<EnsureLoadBalancer>(&attributes, LIMIT)
                .await;
            assert_eq!(answer.unwrap().status, Status::Succ);
        }

        let addr = self.generated(driver, &lb_info).await;
        let injected_info = self.ensured(driver, &lb_info, &addr).await;
        let deregister = DeregisterBackend {
            record_id: "deregisterBackend(1)".into(),
            lb_info: lb_info.clone(),
            backend_addr: addr.clone(),
            parameters: self.parameters.clone(),
            injected_info,
            ..Default::default()
        };
        for _ in 0..2 {
            let answer = driver
                .call_within::<DeregisterBackend>(&deregister, LIMIT)
                .await;
            assert_eq!(answer.unwrap().status, Status::Succ);
        }
        let delete = DeleteLoadBalancer {
            record_id: "deleteLoadBalancer(1)".into(),
            lb_info: lb_info.clone(),
            attributes: self.attributes.clone(),
            ..Default::default()
        };
        for _ in 0..2 {
            let answer = driver
                .call_within::<DeleteLoadBalancer>(&delete, LIMIT)
                .await;
            assert_eq!(answer.unwrap().status, Status::Succ);
        }

        let answer = driver
            .call_within::<DeregisterBackend>(&deregister, LIMIT)
            .await;
        assert_eq!(answer.unwrap().status, Status::Succ);
        if !self.always_there {
            let nowhere = ensure(self, &lb_info, &addr);
            let answer = driver
                .call_within::<EnsureBackend>(&nowhere, LIMIT)
                .await
                .unwrap();
            assert_eq!(answer.status, Status::Fail);
            assert!(!answer.msg.is_empty());
        }
    }

    async fn validated(&self, driver: &DriverClient) {
        let load_balancer = ValidateLoadBalancer {
            lb_spec: self.lb_spec.clone(),
            attributes: self.attributes.clone(),
            ..Default::default()
        };
        let answer = driver.call_within::<ValidateLoadBalancer>(&load_balancer, LIMIT);
        let answer = answer.await.unwrap();
        assert!(answer.succ, "{answer:?}");
        let backend = ValidateBackend {
            parameters: self.parameters.clone(),
            ..Default::default()
        };
        let answer = driver
            .call_within::<ValidateBackend>(&backend, LIMIT)
            .await
            .unwrap();
        assert!(answer.succ, "{answer:?}");
    }

    /// The address of a pod, which is not known at first.
    async fn generated(&self, driver: &DriverClient, lb_info: &StringMap) -> String {
        let request = |ip: Option<&str>| GenerateBackendAddr {
            record_id: "generateBackendAddr(1)".into(),
            lb_info: lb_info.clone(),
            lb_attributes: self.attributes.clone(),
            parameters: self.parameters.clone(),
            pod_backend: Some(PodBackend {
                pod: serde_json::from_value(json!({
                    "metadata": {"name": "web-0", "namespace": "default"},
                    "status": {"podIP": ip},
                }))
                .unwrap(),
                port: BackendPort {
                    port: 8080,
                    ..Default::default()
                },
            }),
            ..Default::default()
        };
        let early = driver
            .call_within::<GenerateBackendAddr>(&request(None), LIMIT)
            .await;
        assert_eq!(early.unwrap().status, Status::Running);
        let pod = request(Some("10.0.0.1"));
        let first = driver
            .call_within::<GenerateBackendAddr>(&pod, LIMIT)
            .await
            .unwrap();
        assert_eq!(first.status, Status::Succ, "{}", first.msg);
        assert!(first.backend_addr.contains("10.0.0.1"), "{first:?}");
        let again = driver
            .call_within::<GenerateBackendAddr>(&pod, LIMIT)
            .await
            .unwrap();
        assert_eq!(again, first);
        first.backend_addr
    }

    async fn ensured(&self, driver: &DriverClient, lb_info: &StringMap, addr: &str) -> StringMap {
        let request = ensure(self, lb_info, addr);
        let first = driver
            .call_within::<EnsureBackend>(&request, LIMIT)
            .await
            .unwrap();
        assert_eq!(first.status, Status::Succ, "{}", first.msg);
        let again = driver
            .call_within::<EnsureBackend>(&request, LIMIT)
            .await
            .unwrap();
        assert_eq!(again, first);
        first.injected_info
    }
}

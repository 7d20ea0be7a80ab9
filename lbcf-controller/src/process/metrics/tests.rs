//! The metrics of a scrape.

use super::*;

fn driver(name: &str) -> ObjectKey {
    ObjectKey::new("kube-system", name)
}

fn snapshot() -> Snapshot {
    Snapshot {
        queue: vec![("BackendRecord", 7, 2)],
        unregistered: 3,
        leads: true,
    }
}

fn scraped(metrics: &Metrics) -> String {
    metrics.render(&snapshot()).unwrap()
}

/// The lines that begin so, without the samples of single buckets.
fn lines<'a>(text: &'a str, begin: &str) -> Vec<&'a str> {
    text.lines()
        .filter(|line| line.starts_with(begin) && !line.contains("_bucket"))
        .collect()
}

#[test]
fn b143_calls_are_counted_by_driver_and_webhook() {
    let metrics = Metrics::new();
    let call = |outcome| {
        let latency = Duration::from_millis(30);
        metrics.webhook_called(&driver("d"), "ensureBackend", latency, outcome);
    };
    call(Outcome::Ok);
    call(Outcome::Fail);
    call(Outcome::Error);
    let text = scraped(&metrics);
    let labels = r#"{driver_name="kube-system/d",webhook_name="ensureBackend"}"#;
    for (name, value) in [
        ("webhook_calls", "3"),
        ("webhook_errors", "1"),
        ("webhook_fails", "1"),
        ("webhook_latency_count", "2"),
        ("webhook_latency_sum", "0.06"),
    ] {
        assert_eq!(
            lines(&text, &format!("{name}{{")),
            [format!("{name}{labels} {value}")],
            "{text}"
        );
    }
    for name in ["webhook_calls", "webhook_errors", "webhook_fails"] {
        assert!(text.contains(&format!("# TYPE {name} counter\n")), "{text}");
    }
}

#[test]
fn b143_webhook_latency_has_the_originals_buckets() {
    let metrics = Metrics::new();
    metrics.webhook_called(&driver("d"), "healthz", Duration::ZERO, Outcome::Ok);
    let text = scraped(&metrics);
    let bounds: Vec<&str> = text
        .lines()
        .filter(|line| line.starts_with("webhook_latency_bucket"))
        .filter_map(|line| line.split("le=\"").nth(1)?.split('"').next())
        .collect();
    assert_eq!(
        bounds.join(","),
        "0.02,0.05,0.1,0.15,0.2,0.25,0.3,0.35,0.4,0.45,0.5,0.6,0.7,0.8,0.9,1,2,3,4,5,10,20,30,+Inf"
    );
}

#[test]
fn b143_b144_writes_work_and_queues_have_the_originals_labels() {
    let metrics = Metrics::new();
    for operation in ["Create", "Update", "UpdateStatus", "Delete"] {
        metrics.written("BackendRecord", operation, Duration::from_secs(1));
    }
    metrics.processed("LoadBalancer", Duration::from_secs(2));
    let text = scraped(&metrics);
    for operation in ["Create", "Update", "UpdateStatus", "Delete"] {
        let line = format!(
            r#"k8s_operation_latency_count{{k8s_op_obj="BackendRecord",k8s_op_type="{operation}"}} 1"#
        );
        assert!(text.contains(&line), "{text}");
    }
    for line in [
        r#"key_process_latency_sum{crd="LoadBalancer"} 2"#,
        r#"pending_key{key_kind="BackendRecord"} 7"#,
        r#"working_key{key_kind="BackendRecord"} 2"#,
    ] {
        assert!(text.contains(line), "{text}");
    }
}

#[test]
fn own_metrics_exist_and_are_counted_at_each_scrape() {
    let metrics = Metrics::new();
    let seconds = Duration::from_secs;
    metrics.reached(&driver("d"), Target::Registered, seconds(4));
    metrics.reached(&driver("d"), Target::Deregistered, seconds(9));
    let text = scraped(&metrics);
    for line in [
        r#"lbcf_time_to_registered_seconds_sum{driver_name="kube-system/d"} 4"#,
        r#"lbcf_time_to_deregistered_seconds_sum{driver_name="kube-system/d"} 9"#,
    ] {
        assert!(text.contains(line), "{text}");
    }
    assert!(text.contains("lbcf_unregistered_backends 3\n"));
    assert!(text.contains("lbcf_leader 1\n"));
    let later = Snapshot {
        unregistered: 0,
        leads: false,
        ..snapshot()
    };
    let text = metrics.render(&later).unwrap();
    assert!(text.contains("lbcf_unregistered_backends 0\n"));
    assert!(text.contains("lbcf_leader 0\n"));
}

#[test]
fn a_driver_that_is_gone_leaves_no_series() {
    let metrics = Metrics::new();
    for number in 0..3 {
        for webhook in lbcf_driver_sdk::webhook::ALL {
            for outcome in [Outcome::Error, Outcome::Fail, Outcome::Ok] {
                let driver = driver(&number.to_string());
                metrics.webhook_called(&driver, webhook.name, Duration::ZERO, outcome);
            }
        }
        let driver = driver(&number.to_string());
        metrics.driver_health(&driver, Some(true));
        for target in [Target::Registered, Target::Deregistered] {
            metrics.reached(&driver, target, Duration::ZERO);
        }
    }
    metrics.forget_driver(&driver("0"));
    metrics.forget_driver(&driver("2"));
    metrics.forget_driver(&driver("never there"));
    let text = scraped(&metrics);
    assert!(!text.contains("kube-system/0") && !text.contains("kube-system/2"));
    assert_eq!(lines(&text, "lbcf_driver_healthy{").len(), 1, "{text}");
    let left = lines(&text, "webhook_calls{");
    assert_eq!(left.len(), lbcf_driver_sdk::webhook::ALL.len(), "{text}");
}

#[test]
fn d53_orphaned_backends_are_counted_by_driver_until_it_is_gone() {
    let metrics = Metrics::new();
    metrics.orphaned(&driver("d"), Some(3));
    metrics.orphaned(&driver("other"), Some(0));
    let orphans = |text: &str| lines(text, "lbcf_orphaned_backends{").join(" ");
    let expected = r#"lbcf_orphaned_backends{driver_name="kube-system/d"} 3 lbcf_orphaned_backends{driver_name="kube-system/other"} 0"#;
    assert_eq!(orphans(&scraped(&metrics)), expected);
    metrics.forget_driver(&driver("d"));
    metrics.orphaned(&driver("other"), None);
    metrics.orphaned(&driver("never audited"), None);
    assert_eq!(orphans(&scraped(&metrics)), "");
}

#[test]
fn each_controllers_metrics_are_its_own() {
    let (one, other) = (Metrics::new(), Metrics::new());
    one.processed("BackendGroup", Duration::ZERO);
    assert!(!scraped(&other).contains("key_process_latency"));
}

#[test]
fn a_name_from_the_cluster_breaks_no_line() {
    let metrics = Metrics::new();
    let odd = ObjectKey::new("ns", "a\"b\\c\nd");
    metrics.webhook_called(&odd, "healthz", Duration::ZERO, Outcome::Ok);
    let text = scraped(&metrics);
    assert_eq!(
        lines(&text, "webhook_calls{"),
        [r#"webhook_calls{driver_name="ns/a\"b\\c\nd",webhook_name="healthz"} 1"#]
    );
}

use super::*;
use crate::server::outcome::Outcome;
use crate::server::pending::Pending;
use crate::webhook::{ALL, Class, EnsureBackend, Healthz};
use prometheus::TextEncoder;
use std::time::Duration;
use tokio::time::Instant;

fn text(metrics: &Metrics) -> String {
    let families = metrics.registry().gather();
    TextEncoder::new().encode_to_string(&families).unwrap()
}

#[test]
fn outcomes_and_reasons_are_listed_in_the_order_of_their_discriminants() {
    for (number, outcome) in Outcome::ALL.into_iter().enumerate() {
        assert_eq!(outcome as usize, number);
    }
    for (number, because) in Pending::ALL.into_iter().enumerate() {
        assert_eq!(because as usize, number);
    }
}

#[test]
fn all_series_exist_before_the_first_call_and_only_possible_ones() {
    let text = text(&Metrics::new());
    for webhook in ALL {
        let has = |name: &str, label: &str| {
            let labels = [
                format!("{name}{{webhook=\"{}\",{label}}} 0", webhook.name),
                format!("{name}{{{label},webhook=\"{}\"}} 0", webhook.name),
            ];
            labels.iter().any(|series| text.contains(series))
        };
        let calls = |outcome| has("lbcf_driver_calls_total", &format!("outcome=\"{outcome}\""));
        let class = webhook.class;
        assert_eq!(calls("succ"), class == Class::Operation);
        assert_eq!(calls("yes"), class == Class::Verdict);
        assert_eq!(calls("healthy"), class == Class::Health);
        assert!(calls("rejected") && calls("panicked") && calls("hung_up"));
        let joining = has("lbcf_driver_repeated_calls_total", "by=\"joining\"");
        assert_eq!(joining, class == Class::Operation);
        let no_permit = "because=\"waits_for_place\"";
        let no_permit = has("lbcf_driver_unfinished_calls_total", no_permit);
        assert_eq!(no_permit, class != Class::Health);
    }
    assert!(text.contains("lbcf_driver_kept_results 0"));
    assert!(!text.contains("unseen"));
}

#[tokio::test(start_paused = true)]
async fn a_call_is_counted_once_with_or_without_a_response() {
    let metrics = Metrics::new();
    let ensure = EnsureBackend::of(&metrics);
    let call = MeasuredCall::new(ensure, Instant::now());
    tokio::time::advance(Duration::from_millis(300)).await;
    call.finish(Outcome::Fail);
    drop(MeasuredCall::new(ensure, Instant::now()));
    // An outcome that the class does not have is not counted.
    MeasuredCall::new(Healthz::of(&metrics), Instant::now()).finish(Outcome::Succ);
    let text = text(&metrics);
    for line in [
        "lbcf_driver_calls_total{outcome=\"fail\",webhook=\"ensureBackend\"} 1",
        "lbcf_driver_calls_total{outcome=\"hung_up\",webhook=\"ensureBackend\"} 1",
        "lbcf_driver_answer_duration_seconds_count{webhook=\"ensureBackend\"} 1",
        "lbcf_driver_answer_duration_seconds_sum{webhook=\"ensureBackend\"} 0.3",
    ] {
        assert!(text.contains(line), "{line} is not in {text}");
    }
}

#[test]
fn gauges_decrease_again() {
    let metrics = Metrics::new();
    let ensure = EnsureBackend::of(&metrics);
    ensure.hook_started();
    ensure.hook_started();
    assert_eq!(ensure.running.get(), 2);
    ensure.hook_dropped();
    let waits = ensure.waits();
    assert_eq!((ensure.running.get(), ensure.waiting.get()), (1, 1));
    ensure.hook_dropped();
    drop(waits);
    assert_eq!((ensure.running.get(), ensure.waiting.get()), (0, 0));
}

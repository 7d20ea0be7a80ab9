use super::super::probe::ProbeResult;
use super::super::schema::Maps;
use super::*;
use crate::check::Feature;
use crate::fixture::{Action, Fixture, Observe};
use std::path::Path;
use std::time::Duration;

fn parse(text: &str) -> Fixture {
    Fixture::parse(text, Path::new("f.yaml"), &["DLB-03"]).unwrap_or_else(|e| panic!("{e}\n{text}"))
}

/// The file as it is once each example counts.
fn uncommented(text: &str) -> String {
    let line = |line: &str| {
        let inner = line.trim_start();
        let indent = &line[..line.len() - inner.len()];
        match inner.strip_prefix('#') {
            Some(example) if !example.is_empty() && !example.starts_with(' ') => {
                format!("{indent}{example}\n")
            }
            _ => format!("{line}\n"),
        }
    };
    text.lines().map(line).collect()
}

fn field(name: &str, is_required: bool, about: &str, example: &str) -> Field {
    Field {
        name: name.to_owned(),
        is_required,
        about: about.to_owned(),
        example: example.to_owned(),
    }
}

fn url(shown: &str, is_cut: bool) -> Option<Url> {
    Some(Url {
        shown: shown.to_owned(),
        is_cut,
    })
}

fn maps() -> Maps {
    Maps {
        lb_spec: vec![
            field("vpcID", true, "The network.", "FILL-IN"),
            field("port", true, "A number from 1 to 65535.", "{{number}}"),
            field("no", false, "", "a \"b\" \\ ü # c: d"),
            field("- x: y", false, "x", "1"),
        ],
        attributes: vec![field("bandwidth", false, "", "5")],
        parameters: vec![
            field("weight", true, "", "50"),
            field("zone", false, "", "a"),
        ],
        lb_info: vec![field("lbID", true, "", "x"), field("note", false, "", "x")],
    }
}

fn probed(empty_spec: EmptySpec) -> ProbeResult {
    ProbeResult::Probed {
        empty_spec,
        has_document: true,
    }
}

fn variants() -> Vec<Findings> {
    let hostile = "no\r\n#valid: [x]\nvalid: [x]\u{2028}\u{85}kind: Wrong";
    let results = [
        ProbeResult::NotProbed,
        ProbeResult::Unreachable(hostile.into()),
        probed(EmptySpec::Accepted),
        probed(EmptySpec::Rejected("vpc is missing".into())),
        probed(EmptySpec::Rejected(String::new())),
        probed(EmptySpec::Rejected(hostile.repeat(20))),
        probed(EmptySpec::Invalid(hostile.into())),
    ];
    let mut hostile_maps = maps();
    hostile_maps.lb_spec[0].about = hostile.into();
    let mut variants = Vec::new();
    for result in results {
        for maps in [Maps::default(), maps(), hostile_maps.clone()] {
            for url in [
                None,
                url("http://d.example/lbcf?a=b", false),
                url("http://d.example", true),
            ] {
                variants.push(Findings {
                    url,
                    result: result.clone(),
                    maps: maps.clone(),
                    optional: match &result {
                        ProbeResult::Probed { .. } => vec!["listBackends"],
                        _ => Vec::new(),
                    },
                });
            }
        }
    }
    variants
}

#[test]
fn the_unchanged_file_only_contains_known_values() {
    for findings in variants() {
        let fixture = parse(&super::fixture(&findings));
        let mut nothing = Fixture {
            digest: fixture.digest.clone(),
            ..Fixture::default()
        };
        if !findings.optional.is_empty() {
            let features = [Feature::PodBackends, Feature::ListBackends];
            nothing.features = Some(features.into());
        }
        if let Some(url) = findings.url.filter(|url| !url.is_cut) {
            nothing.endpoint.url = Some(url.shown);
        }
        if let ProbeResult::Probed {
            empty_spec: EmptySpec::Rejected(_),
            ..
        } = findings.result
        {
            // The driver rejected it.
            nothing.load_balancer.invalid = fixture.load_balancer.invalid.clone();
            let [empty] = &nothing.load_balancer.invalid[..] else {
                panic!()
            };
            assert!(empty.lb_spec.is_empty() && empty.attributes.is_empty());
        }
        assert_eq!(fixture, nothing);
    }
}

#[test]
fn each_example_can_be_used() {
    for findings in variants() {
        let fixture = parse(&uncommented(&super::fixture(&findings)));
        assert_eq!(fixture.driver.project, "acme-lb");
        assert_eq!(fixture.driver.contact.len(), 1);
        assert!(fixture.endpoint.url.is_some());
        assert_eq!(
            fixture.endpoint.timeouts["default"],
            Duration::from_secs(10)
        );
        assert_eq!(fixture.endpoint.timeouts.len(), 2);
        assert_eq!(fixture.endpoint.headers["x-tenant"], "7");
        let features = fixture.features.unwrap();
        assert_eq!(features.len(), Feature::ALL.len());
        assert!(features.contains(&Feature::DryRun));
        let load_balancer = &fixture.load_balancer;
        assert_eq!(load_balancer.valid.len(), 1);
        assert!(!load_balancer.valid[0].lb_spec.is_empty());
        assert!(!load_balancer.valid[0].attributes.is_empty());
        assert_eq!(load_balancer.invalid.len(), 1);
        assert!(load_balancer.update.attributes.is_some() && load_balancer.reuse);
        assert_eq!(load_balancer.update.forbidden.len(), 1);
        assert!(load_balancer.unknown_lb_info.is_some());
        assert_eq!(fixture.backend.parameters.valid.len(), 1);
        assert_eq!(fixture.backend.parameters.invalid.len(), 1);
        assert!(
            fixture.backend.parameters.update.is_some() && fixture.backend.pod_template.is_some()
        );
        assert_eq!(fixture.backend.static_addrs.len(), 3);
        assert!(matches!(fixture.observe, Some(Observe::Url(_))));
        assert!(matches!(fixture.restart, Some(Action::Command(_))));
        assert!(matches!(fixture.fault, Some(Action::Command(_))));
        assert_eq!(fixture.known_failures.len(), 1);
        assert_eq!(fixture.budgets, crate::fixture::Budgets::default());
    }
}

#[test]
fn the_fields_of_the_document_are_suggested() {
    let findings = Findings {
        maps: maps(),
        ..Findings::default()
    };
    let text = super::fixture(&findings);
    assert!(
        text.contains("        # Required. The network.\n        #vpcID: \"FILL-IN\"\n"),
        "{text}"
    );
    let fixture = parse(&uncommented(&text));
    let sample = &fixture.load_balancer.valid[0];
    for field in maps().lb_spec {
        assert_eq!(sample.lb_spec[&field.name], field.example);
    }
    assert_eq!(sample.attributes["bandwidth"], "5");
    assert_eq!(fixture.backend.parameters.valid[0]["weight"], "50");
    let unknown = fixture.load_balancer.unknown_lb_info.unwrap();
    assert_eq!(unknown.keys().collect::<Vec<_>>(), ["lbID"]);
}

#[test]
fn the_response_of_the_driver_is_a_comment_of_valid() {
    let text = |empty_spec| {
        super::fixture(&Findings {
            result: probed(empty_spec),
            ..Findings::default()
        })
    };
    let refused = text(EmptySpec::Rejected("vpc is missing".into()));
    let (before, _) = refused.split_once("#valid:").unwrap();
    assert!(
        before.contains("  # The driver rejected an empty lbSpec: vpc is missing\n"),
        "{before}"
    );
    let accepted = text(EmptySpec::Accepted);
    assert!(accepted.contains("  # The driver accepts an empty lbSpec"));
    let fixture = parse(&uncommented(&accepted));
    assert!(!fixture.load_balancer.invalid[0].lb_spec.is_empty());
    assert!(text(EmptySpec::Invalid("HTTP status 500".into())).contains("HTTP status 500"));
}

#[test]
fn lines_are_not_too_long() {
    for findings in variants() {
        for line in super::fixture(&findings).lines() {
            assert!(line.chars().count() <= WIDTH + 3, "{line}");
            assert_eq!(line, line.trim_end());
        }
    }
}

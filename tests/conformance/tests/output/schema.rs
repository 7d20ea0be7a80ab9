//! The published schemas are those of the reports, and reports of later versions can be read.

use super::samples;
use lbcf_conformance::check::Feature;
use lbcf_conformance::output::{ConformanceReport, read, schema};
use lbcf_conformance::report::{Report, SkipKind, Status};
use serde_json::{Value, json};

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/schema/");

/// The schemas by their files, and their members that are times.
fn schemas() -> [(&'static str, &'static str, Value); 2] {
    let published = schema::<ConformanceReport>();
    [
        ("report", "started", schema::<Report>()),
        ("conformance-report", "date", published),
    ]
}

#[test]
fn published_schemas_are_up_to_date() {
    for (name, _, schema) in schemas() {
        let file = format!("{FOLDER}{name}.schema.json");
        let generated = serde_json::to_string_pretty(&schema).unwrap() + "\n";
        if std::env::var_os("UPDATE_SCHEMA").is_some() {
            std::fs::write(&file, &generated).unwrap();
        }
        let checked_in = std::fs::read_to_string(&file).unwrap_or_default();
        assert!(
            checked_in == generated,
            "{file} is out of date; rewrite it with\n\
             UPDATE_SCHEMA=1 cargo test -p lbcf-conformance output"
        );
    }
}

#[test]
fn schemas_describe_all_fields() {
    let draft = "https://json-schema.org/draft/2020-12/schema";
    let mut wordless = Vec::new();
    for (report, time, schema) in schemas() {
        assert_eq!(schema["$schema"], draft);
        assert_eq!(schema["properties"][time]["format"], "date-time");
        let definitions = schema["$defs"].as_object().unwrap().iter();
        for (name, definition) in definitions.chain([(&report.to_owned(), &schema)]) {
            assert!(definition["description"].is_string(), "{name}");
            assert_ne!(definition["additionalProperties"], json!(false), "{name}");
            for (field, text) in definition["properties"].as_object().into_iter().flatten() {
                if !text["description"].is_string() {
                    wordless.push(format!("{name}.{field}"));
                }
            }
        }
    }
    assert_eq!(wordless, Vec::<String>::new());
}

#[test]
fn reports_of_later_versions_are_read() {
    let mut later: Value = serde_json::to_value(samples::sample()).unwrap();
    later["new"] = json!({"a": 1});
    later["driver"]["new"] = json!(1);
    later["results"][0]["new"] = json!(1);
    later["summary"]["new"] = json!(1);
    later["features"] = json!(["async", "new.feature"]);
    later["results"][4]["skip"] = json!("newKind");
    let report = read(&later.to_string()).unwrap();
    assert_eq!(report.features, [Feature::Async]);
    assert_eq!(report.results[4].skip, None);
    assert_eq!(report.results[4].status, Status::Skipped);
    assert_eq!(report.results[9].skip, Some(SkipKind::NotApplicable));
}

#[test]
fn what_is_no_report_is_refused() {
    for text in ["", "{}", "[]", "null", "{\"results\": 1}"] {
        assert!(read(text).is_err(), "{text}");
    }
    let mut wrong: Value = serde_json::to_value(samples::sample()).unwrap();
    wrong["results"][0]["status"] = json!("fine");
    let error = read(&wrong.to_string()).unwrap_err().to_string();
    assert!(error.contains("fine"), "{error}");
}

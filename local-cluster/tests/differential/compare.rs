//! Comparison of two responses to the same request.

use std::collections::{BTreeSet, HashMap};
use std::sync::LazyLock;

use regex::Regex;
use serde_json::{Map, Value, json};

use super::side::Response;
use super::step::Step;

/// A member of two responses that differs.
#[derive(Clone, Debug)]
pub(super) struct Difference {
    /// The path in the body, without indices; or `code`, `content-type`, `warning` or `events`.
    pub(super) member: String,
    pub(super) real: String,
    pub(super) local: String,
}

/// Generated values of the real server and their counterparts, within one scenario.
#[derive(Debug, Default)]
pub(super) struct Counterparts {
    local: HashMap<String, String>,
    real: HashMap<String, String>,
}

impl Counterparts {
    /// Whether both values stand for the same thing, as far as it is known.
    fn pair(&mut self, real: &str, local: &str) -> bool {
        let known = self.local.entry(real.to_owned());
        let back = self.real.entry(local.to_owned());
        known.or_insert_with(|| local.to_owned()) == local
            && back.or_insert_with(|| real.to_owned()) == real
    }
}

pub(super) fn differences(
    step: &Step,
    real: &Response,
    local: &Response,
    counterparts: &mut Counterparts,
) -> Vec<Difference> {
    let mut comparison = Comparison {
        counterparts,
        found: Vec::new(),
    };
    if real.status != local.status {
        let with = |r: &Response| format!("{} {}", r.status, r.body);
        let member = format!("code {} here {}", real.status, local.status);
        comparison.add(&member, &with(real).into(), &with(local).into());
        return comparison.found;
    }
    comparison.compare(
        &json!(real.content_type),
        &json!(local.content_type),
        "content-type",
    );
    let sorted = |response: &Response| {
        let mut warnings = response.warnings.clone();
        warnings.sort();
        json!(warnings)
    };
    comparison.compare(&sorted(real), &sorted(local), "warning");
    let (real_body, local_body) = (comparable(step, &real.body), comparable(step, &local.body));
    let (real_events, local_events) = (sequence(&real_body), sequence(&local_body));
    if real_body["kind"] != local_body["kind"] {
        comparison.add("kind", &real_body, &local_body);
    } else if step.fence.is_some() && real_events != local_events {
        comparison.add("events", &real_events.into(), &local_events.into());
    } else {
        comparison.compare(&real_body, &local_body, "");
    }
    for found in &mut comparison.found {
        if real.body["kind"] == "Status" && found.member.ends_with("message") {
            found.member = format!("message of {}", real.status);
        }
    }
    // The message repeats the causes.
    let has_causes = |found: &Difference| found.member.starts_with("details.causes");
    if comparison.found.iter().any(has_causes) {
        comparison
            .found
            .retain(|found| !found.member.starts_with("message"));
    }
    comparison.found.dedup_by(|a, b| a.member == b.member);
    comparison.found
}

struct Comparison<'a> {
    counterparts: &'a mut Counterparts,
    found: Vec<Difference>,
}

impl Comparison<'_> {
    fn compare(&mut self, real: &Value, local: &Value, path: &str) {
        let key = path.rsplit('.').next().unwrap_or_default();
        match (real, local) {
            (real, local) if real == local => {}
            // Go writes whole numbers without a fraction.
            (Value::Number(r), Value::Number(l)) if r.as_f64() == l.as_f64() => {}
            (Value::Object(real), Value::Object(local)) if key != "fieldsV1" => {
                self.members(real, local, path);
            }
            (Value::Array(real), Value::Array(local)) if real.len() == local.len() => {
                let pairs = ordered(key, real).into_iter().zip(ordered(key, local));
                pairs.for_each(|(real, local)| self.compare(&real, &local, &format!("{path}[]")));
            }
            (Value::String(r), Value::String(l)) if self.same_text(key, r, l) => {}
            (Value::Number(r), Value::Number(l))
                if is_allocated(key, r) && is_allocated(key, l) => {}
            _ => self.add(path, real, local),
        }
    }

    fn members(&mut self, real: &Map<String, Value>, local: &Map<String, Value>, path: &str) {
        let text = |object: &Map<String, Value>, key| {
            object.get(key).and_then(Value::as_str).map(str::to_owned)
        };
        // A name that the server has generated.
        if let (Some(prefix), Some(real), Some(local)) = (
            text(real, "generateName"),
            text(real, "name"),
            text(local, "name"),
        ) && real.starts_with(&prefix)
        {
            self.counterparts.pair(&real, &local);
        }
        let absent = json!("(absent)");
        for key in real.keys().chain(local.keys()).collect::<BTreeSet<_>>() {
            let separator = if path.is_empty() { "" } else { "." };
            let (real, local) = (real.get(key), local.get(key));
            let path = format!("{path}{separator}{key}");
            match (real, local) {
                (None, Some(local)) => self.add(&format!("no {path}"), &absent, local),
                (real, local) => {
                    self.compare(real.unwrap_or(&absent), local.unwrap_or(&absent), &path);
                }
            }
        }
    }

    fn same_text(&mut self, key: &str, real: &str, local: &str) -> bool {
        match key {
            _ if real == "(absent)" || local == "(absent)" => false,
            "continue" => true,
            "uid" | "resourceVersion" => self.counterparts.pair(real, local),
            _ if self
                .counterparts
                .local
                .get(real)
                .is_some_and(|l| l == local) =>
            {
                true
            }
            _ => normalised(real) == normalised(local),
        }
    }

    fn add(&mut self, member: &str, real: &Value, local: &Value) {
        let short = |value: &Value| value.to_string().chars().take(600).collect();
        let (member, real, local) = (member.to_owned(), short(real), short(local));
        self.found.push(Difference {
            member,
            real,
            local,
        });
    }
}

/// The body without versions of the whole server, which are those of lists and bookmarks, and without what
/// the server may write on its own.
fn comparable(step: &Step, body: &Value) -> Value {
    let mut body = body.clone();
    let kind = body["kind"].as_str().unwrap_or_default();
    let is_list = kind.ends_with("List") || kind == "Table";
    if is_list && let Some(metadata) = body["metadata"].as_object_mut() {
        metadata.remove("resourceVersion");
    }
    if body["details"] == json!({}) {
        body.as_object_mut().map(|status| status.remove("details"));
    }
    if step.settles {
        without_own_writes(&mut body, !step.is_read());
    }
    let causes = body.pointer_mut("/details/causes");
    if let Some(causes) = causes.and_then(Value::as_array_mut) {
        // A cluster validates some fields several times.
        let mut seen = BTreeSet::new();
        causes.retain(|cause| seen.insert(cause.to_string()));
    }
    if step.resource.starts_with("widgets") {
        without_scale_managers(&mut body);
    }
    if let Value::Array(events) = &mut body {
        // Bookmarks come at any time, except for the one that ends the initial events.
        let is_bookmark = |event: &Value| event["type"] == "BOOKMARK";
        let annotations = "/object/metadata/annotations";
        events.retain(|event| !is_bookmark(event) || event.pointer(annotations).is_some());
        for event in events.iter_mut().filter(|event| is_bookmark(event)) {
            event["object"]["metadata"]["resourceVersion"] = Value::Null;
        }
    }
    body
}

/// Removes the ownership of the replicas: a cluster loses it, as it cannot convert the managers of a custom
/// resource to those of its scale and back.
fn without_scale_managers(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(without_scale_managers),
        Value::Object(map) => {
            for entry in map
                .get_mut("managedFields")
                .and_then(Value::as_array_mut)
                .into_iter()
                .flatten()
            {
                if let Some(Value::Object(spec)) = entry.pointer_mut("/fieldsV1/f:spec") {
                    spec.remove("f:replicas");
                }
            }
            if let Some(Value::Array(entries)) = map.get_mut("managedFields") {
                entries.retain(|entry| entry["fieldsV1"] != json!({"f:spec": {}}));
                if entries.is_empty() {
                    map.remove("managedFields");
                }
            }
            map.values_mut().for_each(without_scale_managers);
        }
        _ => {}
    }
}

/// Removes versions and managers of objects whose status the server writes on its own, and that status if it may
/// still come.
fn without_own_writes(value: &mut Value, and_status: bool) {
    let is_object = value["spec"].is_object();
    for (key, inner) in value.as_object_mut().into_iter().flatten() {
        let own = ["managedFields", "resourceVersion"].contains(&key.as_str());
        if own || and_status && is_object && key == "status" {
            *inner = Value::Null;
        } else if key == "metadata" {
            without_own_writes(inner, false);
        } else if let (Value::Array(items), "items" | "rows") = (&mut *inner, key.as_str()) {
            items
                .iter_mut()
                .for_each(|item| without_own_writes(item, and_status));
        } else if key == "object" {
            without_own_writes(inner, and_status);
        }
    }
}

/// The types of a watch's events and their objects' names.
fn sequence(events: &Value) -> String {
    let event = |event: &Value| {
        let names = [
            "/object/metadata/name",
            "/object/rows/0/object/metadata/name",
            "/object/reason",
        ];
        let name = names.iter().find_map(|n| event.pointer(n)?.as_str());
        // Without the end of a name that the server has generated.
        let name = name.and_then(|name| name.split("g-").next());
        let kind = event["type"].as_str().or(event.as_str());
        format!("{} {}", kind.unwrap_or_default(), name.unwrap_or_default())
    };
    let events = events.as_array().into_iter().flatten().map(event);
    without_generated(&events.collect::<Vec<_>>().join(", "))
}

/// The list in an order of our own, where the API has none: that of managed fields depends on the time, and that of the
/// finalizers of a deleted namespace on luck, as a cluster keeps them in a map.
fn ordered(key: &str, list: &[Value]) -> Vec<Value> {
    let by: &[&str] = match key {
        "managedFields" => &["manager", "operation", "subresource", "apiVersion"],
        "causes" => &["field", "reason", "message"],
        _ => &[],
    };
    let mut list = list.to_vec();
    if key == "finalizers" {
        list.sort_by_key(Value::to_string);
    }
    list.sort_by_key(|item| {
        by.iter()
            .map(|key| item[key].to_string())
            .collect::<Vec<_>>()
    });
    list
}

fn is_allocated(key: &str, port: &serde_json::Number) -> bool {
    ["nodePort", "healthCheckNodePort"].contains(&key)
        // A dry run's are above the range.
        && (30_000..=32_900).contains(&port.as_u64().unwrap_or(0))
}

fn without_generated(text: &str) -> String {
    static GENERATED: LazyLock<Regex> = LazyLock::new(|| {
        let parts = [
            "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}",
            r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z",
            r"^(\d+[smhd])+$|^<invalid>$",
            r"resource version:? \d+|ResourceVersion in [a-z ]+: \d+|(current|precondition|object meta): \d+\b|\(\d+\)",
            r"\bg-[a-z0-9]{5}\b|10\.96\.\d+\.\d+|:3[0-2]\d{3}/|127\.0\.0\.1:\d+",
        ];
        Regex::new(&parts.join("|")).unwrap()
    });
    GENERATED.replace_all(text, "<generated>").into_owned()
}

/// The parts of a text in order, with placeholders for generated values: uids, times, ages, versions, addresses
/// and node ports; without what Go calls its types, and how it prints values of the client.
fn normalised(text: &str) -> Vec<String> {
    static GO: LazyLock<Regex> = LazyLock::new(|| {
        let parts = [
            r"json: cannot unmarshal \w+[^,]* into Go [^,(]*|unrecognized type: \w+|cannot (?:restore \w+ from:? \w+|convert \w+ to \w+)",
            r#"(?P<patched>Invalid value: )"(?:\{.*\}|map\[.*\])""#,
            r#"(?P<given>Invalid value: )\{"Rule":(?P<rule>"[^"]*"),.*?\}(?P<failed>: compilation failed)"#,
            r"Invalid value: (?:\[.*?\]|null)(?P<versions>: must have exactly one version|: Only one reference)",
            r"(?P<text>parsing time|yaml: ).*",
            r"(?P<accessor>accessor error): .*? (?:expected (?:int64|map\[string\]interface\{\})|another type)",
            r"(?P<pattern>must be a valid regular expression)(?:, but isn't: .*?`[^`]*`)?",
            r"(?s)(?:406: Not Acceptable|415: Unsupported Media Type|only the following media types|the body of the request was in an unknown format).*",
            r"(?P<missing>Object 'Kind' is missing in ).*",
            r"(?s)(?P<typed>failed to create typed patch object \([^)]*\)).*",
        ];
        Regex::new(&parts.join("|")).unwrap()
    });
    // A cluster ends the message about an immutable pod with a diff of its internal types.
    let text = text.split("\n@@ ").next().unwrap_or_default();
    let text = GO.replace_all(
        text,
        "$patched$given$rule$failed$versions$text$accessor$pattern$missing$typed",
    );
    let text = without_generated(&text);
    let parts = text
        .split([',', '[', '\n'])
        .map(str::trim)
        .map(|part| part.trim_matches(['[', ']']).to_owned());
    parts.collect::<BTreeSet<_>>().into_iter().collect()
}

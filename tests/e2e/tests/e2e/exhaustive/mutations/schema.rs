//! Changes of an object, one for each field and kind of value, by the schema of its kind (after Acto).

use serde_json::{Map, Value, json};

/// A change of a value: where in it, and the whole value afterwards, which is null where it is removed.
pub(super) type Change = (String, Value);

/// Every change of one field of this value, which is null where there is none.
pub(super) fn changes(schema: &Value, value: &Value) -> Vec<Change> {
    let here = |values: Vec<Value>| {
        let others = values.into_iter().filter(|other| other != value);
        others.map(|other| (String::new(), other)).collect()
    };
    if let Some(allowed) = schema["enum"].as_array() {
        return here(allowed.clone());
    }
    match schema["type"].as_str().unwrap_or_default() {
        "boolean" => here(vec![json!(value != true)]),
        "integer" => {
            let number = value.as_i64().unwrap_or(0);
            here([number + 1, 0, -1, i32::MAX.into()].map(Value::from).into())
        }
        "string" => {
            let text = value.as_str().unwrap_or("web");
            here([&format!("{text}-x"), "", "90s"].map(Value::from).into())
        }
        "array" => items(schema, value),
        _ if schema["additionalProperties"].is_object() => entries(schema, value),
        _ => fields(schema, value),
    }
}

fn fields(schema: &Value, value: &Value) -> Vec<Change> {
    let mut all = Vec::new();
    let required = schema["required"].as_array().cloned().unwrap_or_default();
    for (name, field) in schema["properties"].as_object().into_iter().flatten() {
        let mut of_field = changes(field, &value[name]);
        if !value[name].is_null() && !required.contains(&json!(name)) {
            of_field.push((String::new(), Value::Null));
        }
        all.extend(of_field.into_iter().map(|(path, new)| {
            let mut object = match value {
                Value::Null => example(schema),
                value => value.clone(),
            };
            match new {
                Value::Null => drop(object.as_object_mut().and_then(|it| it.remove(name))),
                new => object[name] = new,
            }
            (format!(".{name}{path}"), object)
        }));
    }
    all
}

fn items(schema: &Value, value: &Value) -> Vec<Change> {
    let items = value.as_array().cloned().unwrap_or_default();
    let more = [items.clone(), vec![example(&schema["items"])]].concat();
    let mut all = vec![("[+]".to_owned(), more.into())];
    if let Some((first, others)) = items.split_first() {
        let twice = [items.clone(), vec![first.clone()]].concat();
        all.push(("[twice]".into(), twice.into()));
        all.push(("[-]".into(), others.into()));
        all.push(("[none]".into(), json!([])));
        all.extend(
            changes(&schema["items"], first)
                .into_iter()
                .map(|(path, new)| {
                    let changed = [&[new], others].concat();
                    (format!("[0]{path}"), changed.into())
                }),
        );
    }
    all
}

fn entries(schema: &Value, value: &Value) -> Vec<Change> {
    let entries = value.as_object().cloned().unwrap_or_default();
    let with = |name: &str, value: Value| {
        let mut entries = entries.clone();
        entries.insert(name.to_owned(), value);
        Value::Object(entries)
    };
    let schema = &schema["additionalProperties"];
    let mut all = vec![("[+]".to_owned(), with("web", example(schema)))];
    if let Some((name, first)) = entries.iter().next() {
        let changed = changes(schema, first).into_iter();
        all.extend(changed.map(|(_, new)| (format!("[{name}]"), with(name, new))));
        let others: Map<_, _> = entries.clone().into_iter().skip(1).collect();
        all.push((format!("[-{name}]"), others.into()));
    }
    all
}

/// The smallest value of a schema.
fn example(schema: &Value) -> Value {
    if let Some(allowed) = schema["enum"].as_array() {
        return allowed.first().cloned().unwrap_or_default();
    }
    match schema["type"].as_str().unwrap_or_default() {
        "boolean" => json!(true),
        "integer" => json!(1),
        "string" => json!("web"),
        "array" => json!([]),
        _ => {
            let required = schema["required"].as_array().into_iter().flatten();
            let names = required.filter_map(Value::as_str);
            let fields = names.map(|name| (name.to_owned(), example(&schema["properties"][name])));
            Value::Object(fields.collect())
        }
    }
}

#[test]
fn every_field_has_changes_at_every_depth() {
    let schema = json!({"type": "object", "required": ["a"], "properties": {
        "a": {"type": "array", "items": {"type": "integer"}},
        "b": {"type": "object", "properties": {"c": {"enum": ["x", "y"]}}},
        "d": {"type": "object", "additionalProperties": {"type": "boolean"}},
    }});
    let value = json!({"a": [7], "d": {"e": true}});
    let changes = changes(&schema, &value);
    let expected = [
        (".a[+]", json!({"a": [7, 1], "d": {"e": true}})),
        (".a[twice]", json!({"a": [7, 7], "d": {"e": true}})),
        (".a[-]", json!({"a": [], "d": {"e": true}})),
        (".a[none]", json!({"a": [], "d": {"e": true}})),
        (".a[0]", json!({"a": [8], "d": {"e": true}})),
        (".a[0]", json!({"a": [0], "d": {"e": true}})),
        (".a[0]", json!({"a": [-1], "d": {"e": true}})),
        (".a[0]", json!({"a": [i32::MAX], "d": {"e": true}})),
        (".b.c", json!({"a": [7], "b": {"c": "x"}, "d": {"e": true}})),
        (".b.c", json!({"a": [7], "b": {"c": "y"}, "d": {"e": true}})),
        (".d[+]", json!({"a": [7], "d": {"e": true, "web": true}})),
        (".d[e]", json!({"a": [7], "d": {"e": false}})),
        (".d[-e]", json!({"a": [7], "d": {}})),
        (".d", json!({"a": [7]})),
    ];
    assert_eq!(
        changes,
        expected.map(|(path, value)| (path.to_owned(), value))
    );
}

//! Reads documents that users write for the mock alone: unlike on the wire, unknown fields and words
//! are refused, with the nearest known one.

use lbcf_driver_sdk::fields::nearest;
use serde::Deserialize;
use serde_json::Value;
use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::Path;

/// Reads an object; errors begin with the path of the field.
pub(crate) fn read<'de, T: Deserialize<'de>>(value: Value) -> Result<T, String> {
    if !value.is_object() {
        // Serde would read the items of a list as the fields in their order.
        return Err("it must be an object".to_owned());
    }
    serde_path_to_error::deserialize(value).map_err(|error| {
        let path = error.path().to_string();
        let problem = with_suggestion(&error.into_inner().to_string());
        match path.as_str() {
            "." => problem,
            _ => format!("{path}: {problem}"),
        }
    })
}

/// Adds the nearest name to serde's "unknown field `x`, expected one of `y`, `z`".
pub(crate) fn with_suggestion(problem: &str) -> String {
    let quoted: Vec<&str> = problem.split('`').skip(1).step_by(2).collect();
    match quoted.split_first() {
        Some((wrong, known)) if problem.contains("unknown ") => match nearest(wrong, known) {
            Some(name) => format!("{problem}; did you mean {name}?"),
            None => problem.to_owned(),
        },
        _ => problem.to_owned(),
    }
}

/// Reads a file in YAML, of which JSON is a part; none if there is no file.
pub(crate) fn read_file(path: &Path, longest: u64) -> Result<Option<Value>, String> {
    let file = match File::open(path) {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        file => file.map_err(|error| error.to_string())?,
    };
    let mut text = String::new();
    let read = file.take(longest + 1).read_to_string(&mut text);
    read.map_err(|error| error.to_string())?;
    if text.len() as u64 > longest {
        return Err(format!("has more than {longest} bytes"));
    }
    let value = if text.trim_start().starts_with('{') {
        serde_json::from_str(&text).map_err(|error| format!("not JSON: {error}"))?
    } else {
        serde_saphyr::from_str(&text).map_err(|error| format!("not YAML: {error}"))?
    };
    Ok(Some(value))
}

//! Entry points for fuzzers: the parsers of everything that peers send. Not part of the API.

use http::header::CONTENT_TYPE;
use http::{HeaderMap, HeaderValue, Uri};
use serde_json::Value;

use super::continuation::Continuation;
use super::query::Params;
use super::{body, path};
use crate::patch::Patch;
use crate::resources::Registry;
use crate::selector::{FieldSelector, LabelSelector};

/// Decodes bytes as a body; the first byte selects the media type.
pub fn body(data: &[u8]) {
    let Some((first, bytes)) = data.split_first() else {
        return;
    };
    let media_type = match first {
        b'j' => "application/json",
        b'y' => "application/yaml",
        b'p' => "application/vnd.kubernetes.protobuf",
        b'a' => "application/apply-patch+yaml",
        b'm' => "application/merge-patch+json",
        b'o' => "application/json-patch+json",
        _ => return,
    };
    if *first != b'p'
        && let Ok(value) = body::parse(media_type, bytes)
    {
        round_trips(&value);
        if *first == b'o'
            && let Ok(patch) = Patch::json(value)
        {
            // The result may be an error; it must not be a panic.
            let _ = patch.apply(crate::object::object(
                serde_json::json!({"data": {"a": [1]}}),
            ));
        }
    }
    let mut headers = HeaderMap::new();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static(media_type));
    let registry = Registry::new();
    for plural in ["configmaps", "namespaces", "pods"] {
        if let Some(kind) = registry.builtin("", plural)
            && let Ok(object) = body::decode(&kind, &headers, bytes)
        {
            round_trips(&Value::Object(object));
        }
    }
}

/// Encoding and decoding again must not change the value.
fn round_trips(value: &Value) {
    let written = value.to_string();
    let read = body::parse("application/json", written.as_bytes());
    assert_eq!(read.as_ref(), Ok(value), "{written}");
}

/// Parses bytes as a selector of labels and of fields, a continue token, a query and a path.
pub fn selectors(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    if let Ok(selector) = LabelSelector::parse(text) {
        let object = serde_json::json!({"metadata": {"labels": {"a": "b", "n": "5"}}});
        selector.matches(&crate::object::object(object));
    }
    if let Some(kind) = Registry::new().builtin("", "pods") {
        let _ = FieldSelector::parse(text, &kind);
    }
    if let Ok(token) = Continuation::decode(text) {
        assert_eq!(Continuation::decode(&token.encode()).as_ref(), Ok(&token));
    }
    path::parse(text);
    if let Ok(uri) = format!("/api?{text}").parse::<Uri>()
        && let Ok(params) = Params::of(&uri)
    {
        let _ = (params.flag("watch"), params.dry_run());
        let _ = (params.write_options(), params.number::<u64>("limit"));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    /// SplitMix64: every run tries the same inputs.
    struct Random(u64);

    impl Random {
        fn below(&mut self, bound: usize) -> usize {
            self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut mixed = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            usize::try_from((mixed >> 33) % bound.max(1) as u64).unwrap()
        }
    }

    /// Tries the seeds of a fuzz target, their prefixes and mutations.
    fn try_seeds(target: &str, times: usize, try_one: fn(&[u8])) {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
            .join("fuzz/seeds")
            .join(target);
        let mut files: Vec<_> = std::fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .collect();
        files.sort();
        let seeds: Vec<Vec<u8>> = files
            .iter()
            .map(|file| std::fs::read(file).unwrap())
            .collect();
        assert!(seeds.len() > 4, "{target}");
        let mut random = Random(1);
        for seed in &seeds {
            try_one(seed);
            for length in 0..seed.len() {
                try_one(&seed[..length]);
            }
            for _ in 0..times {
                let mut changed = seed.clone();
                for _ in 0..=random.below(4) {
                    change(&mut changed, &seeds, &mut random);
                }
                try_one(&changed);
            }
        }
    }

    fn change(bytes: &mut Vec<u8>, seeds: &[Vec<u8>], random: &mut Random) {
        const ODD: &[u8] = b"\0\"\\{}[](),:=!%&*-#\n\xff/.~$<>'09e";
        let at = random.below(bytes.len() + 1);
        let odd = ODD[random.below(ODD.len())];
        match random.below(5) {
            0 => bytes.insert(at, odd),
            1 => bytes.truncate(at),
            2 if at < bytes.len() => bytes[at] = odd,
            3 => {
                let other = &seeds[random.below(seeds.len())];
                let from = random.below(other.len());
                bytes.splice(at..at, other[from..].iter().copied());
            }
            _ => {
                let repeated = bytes[at..].to_vec();
                bytes.extend(repeated);
            }
        }
    }

    #[test]
    fn bodies_of_any_kind_are_read_or_refused() {
        try_seeds("body", 60, body);
    }

    #[test]
    fn selectors_of_any_kind_are_read_or_refused() {
        try_seeds("selectors", 2000, selectors);
    }
}

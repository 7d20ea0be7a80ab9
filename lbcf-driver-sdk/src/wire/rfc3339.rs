//! Points in time as RFC 3339 text, for serde's `with`.

use jiff::Timestamp;
use serde::{Deserialize, Deserializer, Serializer};
use std::time::SystemTime;

/// Writes the time in UTC, or `null` if it is out of the range of years 1 to 9999.
pub(crate) fn serialize<S: Serializer>(
    time: &Option<SystemTime>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    match time.and_then(|time| Timestamp::try_from(time).ok()) {
        Some(time) => serializer.collect_str(&time),
        None => serializer.serialize_none(),
    }
}

/// Reads a text that is no time like an absent field: an operation must not fail because of what only
/// helps to keep a deadline.
pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<SystemTime>, D::Error> {
    let text = Option::<String>::deserialize(deserializer)?;
    let time = text.and_then(|text| text.parse::<Timestamp>().ok());
    Ok(time.map(SystemTime::from))
}

#[cfg(test)]
mod tests {
    use crate::webhook::DeregisterBackend;
    use crate::wire::from_slice;
    use serde_json::{Value, json};
    use std::time::{Duration, SystemTime};

    fn read(value: Value) -> Option<SystemTime> {
        let body = json!({"recordID": "r", "firstRequestedAt": value}).to_string();
        let request: DeregisterBackend = from_slice(body.as_bytes()).unwrap();
        request.first_requested_at
    }

    #[test]
    fn d71_a_time_is_read_in_any_offset_and_written_in_utc() {
        let time = SystemTime::UNIX_EPOCH + Duration::from_secs(1_767_225_600);
        for text in ["2026-01-01T00:00:00Z", "2026-01-01T01:00:00+01:00"] {
            assert_eq!(read(json!(text)), Some(time));
        }
        let request: DeregisterBackend = DeregisterBackend {
            first_requested_at: Some(time),
            ..DeregisterBackend::default()
        };
        let written = serde_json::to_value(&request).unwrap();
        assert_eq!(written["firstRequestedAt"], "2026-01-01T00:00:00Z");
        let without = serde_json::to_value(<DeregisterBackend>::default()).unwrap();
        assert_eq!(without.get("firstRequestedAt"), None);
        // Names match in any letter case.
        let body = br#"{"FIRSTREQUESTEDAT": "2026-01-01T00:00:00Z"}"#;
        let request: DeregisterBackend = from_slice(body).unwrap();
        assert_eq!(request.first_requested_at, Some(time));
    }

    #[test]
    fn d71_what_is_no_time_is_as_if_absent() {
        for value in [json!(null), json!(""), json!("yesterday")] {
            assert_eq!(read(value), None);
        }
        let body = br#"{"firstRequestedAt": 7}"#;
        let error = from_slice::<DeregisterBackend>(body).unwrap_err();
        assert_eq!(
            error.to_string(),
            "firstRequestedAt: invalid type: integer `7`, expected a string"
        );
    }
}

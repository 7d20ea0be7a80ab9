//! Values that are messages or bytes in protobuf and something else in JSON.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use jiff::Timestamp;
use serde_json::Value;

use super::wire::{WireReader, WireValue};

/// Decodes a value by the letter of its type.
pub(super) fn special(bytes: &[u8], letter: &str) -> Option<Value> {
    match letter {
        "s" => text(bytes).map(Value::from),
        "y" => Some(Value::from(STANDARD.encode(bytes))),
        "f" => {
            // The text has the form of an integer if the value is one, as Go writes it.
            let number = f64::from_le_bytes(bytes.try_into().ok()?);
            serde_json::from_str(&number.to_string()).ok()
        }
        // An unset time, or no JSON.
        "t" | "u" | "r" if bytes.is_empty() => Some(Value::Null),
        "r" => serde_json::from_slice(bytes).ok(),
        "t" => {
            let (seconds, _, _) = parts(bytes)?;
            let time = Timestamp::from_second(seconds).ok()?;
            Some(Value::from(time.to_string()))
        }
        "u" => {
            let (seconds, nanos, _) = parts(bytes)?;
            let micros = i32::try_from(nanos / 1000).ok()?;
            let time = Timestamp::new(seconds, micros.checked_mul(1000)?).ok()?;
            Some(Value::from(format!("{time:.6}")))
        }
        "q" => match parts(bytes)? {
            (_, _, b"") => Some(Value::from("0")),
            (_, _, quantity) => text(quantity).map(Value::from),
        },
        "o" => match parts(bytes)? {
            (0, number, _) => Some(Value::from(number)),
            (_, _, port) => text(port).map(Value::from),
        },
        _ => None,
    }
}

pub(super) fn text(bytes: &[u8]) -> Option<String> {
    Some(std::str::from_utf8(bytes).ok()?.to_owned())
}

/// The numbers 1 and 2 and the text of a small message.
fn parts(bytes: &[u8]) -> Option<(i64, i64, &[u8])> {
    let mut parts = (0, 0, &b""[..]);
    let mut reader = WireReader(bytes);
    while let Some((number, raw)) = reader.field()? {
        match (number, raw) {
            (1, WireValue::Number(value)) => parts.0 = value.cast_signed(),
            (2, WireValue::Number(value)) => parts.1 = value.cast_signed(),
            (_, WireValue::Bytes(text)) => parts.2 = text,
            _ => {}
        }
    }
    Some(parts)
}

//! The limits on what the rules of a definition may cost.

use crate::field_error::FieldError;
use crate::schema::ValidationRule;

/// The limit on one rule.
const RULE_LIMIT: u64 = 10_000_000;
/// The limit on all rules of a schema.
const SCHEMA_LIMIT: u64 = 100_000_000;
/// If all rules exceed their limit, this many of the most expensive are named.
const NAMED: usize = 4;

/// The estimated cost of all rules of a schema.
#[derive(Debug, Default)]
pub(super) struct TotalCost {
    total: u64,
    /// The rules that take at least a hundredth of the limit.
    expensive: Vec<(u64, String)>,
}

impl TotalCost {
    /// Adds a rule of which an object has up to `times` values, and returns its own errors.
    pub(super) fn add(
        &mut self,
        rule: &ValidationRule,
        times: u64,
        place: &str,
    ) -> Vec<FieldError> {
        let mut errors = Vec::new();
        let mut count = |key: &str, what: &str, cost: u64| {
            let field = format!("{place}.{key}");
            if cost > RULE_LIMIT {
                let detail = exceeded(what, cost, RULE_LIMIT);
                errors.push(FieldError::forbidden(&field, &detail));
            }
            self.total = self.total.saturating_add(cost);
            if cost >= SCHEMA_LIMIT / 100 {
                self.expensive.push((cost, field));
            }
        };
        if let Some(Ok(program)) = &rule.program {
            let cost = program.max_cost.saturating_mul(times);
            count("rule", "estimated rule cost", cost);
        }
        if let Some(Ok(program)) = &rule.message_program {
            let what = "estimated messageExpression cost";
            count("messageExpression", what, program.max_cost);
        }
        errors
    }

    /// The errors of the schema at `place` if its rules are too expensive together.
    pub(super) fn errors(mut self, place: &str) -> Vec<FieldError> {
        if self.total <= SCHEMA_LIMIT {
            return Vec::new();
        }
        // Of equally expensive rules the first is named first.
        self.expensive.sort_by_key(|(cost, _)| u64::MAX - cost);
        let contributed = "contributed to estimated rule cost total exceeding cost limit for entire OpenAPIv3 schema";
        let expensive = self.expensive.iter().take(NAMED);
        let mut errors: Vec<FieldError> = expensive
            .map(|(_, field)| FieldError::forbidden(field, contributed))
            .collect();
        let what = "x-kubernetes-validations estimated rule cost total for entire OpenAPIv3 schema";
        let detail = exceeded(what, self.total, SCHEMA_LIMIT);
        errors.push(FieldError::forbidden(place, &detail));
        errors
    }
}

fn exceeded(what: &str, cost: u64, limit: u64) -> String {
    // Only shown, so that the lost digits do not matter.
    #[allow(clippy::cast_precision_loss)]
    let factor = cost as f64 / limit as f64;
    let factor = if factor > 100.0 {
        "more than 100x".to_owned()
    } else if factor < 1.5 {
        // It is never shown as 1.0.
        format!("{factor:.6}x")
    } else {
        format!("{factor:.1}x")
    };
    format!(
        "{what} exceeds budget by factor of {factor} (try simplifying the rule, or adding maxItems, maxProperties, and maxLength where arrays, maps, and strings are declared)"
    )
}

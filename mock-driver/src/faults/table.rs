//! The rules of a cloud, and their counts.

use super::decide::{CountedRule, Fault, FaultTarget, fail};
use super::read::{MOST_RULES, in_band};
use super::rule::FaultRule;
use lbcf_driver_sdk::webhook::Class;
use serde::Serialize;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The number of objects with faults of their own that are remembered.
const MOST_IN_BAND: usize = 10_000;

/// The fault rules of a cloud, in their order; clones are handles to the same ones.
#[derive(Debug, Clone, Default)]
pub struct FaultTable(Arc<Mutex<Faults>>);

/// A rule with its number and counts.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FaultStatus {
    /// The number, by which the rule can be removed.
    pub id: u64,
    /// The calls that have matched.
    pub matched: u64,
    /// Those of them that were hit.
    pub applied: u64,
    /// The rule.
    #[serde(flatten)]
    pub rule: FaultRule,
}

#[derive(Debug, Default)]
struct Faults {
    seed: u64,
    /// Those of the start, which a reset brings back.
    declared: Vec<FaultRule>,
    rules: Vec<CountedRule>,
    last_id: u64,
    /// The calls that each action has hit. It is not reset, as a metric that counts.
    applied: BTreeMap<&'static str, u64>,
    /// By recordID and text.
    in_band: BTreeMap<(String, String), Vec<CountedRule>>,
}

impl FaultTable {
    /// Sets the rules of the start, to which [`reset`](crate::Cloud::reset) returns, and the seed.
    ///
    /// # Errors
    /// Which field of a rule is wrong, with its value and what is allowed.
    pub fn declare(&self, rules: Vec<FaultRule>, seed: u64) -> Result<(), String> {
        check_all(&rules)?;
        let mut faults = self.lock();
        faults.seed = seed;
        faults.declared = rules;
        faults.reset();
        Ok(())
    }

    /// Adds a rule behind the others, and returns its number.
    ///
    /// # Errors
    /// Which field is wrong, with its value and what is allowed.
    pub fn add(&self, rule: FaultRule) -> Result<u64, String> {
        rule.check()?;
        let mut faults = self.lock();
        if faults.rules.len() >= MOST_RULES {
            return Err(format!("there are {MOST_RULES} rules already"));
        }
        Ok(faults.add(rule))
    }

    /// Replaces all rules.
    ///
    /// # Errors
    /// Which field of a rule is wrong; the rules then stay as they were.
    pub fn replace(&self, rules: Vec<FaultRule>) -> Result<(), String> {
        check_all(&rules)?;
        self.lock().set(rules);
        Ok(())
    }

    /// Removes the rule with this number, and returns whether there was one.
    pub fn remove(&self, id: u64) -> bool {
        let mut faults = self.lock();
        let before = faults.rules.len();
        faults.rules.retain(|it| it.number != id);
        faults.rules.len() < before
    }

    /// Removes all rules.
    pub fn clear(&self) {
        self.lock().set(Vec::new());
    }

    /// The rules in their order.
    #[must_use]
    pub fn list(&self) -> Vec<FaultStatus> {
        let faults = self.lock();
        let status = |counted: &CountedRule| FaultStatus {
            id: counted.number,
            matched: counted.matched,
            applied: counted.applied,
            rule: counted.rule.clone(),
        };
        faults.rules.iter().map(status).collect()
    }

    /// The seed of shares and jitter.
    #[must_use]
    pub fn seed(&self) -> u64 {
        self.lock().seed
    }

    pub(crate) fn reset(&self) {
        self.lock().reset();
    }

    /// The fault of a call: that of the first rule that hits it, then those in `texts`, which the
    /// call's own object carries.
    pub(crate) fn decide(&self, target: &FaultTarget<'_>, texts: &[&str]) -> Option<Fault> {
        let mut faults = self.lock();
        let fault = faults.decide(target, texts)?;
        *faults.applied.entry(fault.action).or_default() += 1;
        Some(fault)
    }

    /// The calls that each action has hit since the start.
    pub(crate) fn applied(&self) -> BTreeMap<&'static str, u64> {
        self.lock().applied.clone()
    }

    fn lock(&self) -> MutexGuard<'_, Faults> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Faults {
    fn add(&mut self, rule: FaultRule) -> u64 {
        self.last_id += 1;
        self.rules.push(CountedRule::new(rule, self.last_id));
        self.last_id
    }

    fn set(&mut self, rules: Vec<FaultRule>) {
        self.rules.clear();
        self.in_band.clear();
        for rule in rules {
            self.add(rule);
        }
    }

    fn reset(&mut self) {
        self.last_id = 0;
        self.set(self.declared.clone());
    }

    fn decide(&mut self, target: &FaultTarget<'_>, texts: &[&str]) -> Option<Fault> {
        let seed = self.seed;
        let of_rules = self.rules.iter_mut().find_map(|counted| {
            let number = counted.number;
            counted.decide(target, seed, || format!("rule {number}"))
        });
        if of_rules.is_some() || target.webhook.class != Class::Operation {
            return of_rules;
        }
        texts
            .iter()
            .find_map(|text| self.decide_in_band(target, text))
    }

    fn decide_in_band(&mut self, target: &FaultTarget<'_>, text: &str) -> Option<Fault> {
        let key = (target.record_id.to_owned(), text.to_owned());
        if !self.in_band.contains_key(&key) {
            let rules = match in_band(text) {
                Ok(rules) => rules.into_iter(),
                Err(problem) => {
                    return Some(Fault {
                        action: "fail",
                        label: "fail (in band, invalid)".to_owned(),
                        effect: fail(target.webhook, &problem, None),
                    });
                }
            };
            if self.in_band.len() >= MOST_IN_BAND {
                self.in_band.pop_first();
            }
            // The same object gets the same faults in every run.
            let salt = salt(target.record_id);
            let counted = rules.map(|rule| CountedRule::new(rule, salt));
            self.in_band.insert(key.clone(), counted.collect());
        }
        let mut counted = self.in_band.get_mut(&key)?.iter_mut();
        counted.find_map(|counted| counted.decide(target, self.seed, || "in band".to_owned()))
    }
}

fn check_all(rules: &[FaultRule]) -> Result<(), String> {
    for (index, rule) in rules.iter().enumerate() {
        rule.check()
            .map_err(|problem| format!("rules[{index}].{problem}"))?;
    }
    Ok(())
}

/// FNV-1a, which is the same on every machine.
fn salt(text: &str) -> u64 {
    text.bytes().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

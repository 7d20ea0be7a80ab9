//! What a run has reached and found, and what of it is accepted.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use super::compare::Difference;
use super::kinds::Table;
use super::servers::{Found, Servers};
use super::step::Step;

/// The accepted differences.
const ACCEPTED: &str = include_str!("../../../docs/differences.md");
/// The fewest requests of each verb and resource in a long run.
const LEAST: usize = 20;
pub(super) const LONG_RUN: usize = 10_000;
/// How many kinds of differences are reduced to the fewest requests.
const SHRUNK: usize = 10;

/// A kind of difference: verb, resource, and the member or code that differs.
type DifferenceKind = [String; 3];

struct Example {
    count: usize,
    steps: Vec<Step>,
    difference: Difference,
}

#[derive(Default)]
pub(super) struct Report {
    /// Requests by verb and resource.
    reached: BTreeMap<(String, String), usize>,
    found: BTreeMap<DifferenceKind, Example>,
    differing: usize,
}

impl Report {
    pub(super) fn requests(&self) -> usize {
        self.reached.values().sum()
    }

    pub(super) fn add(&mut self, played: &[Step], found: Vec<Found>) {
        for step in played {
            let cell = (step.verb.clone(), step.resource.clone());
            *self.reached.entry(cell).or_default() += 1;
        }
        for Found { index, differences } in found {
            self.differing += 1;
            for difference in differences {
                let kind = kind(&played[index], &difference);
                let steps = played[..=index].to_vec();
                let example = Example {
                    count: 0,
                    steps,
                    difference,
                };
                self.found.entry(kind).or_insert(example).count += 1;
            }
        }
    }

    /// The verbs and resources that have been reached too seldom for a long run.
    pub(super) fn few(&self, table: &Table) -> Vec<(String, String)> {
        let mut few = table.cells();
        few.retain(|cell| self.reached.get(cell).copied().unwrap_or_default() < LEAST);
        few
    }

    /// Prints the run and returns what is wrong about it.
    pub(super) async fn conclude(self, servers: &mut Servers) -> Vec<String> {
        let mut wrong = Vec::new();
        let (requests, differing) = (self.requests(), self.differing);
        let accepted = accepted();
        let is_accepted = |kind: &DifferenceKind| {
            let fits = |row: &[Vec<&str>; 3]| {
                row.iter()
                    .zip(kind)
                    .all(|(cell, word)| cell.contains(&word.as_str()))
            };
            accepted.iter().any(fits)
        };
        let (kept, left): (Vec<_>, Vec<_>) = self
            .found
            .into_iter()
            .partition(|(kind, _)| is_accepted(kind));
        println!(
            "{requests} requests, {differing} answered differently: {} accepted kinds, {} others",
            kept.len(),
            left.len()
        );
        let mut left = left;
        left.sort_by_key(|(_, example)| Reverse(example.count));
        for (
            kind,
            Example {
                count,
                mut steps,
                difference,
            },
        ) in left
        {
            let Difference { real, local, .. } = difference;
            println!(
                "{count} x {}\n  real  {real}\n  local {local}",
                kind.join(" | ")
            );
            // Shrinking takes seconds, and frequent kinds explain others.
            if wrong.len() < SHRUNK {
                steps = minimal(servers, steps, &kind).await;
            }
            for step in steps {
                println!("    {step}");
            }
            wrong.push(kind.join(" | "));
        }
        wrong
    }
}

fn kind(step: &Step, difference: &Difference) -> DifferenceKind {
    [
        step.verb.clone(),
        step.resource.clone(),
        difference.member.clone(),
    ]
}

/// Leaves out steps without which the last one still differs in this way: large blocks first, which is faster.
async fn minimal(
    servers: &mut Servers,
    mut steps: Vec<Step>,
    wanted: &DifferenceKind,
) -> Vec<Step> {
    let (mut block, mut end) = (steps.len() - 1, steps.len() - 1);
    while block > 0 {
        let start = end.saturating_sub(block);
        let mut fewer = steps.clone();
        fewer.drain(start..end);
        let last = fewer.len() - 1;
        let (_, found) = servers.play(&fewer).await;
        let at_last = found.into_iter().filter(|found| found.index == last);
        if at_last
            .flat_map(|found| found.differences)
            .any(|d| kind(&fewer[last], &d) == *wanted)
        {
            steps = fewer;
        }
        end = start;
        if end == 0 {
            block /= 2;
            end = steps.len() - 1;
        }
    }
    steps
}

/// The rows of the table: verbs, resources, and members or codes, each separated by commas.
fn accepted() -> Vec<[Vec<&'static str>; 3]> {
    let rows = ACCEPTED.lines().filter(|line| line.starts_with("| `"));
    let words = |cell: &'static str| {
        cell.split(',')
            .map(|word| word.trim().trim_matches('`'))
            .collect()
    };
    let row = |row: &'static str| {
        let mut cells = row.trim_matches('|').split(" | ").map(words);
        let cells: [Vec<&str>; 3] = [(); 3].map(|()| cells.next().unwrap());
        // That messages differ is no kind.
        assert!(
            !cells[2].iter().any(|member| member.contains("message")),
            "{row}"
        );
        cells
    };
    rows.map(row).collect()
}

//! How the mock behaves.

use crate::defects::{Defect, DefectPace};
use std::time::Duration;

/// How the mock behaves. Made from [`Default`], so that a new option breaks nobody.
#[derive(Debug, Clone)]
pub struct MockOptions {
    /// How long each stage of a load balancer's creation takes; zero by default, so that it is
    /// there at once.
    pub stage_duration: Duration,
    /// How many webhook calls the journal keeps; 1000 by default.
    pub journal_size: usize,
    /// What it does wrong on purpose; nothing by default.
    pub defects: Vec<Defect>,
    /// How long defects take that have to do with time.
    pub defect_pace: DefectPace,
}

impl Default for MockOptions {
    fn default() -> Self {
        Self {
            stage_duration: Duration::ZERO,
            journal_size: 1000,
            defects: Vec::new(),
            defect_pace: DefectPace::default(),
        }
    }
}

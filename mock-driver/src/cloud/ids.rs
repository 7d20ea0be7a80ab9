//! Names for what the cloud makes: counted, so that the same calls in the same order give the
//! same names, and a test or a document can say `lb-00000001`.

/// The counters behind the names.
#[derive(Debug, Clone, Default)]
pub(super) struct Ids {
    load_balancers: u64,
    listeners: u64,
}

impl Ids {
    /// `lb-00000001`, `lb-00000002`, …
    pub(super) fn next_load_balancer(&mut self) -> String {
        self.load_balancers += 1;
        format!("lb-{:08}", self.load_balancers)
    }

    /// `lbl-00000001`, `lbl-00000002`, …
    pub(super) fn next_listener(&mut self) -> String {
        self.listeners += 1;
        format!("lbl-{:08}", self.listeners)
    }
}

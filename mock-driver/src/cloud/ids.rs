//! IDs of new resources: counted, so that the same calls in the same order give the same IDs, and
//! tests and documents can name `lb-00000001`.

#[derive(Debug, Clone, Default)]
pub(super) struct Ids {
    load_balancers: u64,
    listeners: u64,
}

impl Ids {
    pub(super) fn next_load_balancer(&mut self) -> String {
        self.load_balancers += 1;
        format!("lb-{:08}", self.load_balancers)
    }

    pub(super) fn next_listener(&mut self) -> String {
        self.listeners += 1;
        format!("lbl-{:08}", self.listeners)
    }
}

//! Asking again for what was decided.

use super::{Call, Lab};
use crate::verdict::Verdict;

impl Lab {
    /// A decision has to be the same each time, whichever it is.
    ///
    /// # Errors
    /// [`NotPassed::Failed`](crate::verdict::NotPassed::Failed), when it is not;
    /// [`NotPassed::Blocked`](crate::verdict::NotPassed::Blocked) by the check `basis`, when there
    /// is none in the first place.
    pub(crate) async fn same_verdict(&self, call: &Call, basis: &'static str) -> Verdict {
        let first = self.call(call).await;
        let verdict = first.any_verdict("as each validation has one");
        let verdict = verdict.map_err(|e| e.blocked_by(basis))?;
        for _ in 1..self.repeats() {
            let again = self.call(call).await;
            if again.verdict() != Some(verdict) {
                let expected =
                    format!("succ {verdict} as the first time, since nothing has changed");
                return Err(again.failed(expected, again.said()));
            }
        }
        Ok(())
    }
}

//! The right driver with something wrong around it: each request passes the defects on its way in,
//! and its answer on its way out.

use super::answer::Answer;
use super::call::Call;
use super::death::{self, Death};
use super::handed_out::HandedOut;
use super::memory::Memory;
use super::{Defect, DefectPace, hold, ledger, slow, told};
use crate::MockOptions;
use crate::cloud::Cloud;
use axum::Router;
use axum::extract::{Request, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{Instant, sleep, timeout};
use tower::ServiceExt;

/// How large a body is looked at; the driver's own limit is lower.
const BODY_LIMIT: usize = 64 << 20;
/// How long a body may take to arrive.
const BODY_TIME: Duration = Duration::from_secs(8);

/// A driver with defects.
#[derive(Debug)]
pub(super) struct Context {
    pub(super) cloud: Cloud,
    pub(super) memory: Memory,
    pub(super) pace: DefectPace,
    pub(super) death: Death,
    pub(super) handed_out: HandedOut,
    pub(super) began: Instant,
    defects: Vec<Defect>,
    /// The right driver.
    right: Router,
}

impl Context {
    pub(super) fn new(
        right: Router,
        cloud: Cloud,
        options: &MockOptions,
        handed_out: HandedOut,
        death: Death,
    ) -> Self {
        Self {
            cloud,
            handed_out,
            memory: Memory::default(),
            pace: options.defect_pace,
            death,
            began: Instant::now(),
            defects: options.defects.clone(),
            right,
        }
    }

    pub(super) fn has(&self, defect: Defect) -> bool {
        self.defects.contains(&defect)
    }

    /// Lets the right driver answer.
    pub(super) async fn forward(&self, call: &Call) -> Answer {
        match self.right.clone().oneshot(call.to_request()).await {
            Ok(response) => Answer::read(response).await,
            Err(never) => match never {},
        }
    }

    async fn answer(&self, mut call: Call) -> Answer {
        ledger::before(self, &mut call);
        let mut early = self
            .defects
            .iter()
            .find_map(|defect| super::before(*defect, self, &mut call));
        ledger::meant(self, &call);
        if early.is_none() {
            early = hold::side_by_side(self, &call).await;
        }
        let mut answer = match early {
            Some(answer) => answer,
            None => self.forward(&call).await,
        };
        for defect in &self.defects {
            super::after(*defect, self, &call, &mut answer);
        }
        ledger::after(self, &call, &answer);
        let late = self
            .defects
            .iter()
            .map(|defect| slow::extra_time(*defect, self.pace, &call, &answer));
        sleep(late.max().unwrap_or_default()).await;
        answer
    }
}

/// Answers whatever is asked of the driver.
pub(super) async fn serve(State(context): State<Arc<Context>>, request: Request) -> Response {
    if context.death.has_come() {
        return death::no_answer();
    }
    let (head, body) = request.into_parts();
    let body = match timeout(BODY_TIME, axum::body::to_bytes(body, BODY_LIMIT)).await {
        Ok(Ok(body)) => body,
        Ok(Err(error)) => {
            let message = format!("the body cannot be had: {error}");
            return Answer::error(StatusCode::PAYLOAD_TOO_LARGE, &message).into_response();
        }
        Err(_) => {
            let message = "the body did not arrive in time";
            return Answer::error(StatusCode::REQUEST_TIMEOUT, message).into_response();
        }
    };
    let mut call = Call::new(head.method, &head.uri, head.headers, body);
    let told = told::About::of(&call);
    // This is lost when the caller hangs up, as with drivers that are not careful.
    hold::while_connected(&context, &mut call).await;
    // From here on the work is done whether or not somebody waits for it.
    let at_work = Arc::clone(&context);
    let work = tokio::spawn(async move { at_work.answer(call).await });
    let answer = match work.await {
        Ok(answer) => answer,
        Err(error) => Answer::crash(&format!("the driver broke off: {error}")),
    };
    told.was_told(&context, &answer);
    answer.into_response()
}

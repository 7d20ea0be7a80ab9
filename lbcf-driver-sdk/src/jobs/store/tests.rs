use super::*;

type Jobs = JobStore<&'static str, u32, &'static str, ()>;

struct Scene {
    store: Jobs,
    now: Instant,
    settings: Settings,
}

fn scene() -> Scene {
    Scene {
        store: JobStore::default(),
        now: Instant::now(),
        settings: Settings::default(),
    }
}

impl Scene {
    fn call(
        &mut self,
        key: &str,
        request: &'static str,
    ) -> RunDecision<&'static str, u32, &'static str, ()> {
        self.store
            .run(key, &Arc::new(request), self.now, &self.settings, &())
    }

    fn cancel(&mut self, key: &str) -> CancelDecision<&'static str, u32, &'static str, ()> {
        self.store.cancel(key, self.now, &self.settings, &())
    }

    /// A call that must start a step.
    fn start(
        &mut self,
        key: &str,
        request: &'static str,
    ) -> (StepId, JobStep<&'static str, u32>, bool) {
        match self.call(key, request) {
            RunDecision::Start { id, step, is_own } => (id, step, is_own),
            other => panic!("{other:?}"),
        }
    }

    /// A job whose task is 42.
    fn submit(&mut self, key: &str, request: &'static str) -> StepId {
        let (id, step, is_own) = self.start(key, request);
        assert_eq!((step, is_own), (JobStep::Submit(Arc::new(request)), true));
        self.store.accepted(key, id, &Arc::new(42));
        id
    }

    fn ended(&mut self, key: &str, id: StepId, end: StepEnd<&'static str>) {
        self.store.ended(key, id, end, self.now, &self.settings);
    }

    /// A job that has ended with this result.
    fn done(&mut self, key: &str, request: &'static str, output: &'static str) -> StepId {
        let id = self.submit(key, request);
        self.ended(key, id, StepEnd::Done(output));
        id
    }

    fn pass(&mut self, seconds: u64) {
        self.now += Duration::from_secs(seconds);
    }
}

fn poll() -> JobStep<&'static str, u32> {
    JobStep::Poll(Arc::new(42))
}

#[test]
fn the_first_call_submits_the_others_join_and_later_ones_poll() {
    let mut scene = scene();
    let (id, step, _) = scene.start("k", "a");
    assert_eq!(step, JobStep::Submit(Arc::new("a")));
    let join = RunDecision::Join {
        id,
        sender: (),
        is_own: true,
    };
    assert_eq!(scene.call("k", "a"), join);
    assert!(!scene.store.has_task("k", id));
    scene.store.accepted("k", id, &Arc::new(42));
    assert!(scene.store.has_task("k", id));
    assert_eq!(scene.call("k", "a"), join);
    scene.ended("k", id, StepEnd::Unfinished);
    let (second, step, is_own) = scene.start("k", "a");
    assert_eq!((step, is_own), (poll(), true));
    assert_ne!(second, id);
    // Reports of an old step do not affect the running one.
    scene.ended("k", id, StepEnd::NoResult);
    assert!(scene.store.has_task("k", second));
}

#[test]
fn a_failed_submit_is_retried_and_a_failed_poll_does_not_end_the_job() {
    let mut scene = scene();
    let (id, ..) = scene.start("k", "a");
    scene.ended("k", id, StepEnd::Unfinished);
    let id = scene.submit("k", "a");
    scene.ended("k", id, StepEnd::Unfinished);
    let (id, step, _) = scene.start("k", "a");
    assert_eq!(step, poll());
    // The task itself failed.
    scene.ended("k", id, StepEnd::NoResult);
    assert_eq!(scene.store.running(), 0);
    scene.submit("k", "a");
}

#[test]
fn a_result_can_be_collected_until_it_expires() {
    let mut scene = scene();
    let id = scene.done("k", "a", "made");
    scene.store.collected("k", id, &scene.settings);
    scene.pass(599);
    assert_eq!(scene.call("k", "a"), RunDecision::Collect("made"));
    assert_eq!(scene.call("k", "a"), RunDecision::Collect("made"));
    scene.pass(1);
    scene.submit("k", "a");
}

#[test]
fn a_result_that_is_collected_once_is_removed_by_the_first_call() {
    let mut scene = scene();
    scene.settings.retain = RetainResults::UntilCollected;
    scene.done("k", "a", "made");
    assert_eq!(scene.call("k", "a"), RunDecision::Collect("made"));
    let first = scene.done("k", "a", "made again");
    scene.store.collected("k", first, &scene.settings);
    let second = scene.done("k", "a", "made a third time");
    // A late report of a call that waited for an earlier job.
    scene.store.collected("k", first, &scene.settings);
    assert_eq!(
        scene.call("k", "a"),
        RunDecision::Collect("made a third time")
    );
    assert_ne!(first, second);
}

#[test]
fn d28_another_request_waits_for_the_earlier_job_and_never_gets_its_result() {
    let mut scene = scene();
    let id = scene.submit("k", "a");
    let join = RunDecision::Join {
        id,
        sender: (),
        is_own: false,
    };
    assert_eq!(scene.call("k", "b"), join);
    scene.ended("k", id, StepEnd::Unfinished);
    let (id, step, is_own) = scene.start("k", "b");
    assert_eq!((step, is_own), (poll(), false));
    scene.ended("k", id, StepEnd::Done("made of a"));
    scene.done("k", "b", "made of b");
    // The first result of `a` is obsolete.
    scene.submit("k", "a");
}

#[test]
fn keys_are_independent() {
    let mut scene = scene();
    scene.submit("1", "a");
    scene.done("2", "a", "made");
    assert_eq!(scene.store.running(), 1);
    assert_eq!(scene.call("2", "a"), RunDecision::Collect("made"));
}

#[test]
fn a_cancellation_waits_for_a_step_and_then_cancels_the_task() {
    let mut scene = scene();
    let (id, ..) = scene.start("k", "a");
    assert_eq!(scene.cancel("k"), CancelDecision::Wait(()));
    scene.store.accepted("k", id, &Arc::new(42));
    assert_eq!(scene.cancel("k"), CancelDecision::Wait(()));
    scene.ended("k", id, StepEnd::Unfinished);
    let CancelDecision::Start { id, step } = scene.cancel("k") else {
        panic!("nothing to end");
    };
    assert_eq!(step, JobStep::Cancel(Arc::new(42)));
    scene.ended("k", id, StepEnd::NoResult);
    assert_eq!(scene.store.running(), 0);
}

#[test]
fn a_result_is_returned_to_cancellations_until_it_is_forgotten() {
    let mut scene = scene();
    scene.settings.retain = RetainResults::UntilCollected;
    scene.done("k", "a", "made");
    for _ in 0..10 {
        scene.pass(500);
        assert_eq!(scene.cancel("k"), CancelDecision::Created("made"));
    }
    scene.store.forget_results(|key, _| key == "k");
    let CancelDecision::Start { id, step } = scene.cancel("k") else {
        panic!("still there");
    };
    assert_eq!(step, JobStep::FindAndCancel);
    scene.ended("k", id, StepEnd::NoResult);
    scene.submit("k", "a");
}

#[test]
fn a_task_that_a_cancellation_found_belongs_to_the_next_request() {
    let mut scene = scene();
    let CancelDecision::Start { id, .. } = scene.cancel("k") else {
        panic!("it is not known");
    };
    scene.store.accepted("k", id, &Arc::new(42));
    scene.ended("k", id, StepEnd::Unfinished);
    let (_, step, is_own) = scene.start("k", "a");
    assert_eq!((step, is_own), (poll(), true));
    assert!(matches!(
        scene.call("k", "b"),
        RunDecision::Join { is_own: false, .. }
    ));
}

#[test]
fn results_are_forgotten_by_value_and_running_jobs_are_not() {
    let mut scene = scene();
    scene.done("1", "a", "x");
    scene.done("2", "a", "y");
    scene.submit("3", "a");
    scene.store.forget_results(|_, output| *output == "x");
    scene.store.forget_results(|key, _| key == "3");
    assert_eq!(scene.call("2", "a"), RunDecision::Collect("y"));
    assert_eq!(scene.store.running(), 1);
    scene.submit("1", "a");
}

#[test]
fn the_oldest_finished_job_makes_room_and_a_running_one_does_not() {
    let mut scene = scene();
    scene.settings.limit = 3;
    let running = scene.submit("running", "a");
    scene.ended("running", running, StepEnd::Unfinished);
    scene.done("older", "a", "x");
    scene.pass(1);
    scene.done("newer", "a", "y");
    scene.submit("one", "a");
    assert_eq!(scene.call("newer", "a"), RunDecision::Collect("y"));
    scene.submit("two", "a");
    assert_eq!(scene.call("three", "a"), RunDecision::Full);
    assert_eq!(scene.cancel("three"), CancelDecision::Full);
    assert_eq!(scene.store.jobs.len(), 3);
    // Existing jobs are served as before.
    assert_eq!(scene.start("running", "a").1, poll());
}

#[test]
fn a_job_without_calls_for_a_day_makes_room_if_there_is_no_other() {
    let mut scene = scene();
    scene.settings.limit = 2;
    for key in ["abandoned", "asked for"] {
        let id = scene.submit(key, "a");
        scene.ended(key, id, StepEnd::Unfinished);
    }
    scene.pass(24 * 60 * 60 - 1);
    assert_eq!(scene.call("new", "a"), RunDecision::Full);
    let (id, ..) = scene.start("asked for", "a");
    scene.ended("asked for", id, StepEnd::Unfinished);
    scene.pass(1);
    scene.submit("new", "a");
    assert_eq!(scene.start("asked for", "a").1, poll());
}

#[test]
fn expired_results_are_removed() {
    let mut scene = scene();
    for key in ["1", "2", "3"] {
        scene.done(key, "a", "x");
    }
    scene.pass(600);
    scene.done("4", "a", "x");
    assert_eq!(scene.store.jobs.len(), 1);
}

use super::*;

type Jobs = Table<&'static str, u32, &'static str, ()>;

struct Scene {
    table: Jobs,
    now: Instant,
    settings: Settings,
}

fn scene() -> Scene {
    Scene {
        table: Table::default(),
        now: Instant::now(),
        settings: Settings::default(),
    }
}

impl Scene {
    fn call(
        &mut self,
        key: &str,
        request: &'static str,
    ) -> Call<&'static str, u32, &'static str, ()> {
        self.table
            .call(key, &Arc::new(request), self.now, &self.settings, &())
    }

    fn cancel(&mut self, key: &str) -> Cancel<&'static str, u32, &'static str, ()> {
        self.table.cancel(key, self.now, &self.settings, &())
    }

    /// The call has to begin a step.
    fn start(
        &mut self,
        key: &str,
        request: &'static str,
    ) -> (StepId, Step<&'static str, u32>, bool) {
        match self.call(key, request) {
            Call::Start { id, step, mine } => (id, step, mine),
            other => panic!("{other:?}"),
        }
    }

    /// A job that the cloud calls 42.
    fn submit(&mut self, key: &str, request: &'static str) -> StepId {
        let (id, step, mine) = self.start(key, request);
        assert_eq!((step, mine), (Step::Submit(Arc::new(request)), true));
        self.table.accepted(key, id, &Arc::new(42));
        id
    }

    fn ended(&mut self, key: &str, id: StepId, end: End<&'static str>) {
        self.table.ended(key, id, end, self.now, &self.settings);
    }

    /// A job that is over and made this.
    fn done(&mut self, key: &str, request: &'static str, output: &'static str) -> StepId {
        let id = self.submit(key, request);
        self.ended(key, id, End::Done(output));
        id
    }

    fn pass(&mut self, seconds: u64) {
        self.now += Duration::from_secs(seconds);
    }
}

fn poll() -> Step<&'static str, u32> {
    Step::Poll(Arc::new(42))
}

#[test]
fn the_first_call_submits_the_others_join_and_later_ones_poll() {
    let mut scene = scene();
    let (id, step, _) = scene.start("k", "a");
    assert_eq!(step, Step::Submit(Arc::new("a")));
    let join = Call::Join {
        id,
        listen: (),
        mine: true,
    };
    assert_eq!(scene.call("k", "a"), join);
    assert!(!scene.table.has_task("k", id));
    scene.table.accepted("k", id, &Arc::new(42));
    assert!(scene.table.has_task("k", id));
    assert_eq!(scene.call("k", "a"), join);
    scene.ended("k", id, End::NotYet);
    let (second, step, mine) = scene.start("k", "a");
    assert_eq!((step, mine), (poll(), true));
    assert_ne!(second, id);
    // What an old step reports is no news about the one that runs.
    scene.ended("k", id, End::Over);
    assert!(scene.table.has_task("k", second));
}

#[test]
fn a_submit_that_failed_is_tried_anew_and_a_poll_that_failed_is_no_end() {
    let mut scene = scene();
    let (id, ..) = scene.start("k", "a");
    scene.ended("k", id, End::NotYet);
    let id = scene.submit("k", "a");
    scene.ended("k", id, End::NotYet);
    let (id, step, _) = scene.start("k", "a");
    assert_eq!(step, poll());
    // The task itself failed.
    scene.ended("k", id, End::Over);
    assert_eq!(scene.table.at_work(), 0);
    scene.submit("k", "a");
}

#[test]
fn a_result_is_collected_again_and_again_until_its_time_is_over() {
    let mut scene = scene();
    let id = scene.done("k", "a", "made");
    scene.table.collected("k", id, &scene.settings);
    scene.pass(599);
    assert_eq!(scene.call("k", "a"), Call::Collect("made"));
    assert_eq!(scene.call("k", "a"), Call::Collect("made"));
    scene.pass(1);
    scene.submit("k", "a");
}

#[test]
fn a_result_that_is_collected_once_is_forgotten_by_whoever_gets_it() {
    let mut scene = scene();
    scene.settings.kept = Keep::UntilCollected;
    scene.done("k", "a", "made");
    assert_eq!(scene.call("k", "a"), Call::Collect("made"));
    let first = scene.done("k", "a", "made again");
    scene.table.collected("k", first, &scene.settings);
    let second = scene.done("k", "a", "made a third time");
    // Late news from one who waited for an earlier job.
    scene.table.collected("k", first, &scene.settings);
    assert_eq!(scene.call("k", "a"), Call::Collect("made a third time"));
    assert_ne!(first, second);
}

#[test]
fn d28_another_request_waits_for_the_earlier_job_and_never_gets_its_result() {
    let mut scene = scene();
    let id = scene.submit("k", "a");
    let join = Call::Join {
        id,
        listen: (),
        mine: false,
    };
    assert_eq!(scene.call("k", "b"), join);
    scene.ended("k", id, End::NotYet);
    let (id, step, mine) = scene.start("k", "b");
    assert_eq!((step, mine), (poll(), false));
    scene.ended("k", id, End::Done("made of a"));
    scene.done("k", "b", "made of b");
    // Back again: what was made of `a` first is no answer any more.
    scene.submit("k", "a");
}

#[test]
fn keys_have_nothing_to_do_with_each_other() {
    let mut scene = scene();
    scene.submit("1", "a");
    scene.done("2", "a", "made");
    assert_eq!(scene.table.at_work(), 1);
    assert_eq!(scene.call("2", "a"), Call::Collect("made"));
}

#[test]
fn ending_waits_for_a_step_and_then_ends_the_task() {
    let mut scene = scene();
    let (id, ..) = scene.start("k", "a");
    assert_eq!(scene.cancel("k"), Cancel::Wait(()));
    scene.table.accepted("k", id, &Arc::new(42));
    assert_eq!(scene.cancel("k"), Cancel::Wait(()));
    scene.ended("k", id, End::NotYet);
    let Cancel::Start { id, step } = scene.cancel("k") else {
        panic!("nothing to end");
    };
    assert_eq!(step, Step::Cancel(Arc::new(42)));
    scene.ended("k", id, End::Over);
    assert_eq!(scene.table.at_work(), 0);
}

#[test]
fn what_was_made_is_given_until_it_is_forgotten() {
    let mut scene = scene();
    scene.settings.kept = Keep::UntilCollected;
    scene.done("k", "a", "made");
    for _ in 0..10 {
        scene.pass(500);
        assert_eq!(scene.cancel("k"), Cancel::Made("made"));
    }
    scene.table.forget_results(|key, _| key == "k");
    let Cancel::Start { id, step } = scene.cancel("k") else {
        panic!("still there");
    };
    assert_eq!(step, Step::FindAndCancel);
    scene.ended("k", id, End::Over);
    scene.submit("k", "a");
}

#[test]
fn what_was_found_to_be_ended_is_taken_for_the_next_request() {
    let mut scene = scene();
    let Cancel::Start { id, .. } = scene.cancel("k") else {
        panic!("it is not known");
    };
    scene.table.accepted("k", id, &Arc::new(42));
    scene.ended("k", id, End::NotYet);
    let (_, step, mine) = scene.start("k", "a");
    assert_eq!((step, mine), (poll(), true));
    assert!(matches!(
        scene.call("k", "b"),
        Call::Join { mine: false, .. }
    ));
}

#[test]
fn results_are_forgotten_by_value_and_jobs_at_work_are_not() {
    let mut scene = scene();
    scene.done("1", "a", "x");
    scene.done("2", "a", "y");
    scene.submit("3", "a");
    scene.table.forget_results(|_, output| *output == "x");
    scene.table.forget_results(|key, _| key == "3");
    assert_eq!(scene.call("2", "a"), Call::Collect("y"));
    assert_eq!(scene.table.at_work(), 1);
    scene.submit("1", "a");
}

#[test]
fn the_oldest_finished_makes_room_and_one_at_work_never_does() {
    let mut scene = scene();
    scene.settings.limit = 3;
    let at_work = scene.submit("at work", "a");
    scene.ended("at work", at_work, End::NotYet);
    scene.done("older", "a", "x");
    scene.pass(1);
    scene.done("newer", "a", "y");
    scene.submit("one", "a");
    assert_eq!(scene.call("newer", "a"), Call::Collect("y"));
    scene.submit("two", "a");
    assert_eq!(scene.call("three", "a"), Call::Full);
    assert_eq!(scene.cancel("three"), Cancel::Full);
    assert_eq!(scene.table.jobs.len(), 3);
    // Those that are there are served as ever.
    assert_eq!(scene.start("at work", "a").1, poll());
}

#[test]
fn a_job_that_nobody_asked_for_within_a_day_makes_room_if_there_is_no_other() {
    let mut scene = scene();
    scene.settings.limit = 2;
    for key in ["abandoned", "asked for"] {
        let id = scene.submit(key, "a");
        scene.ended(key, id, End::NotYet);
    }
    scene.pass(24 * 60 * 60 - 1);
    assert_eq!(scene.call("new", "a"), Call::Full);
    let (id, ..) = scene.start("asked for", "a");
    scene.ended("asked for", id, End::NotYet);
    scene.pass(1);
    scene.submit("new", "a");
    assert_eq!(scene.start("asked for", "a").1, poll());
}

#[test]
fn results_whose_time_is_over_take_no_memory_for_long() {
    let mut scene = scene();
    for key in ["1", "2", "3"] {
        scene.done(key, "a", "x");
    }
    scene.pass(600);
    scene.done("4", "a", "x");
    assert_eq!(scene.table.jobs.len(), 1);
}

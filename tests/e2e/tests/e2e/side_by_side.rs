//! Many worlds at a time: most of a life is waiting.

use std::fmt::Debug;
use std::future::Future;
use tokio::task::{JoinSet, LocalSet};

/// How many worlds live at a time.
const AT_A_TIME: usize = 8;

/// Plays a scene for each of these; gives what came of them. Whichever fail are named at the end.
pub(crate) async fn side_by_side<S, F, T>(
    scenes: impl IntoIterator<Item = S>,
    play: impl Fn(S) -> F,
) -> Vec<T>
where
    S: Debug + Clone + 'static,
    F: Future<Output = T> + 'static,
    T: 'static,
{
    let (mut ends, mut failed) = (Vec::new(), Vec::new());
    // The scenes themselves share this thread; controllers and drivers are on the runtime's.
    LocalSet::new()
        .run_until(async {
            let mut scenes = scenes.into_iter();
            let mut playing = JoinSet::new();
            loop {
                while playing.len() < AT_A_TIME
                    && let Some(scene) = scenes.next()
                {
                    let scene_of = scene.clone();
                    let scene = tokio::task::spawn_local(play(scene));
                    playing.spawn_local(async move { (scene_of, scene.await) });
                }
                match playing.join_next().await {
                    Some(Ok((_, Ok(end)))) => ends.push(end),
                    Some(Ok((scene, Err(_)))) => failed.push(format!("{scene:?}")),
                    Some(Err(error)) => panic!("{error}"),
                    None => break,
                }
            }
        })
        .await;
    assert!(failed.is_empty(), "{} failed: {failed:#?}", failed.len());
    ends
}

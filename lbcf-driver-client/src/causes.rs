//! Errors with their causes.

use std::error::Error;

pub(crate) type BoxError = Box<dyn Error + Send + Sync>;

/// An error and its sources. The error inside an [`std::io::Error`] counts as its source.
pub(crate) fn causes<'a>(
    error: &'a (dyn Error + 'static),
) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    std::iter::successors(Some(error), |&error| {
        let wrapped = error
            .downcast_ref::<std::io::Error>()
            .and_then(std::io::Error::get_ref);
        match wrapped {
            Some(wrapped) => Some(wrapped as &(dyn Error + 'static)),
            None => error.source(),
        }
    })
}

/// An error with its sources, on one line.
pub(crate) fn chain(error: &(dyn Error + Send + Sync + 'static)) -> String {
    let first: &(dyn Error + 'static) = error;
    let chain = std::iter::successors(Some(first), |&error| error.source());
    chain
        .map(ToString::to_string)
        .collect::<Vec<_>>()
        .join(": ")
}

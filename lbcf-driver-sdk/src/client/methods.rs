//! A method for each webhook, from the table.

use super::{CallError, DriverClient};
use crate::webhook;

macro_rules! methods {
    ($($(#[$doc:meta])* $hook:ident($name:literal, $method:ident, $class:ident, $obligation:ident, $request:ident, $response:ident);)*) => {
        /// Each webhook as a method: [`DriverClient::call`] under the webhook's name.
        impl DriverClient {
            $(
                $(#[$doc])*
                ///
                /// # Errors
                /// [`CallError`], when there is no proper answer.
                pub async fn $method(
                    &self,
                    request: &webhook::$request,
                ) -> Result<webhook::$response, CallError> {
                    self.call::<webhook::$hook>(request).await
                }
            )*
        }
    };
}

webhook::for_each_webhook!(methods);

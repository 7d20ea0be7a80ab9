//! A method for each webhook.

use super::{CallError, DriverClient};
use crate::webhook;

macro_rules! methods {
    ($($(#[$doc:meta])* $hook:ident($name:literal, $method:ident, $class:ident, $obligation:ident, $response:ident);)*) => {
        /// [`DriverClient::call`] under the names of the webhooks.
        impl DriverClient {
            $(
                $(#[$doc])*
                ///
                /// # Errors
                /// [`CallError`], unless the driver sent a valid response.
                pub async fn $method(
                    &self,
                    request: &webhook::$hook,
                ) -> Result<webhook::$response, CallError> {
                    self.call(request).await
                }
            )*
        }
    };
}

webhook::for_each_webhook!(methods);

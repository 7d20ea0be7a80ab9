use super::*;

fn headers(values: &[&str]) -> HeaderMap {
    let mut headers = HeaderMap::new();
    for value in values {
        headers.append(header::AUTHORIZATION, HeaderValue::from_str(value).unwrap());
    }
    headers
}

fn with_token(text: &str) -> Settings {
    Settings {
        token: Some(text.into()),
        ..Settings::default()
    }
}

#[tokio::test]
async fn only_the_token_itself_is_admitted() {
    let auth = TokenAuth::new(&with_token(" s3cret\n")).await;
    let auth = auth.unwrap().unwrap();
    for given in ["Bearer s3cret", "bearer  s3cret", "BEARER s3cret"] {
        assert!(auth.admits(&headers(&[given])), "{given}");
    }
    for given in [
        &[][..],
        &[""],
        &["s3cret"],
        &["Bearer"],
        &["Bearer "],
        &["Bearers3cret"],
        &["Bearer s3cre"],
        &["Bearer s3crets"],
        &["Bearer S3cret"],
        &["Bearer s3cret s3cret"],
        &["Basic s3cret"],
        &["Bearer s3cret", "Bearer other"],
        &["Bearer other", "Bearer s3cret"],
    ] {
        assert!(!auth.admits(&headers(given)), "{given:?}");
    }
}

#[tokio::test]
async fn what_cannot_be_a_token_is_refused_without_showing_it() {
    for (text, problem) in [
        ("", "empty"),
        (" \n", "empty"),
        ("two words", "visible ASCII"),
        ("schlüssel", "visible ASCII"),
        (&*"x".repeat(5000), "longer than 4096 bytes"),
    ] {
        let Err(error) = TokenAuth::new(&with_token(text)).await else {
            panic!("{text:?} is accepted");
        };
        let error = error.to_string();
        assert!(error.contains(problem), "{error}");
        assert!(text.trim().is_empty() || !error.contains(text), "{error}");
    }
}

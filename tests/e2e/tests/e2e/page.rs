//! The mock's page in a browser, while the controller works.

mod browser;

use browser::Browser;
use kube::api::{Api, Patch, PatchParams};
use lbcf_cli::watched_cluster::WatchedCluster;
use lbcf_controller::api::BackendGroup;
use lbcf_e2e::manifests::{self, GROUP, LB, NAMESPACE};
use lbcf_e2e::{World, needs_embedded, until_is};
use mock_driver::{
    Cloud, CreationPace, Endpoint, ListenerProtocol, LoadBalancerType, MockOptions, MockServer,
    NewLoadBalancer, Target, Traffic, TrafficOptions,
};
use serde_json::json;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;
use tokio::net::{TcpListener, TcpStream};

const LOAD_BALANCERS: &str = "#load-balancers";

/// A registered pod, and the page that shows it.
async fn registered() -> Option<World> {
    if needs_embedded("it reads the cloud") {
        return None;
    }
    let world = World::new().await;
    world.start_controller();
    world.create(&manifests::driver(&world.driver_url())).await;
    world.create(&manifests::load_balancer(LB)).await;
    world.create(&manifests::pod("web-0")).await;
    world.create(&manifests::group(GROUP, &[LB])).await;
    until_is("the pod is registered", 1, async || world.targets_count()).await;
    Some(world)
}

#[tokio::test]
async fn the_page_follows_the_cloud_and_switches_faults() {
    let Some(world) = registered().await else {
        return;
    };
    let wide = json!({"args": ["--window-size=1280,900"]});
    let Some(browser) = Browser::open(&world.driver_url(), wide).await else {
        return;
    };
    browser
        .until(
            LOAD_BALANCERS,
            "the backend and its weight are shown",
            |text| text.contains(":80") && text.contains(" 50"),
        )
        .await;
    browser
        .until("#calls", "the calls are shown", |text| {
            text.contains("ensureBackend")
        })
        .await;

    let groups: Api<BackendGroup> = Api::namespaced(world.client(), NAMESPACE);
    let weight = Patch::Merge(json!({"spec": {"parameters": {"weight": "66"}}}));
    let patched = groups.patch(GROUP, &PatchParams::default(), &weight).await;
    patched.unwrap();
    browser
        .until(LOAD_BALANCERS, "the new weight is shown", |text| {
            text.contains(" 66")
        })
        .await;
    browser.screenshot("wide").await;

    browser.press("outage").await;
    until_is("the switch starts an outage", true, async || {
        world.cloud.has_outage()
    })
    .await;
    // Before the page shows it, pressing the switch again would do the same again.
    let until_on = async |id: &str| {
        let checked = format!("document.getElementById('{id}').getAttribute('aria-checked')");
        until_is("the switch is on", json!("true"), async || {
            browser.value(&checked).await
        })
        .await;
    };
    until_on("outage").await;
    assert_eq!(
        browser.value("document.activeElement.id").await,
        "outage",
        "keeps the focus"
    );
    browser.screenshot("outage").await;
    browser.press("outage").await;
    until_is("the switch ends the outage", false, async || {
        world.cloud.has_outage()
    })
    .await;

    browser.press("fault-0").await;
    until_is("a switch adds its rule", 1, async || {
        world.cloud.faults().list().len()
    })
    .await;
    until_on("fault-0").await;
    browser.press("fault-0").await;
    until_is("a switch removes its rule", 0, async || {
        world.cloud.faults().list().len()
    })
    .await;

    browser
        .value("document.querySelector('details').open = true")
        .await;
    browser
        .until("details pre", "a call opens to its bodies", |text| {
            text.contains("recordID") && text.contains("Succ")
        })
        .await;

    world.delete::<BackendGroup>(NAMESPACE, GROUP).await;
    browser
        .until(LOAD_BALANCERS, "the backend goes", |text| {
            !text.contains(" 66")
        })
        .await;
    browser.close().await;
}

#[tokio::test]
async fn the_page_fits_narrow_dark_windows_and_runs_no_text() {
    let Some(world) = registered().await else {
        return;
    };
    let evil = "<script>window.evil = true</script><img src=x onerror='window.evil = true'>";
    let endpoint = world.cloud.observe().load_balancers[0].lb_info.clone();
    let body = json!({"lbInfo": endpoint, "addr": evil}).to_string();
    let request = http::Request::post("/_mock/observe/foreign").body(body.into_bytes());
    let mock = kube::Client::try_from(kube::Config::new(world.driver_url().parse().unwrap()));
    mock.unwrap().request_text(request.unwrap()).await.unwrap();

    let dark = json!({
        "args": ["--blink-settings=preferredColorScheme=0"],
        "mobileEmulation": {"deviceMetrics": {"width": 380, "height": 800, "pixelRatio": 1.0}},
    });
    let Some(browser) = Browser::open(&world.driver_url(), dark).await else {
        return;
    };
    browser
        .until(LOAD_BALANCERS, "the address is shown as text", |text| {
            text.contains(evil)
        })
        .await;
    // The script has replaced the sections by now, too.
    browser
        .until("#connection", "the page is live", |text| text == "live")
        .await;
    assert_eq!(browser.value("window.evil === undefined").await, true);
    assert_eq!(browser.value("window.innerWidth").await, 380);
    assert_eq!(
        browser.value("document.documentElement.scrollWidth").await,
        380
    );
    let is_dark = "matchMedia('(prefers-color-scheme: dark)').matches \
        && getComputedStyle(document.body).backgroundColor === 'rgb(20, 23, 27)'";
    assert_eq!(browser.value(is_dark).await, true);
    browser.screenshot("narrow-dark").await;
    browser.close().await;
}

/// Somebody changes the cloud by hand, and the controller puts it right.
#[tokio::test]
async fn d81_the_page_shows_what_differs_until_the_controller_has_repaired_it() {
    const DIFFERENCES: &str = "#differences";
    let Some(world) = registered().await else {
        return;
    };
    let options = MockOptions {
        cluster: Some(Arc::new(WatchedCluster::follow(&world.client(), None))),
        ..MockOptions::default()
    };
    let any_port = "127.0.0.1:0".parse().unwrap();
    let mock = MockServer::start(world.cloud.clone(), any_port, options).await;
    let mock = mock.unwrap();
    let narrow = json!({
        "args": ["--blink-settings=preferredColorScheme=0"],
        "mobileEmulation": {"deviceMetrics": {"width": 380, "height": 800, "pixelRatio": 1.0}},
    });
    let Some(browser) = Browser::open(&mock.url(), narrow).await else {
        return;
    };
    let agree = "Cluster and cloud agree about 1 load balancer and 1 backend.";
    browser
        .until(DIFFERENCES, "both agree", |text| text == agree)
        .await;

    let observed = world.cloud.observe().load_balancers.remove(0);
    let address = observed.backends[0].addr.clone();
    let endpoint = Endpoint {
        load_balancer: observed.lb_info["lbID"].clone(),
        listener: observed.lb_info["lblID"].clone(),
        domain: None,
        url: None,
    };
    let weight = |weight: u8| Target {
        weight,
        parameters: BTreeMap::default(),
        record_id: None,
    };
    world
        .cloud
        .bind(&endpoint, "192.0.2.7:80", weight(1))
        .unwrap();
    world.cloud.unbind(&endpoint, &address).unwrap();
    browser
        .until(DIFFERENCES, "both differences are shown", |text| {
            text.contains("registered, but not in the cloud")
                && text.contains(&address)
                && text.contains(&format!("BackendRecord {NAMESPACE}/"))
                && text.contains("in the cloud, but no record names it")
                && text.contains(&format!("LoadBalancer {NAMESPACE}/{LB}"))
        })
        .await;
    assert_eq!(
        browser.value("document.documentElement.scrollWidth").await,
        380
    );
    browser
        .value("document.querySelector('#differences').scrollIntoView()")
        .await;
    browser.screenshot("differences").await;

    world.cloud.unbind(&endpoint, "192.0.2.7:80").unwrap();
    let groups: Api<BackendGroup> = Api::namespaced(world.client(), NAMESPACE);
    let patch = Patch::Merge(json!({"spec": {"parameters": {"weight": "66"}}}));
    let patched = groups.patch(GROUP, &PatchParams::default(), &patch).await;
    patched.unwrap();
    browser
        .until(DIFFERENCES, "both agree again", |text| text == agree)
        .await;
    world.cloud.bind(&endpoint, &address, weight(7)).unwrap();
    browser
        .until(DIFFERENCES, "the weight differs", |text| {
            text.contains("weight: 66 in the cluster, 7 in the cloud")
        })
        .await;
    browser.close().await;
    mock.stop().await;
}

#[tokio::test]
async fn the_page_shows_connections_and_a_backend_that_drains() {
    let cloud = Cloud::with_samples();
    let options = TrafficOptions {
        drain_time: Duration::from_secs(600),
        ..TrafficOptions::default()
    };
    let _traffic = Traffic::start(&cloud, options);
    let any_port = "127.0.0.1:0";
    let mock = MockServer::start(
        cloud.clone(),
        any_port.parse().unwrap(),
        MockOptions::default(),
    );
    let mock = mock.await.unwrap();
    let wide = json!({"args": ["--window-size=1280,900"]});
    let Some(browser) = Browser::open(&mock.url(), wide).await else {
        return;
    };
    let backend = TcpListener::bind(any_port).await.unwrap();
    let address = backend.local_addr().unwrap().to_string();
    let endpoint = Endpoint {
        load_balancer: "lb-1234".into(),
        listener: "lbl-2234".into(),
        domain: None,
        url: None,
    };
    let target = Target {
        weight: 10,
        parameters: BTreeMap::default(),
        record_id: None,
    };
    cloud.bind(&endpoint, &address, target).unwrap();
    let listens = cloud.traffic()["lb-1234"].listeners[0].listens.unwrap();
    let client = TcpStream::connect(listens).await.unwrap();
    let accepted = backend.accept().await.unwrap();
    let row = |rest: &str| format!("{address} {rest}");
    browser
        .until(LOAD_BALANCERS, "an open connection is shown", |text| {
            text.contains(&row("10 1 1"))
        })
        .await;
    cloud.unbind(&endpoint, &address).unwrap();
    browser
        .until(LOAD_BALANCERS, "the backend drains", |text| {
            text.contains(&row("draining 1 1"))
        })
        .await;
    browser.screenshot("draining").await;
    drop((client, accepted));
    browser
        .until(LOAD_BALANCERS, "the drained backend goes", |text| {
            !text.contains(&address)
        })
        .await;
    browser.close().await;
}

/// The picture of the page in documents. `UPDATE_PICTURES=1` takes it, with the words that it shows.
const PICTURE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/pictures/page");
const WORDS: &str = "[...document.querySelectorAll('h1, h2, nav a, thead th, #requests p.about, [role=switch]')] \
    .map((it) => it.textContent.replace(/[0-9]+\\./, 'N.') + '\\n').join('')";
const REQUESTS: &str = "#requests";

/// Load balancers that forward, and a backend that answers with every request; both until they are dropped.
struct Serving {
    browser: Browser,
    mock: MockServer,
    _traffic: Traffic,
}

impl Serving {
    /// Calls a webhook about a backend, which must succeed.
    async fn call(&self, webhook: &str, addr: &str, weight: &str) {
        let body = json!({
            "recordID": format!("{webhook}({addr})"), "retryID": weight, "injectedInfo": null,
            "lbInfo": {"lbID": "lb-1234", "lblID": "lbl-2234"},
            "backendAddr": addr, "parameters": {"weight": weight},
        });
        let client = kube::Client::try_from(kube::Config::new(self.mock.url().parse().unwrap()));
        let client = client.unwrap();
        // While connections drain, it is `Running`.
        until_is("it succeeds", true, async || {
            let request = http::Request::post(format!("/{webhook}"));
            let request = request.body(body.to_string().into_bytes()).unwrap();
            let reply = client.request_text(request).await.unwrap();
            reply.contains("Succ")
        })
        .await;
    }

    async fn until(&self, what: &str, condition: &str) {
        let holds = async || self.browser.value(condition).await;
        until_is(what, json!(true), holds).await;
    }

    /// Waits for words about a backend.
    async fn until_words(&self, addr: &str, words: &str) {
        let holds = |text: &str| {
            text.lines()
                .any(|it| it.starts_with(addr) && it.contains(words))
        };
        self.browser.until(REQUESTS, words, holds).await;
    }

    /// The requests that a backend has served, by the page's words.
    async fn served(&self, addr: &str) -> u64 {
        let text = self.browser.text(REQUESTS).await;
        let line = text
            .lines()
            .find(|it| it.starts_with(addr) && it.contains(" served"));
        let before = line.and_then(|it| it.split(" served").next()?.rsplit(' ').next());
        before.and_then(|it| it.parse().ok()).unwrap_or_default()
    }

    async fn until_served(&self, addr: &str, count: u64) {
        until_is("it has served more", true, async || {
            self.served(addr).await > count
        })
        .await;
    }
}

/// A switch sends requests, and a backend that is deregistered gets no more.
#[tokio::test]
async fn the_page_sends_requests_and_shows_what_a_change_does_to_them() {
    let cloud = Cloud::with_samples();
    let options = TrafficOptions {
        drain_time: Duration::from_secs(600),
        ..TrafficOptions::default()
    };
    let traffic = Traffic::start(&cloud, options);
    let any_port = "127.0.0.1:0".parse().unwrap();
    let mock = MockServer::start(cloud, any_port, MockOptions::default()).await;
    let mock = mock.unwrap();
    let wide = json!({"args": ["--window-size=1200,840", "--hide-scrollbars"]});
    let Some(browser) = Browser::open(&mock.url(), wide).await else {
        return;
    };
    let page = Serving {
        browser,
        mock,
        _traffic: traffic,
    };
    let updates = std::env::var_os("UPDATE_PICTURES").is_some();
    // A picture shows some more of the past.
    let some = if updates { 300 } else { 20 };
    let [first, second] = [pod().await, pod().await];
    let is_on = "document.getElementById('load-25').getAttribute('aria-checked') === 'true'";
    assert_eq!(page.browser.value(is_on).await, false, "by default");
    page.browser.press("load-25").await;
    page.until("the switch is on", is_on).await;
    page.call("ensureBackend", &second, "50").await;
    page.until_served(&second, some).await;
    page.call("ensureBackend", &first, "50").await;
    page.until_words(&first, "▲ registered with weight 50 at ")
        .await;
    page.until_served(&first, some).await;
    page.call("ensureBackend", &first, "20").await;
    page.until_words(&first, "◆ weight 50 to 20 at ").await;
    page.until_served(&first, some + some / 2).await;
    page.call("deregisterBackend", &first, "20").await;
    page.until_words(&first, "▼ deregistered at ").await;
    // The next but one that the page shows is of after the call.
    for _ in 0..2 {
        let of_second = page.served(&second).await;
        page.until_served(&second, of_second).await;
    }
    let of_first = page.served(&first).await;
    let of_second = page.served(&second).await;
    page.until_served(&second, of_second + some).await;
    assert_eq!(page.served(&first).await, of_first, "nothing new");
    page.until_words(&first, ", 0 failed").await;
    page.until_words("", " 0 without a complete response").await;
    // Each row has a bar for some seconds.
    let bars = "[...document.querySelectorAll('#requests .served')] \
        .map((it) => it.getAttribute('d').split('M').length > 2).join() === 'true,true,false'";
    page.until("both have bars", bars).await;
    let words = "document.querySelector('#requests desc').textContent \
        .endsWith('not served: 0 served, 0 failed. ')";
    assert_eq!(page.browser.value(words).await, true);

    let section = "document.querySelector('#requests').parentElement.scrollIntoView()";
    page.browser.value(section).await;
    page.browser.screenshot("requests").await;
    let words = page.browser.value(WORDS).await;
    let words = words.as_str().unwrap();
    if updates {
        let picture = format!("{PICTURE}.png");
        page.browser.screenshot_at(Path::new(&picture)).await;
        std::fs::write(format!("{PICTURE}.txt"), words).unwrap();
    }
    let shown = std::fs::read_to_string(format!("{PICTURE}.txt")).unwrap_or_default();
    assert_eq!(
        words, shown,
        "docs/pictures/page.png shows others: UPDATE_PICTURES=1 cargo test -p lbcf-e2e page_sends"
    );

    page.call("deregisterBackend", &second, "50").await;
    let failed =
        "/not served: 0 served, [1-9]/.test(document.querySelector('#requests desc').textContent)";
    page.until("what nothing serves is shown", failed).await;
    page.browser.press("load-25").await;
    page.until("the switch is off", &format!("!({is_on})"))
        .await;
    page.browser.close().await;
}

/// The address of a server that answers every request, until the test ends.
async fn pod() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let addr = listener.local_addr().unwrap().to_string();
    let router = axum::Router::new().fallback(async || "hello");
    tokio::spawn(async move { axum::serve(listener, router).await });
    addr
}

#[tokio::test]
async fn the_page_shows_a_creation_until_it_is_released() {
    let cloud = Cloud::empty();
    let any_port = "127.0.0.1:0".parse().unwrap();
    let mock = MockServer::start(cloud.clone(), any_port, MockOptions::default());
    let mock = mock.await.unwrap();
    let wide = json!({"args": ["--window-size=1280,900"]});
    let Some(browser) = Browser::open(&mock.url(), wide).await else {
        return;
    };
    browser
        .until(LOAD_BALANCERS, "there is nothing yet", |text| {
            text.contains("no load balancer yet")
        })
        .await;
    let new = NewLoadBalancer {
        vpc: "vpc-1".into(),
        kind: LoadBalancerType::Internal,
        protocol: ListenerProtocol::Tcp,
        port: 80,
        rule: None,
    };
    let created = cloud.create("token", new, BTreeMap::default(), CreationPace::Held);
    created.unwrap();
    browser
        .until(LOAD_BALANCERS, "its stage is shown", |text| {
            text.contains("lb-00000001") && text.contains("creating CLB instance")
        })
        .await;
    browser.press("release").await;
    browser
        .until(LOAD_BALANCERS, "it is complete", |text| {
            text.contains("lbl-00000001") && !text.contains("creating")
        })
        .await;
    let seconds = cloud.clock().now().as_secs();
    browser.press("minute").await;
    until_is("the button moves the clock", true, async || {
        cloud.clock().now().as_secs() >= seconds + 60
    })
    .await;
    browser.close().await;
}

#[tokio::test]
async fn without_a_script_the_page_shows_the_state() {
    let Some(world) = registered().await else {
        return;
    };
    let no_script = json!({"prefs": {"profile.managed_default_content_settings.javascript": 2}});
    let Some(browser) = Browser::open(&world.driver_url(), no_script).await else {
        return;
    };
    let text = browser.text("body").await;
    for shown in ["lb-00000001", " 50", "ensureBackend", "Reload the page"] {
        assert!(text.contains(shown), "{shown}: {text}");
    }
    assert!(!text.contains("Outage"), "switches need the script: {text}");
    browser.screenshot("no-script").await;
    browser.close().await;
}

//! The table of defects: the one place that lists them.

use std::fmt;

/// Declares the defects: each with its variant, its id, what is wrong, and the checks of the
/// conformance kit that find it.
macro_rules! defects {
    ($($name:ident($id:literal, $about:literal, $($check:literal)+);)*) => {
        /// One way in which the mock driver misbehaves on purpose.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[non_exhaustive]
        pub enum Defect {$(
            #[doc = concat!("`", $id, "`: ", $about, ".\n\nFound by", $(" ", $check,)+ ".")]
            $name,
        )*}

        impl Defect {
            /// All defects, in the order of the webhooks that they are about.
            pub const ALL: &'static [Self] = &[$(Self::$name),*];

            /// Its name on the command line.
            #[must_use]
            pub const fn id(self) -> &'static str {
                match self {
                    $(Self::$name => $id,)*
                }
            }

            /// What the driver does wrong, in one line without a full stop.
            #[must_use]
            pub const fn about(self) -> &'static str {
                match self {
                    $(Self::$name => $about,)*
                }
            }

            /// The checks of the conformance kit that fail with it; no others do.
            #[must_use]
            pub const fn found_by(self) -> &'static [&'static str] {
                match self {
                    $(Self::$name => &[$($check),+],)*
                }
            }
        }
    };
}

impl Defect {
    /// Whether it is about the mock's profile `azure`; all others are about `clb`.
    #[must_use]
    pub const fn is_of_azure(self) -> bool {
        matches!(self, Self::AzureWrongOrder)
    }
}

impl fmt::Display for Defect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.id())
    }
}

defects! {
    // The form of requests and replies
    StringDelay("string-delay",
        "minRetryDelayInSeconds is a string, as the prose has it", "WIRE-04");
    FractionalDelay("fractional-delay", "minRetryDelayInSeconds has a fraction", "WIRE-04");
    HugeDelay("huge-delay", "minRetryDelayInSeconds asks for a whole day", "WIRE-05");
    NegativeDelay("negative-delay", "minRetryDelayInSeconds is -1", "WIRE-05");
    ProseDelaySpelling("prose-delay-spelling",
        "the delay is spelled minRetryDelayinSeconds, as the prose has it", "WIRE-05");
    IntInMap("int-in-map", "lbInfo has a number among its values", "WIRE-06");
    IntInInjectedInfo("int-in-injected-info",
        "injectedInfo has a number among its values", "WIRE-06");
    ListForMap("list-for-map",
        "an empty injectedInfo is written as a list, as PHP does", "WIRE-06");
    StatusLowercase("status-lowercase", "status is spelled in lower case", "WIRE-03");
    StatusWords("status-words", "status is Success or Failed", "WIRE-03");
    StatusMissing("status-missing",
        "deregisterBackend has nothing to do, and its reply has no status", "WIRE-03");
    Http201("http-201", "replies have status code 201", "WIRE-01" "RTRY-05" "DRY-05");
    Http201OnCreate("http-201-on-create",
        "Succ of createLoadBalancer has status code 201", "WIRE-01");
    Http202Running("http-202-running", "Running has status code 202", "WIRE-01");
    EnsureLbMissing("ensure-lb-missing",
        "there is no ensureLoadBalancer: 404",
        "WIRE-01" "WIRE-07" "WIRE-08" "CLB-02" "ELB-01" "ELB-02" "ELB-03" "ELB-04" "ELB-05" "ELB-08"
        "DLB-04" "DLB-06" "ENS-07" "RTRY-01" "RTRY-05" "DRY-03" "DRY-04" "DRY-05" "LIFE-01");
    ArrayBody("array-body",
        "the reply of healthz is an array around its object",
        "WIRE-02" "WIRE-07" "WIRE-08" "WIRE-12" "WIRE-14" "HLTH-01");
    MsgAsObject("msg-as-object", "msg of a success is an object", "WIRE-02");
    SuccAsString("succ-as-string",
        "a rejection of validateBackend has \"false\" instead of false", "WIRE-02");
    HealthyAsString("healthy-as-string", "healthz has \"true\" instead of true", "WIRE-02");
    Null500("null-500",
        "ensureLoadBalancer crashes when attributes is null, generateBackendAddr when lbAttributes is",
        "WIRE-07" "ELB-07" "WIRE-01");
    NullParameters500("null-parameters-500",
        "ensureBackend crashes when parameters is null", "WIRE-01" "WIRE-07" "ENS-01");
    StrictUnknownFields("strict-unknown-fields",
        "a field that it does not know is a 400",
        "WIRE-01" "WIRE-08" "GEN-09" "GEN-10" "LST-07" "DRG-01" "DRG-09");
    RedirectSlash("redirect-slash", "a path with a slash at its end is redirected", "WIRE-09");
    RedirectAll("redirect-all",
        "every webhook is redirected to /v1",
        "WIRE-09" "WIRE-12" "WIRE-14" "HLTH-01" "VLB-01" "VLB-02" "VLB-05" "CLB-01" "CLB-05" "ELB-04"
        "DLB-03" "VBE-03" "DRG-03" "JPD-01" "JPD-03" "ASYN-01");
    BodyLimit100k("body-limit-100k",
        "bodies above 100 KiB are a 413, as Express has it by default", "WIRE-10");
    HtmlMediaType("html-media-type", "replies have the media type text/html", "WIRE-11");
    NoMediaType("no-media-type", "replies have no media type", "WIRE-11");
    CharsetRefused("charset-refused", "application/json with a charset is a 415", "WIRE-12");
    EmptyMsg("empty-msg",
        "Fail and rejections have an empty msg",
        "WIRE-13" "VLB-02" "CLB-05" "ELB-04" "ELB-08" "VBE-02" "ENS-08" "RTRY-05" "ENS-10");
    MsgMissing("msg-missing", "validateLoadBalancer refuses updates without msg", "WIRE-13");
    TraceRefused("trace-refused",
        "a traceparent that cannot be read is a 400", "WIRE-14");
    ReasonOfSuccess("reason-of-success", "Succ has the reason Internal", "WIRE-15");
    // healthz
    FeaturesAsText("features-as-text",
        "healthz has its features in one text, with commas", "HLTH-04");
    HealthzUnhealthy("healthz-unhealthy", "healthz is always false", "HLTH-01");
    Healthz404("healthz-404",
        "there is no healthz: 404", "WIRE-01" "WIRE-07" "WIRE-08" "WIRE-12" "HLTH-01" "WIRE-14");
    HealthzPlainText("healthz-plain-text",
        "the reply of healthz is the text ok",
        "WIRE-02" "WIRE-07" "WIRE-08" "WIRE-11" "WIRE-12" "HLTH-01" "WIRE-14");
    HealthzSlow("healthz-slow", "healthz takes long", "HLTH-02");
    HealthzNeedsBody("healthz-needs-body", "healthz without a body is a 400", "HLTH-03");
    // validateLoadBalancer
    ValidLbRefused("valid-lb-refused",
        "validateLoadBalancer refuses every new load balancer", "VLB-01" "DRY-04" "LIFE-01");
    ValidHttpLbRefused("valid-http-lb-refused",
        "validateLoadBalancer refuses HTTP listeners", "VLB-01");
    InvalidLbAccepted("invalid-lb-accepted",
        "validateLoadBalancer accepts what createLoadBalancer cannot create", "VLB-02");
    InvalidLb400("invalid-lb-400",
        "validateLoadBalancer refuses by status code 400", "WIRE-01" "VLB-02" "VLB-04");
    UpdateRefused("update-refused",
        "validateLoadBalancer refuses every update", "VLB-03" "LIFE-01");
    ForbiddenUpdateAccepted("forbidden-update-accepted",
        "validateLoadBalancer accepts updates that cannot be made", "VLB-03");
    ValidateCreates("validate-creates",
        "validateLoadBalancer creates a load balancer to find out whether it can", "VLB-04" "LIFE-01");
    UnstableVerdict("unstable-verdict",
        "validateLoadBalancer refuses the seventh equal request", "VLB-04");
    UnknownOperation500("unknown-operation-500",
        "an operation other than Create and Update crashes validateLoadBalancer", "VLB-05");
    UnknownOperationAccepted("unknown-operation-accepted",
        "validateLoadBalancer accepts operations other than Create and Update", "VLB-05");
    // createLoadBalancer
    RecreateIgnoresAttributes("recreate-ignores-attributes",
        "createLoadBalancer that is repeated ignores changed attributes", "CLB-08");
    CreateFails("create-fails", "createLoadBalancer always fails", "CLB-01");
    HttpCreateFails("http-create-fails",
        "createLoadBalancer fails for HTTP listeners", "CLB-01");
    InvalidCreate400("invalid-create-400",
        "createLoadBalancer rejects an invalid spec by status code 400",
        "WIRE-01" "CLB-05" "RTRY-03" "RTRY-05");
    InvalidLbCreated("invalid-lb-created",
        "createLoadBalancer fails on an invalid spec and leaves a half-created load balancer behind",
        "CLB-05");
    LbInfoEmptyValue("lb-info-empty-value", "lbInfo has an empty text among its values", "CLB-02");
    LbInfoLarge("lb-info-large", "lbInfo is larger than 4 KiB", "CLB-07");
    LbInfoChangesOnPoll("lb-info-changes-on-poll",
        "lbInfo differs in each reply", "CLB-03" "CLB-04" "CLB-07" "CONC-03" "LIFE-02" "CLB-08");
    CreateDuplicates("create-duplicates",
        "createLoadBalancer creates another load balancer whenever it is repeated after Succ",
        "CLB-03" "CLB-04" "CLB-07" "RTRY-04" "CONC-03" "LIFE-02" "CLB-08");
    CreateDuplicatesLater("create-duplicates-later",
        "createLoadBalancer creates another load balancer at the fourth repeat", "CLB-04" "CONC-03");
    CreateConcurrentDuplicates("create-concurrent-duplicates",
        "createLoadBalancer checks whether the load balancer exists, waits, and creates it",
        "CONC-03");
    SameSpec500("same-spec-500",
        "createLoadBalancer crashes on a spec whose name another load balancer has",
        "WIRE-01" "CLB-06");
    // ensureLoadBalancer and deleteLoadBalancer
    EnsureLbFailsWhenUnchanged("ensure-lb-fails-when-unchanged",
        "ensureLoadBalancer fails when there is nothing to change",
        "CLB-02" "ELB-01" "ELB-02" "ELB-03" "ELB-05" "DLB-04" "DLB-06" "RTRY-01" "DRY-03" "DRY-04"
        "LIFE-01");
    EnsureLbFailsOnRepeat("ensure-lb-fails-on-repeat",
        "ensureLoadBalancer fails from the seventh time on", "ELB-02");
    EnsureLbTouches("ensure-lb-touches",
        "ensureLoadBalancer writes its last run into the attributes", "ELB-02");
    EnsureLbCachedByRecordId("ensure-lb-cached-by-record-id",
        "ensureLoadBalancer does nothing when it has succeeded for the recordID",
        "ELB-03" "ELB-05" "ELB-06" "LIFE-01" "ELB-07");
    EnsureLbRefusedSucc("ensure-lb-refused-succ",
        "ensureLoadBalancer succeeds for attributes that it does not set", "ELB-08");
    EnsureLbMergesAttributes("ensure-lb-merges-attributes",
        "an attribute that is no longer sent keeps its value", "ELB-07");
    UnknownLbEnsured("unknown-lb-ensured",
        "ensureLoadBalancer succeeds for a load balancer that does not exist", "ELB-04" "ELB-06");
    UnknownLb500("unknown-lb-500",
        "ensureLoadBalancer crashes for a load balancer that does not exist", "WIRE-01" "ELB-04" "ELB-06");
    GoneWithoutReason("gone-without-reason",
        "ensureLoadBalancer fails without the reason NotFound for a load balancer that does not exist",
        "ELB-06");
    DriftNotRepaired("drift-not-repaired",
        "ensureLoadBalancer trusts its memory of the attributes", "ELB-05" "ELB-06" "RTRY-05");
    DeleteDoesNothing("delete-does-nothing",
        "deleteLoadBalancer succeeds and leaves the load balancer",
        "DLB-01" "DLB-05" "LIFE-01" "LIFE-06" "RTRY-07");
    DeleteLeavesLoadedLb("delete-leaves-loaded-lb",
        "deleteLoadBalancer succeeds and leaves a load balancer that has backends", "LIFE-06");
    DeleteLoaded500("delete-loaded-500",
        "deleteLoadBalancer crashes on a load balancer that has backends",
        "WIRE-01" "DLB-05" "DRG-07" "LIFE-06");
    DeleteAgainFails("delete-again-fails",
        "deleteLoadBalancer fails when it has deleted the load balancer before",
        "WIRE-08" "DLB-02" "DLB-05" "LIFE-02" "LIFE-03");
    AzureWrongOrder("azure-wrong-order",
        "with --profile azure, deleteLoadBalancer begins with the public IP, which is in use",
        "DLB-01" "DLB-05" "RTRY-01" "DRY-04" "LIFE-01" "LIFE-06");
    DeleteUnknownFails("delete-unknown-fails",
        "deleteLoadBalancer fails for a load balancer that it has never seen", "DLB-03");
    DeleteNullFails("delete-null-fails",
        "deleteLoadBalancer fails without lbInfo", "DLB-04" "ASYN-06");
    DeleteNull500("delete-null-500",
        "deleteLoadBalancer crashes without lbInfo",
        "WIRE-01" "DLB-04" "ASYN-06" "BAD-01" "BAD-02");
    DeleteNullLeaks("delete-null-leaks",
        "deleteLoadBalancer without lbInfo deletes nothing", "DLB-07" "ASYN-06");
    DeleteEmptyDeletesAll("delete-empty-deletes-all",
        "deleteLoadBalancer treats an empty lbInfo as a filter that matches everything", "DLB-04");
    RecreateRefused("recreate-refused",
        "createLoadBalancer fails for a name that was deleted", "DLB-06");
    // validateBackend
    ServiceTypeRefused("service-type-refused",
        "validateBackend refuses new groups of services", "VBE-01");
    StaticTypeRefused("static-type-refused",
        "validateBackend refuses new groups of static addresses", "VBE-01");
    InvalidParametersAccepted("invalid-parameters-accepted",
        "validateBackend accepts everything", "VBE-02");
    InvalidParameters400("invalid-parameters-400",
        "validateBackend refuses by status code 400", "WIRE-01" "VBE-02" "VBE-05");
    ValidateBackendNullLb500("validate-backend-null-lb-500",
        "validateBackend crashes without lbInfo", "WIRE-07" "VBE-03" "BAD-01");
    OldParametersLowercaseOnly("old-parameters-lowercase-only",
        "validateBackend refuses updates that have OldParameters and not oldParameters",
        "VBE-04" "LIFE-01");
    ValidateBackendBinds("validate-backend-binds",
        "validateBackend binds a target to find out whether it can", "VBE-05");
    UnstableBackendVerdict("unstable-backend-verdict",
        "validateBackend refuses the seventh equal request", "VBE-05");
    // generateBackendAddr
    AddrEmpty("addr-empty",
        "generateBackendAddr succeeds with an empty address for pods", "GEN-01" "LIFE-01");
    AddrEmptyWithoutIp("addr-empty-without-ip",
        "generateBackendAddr succeeds with an empty address while the pod has no IP", "GEN-08");
    ServiceAddrEmpty("service-addr-empty",
        "generateBackendAddr succeeds with an empty address for services", "GEN-02");
    EndpointBesidePodRefused("endpoint-beside-pod-refused",
        "generateBackendAddr takes a pod with endpointBackend for two backends", "GEN-09");
    EndpointAddrIsTheServices("endpoint-addr-is-the-services",
        "generateBackendAddr returns the name of the service for its endpoints", "GEN-10");
    NodeAddressOnly("node-address-only",
        "generateBackendAddr reads nodeAddress, as the prose has it, and not nodeAddresses",
        "GEN-02");
    PodAsStringOnly("pod-as-string-only",
        "generateBackendAddr reads pods written as a string, as the prose has them, and no objects",
        "GEN-01" "LIFE-01");
    AddrRandom("addr-random",
        "generateBackendAddr returns another address each time", "GEN-03" "LIFE-02");
    AddrWithRetryId("addr-with-retry-id",
        "generateBackendAddr makes the address from the retryID too", "GEN-03" "LIFE-02");
    AddrCollidingPods("addr-colliding-pods",
        "generateBackendAddr has the same IP in the address of every pod", "GEN-04");
    AddrCollidingPorts("addr-colliding-ports",
        "generateBackendAddr has the same port in every address", "GEN-04");
    AddrWithoutProtocol("addr-without-protocol",
        "generateBackendAddr has one address for both protocols of a port", "GEN-11");
    NeedsParameters("needs-parameters",
        "generateBackendAddr crashes when parameters is null",
        "WIRE-01" "GEN-01" "GEN-02" "GEN-05" "GEN-10" "BAD-01" "BAD-02" "LIFE-01");
    ParametersKeyNeeded("parameters-key-needed",
        "generateBackendAddr crashes when there is no field parameters", "GEN-05" "BAD-01");
    GenerateBinds("generate-binds", "generateBackendAddr binds the address already", "GEN-06");
    LegacyPortOnly("legacy-port-only",
        "generateBackendAddr reads portNumber and not port", "GEN-07");
    NewPortOnly("new-port-only", "generateBackendAddr reads port and not portNumber", "GEN-07");
    ProtocolRequired("protocol-required",
        "generateBackendAddr crashes when the port has no protocol", "GEN-07" "BAD-02");
    // ensureBackend
    EnsureDoesNothing("ensure-does-nothing",
        "ensureBackend succeeds and binds nothing",
        "ENS-01" "RTRY-02" "RTRY-05" "RTRY-07" "DRY-03" "DRY-04" "BAD-02" "BAD-04" "LIFE-01" "ENS-10");
    EnsureDropsParameters("ensure-drops-parameters",
        "ensureBackend binds without parameters", "ENS-01" "BAD-02" "LIFE-01");
    EnsureMergesParameters("ensure-merges-parameters",
        "a parameter that is no longer sent keeps its value", "ENS-11");
    FirstBindDropsParameters("first-bind-drops-parameters",
        "ensureBackend sets parameters only of what is bound already", "ENS-01" "BAD-02" "LIFE-01");
    EnsureAlreadyBoundFails("ensure-already-bound-fails",
        "ensureBackend fails when the backend is bound as it should be",
        "WIRE-08" "ENS-02" "ENS-04" "ENS-05" "LST-04" "RTRY-02" "RTRY-04" "CONC-02" "LIFE-02"
        "LIFE-03");
    EnsureFailsOnRepeat("ensure-fails-on-repeat",
        "ensureBackend fails from the seventh time on", "ENS-02" "CONC-02");
    EnsureDuplicatesBinding("ensure-duplicates-binding",
        "ensureBackend binds a bound backend again",
        "ENS-02" "ENS-04" "ENS-05" "RTRY-02" "CONC-02" "LIFE-02" "LIFE-03");
    EnsureCachedByRecordId("ensure-cached-by-record-id",
        "ensureBackend does nothing when it has succeeded for the recordID",
        "ENS-03" "ENS-06" "ENS-09" "DRG-08" "LIFE-01");
    OtherRecordIdFails("other-record-id-fails",
        "ensureBackend fails when the backend was bound under another recordID", "ENS-05");
    NeedsInjectedInfo("needs-injected-info",
        "ensureBackend fails for a bound backend without the injectedInfo that it gave",
        "WIRE-08" "ENS-04" "ENS-05" "RTRY-02" "RTRY-04" "CONC-02" "LIFE-02" "LIFE-03");
    EchoedInjectedInfoFails("echoed-injected-info-fails",
        "ensureBackend fails on the injectedInfo that it gave",
        "ENS-02" "ENS-03" "ENS-04" "ENS-06" "ENS-09" "DRG-08" "LST-04" "LIFE-01" "ENS-11");
    EmptyInjectedInfoFails("empty-injected-info-fails",
        "ensureBackend fails on an injectedInfo that is empty and not null", "ENS-04");
    EnsureReplacesOthers("ensure-replaces-others",
        "ensureBackend leaves no backend but its own",
        "ENS-06" "ENS-07" "CONC-01" "CONC-04" "CONC-05" "LIFE-04");
    EnsureResetsOthers("ensure-resets-others",
        "ensureBackend clears the parameters of the other backends",
        "ENS-06");
    PruneForeign("prune-foreign", "ensureBackend unbinds what it has not bound itself", "ENS-07");
    UnusableAddrSucc("unusable-addr-succ",
        "ensureBackend succeeds for an address that the cloud cannot use", "ENS-10");
    BindsToUnknownLb("binds-to-unknown-lb",
        "ensureBackend succeeds on a load balancer that does not exist", "ENS-08");
    BindToUnknownLb500("bind-to-unknown-lb-500",
        "ensureBackend crashes on a load balancer that does not exist", "WIRE-01" "ENS-08");
    ExternalUnbindIgnored("external-unbind-ignored",
        "ensureBackend trusts its memory of what is bound", "ENS-09");
    // deregisterBackend
    DeregisterDoesNothing("deregister-does-nothing",
        "deregisterBackend succeeds and leaves the backend",
        "DRG-01" "DRG-06" "DRY-03" "DRY-04" "LIFE-01" "RTRY-07");
    DeregUnboundFails("dereg-unbound-fails",
        "deregisterBackend fails for a backend that was never bound", "DRG-02");
    DeregUnknownLbFails("dereg-unknown-lb-fails",
        "deregisterBackend fails on a load balancer that it has never seen", "DRG-03");
    DeregAfterDeleteFails("dereg-after-delete-fails",
        "deregisterBackend fails on a load balancer that was deleted", "DRG-07" "LIFE-06");
    DeregRepeatFails("dereg-repeat-fails",
        "deregisterBackend fails for a backend that it has deregistered before",
        "WIRE-08" "DRG-04" "RTRY-02" "RTRY-04" "LIFE-02" "LIFE-03");
    DeregFailsLater("dereg-fails-later",
        "deregisterBackend fails from the seventh time on", "DRG-04");
    DeregRemovesAll("dereg-removes-all",
        "deregisterBackend removes all backends", "DRG-05" "ENS-07" "CONC-04" "LIFE-04");
    DeregRemovesForeign("dereg-removes-foreign",
        "deregisterBackend also removes backends that ensureBackend has not bound", "ENS-07");
    DeregNeedsInjectedInfo("dereg-needs-injected-info",
        "deregisterBackend fails for a bound backend without the injectedInfo that ensureBackend gave",
        "DRG-06" "RTRY-01" "RTRY-04" "DRY-04");
    DeregNeedsParameters("dereg-needs-parameters",
        "deregisterBackend fails when parameters are not those of the backend", "DRG-06");
    DeregBlocksRebind("dereg-blocks-rebind",
        "ensureBackend does nothing for a backend that was deregistered", "DRG-08");
    CancelIgnored("cancel-ignored",
        "a deregistration that ensureBackend has cancelled removes the backend all the same",
        "DRG-09");
    // judgePodDeregister
    JudgeSuccAsString("judge-succ-as-string",
        "judgePodDeregister has \"true\" instead of true", "WIRE-02");
    JudgeNamesOnly("judge-names-only", "doNotDeregister is a list of names", "JPD-01");
    JudgeWithoutNamespace("judge-without-namespace",
        "the pods of doNotDeregister have no namespace", "JPD-01");
    JudgeNotASubset("judge-not-a-subset",
        "doNotDeregister has a pod that is not in the request", "JPD-02");
    JudgeEmptyFails("judge-empty-fails", "judgePodDeregister refuses an empty list", "JPD-03");
    // listBackends
    ListEmpty("list-empty", "listBackends lists nothing", "LST-01");
    ListOfAll("list-of-all", "listBackends lists the backends of all load balancers", "LST-01" "LST-07");
    ListFirstPage("list-first-page", "listBackends lists the first twenty backends only", "LST-01");
    ListWithoutForeign("list-without-foreign",
        "listBackends omits what was registered by hand", "LST-05");
    ListNull("list-null", "listBackends has null for no backends", "WIRE-16");
    ListKeepsDeregistered("list-keeps-deregistered",
        "listBackends still lists backends that were deregistered", "LST-02");
    ListRemovesForeign("list-removes-foreign",
        "listBackends removes backends that ensureBackend has not bound", "LST-03");
    ListOwnRecordId("list-own-record-id",
        "listBackends gives the backends that ensureBackend has bound the recordID of its own call",
        "LST-04");
    ListMarksForeign("list-marks-foreign",
        "listBackends gives backends that were bound by hand a recordID", "LST-05");
    ListUnknownLb("list-unknown-lb",
        "listBackends lists the backends of all load balancers for one that does not exist",
        "LST-06");
    ListPagesByPosition("list-pages-by-position",
        "listBackends begins each page with the last backend of the page before", "LST-07");
    // Running
    CreateRunsForever("create-runs-forever",
        "createLoadBalancer never completes", "CLB-01" "ASYN-01" "BAD-02" "BAD-04");
    HttpCreateRunsForever("http-create-runs-forever",
        "createLoadBalancer never completes for HTTP listeners", "CLB-01");
    PollStartsAgain("poll-starts-again",
        "createLoadBalancer starts another creation whenever it is polled",
        "CLB-03" "CLB-04" "ASYN-02" "ASYN-07" "RTRY-02" "RTRY-04" "CONC-03" "LIFE-01");
    SuccThenRunning("succ-then-running",
        "createLoadBalancer returns Running once more after Succ four times", "ASYN-03");
    SlowRunning("slow-running", "replies with Running are late", "ASYN-04" "LAT-03");
    EarlyPollFails("early-poll-fails",
        "createLoadBalancer fails when it is polled at once",
        "ASYN-02" "ASYN-05" "RTRY-02" "LIFE-03");
    DeleteWhileCreatingLeaks("delete-while-creating-leaks",
        "deleteLoadBalancer without lbInfo leaves what is being created", "ASYN-06" "DLB-07");
    JobLostOnRestart("job-lost-on-restart",
        "after a restart, the driver fails for load balancers that are being created", "ASYN-07");
    EnsureOutlivesDeregister("ensure-outlives-deregister",
        "ensureBackend is Running at first, and registers a backend that was deregistered meanwhile", "ASYN-08");
    ForgetsOnRestart("forgets-on-restart",
        "after a restart, the driver does not know the load balancers that it created", "LIFE-05");
    // Repeated requests
    RecordIdRegex("record-id-regex", "a recordID other than name(uuid) fails", "RTRY-01");
    RecordIdTooLong("record-id-too-long",
        "a recordID of more than 100 characters fails", "RTRY-01");
    RecordIdAscii("record-id-ascii", "a recordID with letters beyond ASCII fails", "RTRY-01");
    DiesWithConnection("dies-with-connection",
        "a disconnect cancels createLoadBalancer half-way, and the next call starts over",
        "RTRY-02" "LIFE-03");
    NegativeCache("negative-cache",
        "what failed once for a recordID fails indefinitely", "RTRY-03" "RTRY-05");
    SameRetryIdRefused("same-retry-id-refused",
        "a call with a repeated retryID fails", "RTRY-04");
    CloudFault500("cloud-fault-500", "an outage of the cloud crashes the call", "RTRY-05");
    RetriesByItself("retries-by-itself",
        "ensureLoadBalancer retries for a load balancer that does not exist for longer than the caller waits",
        "ELB-04" "RTRY-06" "LAT-01");
    OutageListEmpty("outage-list-empty", "listBackends succeeds with an empty list in an outage of the cloud", "RTRY-07");
    OutageDeletedUnseen("outage-deleted-unseen",
        "deleteLoadBalancer without lbInfo succeeds in an outage of the cloud", "RTRY-07");
    // Dry runs
    DryRunActsCreate("dry-run-acts-create",
        "createLoadBalancer creates a load balancer in a dry run", "DRY-01");
    DryRunActsDelete("dry-run-acts-delete", "deleteLoadBalancer ignores dryRun", "DRY-01");
    DryRunActsEnsureLb("dry-run-acts-ensure-lb", "ensureLoadBalancer ignores dryRun", "DRY-02");
    DryRunActsEnsureBackend("dry-run-acts-ensure-backend",
        "ensureBackend ignores dryRun", "DRY-02");
    DryRunActsDeregister("dry-run-acts-deregister", "deregisterBackend ignores dryRun", "DRY-02");
    DryRunCached("dry-run-cached",
        "a dry run of createLoadBalancer or ensureBackend counts as done for its recordID",
        "DRY-03");
    MissingDryRun400("missing-dry-run-400", "a request without dryRun is a 400", "DRY-04");
    MissingDryRunMeansTrue("missing-dry-run-means-true",
        "a request without dryRun is a dry run", "DRY-04");
    DryRunBareAnswer("dry-run-bare-answer",
        "the reply to a dry run has no status", "WIRE-03" "DRY-05" "DRY-06");
    DryRunAlwaysSucc("dry-run-always-succ", "a dry run succeeds whatever it is about", "DRY-06");
    // Concurrent requests
    LostUpdateRace("lost-update-race",
        "ensureBackend and deregisterBackend read all backends, wait, and write all back",
        "CONC-01" "CONC-04" "CONC-05" "LIFE-04");
    EnsureDeregisterRace("ensure-deregister-race",
        "deregisterBackend reads all backends, waits, and writes all back", "CONC-04" "LIFE-04");
    DuplicateBindingRace("duplicate-binding-race",
        "ensureBackend checks whether the backend is bound, waits, and binds", "CONC-02");
    ParallelFails("parallel-fails",
        "more than ten concurrent ensureBackend calls on one load balancer fail, and keep failing",
        "CONC-01" "CONC-04" "CONC-05");
    BatchFailsTogether("batch-fails-together",
        "the failure of one ensureBackend call is the answer to all that are made at the same time",
        "CONC-05");
    BatchLosesOne("batch-loses-one",
        "the second of the backends that are registered at the same time is not, and the answer is Succ",
        "CONC-01" "CONC-04" "CONC-05" "LIFE-04");
    // Malformed requests
    DiesOnBadJson("dies-on-bad-json", "a body that is not JSON ends the server", "BAD-01" "BAD-05");
    BadJson500("bad-json-500", "a body that is not JSON is a 500", "BAD-01");
    TextAfterJson("text-after-json",
        "text after a body's JSON is ignored, and the call succeeds", "BAD-01");
    BadJsonSucc("bad-json-succ",
        "a body that is not JSON is read as an empty one, and succeeds", "BAD-01");
    WrongTypesAccepted("wrong-types-accepted", "fields of wrong types succeed", "BAD-02");
    WrongTypes500("wrong-types-500", "fields of wrong types crash the call", "BAD-02");
    GetExecutes("get-executes", "GET on a webhook succeeds", "BAD-03");
    UnknownPath200("unknown-path-200", "unknown paths succeed", "BAD-03");
    BigBody500("big-body-500", "a body above 4 MiB is a 500", "BAD-04");
    BigBodyHangs("big-body-hangs", "a body above 4 MiB gets no reply for a long time", "BAD-04");
    UnhealthyAfterBadJson("unhealthy-after-bad-json",
        "healthz is false after a body that is not JSON", "BAD-05");
    CreateFailsAfterBadJson("create-fails-after-bad-json",
        "createLoadBalancer fails after a body that is not JSON", "BAD-05");
    // Latency
    SlowerThanTimeout("slower-than-timeout",
        "deregisterBackend retries for a load balancer that does not exist for longer than the caller waits",
        "DRG-03" "LAT-01");
    SlowValidate("slow-validate",
        "validateLoadBalancer and validateBackend take long", "BAD-01" "BAD-02" "BAD-04" "LAT-02");
    SlowBind("slow-bind", "ensureBackend takes long", "BAD-01" "BAD-02" "BAD-04" "LAT-03");
}

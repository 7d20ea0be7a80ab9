//! The table of defects: the one place that lists them.

/// Calls `$callback!` with every row: the variant, its id, what it does wrong, and the checks of
/// the conformance kit that it fails. The comments name the module that makes it happen.
macro_rules! for_each_defect {
    ($callback:ident) => {
        $callback! {
            // wire.rs
            StringDelay("string-delay", "minRetryDelayInSeconds is a string, as the prose has it",
                "WIRE-04");
            FractionalDelay("fractional-delay", "minRetryDelayInSeconds has a fraction", "WIRE-04");
            HugeDelay("huge-delay", "minRetryDelayInSeconds asks for a whole day", "WIRE-05");
            NegativeDelay("negative-delay", "minRetryDelayInSeconds is -1", "WIRE-05");
            ProseDelaySpelling("prose-delay-spelling",
                "the delay is spelled minRetryDelayinSeconds, as the prose has it",
                "WIRE-05");
            IntInMap("int-in-map", "lbInfo has a number among its values", "WIRE-06");
            IntInInjectedInfo("int-in-injected-info", "injectedInfo has a number among its values",
                "WIRE-06");
            ListForMap("list-for-map", "an empty injectedInfo is written as a list, as PHP does",
                "WIRE-06");
            StatusLowercase("status-lowercase", "status is spelled in lower case", "WIRE-03");
            StatusWords("status-words", "status says Success and Failed", "WIRE-03");
            StatusMissing("status-missing",
                "deregisterBackend has nothing to do, and forgets to say status",
                "WIRE-03");
            Http201("http-201", "answers have status code 201", "WIRE-01" "RTRY-05" "DRY-05");
            Http201OnCreate("http-201-on-create",
                "createLoadBalancer answers Succ with status code 201",
                "WIRE-01");
            Http202Running("http-202-running", "Running is answered with status code 202",
                "WIRE-01");
            EnsureLbMissing("ensure-lb-missing", "there is no ensureLoadBalancer: 404",
                "WIRE-01" "WIRE-07" "WIRE-08" "CLB-02" "ELB-01" "ELB-02" "ELB-03" "ELB-04" "ELB-05"
                "DLB-04" "DLB-06" "ENS-07" "RTRY-01" "RTRY-05" "DRY-03" "DRY-04" "DRY-05" "LIFE-01");
            ArrayBody("array-body", "healthz answers with an array around its object",
                "WIRE-02" "WIRE-07" "WIRE-08" "WIRE-12" "HLTH-01");
            MsgAsObject("msg-as-object", "msg of a success is an object", "WIRE-02");
            SuccAsString("succ-as-string",
                "a rejection of validateBackend says \"false\" instead of false",
                "WIRE-02");
            HealthyAsString("healthy-as-string", "healthz says \"true\" instead of true",
                "WIRE-02");
            Null500("null-500",
                "ensureLoadBalancer crashes when attributes is null, generateBackendAddr when lbAttributes is",
                "WIRE-07");
            NullParameters500("null-parameters-500",
                "ensureBackend crashes when parameters is null",
                "WIRE-01" "WIRE-07" "ENS-01");
            StrictUnknownFields("strict-unknown-fields", "a field that it does not know is a 400",
                "WIRE-08");
            RedirectSlash("redirect-slash", "a path with a slash at its end is redirected",
                "WIRE-09");
            RedirectAll("redirect-all", "every webhook is redirected to /v1",
                "WIRE-09" "WIRE-12" "HLTH-01" "VLB-01" "VLB-02" "VLB-05" "CLB-01" "CLB-05" "ELB-04"
                "DLB-03" "VBE-03" "DRG-03" "JPD-01" "JPD-03" "ASYN-01");
            BodyLimit100k("body-limit-100k",
                "bodies above 100 KiB are a 413, as Express has it by default",
                "WIRE-10");
            HtmlMediaType("html-media-type", "answers are called text/html", "WIRE-11");
            NoMediaType("no-media-type", "answers have no media type", "WIRE-11");
            CharsetRefused("charset-refused", "application/json with a charset is a 415",
                "WIRE-12");
            EmptyMsg("empty-msg", "Fail and rejections have an empty msg",
                "WIRE-13" "VLB-02" "CLB-05" "ELB-04" "VBE-02" "GEN-08" "ENS-08" "RTRY-05");
            MsgMissing("msg-missing", "validateLoadBalancer refuses updates without msg",
                "WIRE-13");
            // health.rs
            HealthzUnhealthy("healthz-unhealthy", "healthz always says that it is not healthy",
                "HLTH-01");
            Healthz404("healthz-404", "there is no healthz: 404",
                "WIRE-01" "WIRE-07" "WIRE-08" "WIRE-12" "HLTH-01");
            HealthzPlainText("healthz-plain-text", "healthz answers with the text ok",
                "WIRE-02" "WIRE-07" "WIRE-08" "WIRE-11" "WIRE-12" "HLTH-01");
            HealthzSlow("healthz-slow", "healthz takes long", "HLTH-02");
            HealthzNeedsBody("healthz-needs-body", "healthz without a body is a 400", "HLTH-03");
            // validate_load_balancer.rs
            ValidLbRefused("valid-lb-refused",
                "validateLoadBalancer refuses every new load balancer",
                "VLB-01" "DRY-04" "LIFE-01");
            ValidHttpLbRefused("valid-http-lb-refused",
                "validateLoadBalancer refuses listeners for HTTP",
                "VLB-01");
            InvalidLbAccepted("invalid-lb-accepted",
                "validateLoadBalancer accepts what createLoadBalancer cannot make",
                "VLB-02");
            InvalidLb400("invalid-lb-400", "validateLoadBalancer refuses by status code 400",
                "WIRE-01" "VLB-02" "VLB-04");
            UpdateRefused("update-refused", "validateLoadBalancer refuses every update",
                "VLB-03" "LIFE-01");
            ForbiddenUpdateAccepted("forbidden-update-accepted",
                "validateLoadBalancer accepts updates that cannot be made",
                "VLB-03");
            ValidateCreates("validate-creates",
                "validateLoadBalancer makes a load balancer to see whether it can",
                "VLB-04" "LIFE-01");
            UnstableVerdict("unstable-verdict",
                "validateLoadBalancer refuses what it was asked about six times",
                "VLB-04");
            UnknownOperation500("unknown-operation-500",
                "an operation other than Create and Update crashes validateLoadBalancer",
                "VLB-05");
            UnknownOperationAccepted("unknown-operation-accepted",
                "validateLoadBalancer accepts operations other than Create and Update",
                "VLB-05");
            // create.rs
            CreateFails("create-fails", "createLoadBalancer always fails", "CLB-01");
            HttpCreateFails("http-create-fails", "createLoadBalancer fails for listeners for HTTP",
                "CLB-01");
            InvalidCreate400("invalid-create-400",
                "createLoadBalancer answers a spec that is not allowed with status code 400",
                "WIRE-01" "CLB-05" "RTRY-03" "RTRY-05");
            InvalidLbCreated("invalid-lb-created",
                "createLoadBalancer fails on a spec that is not allowed, and leaves a half-made load balancer behind",
                "CLB-05");
            LbInfoEmptyValue("lb-info-empty-value", "lbInfo has an empty text among its values",
                "CLB-02");
            LbInfoLarge("lb-info-large", "lbInfo is larger than 4 KiB", "CLB-07");
            LbInfoChangesOnPoll("lb-info-changes-on-poll", "lbInfo is another one in each answer",
                "CLB-03" "CLB-04" "CLB-07" "CONC-03" "LIFE-02");
            CreateDuplicates("create-duplicates",
                "createLoadBalancer makes another load balancer whenever it is repeated after Succ",
                "CLB-03" "CLB-04" "CLB-07" "RTRY-04" "CONC-03" "LIFE-02");
            CreateDuplicatesLater("create-duplicates-later",
                "createLoadBalancer makes another load balancer at the fourth repeat",
                "CLB-04" "CONC-03");
            CreateConcurrentDuplicates("create-concurrent-duplicates",
                "createLoadBalancer looks whether it has made the load balancer, waits, and makes it",
                "CONC-03");
            SameSpec500("same-spec-500",
                "createLoadBalancer crashes on a spec whose name another load balancer has",
                "WIRE-01" "CLB-06");
            // load_balancer.rs
            EnsureLbFailsWhenUnchanged("ensure-lb-fails-when-unchanged",
                "ensureLoadBalancer fails when there is nothing to change",
                "CLB-02" "ELB-01" "ELB-02" "ELB-03" "ELB-05" "DLB-04" "DLB-06" "RTRY-01" "DRY-03"
                "DRY-04" "LIFE-01");
            EnsureLbFailsOnRepeat("ensure-lb-fails-on-repeat",
                "ensureLoadBalancer fails from the seventh time on",
                "ELB-02");
            EnsureLbTouches("ensure-lb-touches",
                "ensureLoadBalancer notes its last run in the attributes",
                "ELB-02");
            EnsureLbCachedByRecordId("ensure-lb-cached-by-record-id",
                "ensureLoadBalancer does nothing when it has succeeded for the recordID",
                "ELB-03" "ELB-05" "LIFE-01");
            UnknownLbEnsured("unknown-lb-ensured",
                "ensureLoadBalancer succeeds for a load balancer that is not there",
                "ELB-04");
            UnknownLb500("unknown-lb-500",
                "ensureLoadBalancer crashes for a load balancer that is not there",
                "WIRE-01" "ELB-04");
            DriftNotRepaired("drift-not-repaired",
                "ensureLoadBalancer trusts its memory of the attributes",
                "ELB-05" "RTRY-05");
            DeleteDoesNothing("delete-does-nothing",
                "deleteLoadBalancer succeeds and leaves the load balancer",
                "DLB-01" "DLB-05" "LIFE-01" "LIFE-06");
            DeleteLeavesLoadedLb("delete-leaves-loaded-lb",
                "deleteLoadBalancer succeeds and leaves a load balancer that has backends",
                "LIFE-06");
            DeleteLoaded500("delete-loaded-500",
                "deleteLoadBalancer crashes on a load balancer that has backends",
                "WIRE-01" "DLB-05" "DRG-07" "LIFE-06");
            DeleteAgainFails("delete-again-fails",
                "deleteLoadBalancer fails when it has deleted the load balancer before",
                "WIRE-08" "DLB-02" "DLB-05" "LIFE-02" "LIFE-03");
            DeleteUnknownFails("delete-unknown-fails",
                "deleteLoadBalancer fails for a load balancer that it has never seen",
                "DLB-03");
            DeleteNullFails("delete-null-fails", "deleteLoadBalancer fails without lbInfo",
                "DLB-04" "ASYN-06");
            DeleteNull500("delete-null-500", "deleteLoadBalancer crashes without lbInfo",
                "WIRE-01" "DLB-04" "ASYN-06" "BAD-01" "BAD-02");
            DeleteEmptyDeletesAll("delete-empty-deletes-all",
                "deleteLoadBalancer takes an empty lbInfo for a filter that matches everything",
                "DLB-04");
            RecreateRefused("recreate-refused",
                "createLoadBalancer fails for a name that was deleted",
                "DLB-06");
            // validate_backend.rs
            ServiceTypeRefused("service-type-refused",
                "validateBackend refuses new groups of services",
                "VBE-01");
            StaticTypeRefused("static-type-refused",
                "validateBackend refuses new groups of static addresses",
                "VBE-01");
            InvalidParametersAccepted("invalid-parameters-accepted",
                "validateBackend accepts everything",
                "VBE-02");
            InvalidParameters400("invalid-parameters-400",
                "validateBackend refuses by status code 400",
                "WIRE-01" "VBE-02" "VBE-05");
            ValidateBackendNullLb500("validate-backend-null-lb-500",
                "validateBackend crashes without lbInfo",
                "WIRE-07" "VBE-03" "BAD-01");
            OldParametersLowercaseOnly("old-parameters-lowercase-only",
                "validateBackend refuses updates that have OldParameters and not oldParameters",
                "VBE-04" "LIFE-01");
            ValidateBackendBinds("validate-backend-binds",
                "validateBackend binds a target to see whether it can",
                "VBE-05");
            UnstableBackendVerdict("unstable-backend-verdict",
                "validateBackend refuses what it was asked about six times",
                "VBE-05");
            // address.rs
            AddrEmpty("addr-empty", "generateBackendAddr succeeds with an empty address for pods",
                "GEN-01" "LIFE-01");
            AddrEmptyWithoutIp("addr-empty-without-ip",
                "generateBackendAddr succeeds with an empty address while the pod has no IP",
                "GEN-08");
            ServiceAddrEmpty("service-addr-empty",
                "generateBackendAddr succeeds with an empty address for services",
                "GEN-02");
            NodeAddressOnly("node-address-only",
                "generateBackendAddr reads nodeAddress, as the prose has it, and not nodeAddresses",
                "GEN-02");
            PodAsStringOnly("pod-as-string-only",
                "generateBackendAddr reads pods written as a string, as the prose has them, and no objects",
                "GEN-01" "LIFE-01");
            AddrRandom("addr-random", "generateBackendAddr gives another address in each call",
                "GEN-03" "LIFE-02");
            AddrWithRetryId("addr-with-retry-id",
                "generateBackendAddr makes the address from the retryID too",
                "GEN-03" "LIFE-02");
            AddrCollidingPods("addr-colliding-pods",
                "generateBackendAddr leaves the pod's IP out of the address",
                "GEN-04");
            AddrCollidingPorts("addr-colliding-ports",
                "generateBackendAddr leaves the port out of the address",
                "GEN-04");
            NeedsParameters("needs-parameters",
                "generateBackendAddr crashes when parameters is null",
                "WIRE-01" "GEN-01" "GEN-02" "GEN-05" "BAD-01" "BAD-02" "LIFE-01");
            ParametersKeyNeeded("parameters-key-needed",
                "generateBackendAddr crashes when there is no field parameters",
                "GEN-05" "BAD-01");
            GenerateBinds("generate-binds", "generateBackendAddr binds the address already",
                "GEN-06");
            LegacyPortOnly("legacy-port-only", "generateBackendAddr reads portNumber and not port",
                "GEN-07");
            NewPortOnly("new-port-only", "generateBackendAddr reads port and not portNumber",
                "GEN-07");
            ProtocolRequired("protocol-required",
                "generateBackendAddr crashes when the port has no protocol",
                "GEN-07" "BAD-02");
            // ensure_backend.rs
            EnsureDoesNothing("ensure-does-nothing", "ensureBackend succeeds and binds nothing",
                "ENS-01" "RTRY-02" "RTRY-05" "DRY-03" "DRY-04" "BAD-02" "BAD-04" "LIFE-01");
            EnsureDropsParameters("ensure-drops-parameters",
                "ensureBackend binds without parameters",
                "ENS-01" "BAD-02" "LIFE-01");
            FirstBindDropsParameters("first-bind-drops-parameters",
                "ensureBackend sets parameters only of what is bound already",
                "ENS-01" "BAD-02" "LIFE-01");
            EnsureAlreadyBoundFails("ensure-already-bound-fails",
                "ensureBackend fails when the backend is bound as it should be",
                "WIRE-08" "ENS-02" "ENS-04" "ENS-05" "RTRY-02" "RTRY-04" "CONC-02" "LIFE-02"
                "LIFE-03");
            EnsureFailsOnRepeat("ensure-fails-on-repeat",
                "ensureBackend fails from the seventh time on",
                "ENS-02" "CONC-02");
            EnsureDuplicatesBinding("ensure-duplicates-binding",
                "ensureBackend binds what is bound once more",
                "ENS-02" "ENS-04" "ENS-05" "RTRY-02" "CONC-02" "LIFE-02" "LIFE-03");
            EnsureCachedByRecordId("ensure-cached-by-record-id",
                "ensureBackend does nothing when it has succeeded for the recordID",
                "ENS-03" "ENS-06" "ENS-09" "DRG-08" "LIFE-01");
            OtherRecordIdFails("other-record-id-fails",
                "ensureBackend fails when the backend was bound under another recordID",
                "ENS-05");
            NeedsInjectedInfo("needs-injected-info",
                "ensureBackend fails for a bound backend without the injectedInfo that it gave",
                "WIRE-08" "ENS-04" "ENS-05" "RTRY-02" "RTRY-04" "CONC-02" "LIFE-02" "LIFE-03");
            EchoedInjectedInfoFails("echoed-injected-info-fails",
                "ensureBackend fails on the injectedInfo that it gave",
                "ENS-02" "ENS-03" "ENS-04" "ENS-06" "ENS-09" "DRG-08" "LIFE-01");
            EmptyInjectedInfoFails("empty-injected-info-fails",
                "ensureBackend fails on an injectedInfo that is empty and not null",
                "ENS-04");
            EnsureReplacesOthers("ensure-replaces-others",
                "ensureBackend leaves no backend but its own",
                "ENS-06" "ENS-07" "CONC-01" "CONC-04" "LIFE-04");
            EnsureResetsOthers("ensure-resets-others",
                "ensureBackend takes the parameters of the other backends away",
                "ENS-06");
            PruneForeign("prune-foreign", "ensureBackend unbinds what it has not bound itself",
                "ENS-07");
            BindsToUnknownLb("binds-to-unknown-lb",
                "ensureBackend succeeds on a load balancer that is not there",
                "ENS-08");
            BindToUnknownLb500("bind-to-unknown-lb-500",
                "ensureBackend crashes on a load balancer that is not there",
                "WIRE-01" "ENS-08");
            ExternalUnbindIgnored("external-unbind-ignored",
                "ensureBackend trusts its memory of what is bound",
                "ENS-09");
            // deregister.rs
            DeregisterDoesNothing("deregister-does-nothing",
                "deregisterBackend succeeds and leaves the backend",
                "DRG-01" "DRG-06" "DRY-03" "DRY-04" "LIFE-01");
            DeregUnboundFails("dereg-unbound-fails",
                "deregisterBackend fails for a backend that was never bound",
                "DRG-02");
            DeregUnknownLbFails("dereg-unknown-lb-fails",
                "deregisterBackend fails on a load balancer that it has never seen",
                "DRG-03");
            DeregAfterDeleteFails("dereg-after-delete-fails",
                "deregisterBackend fails on a load balancer that was deleted",
                "DRG-07" "LIFE-06");
            DeregRepeatFails("dereg-repeat-fails",
                "deregisterBackend fails for a backend that it has taken away before",
                "WIRE-08" "DRG-04" "RTRY-02" "RTRY-04" "LIFE-02" "LIFE-03");
            DeregFailsLater("dereg-fails-later", "deregisterBackend fails from the seventh time on",
                "DRG-04");
            DeregRemovesAll("dereg-removes-all", "deregisterBackend takes all backends away",
                "DRG-05" "ENS-07" "CONC-04" "LIFE-04");
            DeregRemovesForeign("dereg-removes-foreign",
                "deregisterBackend takes what nobody bound by ensureBackend away too",
                "ENS-07");
            DeregNeedsInjectedInfo("dereg-needs-injected-info",
                "deregisterBackend fails for a bound backend without the injectedInfo that ensureBackend gave",
                "DRG-06" "RTRY-01" "RTRY-04" "DRY-04");
            DeregNeedsParameters("dereg-needs-parameters",
                "deregisterBackend fails when parameters are not those of the backend",
                "DRG-06");
            DeregBlocksRebind("dereg-blocks-rebind",
                "ensureBackend does nothing for a backend that was taken away",
                "DRG-08");
            // judge.rs
            JudgeSuccAsString("judge-succ-as-string",
                "judgePodDeregister says \"true\" instead of true",
                "WIRE-02");
            JudgeNamesOnly("judge-names-only", "doNotDeregister is a list of names", "JPD-01");
            JudgeWithoutNamespace("judge-without-namespace",
                "the pods of doNotDeregister have no namespace",
                "JPD-01");
            JudgeNotASubset("judge-not-a-subset",
                "doNotDeregister has a pod that was not asked about",
                "JPD-02");
            JudgeEmptyFails("judge-empty-fails", "judgePodDeregister refuses an empty list",
                "JPD-03");
            // running.rs
            CreateRunsForever("create-runs-forever", "createLoadBalancer never ends",
                "CLB-01" "ASYN-01" "BAD-02" "BAD-04");
            HttpCreateRunsForever("http-create-runs-forever",
                "createLoadBalancer never ends for listeners for HTTP",
                "CLB-01");
            PollStartsAgain("poll-starts-again",
                "createLoadBalancer starts one more creation whenever it is asked how far it is",
                "CLB-03" "CLB-04" "ASYN-02" "ASYN-07" "RTRY-02" "RTRY-04" "CONC-03" "LIFE-01");
            SuccThenRunning("succ-then-running",
                "createLoadBalancer says Running once more after four times Succ",
                "ASYN-03");
            SlowRunning("slow-running", "Running is answered late", "ASYN-04" "LAT-03");
            EarlyPollFails("early-poll-fails",
                "createLoadBalancer fails when it is asked at once how far it is",
                "ASYN-02" "ASYN-05" "RTRY-02" "LIFE-03");
            DeleteWhileCreatingLeaks("delete-while-creating-leaks",
                "deleteLoadBalancer without lbInfo leaves what is being created",
                "ASYN-06");
            JobLostOnRestart("job-lost-on-restart",
                "a driver that is started anew fails for what is being created",
                "ASYN-07");
            ForgetsOnRestart("forgets-on-restart",
                "a driver that is started anew does not know the load balancers that it made",
                "LIFE-05");
            // retry.rs
            RecordIdRegex("record-id-regex", "a recordID other than name(uuid) fails", "RTRY-01");
            RecordIdTooLong("record-id-too-long", "a recordID of more than 100 characters fails",
                "RTRY-01");
            RecordIdAscii("record-id-ascii", "a recordID with letters beyond ASCII fails",
                "RTRY-01");
            DiesWithConnection("dies-with-connection",
                "a hang-up breaks createLoadBalancer off half-way, and the next call begins anew",
                "RTRY-02" "LIFE-03");
            NegativeCache("negative-cache", "what failed once for a recordID fails for ever",
                "RTRY-03" "RTRY-05");
            SameRetryIdRefused("same-retry-id-refused",
                "a call with a retryID that was there before fails",
                "RTRY-04");
            CloudFault500("cloud-fault-500", "a cloud that is out crashes the call", "RTRY-05");
            RetriesByItself("retries-by-itself",
                "ensureLoadBalancer looks for a load balancer that is not there for longer than the caller waits",
                "ELB-04" "RTRY-06" "LAT-01");
            // dry_run.rs
            DryRunActsCreate("dry-run-acts-create",
                "createLoadBalancer makes a load balancer in a dry run",
                "DRY-01");
            DryRunActsDelete("dry-run-acts-delete", "deleteLoadBalancer ignores dryRun", "DRY-01");
            DryRunActsEnsureLb("dry-run-acts-ensure-lb", "ensureLoadBalancer ignores dryRun",
                "DRY-02");
            DryRunActsEnsureBackend("dry-run-acts-ensure-backend", "ensureBackend ignores dryRun",
                "DRY-02");
            DryRunActsDeregister("dry-run-acts-deregister", "deregisterBackend ignores dryRun",
                "DRY-02");
            DryRunCached("dry-run-cached",
                "a dry run of createLoadBalancer or ensureBackend counts as done for its recordID",
                "DRY-03");
            MissingDryRun400("missing-dry-run-400", "a request without dryRun is a 400", "DRY-04");
            MissingDryRunMeansTrue("missing-dry-run-means-true",
                "a request without dryRun is a dry run",
                "DRY-04");
            DryRunBareAnswer("dry-run-bare-answer", "a dry run is answered without status",
                "WIRE-03" "DRY-05");
            // concurrency.rs
            LostUpdateRace("lost-update-race",
                "ensureBackend and deregisterBackend read all backends, wait, and write all back",
                "CONC-01" "CONC-04" "LIFE-04");
            EnsureDeregisterRace("ensure-deregister-race",
                "deregisterBackend reads all backends, waits, and writes all back",
                "CONC-04" "LIFE-04");
            DuplicateBindingRace("duplicate-binding-race",
                "ensureBackend looks whether the backend is bound, waits, and binds",
                "CONC-02");
            ParallelFails("parallel-fails",
                "more than ten ensureBackend at a time on one load balancer fail, and go on failing",
                "CONC-01" "CONC-04");
            // bad_input.rs
            DiesOnBadJson("dies-on-bad-json", "a body that is not JSON ends the server", "BAD-01" "BAD-05");
            BadJson500("bad-json-500", "a body that is not JSON is a 500", "BAD-01");
            BadJsonSucc("bad-json-succ",
                "a body that is not JSON is taken for an empty one, and succeeds",
                "BAD-01");
            WrongTypesAccepted("wrong-types-accepted", "fields of wrong types succeed", "BAD-02");
            WrongTypes500("wrong-types-500", "fields of wrong types crash the call", "BAD-02");
            GetExecutes("get-executes", "GET on a webhook succeeds", "BAD-03");
            UnknownPath200("unknown-path-200", "paths that are none succeed", "BAD-03");
            BigBody500("big-body-500", "a body above 4 MiB is a 500", "BAD-04");
            BigBodyHangs("big-body-hangs", "a body above 4 MiB is not answered for a long time",
                "BAD-04");
            UnhealthyAfterBadJson("unhealthy-after-bad-json",
                "healthz is not healthy any more after a body that is not JSON",
                "BAD-05");
            CreateFailsAfterBadJson("create-fails-after-bad-json",
                "createLoadBalancer fails after a body that is not JSON",
                "BAD-05");
            // slow.rs
            SlowerThanTimeout("slower-than-timeout",
                "deregisterBackend looks for a load balancer that is not there for longer than the caller waits",
                "DRG-03" "LAT-01");
            SlowValidate("slow-validate", "validateLoadBalancer and validateBackend take long",
                "BAD-01" "BAD-02" "BAD-04" "LAT-02");
            SlowBind("slow-bind", "ensureBackend takes long",
                "BAD-01" "BAD-02" "BAD-04" "LAT-03");
        }
    };
}
pub(super) use for_each_defect;

use super::{Group, Level, Rule};

macro_rules! unchecked {
    () => {
        None
    };
    ($why:literal) => {
        Some($why)
    };
}

/// Declares each rule as a constant, [`GROUPS`], and `rules_of!`, which is the list of a group for documentation.
macro_rules! rules {
    ($($group:ident $prefix:literal $title:literal $(unchecked $why:literal)? {
        $($name:ident $id:literal $level:ident $sentence:literal;)*
    })*) => {
        $($(
            #[doc = $sentence]
            pub const $name: Rule = Rule {
                id: $id,
                level: Level::$level,
                sentence: $sentence,
            };
        )*)*

        /// Every group, in the order of documents and reports.
        pub const GROUPS: &[Group] = &[$(Group {
            prefix: $prefix,
            title: $title,
            rules: &[$($name),*],
            unchecked: unchecked!($($why)?),
        }),*];

        macro_rules! rules_of {
            $(($group) => {
                concat!("# Rules\n", $("* **LBCF-", $id, "**: ", $sentence, "\n"),*)
            };)*
        }
    };
}

rules! {
    Wire "WIRE" "the wire format" {
        WIRE_01 "WIRE-01" Must
            "Each webhook of the driver, the nine of every driver, and judgePodDeregister and listBackends if it has them, \
             MUST respond to a valid POST with HTTP status 200, whatever the result is.";
        WIRE_02 "WIRE-02" Must
            "The body of a response MUST be one JSON object, in which status and msg are strings, and succ and healthy \
             booleans.";
        WIRE_03 "WIRE-03" Must
            "The response of an operation MUST have a status, which is exactly Succ, Fail or Running.";
        WIRE_04 "WIRE-04" Must "minRetryDelayInSeconds, if present, MUST be a JSON integer of 32 bits.";
        WIRE_05 "WIRE-05" Should "The delay SHOULD be spelled minRetryDelayInSeconds, and be from 0 to 600.";
        WIRE_06 "WIRE-06" Must "lbInfo and injectedInfo MUST be null, absent, or objects whose values are all strings.";
        WIRE_07 "WIRE-07" Must "A driver MUST accept null for each map of a request but lbSpec.";
        WIRE_08 "WIRE-08" Must "A driver MUST ignore members of a request that it does not know.";
        WIRE_09 "WIRE-09" Must
            "A webhook MUST NOT respond with a redirect, not even for a slash at the end of its path.";
        WIRE_10 "WIRE-10" Must "A driver MUST read a pod of 256 KiB.";
        WIRE_11 "WIRE-11" Should "Responses SHOULD have the media type application/json; its parameters do not matter.";
        WIRE_12 "WIRE-12" Should
            "A driver SHOULD accept parameters of a request's content-type, and calls on a connection that was used \
             before.";
        WIRE_13 "WIRE-13" Should "Fail and succ false SHOULD come with a msg.";
        WIRE_14 "WIRE-14" Must "A driver MUST accept the headers LBCF-Specification and traceparent with any value.";
        WIRE_15 "WIRE-15" Must "reason, if present, MUST be a string, and come with Fail only.";
        WIRE_16 "WIRE-16" Should "backends and doNotDeregister SHOULD be arrays where there are none, not null.";
    }
    Hlth "HLTH" "healthz" {
        HLTH_01 "HLTH-01" Must
            "A driver that works MUST respond to POST healthz ({}) with {\"healthy\": true}, each time.";
        HLTH_02 "HLTH-02" Should
            "healthz SHOULD respond within a second, also during 20 concurrent calls and while an operation is \
             Running.";
        HLTH_03 "HLTH-03" Should "healthz SHOULD respond to a POST without a body as to {}.";
        HLTH_04 "HLTH-04" Must
            "specification, if healthz has it, MUST be a string, and features an array of strings or null, the same in \
             each response.";
    }
    Vlb "VLB" "validateLoadBalancer" {
        VLB_01 "VLB-01" Must
            "validateLoadBalancer MUST accept a load balancer with valid lbSpec and attributes: succ true.";
        VLB_02 "VLB-02" Must
            "validateLoadBalancer MUST reject an invalid load balancer with HTTP 200, succ false and a msg with the \
             reason.";
        VLB_03 "VLB-03" Must
            "validateLoadBalancer MUST accept an update with unchanged or allowed attributes, and reject one with \
             forbidden attributes.";
        VLB_04 "VLB-04" Must
            "validateLoadBalancer MUST return the same result each time, and create and change nothing.";
        VLB_05 "VLB-05" Should
            "validateLoadBalancer SHOULD reject an operation other than Create and Update with succ false.";
    }
    Clb "CLB" "createLoadBalancer" {
        CLB_01 "CLB-01" Must
            "createLoadBalancer MUST create a load balancer from a valid lbSpec and valid attributes: Succ, at once or \
             after Running.";
        CLB_02 "CLB-02" Must
            "lbInfo in a Succ MUST have no empty values; without lbInfo, lbSpec is the identity; ensureLoadBalancer \
             and ensureBackend accept either.";
        CLB_03 "CLB-03" Must
            "createLoadBalancer that is repeated under the same recordID MUST return Succ with the same lbInfo, and \
             create nothing.";
        CLB_04 "CLB-04" Must
            "However often createLoadBalancer is repeated under its recordID, exactly one load balancer MUST exist.";
        CLB_05 "CLB-05" Must
            "createLoadBalancer MUST return Fail with a msg for an invalid lbSpec or invalid attributes, and create \
             nothing.";
        CLB_06 "CLB-06" Should
            "createLoadBalancer with the same lbSpec under another recordID SHOULD get a proper response: another load \
             balancer, the same one, or Fail.";
        CLB_07 "CLB-07" Should "lbInfo SHOULD be smaller than 4 KiB, and the same in each response.";
        CLB_08 "CLB-08" Must
            "createLoadBalancer that is repeated under the same recordID with other attributes MUST apply them: after Succ \
             they count as set.";
    }
    Elb "ELB" "ensureLoadBalancer" {
        ELB_01 "ELB-01" Must
            "ensureLoadBalancer MUST succeed right after the creation, with the attributes of the creation.";
        ELB_02 "ELB-02" Must "ensureLoadBalancer with unchanged attributes MUST succeed each time, and change nothing.";
        ELB_03 "ELB-03" Must
            "ensureLoadBalancer MUST apply changed attributes, although the recordID is the same as before.";
        ELB_04 "ELB-04" Should
            "ensureLoadBalancer SHOULD return Fail with a msg for a load balancer that does not exist.";
        ELB_05 "ELB-05" Should "ensureLoadBalancer SHOULD restore attributes that were changed outside of Kubernetes.";
        ELB_06 "ELB-06" Should
            "ensureLoadBalancer SHOULD return Fail with the reason NotFound for a load balancer that was deleted.";
        ELB_07 "ELB-07" Must
            "ensureLoadBalancer MUST remove an attribute that is no longer sent: it has the value that it has without it.";
        ELB_08 "ELB-08" Must
            "ensureLoadBalancer MUST return Fail with a msg for attributes that validateLoadBalancer refuses as an update, \
             and change nothing.";
    }
    Dlb "DLB" "deleteLoadBalancer" {
        DLB_01 "DLB-01" Must
            "deleteLoadBalancer MUST delete an existing load balancer: after Succ, at once or after Running, it no \
             longer exists.";
        DLB_02 "DLB-02" Must "deleteLoadBalancer MUST succeed for a load balancer that was deleted, however often.";
        DLB_03 "DLB-03" Must "deleteLoadBalancer MUST succeed for a load balancer that is unknown.";
        DLB_04 "DLB-04" Must
            "deleteLoadBalancer with lbInfo null or empty MUST succeed, and delete at most what createLoadBalancer of \
             the same object has begun.";
        DLB_05 "DLB-05" Should
            "deleteLoadBalancer SHOULD delete a load balancer that has backends, or return Fail with a msg until they \
             are deregistered.";
        DLB_06 "DLB-06" Should "After deleteLoadBalancer it SHOULD be possible to create the same lbSpec again.";
        DLB_07 "DLB-07" Should
            "deleteLoadBalancer without lbInfo SHOULD delete what createLoadBalancer of the same object has created.";
    }
    Vbe "VBE" "validateBackend" {
        VBE_01 "VBE-01" Must
            "validateBackend MUST accept valid parameters for each of the driver's backend types: succ true.";
        VBE_02 "VBE-02" Must
            "validateBackend MUST reject invalid parameters with HTTP 200, succ false and a msg with the reason.";
        VBE_03 "VBE-03" Must
            "validateBackend MUST validate parameters also before the load balancer is created: lbInfo null or empty.";
        VBE_04 "VBE-04" Must
            "validateBackend MUST accept a valid update of parameters with OldParameters, with oldParameters, and with \
             both.";
        VBE_05 "VBE-05" Must
            "validateBackend MUST return the same result each time, and leave the load balancer unchanged.";
    }
    Gen "GEN" "generateBackendAddr" {
        GEN_01 "GEN-01" Must
            "generateBackendAddr MUST return Succ with a backendAddr that is not empty for a pod and its port.";
        GEN_02 "GEN-02" Must
            "generateBackendAddr MUST return Succ with a backendAddr that is not empty for a service's node port on a \
             node.";
        GEN_03 "GEN-03" Must "generateBackendAddr MUST return the same address for the same backend each time.";
        GEN_04 "GEN-04" Must "Backends that differ in the pod, the node or the port MUST have different addresses.";
        GEN_05 "GEN-05" Must "generateBackendAddr MUST return an address without parameters as well as with them.";
        GEN_06 "GEN-06" Must "generateBackendAddr MUST register nothing, and leave the load balancer unchanged.";
        GEN_07 "GEN-07" Should
            "A driver SHOULD accept the port as port, as portNumber, and without a protocol, which defaults to TCP.";
        GEN_08 "GEN-08" Should
            "Without an address, because the pod has no IP yet or the driver has no such backends, generateBackendAddr \
             SHOULD return Fail with a msg or Running, never Succ.";
        GEN_09 "GEN-09" Must
            "generateBackendAddr MUST return the address of a pod also where the request has the additional member \
             endpointBackend, with the same address and port.";
        GEN_10 "GEN-10" Must
            "generateBackendAddr MUST return Succ with a backendAddr that is not empty for an endpoint of a service \
             that is no pod, and another one for another endpoint.";
        GEN_11 "GEN-11" Should
            "Ports of a pod with one number and different protocols SHOULD have different addresses, or one of them be refused.";
    }
    Ens "ENS" "ensureBackend" {
        ENS_01 "ENS-01" Must
            "ensureBackend MUST register a backend with its parameters: after Succ, at once or after Running, it is \
             registered.";
        ENS_02 "ENS-02" Must
            "ensureBackend MUST succeed for a backend that is registered, however often, and leave one binding.";
        ENS_03 "ENS-03" Must
            "ensureBackend MUST apply changed parameters, although the recordID is the same as before.";
        ENS_04 "ENS-04" Must
            "ensureBackend MUST succeed whether injectedInfo is null, empty, or the value of the last Succ.";
        ENS_05 "ENS-05" Must
            "ensureBackend MUST adopt a backend that was registered under another recordID: Succ, one binding.";
        ENS_06 "ENS-06" Must "ensureBackend MUST leave other backends of the load balancer unchanged.";
        ENS_07 "ENS-07" Must
            "Backends that others registered MUST survive ensureBackend, deregisterBackend and ensureLoadBalancer.";
        ENS_08 "ENS-08" Must "ensureBackend MUST return Fail with a msg for a load balancer that does not exist.";
        ENS_09 "ENS-09" Should
            "ensureBackend SHOULD register a backend again that was deregistered outside of Kubernetes.";
        ENS_10 "ENS-10" Must
            "ensureBackend MUST return Fail with a msg for an address that the cloud cannot use, and never Succ.";
        ENS_11 "ENS-11" Must
            "ensureBackend MUST remove a parameter that is no longer sent: it has the value that it has without it.";
    }
    Drg "DRG" "deregisterBackend" {
        DRG_01 "DRG-01" Must
            "deregisterBackend MUST deregister a registered backend: after Succ, at once or after Running, it is no \
             longer registered.";
        DRG_02 "DRG-02" Must "deregisterBackend MUST succeed for a backend that was never registered.";
        DRG_03 "DRG-03" Must "deregisterBackend MUST succeed for a backend of an unknown load balancer.";
        DRG_04 "DRG-04" Must "deregisterBackend MUST succeed for a backend that was deregistered, however often.";
        DRG_05 "DRG-05" Must "deregisterBackend MUST leave other backends unchanged.";
        DRG_06 "DRG-06" Must
            "deregisterBackend MUST succeed with injectedInfo null, with parameters null, and with changed parameters.";
        DRG_07 "DRG-07" Must "deregisterBackend MUST succeed after the load balancer was deleted.";
        DRG_08 "DRG-08" Should "It SHOULD be possible to register a backend again that was deregistered.";
        DRG_09 "DRG-09" Should
            "If healthz names the feature cancel, ensureBackend SHOULD cancel a deregistration that is Running: the \
             backend stays registered, with the new parameters.";
    }
    Jpd "JPD" "judgePodDeregister" {
        JPD_01 "JPD-01" Must
            "The response of judgePodDeregister MUST have succ, and doNotDeregister lists the pods to keep, each an \
             object with metadata.name and metadata.namespace.";
        JPD_02 "JPD-02" Must "doNotDeregister MUST contain only pods of notReadyPods of the same request.";
        JPD_03 "JPD-03" Must "For an empty notReadyPods judgePodDeregister MUST return succ true with no pods to keep.";
        JPD_04 "JPD-04" Should
            "A driver without judgePodDeregister SHOULD respond to it at once, with succ false or a status other than \
             200.";
    }
    Lst "LST" "listBackends" {
        LST_01 "LST-01" Must
            "listBackends MUST return every registered backend with its backendAddr and its parameters.";
        LST_02 "LST-02" Must "listBackends MUST NOT return a backend that was deregistered.";
        LST_03 "LST-03" Must "listBackends MUST change nothing.";
        LST_04 "LST-04" Must
            "recordID in the list, if present, MUST be that of the ensureBackend that registered the backend.";
        LST_05 "LST-05" Must "listBackends MUST return a backend that was registered by hand without a recordID.";
        LST_06 "LST-06" Must "listBackends MUST return Fail or an empty list for a load balancer that does not exist.";
        LST_07 "LST-07" Must
            "If healthz names the feature pages, a response MUST have at most limit backends, and the pages that \
             continue leads through MUST together have each backend of the load balancer exactly once, and none of \
             another.";
    }
    Asyn "ASYN" "Running and polling" {
        ASYN_01 "ASYN-01" Must "Calls that are repeated under the same recordID MUST end in Succ or Fail.";
        ASYN_02 "ASYN-02" Must "A call that is repeated while the operation is Running MUST NOT start a second one.";
        ASYN_03 "ASYN-03" Must
            "After Succ, createLoadBalancer MUST keep returning Succ under the same recordID, not Running and not \
             Fail.";
        ASYN_04 "ASYN-04" Should "Running SHOULD be returned within 2 seconds.";
        ASYN_05 "ASYN-05" Should "A call that comes earlier than minRetryDelayInSeconds SHOULD NOT be an error.";
        ASYN_06 "ASYN-06" Should
            "deleteLoadBalancer while the load balancer is being created SHOULD leave nothing behind.";
        ASYN_07 "ASYN-07" Should
            "An operation that is Running SHOULD survive a restart of the driver: it ends, and is not started twice.";
        ASYN_08 "ASYN-08" Must
            "A backend that is deregistered while its ensureBackend is Running MUST stay deregistered.";
    }
    Rtry "RTRY" "repeated calls" {
        RTRY_01 "RTRY-01" Must
            "A driver MUST accept any text as recordID: with parentheses, of 253 characters, with any letters.";
        RTRY_02 "RTRY-02" Must
            "A call whose connection was closed MUST succeed when it is repeated, and its work be done once.";
        RTRY_03 "RTRY-03" Must "After a Fail, a corrected call under the same recordID MUST succeed.";
        RTRY_04 "RTRY-04" Should "A call that arrives twice with the same retryID SHOULD do no harm.";
        RTRY_05 "RTRY-05" Should
            "While the cloud fails, operations SHOULD respond with HTTP 200, Fail or Running, and a msg; afterwards \
             they succeed.";
        RTRY_06 "RTRY-06" Should
            "A call that fails SHOULD get a response within the webhook's timeout: the driver's own retries do not \
             exceed it.";
        RTRY_07 "RTRY-07" Must
            "While the cloud fails, createLoadBalancer, deleteLoadBalancer, ensureBackend and deregisterBackend MUST NOT return Succ \
             for what is not done, and listBackends not for a list that lacks registered backends.";
    }
    Dry "DRY" "dry runs" {
        DRY_01 "DRY-01" Must
            "A dry run of createLoadBalancer MUST create no load balancer, and a dry run of deleteLoadBalancer delete \
             none.";
        DRY_02 "DRY-02" Must "Dry runs of ensureBackend, deregisterBackend and ensureLoadBalancer MUST change nothing.";
        DRY_03 "DRY-03" Must "A real call after a dry run under the same recordID MUST do the work.";
        DRY_04 "DRY-04" Must "A call without dryRun MUST be a real call.";
        DRY_05 "DRY-05" Should "The response to a dry run SHOULD have the same form as the response to a real call.";
        DRY_06 "DRY-06" Must
            "A dry run of createLoadBalancer or ensureBackend MUST return Fail for what a validation refuses.";
    }
    Conc "CONC" "concurrent calls" {
        CONC_01 "CONC-01" Must
            "Many concurrent ensureBackend calls for one load balancer MUST all succeed, and all backends be \
             registered.";
        CONC_02 "CONC-02" Must "Concurrent calls of the same ensureBackend MUST all succeed, and leave one binding.";
        CONC_03 "CONC-03" Must
            "Concurrent calls of the same createLoadBalancer MUST create one load balancer with one lbInfo.";
        CONC_04 "CONC-04" Must
            "Registering backends while others are deregistered MUST lose none, and leave none behind.";
        CONC_05 "CONC-05" Must
            "An ensureBackend call that fails MUST fail alone: valid calls at the same time MUST succeed.";
    }
    Bad "BAD" "bad input" {
        BAD_01 "BAD-01" Should
            "A body that is not a JSON object SHOULD be rejected within 2 seconds, and the driver keep working.";
        BAD_02 "BAD-02" Should
            "A member of the wrong type SHOULD be rejected, with 400 or Fail: the driver returns neither Succ nor an \
             exception.";
        BAD_03 "BAD-03" Should
            "Methods other than POST, but for GET of healthz, and paths other than the webhooks' SHOULD be rejected with 405 \
             or 404, and change nothing.";
        BAD_04 "BAD-04" Should "A body of 10 MiB SHOULD be rejected, with 413, and the driver keep working.";
        BAD_05 "BAD-05" Must "After bad input the driver MUST be healthy, and a whole life cycle succeed as before.";
    }
    Life "LIFE" "life cycles" {
        LIFE_01 "LIFE-01" Must
            "A load balancer and a backend MUST be validated, created, changed and deleted, each call by the rules, \
             and nothing be left behind.";
        LIFE_02 "LIFE-02" Must "The life cycle MUST succeed with the same results when every call is made twice.";
        LIFE_03 "LIFE-03" Must
            "The life cycle MUST succeed when every call was made before and its connection closed, during the request \
             or while the driver was working.";
        LIFE_04 "LIFE-04" Should
            "When 20 backends are replaced, each new one registered before an old one is deregistered, at least 20 \
             SHOULD be registered at any time.";
        LIFE_05 "LIFE-05" Must "The life cycle MUST succeed when the driver is restarted before each call.";
        LIFE_06 "LIFE-06" Should
            "When the load balancer is deleted before its backends are deregistered, all calls SHOULD succeed in the \
             end.";
    }
    Lat "LAT" "latency" {
        LAT_01 "LAT-01" Must "Every call MUST get a response before the webhook's timeout.";
        LAT_02 "LAT-02" Should
            "95% of the calls of validateLoadBalancer and validateBackend SHOULD get a response within 2 seconds.";
        LAT_03 "LAT-03" Should "95% of the calls of each other webhook SHOULD get a response within 2 seconds.";
    }
    Ctl "CTL" "controllers" unchecked "the kit calls drivers, not controllers" {
        CTL_01 "CTL-01" Must
            "A controller MUST repeat an operation under the same recordID until it succeeds, also after a response \
             that it cannot read.";
        CTL_02 "CTL-02" Must
            "A controller MUST store the address that generateBackendAddr returned before it calls ensureBackend, and \
             send no other one for that backend until it is deregistered.";
        CTL_03 "CTL-03" Must
            "A controller MUST NOT call createLoadBalancer, ensureLoadBalancer or deleteLoadBalancer of one object at \
             the same time, nor ensureBackend and deregisterBackend of one address.";
        CTL_04 "CTL-04" Must "A controller MUST use a feature only if healthz of the driver names it.";
        CTL_05 "CTL-05" Must
            "A controller MUST ignore members of a response, features and reasons that it does not know.";
        CTL_06 "CTL-06" Must
            "A controller MUST read the members of a response in any letter case, null as empty, and \
             minRetryDelayInSeconds as a number or as a string of digits.";
        CTL_07 "CTL-07" Must
            "A controller MUST call a driver that responds to healthz with 404, 405 or 501 as any other, without \
             features.";
        CTL_08 "CTL-08" Should
            "A controller SHOULD send the headers LBCF-Specification: 1 and traceparent with each call.";
        CTL_09 "CTL-09" Should
            "A controller SHOULD deregister the backends of a load balancer before it calls deleteLoadBalancer.";
    }
}
pub(crate) use rules_of;

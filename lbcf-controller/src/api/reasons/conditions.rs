//! Reasons of conditions, and of events about the same.

use super::row::{ReportReason, reasons};
use lbcf_driver_sdk::webhook::Reason;

reasons! { CONDITIONS:
    ALL_REGISTERED "AllRegistered", [BackendGroup Bind]
        "All backends are registered.",
        "Nothing to do.";
    AWAITING_ADOPTION "AwaitingAdoption", [BackendRecord]
        "It has no owner reference, and the owner that its labels name has neither adopted nor deleted it yet.",
        "Wait: the owner is reconciled next. If it stays, see the conditions of the owner.";
    AWAITING_REPLACEMENT "AwaitingReplacement", [BackendGroup Bind]
        "Backends that are not wanted any more wait until those that replace them are registered.",
        "Wait, or see the BackendRecords that are not registered. After `--replacement-timeout` the old ones leave.";
    BACKEND_NOT_AVAILABLE "BackendNotAvailable", [BackendRecord]
        "Its pod is not Ready, its node or Service does not exist, or it is another one than the record was created for.",
        "Make the pod Ready, or create what the message names. The owner replaces the record when the backend is another one.";
    RECORD_CONFLICT "BackendRecordConflict", [BackendGroup Bind]
        "Another BackendRecord has the name of one that has to be created.",
        "Delete the BackendRecord that the message names, if nothing needs it.";
    RECORDS_REFUSED "BackendRecordsRefused", [BackendGroup Bind]
        "The API server refuses to store the BackendRecords.",
        "Resolve what the message says: a quota of the namespace, another admission webhook, or a missing permission.";
    CONFLICT Reason::Conflict.name(), [LoadBalancer Bind BackendRecord]
        "Somebody else has what the driver needs in the cloud: a name, a port, a lock.",
        "Release it in the cloud, or choose another one in the object. What passes on its own is tried again.";
    CREATE_FAILED "CreateFailed", [Bind]
        "The driver responded to `createLoadBalancer` with `Fail`.",
        "Read the message, which is the driver's, and change the load balancer of the Bind or the cloud accordingly.";
    CREATING "Creating", [LoadBalancer Bind]
        "`createLoadBalancer` has begun or is `Running`.",
        "Wait. If it lasts, see the load balancer in the cloud, and the driver's log.";
    DELAYED_DEREGISTER "DelayedDeregisterBackend", [BackendRecord]
        "It is being deleted, and another record is to register the same backend.",
        "Nothing to do: the backend changes its owner without leaving the load balancer.";
    DELAYED_ENSURE "DelayedEnsureBackend", [BackendRecord]
        "Another record is deregistering the same address.",
        "Wait until the other record, which the message names, is gone; its condition says what it waits for.";
    DRAINING "Draining", [BackendRecord]
        "It is being deleted, and the driver responds `Running` to `deregisterBackend` since the time in the message.",
        "Wait: connections of clients end meanwhile. A driver that never ends names the reason in its message.";
    DRIVER_DELETING "DriverDeleting", [LoadBalancer Bind BackendRecord]
        "The LoadBalancerDriver is being deleted, so that nothing new is created with it.",
        "Name another driver, or create the LoadBalancerDriver again when it is gone.";
    DRIVER_IN_USE "DriverInUse", [LoadBalancerDriver]
        "It is being deleted, and waits until nothing uses it.",
        "Delete the load balancers and Binds that the message names.";
    DRIVER_NOT_FOUND "DriverNotFound", [LoadBalancer Bind BackendRecord]
        "The LoadBalancerDriver that the object refers to does not exist.",
        "Create it, or correct `lbDriver`: a name that begins with `lbcf-` is looked up in `kube-system`, any other one in the \
         namespace of the object.";
    DRIVER_UNREADABLE "DriverUnreadable", [LoadBalancer Bind BackendRecord]
        "The LoadBalancerDriver that the object refers to cannot be parsed.",
        "Correct the field of the LoadBalancerDriver that the message names.";
    ENDPOINTS_NOT_READY "EndpointsNotReady", [BackendGroup Bind]
        "Some endpoints of its Service are not ready, and so not registered.",
        "Make their pods Ready: `kubectl get endpointslices` shows which are not.";
    ENSURE_FAILED "EnsureFailed", [Bind]
        "The driver responded to `ensureLoadBalancer` with `Fail`.",
        "Read the message, which is the driver's, and change the attributes of the load balancer or the cloud accordingly.";
    ENSURING "Ensuring", [LoadBalancer Bind]
        "`ensureLoadBalancer` is `Running`.",
        "Wait. If it lasts, see the load balancer in the cloud, and the driver's log.";
    HEALTHZ_NOT_SERVED "HealthzNotServed", [LoadBalancerDriver]
        "The driver does not serve the optional webhook `healthz`, so that its health is `Unknown`.",
        "Nothing to do, unless the driver should serve it: then correct its URL or the driver.";
    INTERNAL Reason::Internal.name(), [LoadBalancer Bind BackendRecord]
        "The driver reports a defect of its own or of the cloud.",
        "See the driver's log at the time of the event, and report it to the author of the driver.";
    INVALID_ARGUMENT Reason::InvalidArgument.name(), [LoadBalancer Bind BackendRecord]
        "The driver will not accept the values of the object until they are changed.",
        "Change the field that the message names; that of a BackendRecord is in its owner.";
    INVALID_ENDPOINT_SLICE "InvalidEndpointSlice", [BackendGroup Bind]
        "A part of an EndpointSlice of its Service is malformed, and not registered.",
        "Correct the EndpointSlice that the message names, or whatever writes it.";
    INVALID_RESPONSE "InvalidResponse", [LoadBalancerDriver LoadBalancer Bind BackendRecord]
        "The driver's response cannot be decoded or lacks a required value.",
        "Have the driver corrected: `lbcf conformance run` finds what its responses lack.";
    LOAD_BALANCER_DELETING "LoadBalancerDeleting", [BackendGroup]
        "A LoadBalancer that it names is being deleted.",
        "Name another LoadBalancer, or create that one again when it is gone.";
    LOAD_BALANCER_GONE "LoadBalancerGone", [LoadBalancer Bind]
        "The driver says that the load balancer does not exist any more, so that it is created again.",
        "Wait until it is created. If it happens again, find who deletes it in the cloud.";
    LOAD_BALANCER_NOT_CREATED "LoadBalancerNotCreated", [BackendGroup]
        "A LoadBalancer that it names is not created yet.",
        "Resolve the cause that the message quotes from the condition Created of that LoadBalancer.";
    LOAD_BALANCER_NOT_FOUND "LoadBalancerNotFound", [BackendGroup]
        "A LoadBalancer that it names does not exist.",
        "Create it, or correct the name: one that begins with `lbcf-` is looked up in `kube-system`, any other one in the namespace \
         of the BackendGroup.";
    LOAD_BALANCER_OUT_OF_SCOPE "LoadBalancerOutOfScope", [BackendGroup]
        "The scope of a LoadBalancer that it names does not include its namespace.",
        "Have the owner of the LoadBalancer add this namespace to `spec.scope`, or use a LoadBalancer of this namespace.";
    LOAD_BALANCER_UNREADABLE "LoadBalancerUnreadable", [BackendGroup]
        "A LoadBalancer that it names cannot be parsed.",
        "Correct the field of the LoadBalancer that the message names.";
    LOAD_BALANCERS_NOT_READY "LoadBalancersNotReady", [Bind]
        "Some of its load balancers are not ready.",
        "See the conditions of each load balancer in the status of the Bind.";
    NO_ADDRESSES "NoAddresses", [BackendGroup]
        "No static address is given.",
        "Add addresses to `spec.static`.";
    NO_ENDPOINTS "NoEndpoints", [BackendGroup Bind]
        "Its Service has no endpoint of the address families and zones that it selects.",
        "See the Service's selector and its EndpointSlices, or select other address families or zones.";
    NO_LOAD_BALANCERS "NoLoadBalancers", [BackendGroup]
        "No load balancer is named.",
        "Name at least one in `spec.loadBalancers`.";
    NO_NODE_PORT "NoNodePort", [BackendGroup Bind]
        "Its Service has no node port for the port, such as one of type ClusterIP.",
        "Use a Service of type NodePort or LoadBalancer, or register its endpoints.";
    NO_NODES_SELECTED "NoNodesSelected", [BackendGroup Bind]
        "No node is selected for its Service.",
        "Correct the node selector, or the labels of the nodes.";
    NO_PODS_SELECTED "NoPodsSelected", [BackendGroup Bind]
        "No pod is selected.",
        "Correct the labels or names of the selector, or create the pods in the same namespace.";
    NO_PORTS "NoPorts", [BackendGroup Bind]
        "No valid port is given.",
        "Add a port from 1 to 65535, or one that a selected pod names.";
    NO_ROOM "NoRoomForReplacement", [BackendGroup Bind]
        "A backend left for one that replaces it, as a quota has no room for both.",
        "Have the quota of targets raised, so that new backends are registered before old ones leave.";
    NO_SERVICE_PORT "NoServicePort", [BackendGroup Bind]
        "Its Service does not have the port, or its EndpointSlices do not.",
        "Correct the number, name or protocol of the port.";
    NOT_AUDITED "NotAudited", [LoadBalancer Bind]
        "The load balancer is not audited any more, so that what was found before may be outdated.",
        "Nothing to do, unless backends that are left over should be found: see `--audit-period`.";
    NOT_CREATED_BY_CONTROLLER "NotCreatedByController", [BackendRecord]
        "A user created it, or changed what identifies its backend, so that no driver is called for it.",
        "Delete it. Backends are declared by a BackendGroup, a Bind or a Service.";
    NOT_FOUND Reason::NotFound.name(), [LoadBalancer Bind BackendRecord]
        "The driver says that the load balancer does not exist any more.",
        "Wait: its LoadBalancer or Bind is ensured, which creates it again. One that is only adopted has to be created in the cloud.";
    NOT_REGISTERED "NotRegistered", [Pod]
        "Some backends of the pod are not registered, so that its readiness gate is not met.",
        "See the condition Ready of the BackendGroup or Bind that the message names.";
    NOT_SELECTED "NotSelected", [Pod]
        "No BackendGroup or Bind selects the pod, or none that will have backends, so that its readiness gate is met.",
        "Nothing to do, unless the pod should be registered: then correct its labels or the selector.";
    OPERATION_FAILED "OperationFailed", [LoadBalancer Bind BackendRecord]
        "The driver responded with `Fail`, without a reason that the controller knows.",
        "Read the message, which is the driver's, and its log. The call is repeated, at once when the object changes.";
    ORPHANED_BACKENDS "OrphanedBackends", [LoadBalancer Bind]
        "The load balancer has backends that no BackendRecord accounts for.",
        "Deregister them in the cloud if nothing needs them; those that this cluster registered are removed by the controller.";
    OWNED_BY_OTHER_NAMESPACE "OwnedByOtherNamespace", [LoadBalancer Bind]
        "The load balancer that the driver created, or adopted, is another namespace's.",
        "Use a load balancer of your own, or have the owner add this namespace to the `scope` of its LoadBalancer.";
    PARAMETERS_APPLY "ParametersApply", [BackendRecord]
        "Of the records that disagree about an address, this one's parameters apply.",
        "Give all owners of the address the same parameters, or let only one register it.";
    PARAMETERS_OVERRIDDEN "ParametersOverridden", [BackendRecord]
        "Another record's parameters apply, because its owner is older.",
        "Give all owners of the address the same parameters, or let only one register it.";
    PAUSED "Paused", [LoadBalancer BackendGroup Bind BackendRecord]
        "The annotation `lbcf.tkestack.io/paused` of the object, or of one that it belongs to, keeps drivers from being called.",
        "Remove the annotation when the driver may be called again: `lbcf resume`.";
    PERMISSION_DENIED Reason::PermissionDenied.name(), [LoadBalancer Bind BackendRecord]
        "The driver's credentials do not allow the operation.",
        "Renew the credentials that the driver reads, or have the permission granted in the cloud.";
    PODS_NOT_READY "PodsNotReady", [BackendGroup Bind]
        "Some selected pods are not Ready, and so not registered.",
        "Make the pods Ready: `kubectl describe pod` says why one is not.";
    QUOTA_EXCEEDED Reason::QuotaExceeded.name(), [LoadBalancer Bind BackendRecord]
        "The driver says that a quota has no room: of the account, or of the load balancer for the backend.",
        "Delete load balancers or backends that are not needed, or have the quota raised.";
    RECORDS_REMAINING "RecordsRemaining", [LoadBalancer Bind]
        "It is being deleted, and waits until its BackendRecords are deregistered.",
        "See the BackendRecords that the message names: each says what it waits for.";
    REGISTERED "Registered", [Pod]
        "All backends of the pod are registered, so that its readiness gate is met.",
        "Nothing to do.";
    REGISTERING "Registering", [BackendGroup Bind]
        "Some BackendRecords are not registered; the message quotes the first that says why.",
        "Wait, or resolve that cause. Others are in the condition Registered of the BackendRecords with the label of this owner.";
    REPLACEMENT_TIMED_OUT "ReplacementTimedOut", [BackendGroup Bind]
        "Backends left before what replaces them was registered.",
        "See why the new backends are not registered; a longer `--replacement-timeout` keeps the old ones longer.";
    RESOLVED "Resolved", [LoadBalancer BackendGroup Bind BackendRecord]
        "The problem that the condition reported is over.",
        "Nothing to do.";
    SERVICE_CLASS_TAKEN "ServiceClassTaken", [LoadBalancerDriver]
        "Another LoadBalancerDriver that names the same class has it.",
        "Choose another class, or delete the LoadBalancerDriver that the message names.";
    SERVICE_NOT_FOUND "ServiceNotFound", [BackendGroup Bind]
        "Its Service does not exist or is being deleted.",
        "Create the Service in the same namespace, or correct its name.";
    STILL_RUNNING "StillRunning", [LoadBalancer Bind BackendRecord]
        "A webhook has responded `Running` for long.",
        "See the driver's log and the cloud: an operation that never ends is a defect of either.";
    SYNC_FAILED "SyncLoadBalancerFailed", [Service]
        "The load balancers of the Service are not as it asks for.",
        "Read the message, which names the objects; their conditions lead on.";
    THROTTLED Reason::Throttled.name(), [LoadBalancer Bind BackendRecord]
        "The cloud limits the driver's calls, which are fewer until it permits more.",
        "Wait, or set a limit of the driver's own below that of the cloud (`--max-hooks-per-second` of drivers of the SDK).";
    TOO_MANY_UNREADY "TooManyUnready", [BackendGroup Bind]
        "Most backends became unready at once, or less than `minRegistered` would be left, so that some stay registered.",
        "Make the pods Ready. What stays is limited by `--readiness-brake` and `minRegistered`.";
    UNAVAILABLE Reason::Unavailable.name(), [LoadBalancer Bind BackendRecord]
        "The cloud does not respond to the driver.",
        "Wait until the cloud works again: the call is repeated.";
    UNHEALTHY "Unhealthy", [LoadBalancerDriver]
        "The driver responded to `healthz` with `healthy: false`.",
        "Read the message, which is the driver's, and its log.";
    UNREADABLE_RECORD "UnreadableBackendRecord", [LoadBalancer Bind]
        "It is being deleted, and waits, because a BackendRecord that cannot be parsed might be registered with it.",
        "Correct the BackendRecord that the controller's log names; deleting it is not enough while it has a finalizer.";
    WEBHOOK_ERROR "WebhookError", [LoadBalancerDriver LoadBalancer Bind BackendRecord]
        "The driver cannot be called, timed out, or responded with an HTTP error.",
        "See that the driver runs and that its LoadBalancerDriver has its URL: the message names host and port. A controller outside of \
         the cluster cannot resolve names of Services, and needs `--connect-to`.";
    WEBHOOK_NOT_SERVED "WebhookNotServed", [LoadBalancer Bind BackendRecord]
        "The server at the driver's URL does not serve a webhook that every driver has: it responded with HTTP status 404, 405 or 501.",
        "Correct the driver, or delete the LoadBalancerDriver and create it again with its URL.";
}

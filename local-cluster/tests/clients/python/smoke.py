"""Uses a local cluster as programs in Python do.

Called with a kubeconfig and a name that is new to the cluster. Prints a line for each thing that
works; ends with an exception at the first that does not.
"""

import sys
import threading

from kubernetes import client, config, dynamic, watch
from kubernetes.client.exceptions import ApiException

CRD = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "spec": {
        "scope": "Namespaced",
        "versions": [{
            "name": "v1", "served": True, "storage": True, "subresources": {"status": {}},
            "schema": {"openAPIV3Schema": {"type": "object", "properties": {
                "spec": {"type": "object", "required": ["size"], "properties": {"size": {"type": "integer", "minimum": 1}}},
                "status": {"type": "object", "x-kubernetes-preserve-unknown-fields": True},
            }}},
        }],
    },
}
TIMEOUT = 30


def works(what):
    print("works:", what, flush=True)


def refused(code, reason, call, *args, **kwargs):
    """The call is refused, with this code and reason."""
    try:
        call(*args, **kwargs)
    except ApiException as error:
        assert error.status == code, error
        assert reason in str(error.body), error
        return
    raise AssertionError(f"{call} was not refused")


def config_maps(core, name):
    labels = {"suite": name}
    body = client.V1ConfigMap(metadata=client.V1ObjectMeta(name=name, labels=labels), data={"a": "1"})
    made = core.create_namespaced_config_map("default", body)
    assert made.metadata.uid and made.data == {"a": "1"}
    refused(409, "AlreadyExists", core.create_namespaced_config_map, "default", body)
    refused(404, "NotFound", core.read_namespaced_config_map, name + "-not", "default")

    changed = core.patch_namespaced_config_map(name, "default", {"data": {"b": "2"}})
    assert changed.data == {"a": "1", "b": "2"}
    made.data = {"c": "3"}
    refused(409, "Conflict", core.replace_namespaced_config_map, name, "default", made)
    listed = core.list_namespaced_config_map("default", label_selector=f"suite={name}")
    assert [m.metadata.name for m in listed.items] == [name]
    works("config maps: create, patch, replace, list, errors")

    seen = []
    watching = watch.Watch()
    version = listed.metadata.resource_version

    def change():
        core.patch_namespaced_config_map(name, "default", {"data": {"b": "3"}})
        core.delete_namespaced_config_map(name, "default")

    changing = threading.Thread(target=change)
    changing.start()
    for event in watching.stream(core.list_namespaced_config_map, "default",
                                 label_selector=f"suite={name}", resource_version=version,
                                 timeout_seconds=TIMEOUT):
        seen.append(event["type"])
        if event["type"] == "DELETED":
            watching.stop()
    changing.join()
    assert seen == ["MODIFIED", "DELETED"], seen
    works("config maps: watch, delete")


def pods(core, name):
    container = client.V1Container(name="c", image="nginx")
    body = client.V1Pod(metadata=client.V1ObjectMeta(name=name), spec=client.V1PodSpec(containers=[container]))
    core.create_namespaced_pod("default", body)
    for event in watch.Watch().stream(core.list_namespaced_pod, "default",
                                      field_selector=f"metadata.name={name}", timeout_seconds=TIMEOUT):
        pod = event["object"]
        if pod.status.phase == "Running" and pod.status.pod_ip:
            break
    else:
        raise AssertionError("the pod did not run")
    core.delete_namespaced_pod(name, "default", grace_period_seconds=0)
    refused(404, "NotFound", core.read_namespaced_pod, name, "default")
    works("pods: they run, and end")


def custom(api, name):
    group = f"{name}.example.com"
    definition = {**CRD, "metadata": {"name": f"things.{group}"}}
    definition["spec"] = {**CRD["spec"], "group": group, "names": {"kind": "Thing", "plural": "things"}}
    extensions = client.ApiextensionsV1Api(api)
    extensions.create_custom_resource_definition(definition)
    for event in watch.Watch().stream(extensions.list_custom_resource_definition,
                                      field_selector=f"metadata.name=things.{group}", timeout_seconds=TIMEOUT):
        conditions = event["object"].status and event["object"].status.conditions or []
        if any(c.type == "Established" and c.status == "True" for c in conditions):
            break

    things = client.CustomObjectsApi(api)
    where = (group, "v1", "default", "things")
    thing = {"apiVersion": f"{group}/v1", "kind": "Thing", "metadata": {"name": "t"}, "spec": {"size": 1}}
    things.create_namespaced_custom_object(*where, thing)
    wrong = {**thing, "metadata": {"name": "u"}, "spec": {"size": 0}}
    refused(422, "spec.size", things.create_namespaced_custom_object, *where, wrong)
    patched = things.patch_namespaced_custom_object(*where, "t", {"spec": {"size": 2}})
    assert patched["spec"]["size"] == 2
    patched = things.patch_namespaced_custom_object_status(*where, "t", {"status": {"ready": True}})
    assert patched["status"] == {"ready": True}
    assert len(things.list_namespaced_custom_object(*where)["items"]) == 1
    works("custom resources: create, validation, patch, status, list")

    resources = dynamic.DynamicClient(api)
    found = resources.resources.get(api_version=f"{group}/v1", kind="Thing")
    applied = {**thing, "metadata": {"name": "applied"}, "spec": {"size": 5}}
    found.server_side_apply(body=applied, namespace="default", field_manager="one")
    applied["spec"] = {"size": 6}
    refused(409, "conflict with \\\"one\\\"", found.server_side_apply, body=applied, namespace="default", field_manager="two")
    forced = found.server_side_apply(body=applied, namespace="default", field_manager="two", force_conflicts=True)
    assert forced.spec.size == 6
    works("server-side apply: its conflicts, and force")

    things.delete_namespaced_custom_object(*where, "t")
    refused(404, "NotFound", things.get_namespaced_custom_object, *where, "t")
    extensions.delete_custom_resource_definition(f"things.{group}")
    works("custom resources: delete")


def main():
    kubeconfig, name = sys.argv[1:]
    api = config.new_client_from_config(kubeconfig)
    version = client.VersionApi(api).get_code()
    assert version.major == "1", version
    core = client.CoreV1Api(api)
    config_maps(core, name)
    pods(core, name)
    custom(api, name)
    if api.configuration.host.startswith("https://"):
        unauthorized = config.new_client_from_config(kubeconfig)
        unauthorized.configuration.api_key = {"authorization": "Bearer wrong"}
        unauthorized.configuration.refresh_api_key_hook = None
        refused(401, "Unauthorized", client.CoreV1Api(unauthorized).list_node)
        works("TLS, and a token that must be right")
    print("all works", flush=True)


main()

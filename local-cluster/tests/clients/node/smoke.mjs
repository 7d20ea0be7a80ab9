// Uses a local cluster as programs for Node.js do.
//
// Called with a kubeconfig and a name that is new to the cluster. Prints a line for each thing that
// works; ends with an exception at the first that does not.

import assert from 'node:assert/strict';
import { createRequire } from 'node:module';

// The package is where CI installed it, not beside this file.
const require = createRequire(`${process.env.LOCAL_CLUSTER_NODE_MODULES}/`);
const k8s = require('@kubernetes/client-node');

const TIMEOUT = 30_000;
const [kubeconfig, name] = process.argv.slice(2);

const works = (what) => console.log(`works: ${what}`);

async function refused(code, words, call) {
  try {
    await call();
  } catch (error) {
    assert.equal(error.code, code, String(error));
    // The client does not return the message of a 401.
    const told = JSON.stringify([error.message, error.body]);
    assert.ok(told.includes(words), told);
    return;
  }
  assert.fail(`not refused with ${code}`);
}

// Watches until `isLast` returns true for an event; returns the types of the events.
function watched(config, path, query, isLast, start = () => {}) {
  return new Promise((resolve, reject) => {
    const seen = [];
    let over = false;
    const timer = setTimeout(() => reject(new Error(`${path}: ${seen}`)), TIMEOUT);
    const watch = new k8s.Watch(config);
    const request = watch.watch(path, query, (type, object) => {
      if (over) return;
      seen.push(type);
      if (isLast(type, object)) {
        over = true;
        clearTimeout(timer);
        request.then((controller) => controller.abort());
        resolve(seen);
      }
    }, (error) => {
      if (!over) reject(error ?? new Error('the watch ended'));
    });
    request.then(start, reject);
  });
}

const merge = k8s.setHeaderOptions('Content-Type', k8s.PatchStrategy.MergePatch);
const apply = k8s.setHeaderOptions('Content-Type', k8s.PatchStrategy.ServerSideApply);

async function configMaps(config) {
  const core = config.makeApiClient(k8s.CoreV1Api);
  const namespace = 'default';
  const labels = { suite: name };
  const body = { metadata: { name, labels }, data: { a: '1' } };
  const made = await core.createNamespacedConfigMap({ namespace, body });
  assert.deepEqual(made.data, { a: '1' });
  await refused(409, 'AlreadyExists', () => core.createNamespacedConfigMap({ namespace, body }));
  await refused(404, 'NotFound', () => core.readNamespacedConfigMap({ name: `${name}-not`, namespace }));
  const patch = { data: { b: '2' } };
  const changed = await core.patchNamespacedConfigMap({ name, namespace, body: patch }, merge);
  assert.deepEqual(changed.data, { a: '1', b: '2' });
  await refused(409, 'Conflict', () => core.replaceNamespacedConfigMap({ name, namespace, body: made }));
  const selector = { labelSelector: `suite=${name}` };
  const listed = await core.listNamespacedConfigMap({ namespace, ...selector });
  assert.equal(listed.items.length, 1);
  works('config maps: create, patch, replace, list, errors');

  const query = { ...selector, resourceVersion: listed.metadata.resourceVersion };
  const path = '/api/v1/namespaces/default/configmaps';
  const seen = await watched(config, path, query, (type) => type === 'DELETED', async () => {
    await core.patchNamespacedConfigMap({ name, namespace, body: { data: { b: '3' } } }, merge);
    await core.deleteNamespacedConfigMap({ name, namespace });
  });
  assert.deepEqual(seen, ['MODIFIED', 'DELETED']);
  works('config maps: watch, delete');
}

async function pods(config) {
  const core = config.makeApiClient(k8s.CoreV1Api);
  const namespace = 'default';
  const body = { metadata: { name }, spec: { containers: [{ name: 'c', image: 'nginx' }] } };
  await core.createNamespacedPod({ namespace, body });
  const query = { fieldSelector: `metadata.name=${name}` };
  const runs = (type, pod) => pod.status?.phase === 'Running' && Boolean(pod.status.podIP);
  await watched(config, '/api/v1/namespaces/default/pods', query, runs);
  await core.deleteNamespacedPod({ name, namespace, gracePeriodSeconds: 0 });
  await refused(404, 'NotFound', () => core.readNamespacedPod({ name, namespace }));
  works('pods: they run, and end');
}

async function custom(config) {
  const group = `${name}.example.com`;
  const crd = `things.${group}`;
  const extensions = config.makeApiClient(k8s.ApiextensionsV1Api);
  const openAPIV3Schema = {
    type: 'object',
    properties: {
      spec: { type: 'object', required: ['size'], properties: { size: { type: 'integer', minimum: 1 } } },
      status: { type: 'object', x_kubernetes_preserve_unknown_fields: true },
    },
  };
  const versions = [{ name: 'v1', served: true, storage: true, subresources: { status: {} }, schema: { openAPIV3Schema } }];
  await extensions.createCustomResourceDefinition({
    body: {
      metadata: { name: crd },
      spec: { group, scope: 'Namespaced', names: { kind: 'Thing', plural: 'things' }, versions },
    },
  });
  const established = (type, object) =>
    (object.status?.conditions ?? []).some((c) => c.type === 'Established' && c.status === 'True');
  const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
  await watched(config, definitions, { fieldSelector: `metadata.name=${crd}` }, established);

  const things = config.makeApiClient(k8s.CustomObjectsApi);
  const where = { group, version: 'v1', namespace: 'default', plural: 'things' };
  const thing = (thingName, size) =>
    ({ apiVersion: `${group}/v1`, kind: 'Thing', metadata: { name: thingName }, spec: { size } });
  await things.createNamespacedCustomObject({ ...where, body: thing('t', 1) });
  await refused(422, 'spec.size', () => things.createNamespacedCustomObject({ ...where, body: thing('u', 0) }));
  const one = { ...where, name: 't' };
  const patched = await things.patchNamespacedCustomObject({ ...one, body: { spec: { size: 2 } } }, merge);
  assert.equal(patched.spec.size, 2);
  const status = { status: { ready: true } };
  const told = await things.patchNamespacedCustomObjectStatus({ ...one, body: status }, merge);
  assert.deepEqual(told.status, { ready: true });
  assert.equal((await things.listNamespacedCustomObject(where)).items.length, 1);
  works('custom resources: create, validation, patch, status, list');

  const applied = { ...where, name: 'applied' };
  const by = (fieldManager, size, force) =>
    things.patchNamespacedCustomObject({ ...applied, fieldManager, force, body: thing('applied', size) }, apply);
  await by('one', 5);
  await refused(409, 'conflict with ', () => by('two', 6));
  assert.equal((await by('two', 6, true)).spec.size, 6);
  works('server-side apply: its conflicts, and force');

  await things.deleteNamespacedCustomObject(one);
  await refused(404, 'NotFound', () => things.getNamespacedCustomObject(one));
  await extensions.deleteCustomResourceDefinition({ name: crd });
  works('custom resources: delete');
}

const config = new k8s.KubeConfig();
config.loadFromFile(kubeconfig);
assert.equal((await config.makeApiClient(k8s.VersionApi).getCode()).major, '1');
await configMaps(config);
await pods(config);
await custom(config);
if (config.getCurrentCluster().server.startsWith('https://')) {
  const unauthorized = new k8s.KubeConfig();
  unauthorized.loadFromFile(kubeconfig);
  unauthorized.users = unauthorized.users.map((user) => ({ ...user, token: 'wrong' }));
  await refused(401, 'Unauthorized', () => unauthorized.makeApiClient(k8s.CoreV1Api).listNode());
  works('TLS, and a token that must be right');
}
console.log('all works');

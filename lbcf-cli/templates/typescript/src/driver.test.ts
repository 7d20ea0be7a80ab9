/**
 * Tests of the driver: load balancers and backends from creation to deletion, repeated calls, and rejections. The calls
 * are those of a controller, without a socket. FILL-IN: your fields and values; keep the rest.
 */

import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { Cloud } from './cloud.js';
import { createDriver } from './driver.js';
import { createServer } from './lbcf/runtime.js';
import type { StringMap } from './lbcf/types.js';

const spec = { lbVpcID: 'vpc-1', lbListenerPort: '80' };
const folder = mkdtempSync(join(tmpdir(), 'driver-test-'));
after(() => rmSync(folder, { recursive: true }));

/** The driver and its cloud. Each call is made twice, and has the same response. */
async function start({ drain = 0, file }: { drain?: number; file?: string } = {}) {
  const cloud = await Cloud.connect({ file });
  const app = createServer(createDriver(cloud, drain), { log: () => undefined });
  const once = async (webhook: string, body: object) => {
    const payload = { recordID: `${webhook}(uid)`, retryID: '1', ...body };
    return (await app.inject({ method: 'POST', url: `/${webhook}`, payload })).json();
  };
  const call = async (webhook: string, body: object) => {
    const response = await once(webhook, body);
    assert.deepEqual(await once(webhook, body), response, `${webhook} is repeated`);
    return response;
  };
  const create = async (lbSpec: StringMap = spec): Promise<StringMap> =>
    (await call('createLoadBalancer', { lbSpec, attributes: {} })).lbInfo;
  const weights = () => cloud.list().map(({ backends }) => backends.map(({ addr, weight }) => `${addr}=${weight}`));
  return { cloud, call, once, create, weights };
}

const pod = (podIP?: string, port: object = { port: 80 }) => ({
  podBackend: { pod: { metadata: { name: 'web-0' }, status: { podIP } }, port },
});

test('a load balancer is created, changed and deleted', async () => {
  const { cloud, call, create } = await start();
  const lbInfo = await create();
  assert.deepEqual([lbInfo.protocol, lbInfo.address], ['TCP', '127.0.0.1:80']);
  const chargeType = 'TRAFFIC_POSTPAID_BY_HOUR';
  assert.deepEqual(
    cloud.list().map(({ attributes }) => attributes),
    [{ chargeType }],
  );

  // A recordID names an object, and no result: other attributes are applied.
  await call('createLoadBalancer', { lbSpec: spec, attributes: { other: 'x' } });
  assert.deepEqual(cloud.list()[0]?.attributes, { chargeType, other: 'x' });
  await call('ensureLoadBalancer', { lbInfo, attributes: { 'max-bandwidth-out': '20' } });
  assert.deepEqual(cloud.list()[0]?.attributes, { chargeType, 'max-bandwidth-out': '20' });

  assert.equal((await call('deleteLoadBalancer', { lbInfo })).status, 'Succ');
  assert.equal(cloud.list().length, 0);
  const gone = await call('ensureLoadBalancer', { lbInfo, attributes: {} });
  assert.deepEqual([gone.status, gone.reason], ['Fail', 'NotFound']);
});

test('without lbInfo, a deletion finds what the creation of the same object has begun, and nothing else', async () => {
  const { cloud, call, create } = await start();
  await create();
  await call('deleteLoadBalancer', { recordID: 'deleteLoadBalancer(other)', lbInfo: null });
  assert.equal(cloud.list().length, 1);
  await call('deleteLoadBalancer', { lbInfo: null });
  assert.equal(cloud.list().length, 0);
});

test('backends are registered, changed, listed and deregistered', async () => {
  const { cloud, call, create, weights } = await start();
  const lbInfo = await create();
  const at = { lbInfo, backendAddr: '10.0.0.1:80' };
  await call('ensureBackend', { ...at, parameters: { weight: '50' } });
  await call('ensureBackend', { lbInfo, backendAddr: '[fd00::1]:80' });
  await cloud.register(lbInfo.lbID ?? '', { addr: '10.0.0.9:80', weight: 1 });
  assert.deepEqual(weights(), [['10.0.0.1:80=50', '[fd00::1]:80=10', '10.0.0.9:80=1']]);
  await call('ensureBackend', { ...at, parameters: null });
  const { backends } = await call('listBackends', { lbInfo });
  assert.deepEqual(backends[0], {
    backendAddr: at.backendAddr,
    parameters: { weight: '10' },
    recordID: 'ensureBackend(uid)',
  });
  assert.deepEqual(backends[2], { backendAddr: '10.0.0.9:80', parameters: { weight: '1' } });
  for (const backendAddr of ['[FD00::1]:80', '[fd00:0::1]:80', '10.0.0.1:080', '[zz::1]:80']) {
    assert.equal((await call('ensureBackend', { lbInfo, backendAddr })).reason, 'InvalidArgument', backendAddr);
  }
  await call('deregisterBackend', at);
  assert.deepEqual(weights(), [['[fd00::1]:80=10', '10.0.0.9:80=1']]);
});

test('a backend drains, and ensureBackend cancels that', async () => {
  const { once, create, weights } = await start({ drain: 30 });
  const at = { lbInfo: await create(), backendAddr: '10.0.0.1:80' };
  const deregister = (secondsAgo: number) =>
    once('deregisterBackend', { ...at, firstRequestedAt: new Date(Date.now() - secondsAgo * 1000).toISOString() });
  assert.equal((await deregister(0)).status, 'Succ', 'it is not registered');
  await once('ensureBackend', at);
  const { status, minRetryDelayInSeconds } = await deregister(0);
  assert.deepEqual([status, minRetryDelayInSeconds, weights()], ['Running', 1, [['10.0.0.1:80=0']]]);
  await once('ensureBackend', at);
  assert.deepEqual(weights(), [['10.0.0.1:80=10']]);
  assert.equal((await deregister(31)).status, 'Succ');
  assert.deepEqual(weights(), [[]]);
});

test('rejections name field, value and what is allowed; the operations reject the same', async () => {
  const { cloud, call } = await start();
  const proto = JSON.parse('{"\\u005f_proto_\\u005f": "x"}');
  const bad: [StringMap, StringMap, StringMap, RegExp][] = [
    [{ lbVpcID: '' }, {}, {}, /^lbSpec.lbVpcID: is required$/],
    ...['', '0', '+1', '1e3', '0x10', ' 5 ', '0080', '65536', '8o', '99999999999999999999'].map(
      (port): [StringMap, StringMap, StringMap, RegExp] => [
        { lbListenerPort: port },
        {},
        {},
        /not a number from 1 to 65535$/,
      ],
    ),
    [{ lbListenerProtocol: 'tcp' }, {}, {}, /^lbSpec.lbListenerProtocol: "tcp": not TCP or UDP$/],
    [proto, {}, {}, /no such field$/],
    [{ constructor: 'x' } as never, {}, {}, /^lbSpec.constructor: "x": no such field$/],
    [{}, { chargeType: 'FREE' }, {}, /^attributes.chargeType: "FREE"/],
    [{}, { 'max-bandwidth-out': 'much' }, {}, /^attributes.max-bandwidth-out: "much"/],
    [{}, {}, { weight: '256' }, /^parameters.weight: "256": not a number from 0 to 255$/],
    [{}, {}, { wieght: '5' }, /^parameters.wieght: "5": no such field$/],
  ];
  for (const [wrongSpec, attributes, parameters, msg] of bad) {
    const isOfBackend = Object.keys(parameters).length > 0;
    const [validate, ensure] = isOfBackend
      ? ['validateBackend', 'ensureBackend']
      : ['validateLoadBalancer', 'createLoadBalancer'];
    const body = { lbSpec: { ...spec, ...wrongSpec }, attributes, parameters, backendAddr: '10.0.0.1:80' };
    const decision = await call(validate, { ...body, operation: 'Create', backendType: 'Pod' });
    assert.equal(decision.succ, false);
    assert.match(decision.msg, msg);
    const { status, reason } = await call(ensure, body);
    assert.deepEqual([status, reason], ['Fail', 'InvalidArgument']);
  }
  assert.equal(cloud.list().length, 0);
});

test('addresses', async () => {
  const { call, create } = await start();
  const lbInfo = await create();
  const address = async (backend: object) => {
    const { status, msg, backendAddr } = await call('generateBackendAddr', { lbInfo, ...backend });
    return backendAddr ?? `${status}: ${msg}`;
  };
  assert.equal(await address(pod('10.0.0.1')), '10.0.0.1:80');
  assert.equal(await address(pod('fd00::1', { portNumber: 80, protocol: 'TCP' })), '[fd00::1]:80');
  assert.equal(await address(pod()), 'Running: pod web-0 has no IP yet');
  assert.match(await address(pod(undefined, { port: 80, protocol: 'SCTP' })), /^Fail: port 80 is SCTP, but/);
  assert.match(await address(pod('10.0.0.1', { port: 53, protocol: 'UDP' })), /^Fail: port 53 is UDP, but/);
  const endpointBackend = { address: '10.0.0.2', port: 90 };
  assert.equal(await address({ endpointBackend }), '10.0.0.2:90');
  assert.equal(await address({ ...pod('10.0.0.1'), endpointBackend }), '10.0.0.1:80');
  const ports = [
    { port: 80, protocol: 'UDP', nodePort: 30001 },
    { port: 80, nodePort: 30002 },
  ];
  const nodeAddresses = [
    { type: 'ExternalIP', address: '1.2.3.4' },
    { type: 'InternalIP', address: '10.9.9.9' },
  ];
  const serviceBackend = { service: { spec: { ports } }, port: { port: 80 }, nodeName: 'a', nodeAddresses };
  assert.equal(await address({ serviceBackend }), '10.9.9.9:30002');
});

test('only a pod with the annotation stays registered while it is not ready', async () => {
  const { call } = await start();
  const annotations = { 'lbcf.example.com/keep-registered': 'true' };
  const kept = { name: 'a', namespace: 'b' };
  const notReadyPods = [{ metadata: { ...kept, annotations } }, { metadata: { name: 'c', namespace: 'b' } }];
  assert.deepEqual((await call('judgePodDeregister', { notReadyPods })).doNotDeregister, [{ metadata: kept }]);
});

test('the cloud outlives the process, and a dry run changes nothing', async () => {
  const file = join(folder, 'cloud.json');
  const { create, call } = await start({ file });
  const at = { lbInfo: await create(), backendAddr: '10.0.0.1:80' };
  await call('ensureBackend', at);
  for (const webhook of ['deregisterBackend', 'deleteLoadBalancer']) await call(webhook, { ...at, dryRun: true });
  const { weights } = await start({ file });
  assert.deepEqual(weights(), [['10.0.0.1:80=10']]);
  writeFileSync(file, '{"loadBalancers": [}');
  await assert.rejects(start({ file }), /cloud.json: Unexpected token/);
});

test('lbcf conformance', (context) => {
  const lbcf = process.env.LBCF ?? 'lbcf';
  if (spawnSync(lbcf, ['--version']).error)
    return context.skip(`there is no ${lbcf}: put it on the PATH, or its path in LBCF`);
  const driver = `exec node dist/main.js --listen 127.0.0.1:{port} --cloud-file '${folder}'/kit.json --observe`;
  const { status, stdout, stderr } = spawnSync(lbcf, ['conformance', 'run', '--exec', driver], { encoding: 'utf8' });
  assert.equal(status, 0, stdout + stderr);
});

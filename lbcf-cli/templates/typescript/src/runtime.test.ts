/** Tests of the runtime, with a driver whose functions do what the test needs. */

import assert from 'node:assert/strict';
import { type AddressInfo, connect } from 'node:net';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { createDriver } from './driver.js';
import { Cloud } from './cloud.js';
import { Operations } from './lbcf/operations.js';
import { createServer, DriverError, drainTimeLeft, NotYet, tokenOf } from './lbcf/runtime.js';
import type { Driver } from './lbcf/types.js';

const ensure = { recordID: 'ensureBackend(1)', retryID: '1', lbInfo: { lbID: 'lb' }, backendAddr: '10.0.0.1:80' };

/** A server with these functions, and what it has logged. */
async function server(functions: Partial<Driver>, deadlineMs = 60_000) {
  const logged: string[] = [];
  const driver = { ...createDriver(await Cloud.connect()), ...functions };
  const app = createServer(driver, { deadlineMs, log: (line) => logged.push(line) });
  await app.ready();
  const call = async (webhook: string, payload: object | string) => {
    const response = await app.inject({ method: 'POST', url: `/${webhook}`, payload });
    return { code: response.statusCode, ...response.json() };
  };
  return { app, call, logged };
}

/** A function for ensureBackend that ends when it may, and the weights with which it was started and has ended. */
function slowly() {
  const [started, ended]: [string[], string[]] = [[], []];
  let mayEnd = () => {};
  const gate = new Promise<void>((resolve) => (mayEnd = resolve));
  const ensureBackend: Driver['ensureBackend'] = async ({ backendAddr, parameters: { weight = '' } }) => {
    started.push(weight);
    await gate;
    ended.push(weight);
    return { injectedInfo: { backendAddr } };
  };
  return { started, ended, mayEnd, ensureBackend };
}

/** Waits until it holds. */
async function until(holds: () => boolean) {
  for (const end = Date.now() + 10_000; !holds(); await sleep(1)) assert.ok(Date.now() < end, String(holds));
}

test('a repeated call joins the running one, whatever its retryID and the order of its members', async () => {
  const { started, mayEnd, ensureBackend } = slowly();
  const { call } = await server({ ensureBackend }, 50);
  const { recordID, ...others } = ensure;
  const both = [call('ensureBackend', ensure), call('ensureBackend', { ...others, recordID, retryID: '2' })];
  for (const response of await Promise.all(both)) assert.equal(response.status, 'Running');
  mayEnd();
  assert.equal((await call('ensureBackend', { ...ensure, retryID: '3' })).status, 'Succ');
  assert.equal(started.length, 1);
});

test('an operation continues when its caller has gone, and its work is done once', async () => {
  const { started, mayEnd, ensureBackend } = slowly();
  const { app, call } = await server({ ensureBackend }, 50);
  await app.listen({ port: 0 });
  const body = JSON.stringify(ensure);
  const socket = connect((app.server.address() as AddressInfo).port);
  socket.write(`POST /ensureBackend HTTP/1.1\r\nhost: x\r\ncontent-length: ${body.length}\r\n\r\n${body}`);
  await until(() => started.length === 1);
  socket.destroy();
  assert.equal((await call('ensureBackend', { ...ensure, retryID: '2' })).status, 'Running');
  mayEnd();
  assert.equal((await call('ensureBackend', { ...ensure, retryID: '3' })).status, 'Succ');
  assert.equal(started.length, 1);
  await app.close();
});

test('a slow operation is Running, and a later call gets its result', async () => {
  const { started, mayEnd, ensureBackend } = slowly();
  const { call } = await server({ ensureBackend }, 50);
  const first = await call('ensureBackend', ensure);
  assert.deepEqual([first.status, first.minRetryDelayInSeconds], ['Running', 1]);
  mayEnd();
  assert.equal((await call('ensureBackend', ensure)).status, 'Succ');
  assert.equal(started.length, 1);
});

test('calls about one backend run in order, and those about others at the same time', async () => {
  const { started, ended, mayEnd, ensureBackend } = slowly();
  const { call } = await server({ ensureBackend });
  const weight = (text: string) => call('ensureBackend', { ...ensure, parameters: { weight: text } });
  // The third call has the content of the first, and must not join it: the last one wins.
  const calls = [weight('1'), weight('2'), weight('1')];
  calls.push(call('ensureBackend', { ...ensure, backendAddr: '10.0.0.2:80', parameters: { weight: '3' } }));
  await until(() => started.length === 2);
  assert.deepEqual(started, ['1', '3']);
  mayEnd();
  await Promise.all(calls);
  assert.deepEqual(
    [started, ended],
    [
      ['1', '3', '2', '1'],
      ['1', '3', '2', '1'],
    ],
  );
});

test('operations that have ended are forgotten', async () => {
  const operations = new Operations(1000);
  for (const status of ['Succ', 'Fail', 'Running']) {
    await operations.call(
      status,
      'content',
      async () => ({ status }),
      () => true,
    );
  }
  assert.equal(operations.last.size, 0);
});

test('errors are responses with status 200, and logged', async () => {
  const errors: Record<string, Error> = {
    quota: new DriverError('QuotaExceeded', 'no room'),
    later: new NotYet('busy', 7),
    defect: new TypeError('secret'),
  };
  const fail = ({ name = '' }) => {
    throw errors[name];
  };
  const healthz = () => fail({ name: 'defect' });
  const { call, logged } = await server({ healthz, ensureBackend: fail, validateBackend: fail });
  const about = (name: string) => call('ensureBackend', { ...ensure, name });
  assert.deepEqual(await about('quota'), { code: 200, status: 'Fail', msg: 'no room', reason: 'QuotaExceeded' });
  assert.deepEqual(await about('later'), { code: 200, status: 'Running', msg: 'busy', minRetryDelayInSeconds: 7 });
  const defect = await about('defect');
  assert.deepEqual([defect.code, defect.status, defect.reason], [200, 'Fail', 'Internal']);
  assert.doesNotMatch(defect.msg, /secret/);
  assert.equal((await call('healthz', {})).healthy, false);
  const refused = await call('validateBackend', { backendType: 'Pod', operation: 'Create', name: 'quota' });
  assert.deepEqual(refused, { code: 200, succ: false, msg: 'no room' });
  assert.equal(logged.length, 4);
  assert.match(logged[0] ?? '', /^ensureBackend ".*quota.*" Fail "no room"$/);
});

test('bodies are checked', async () => {
  const { call } = await server({ ensureBackend: () => ({ injectedInfo: {} }) });
  const deep = '['.repeat(100_000) + ']'.repeat(100_000);
  const bad: Record<string, string> = {
    empty: '',
    'not JSON': '{',
    'more than an object': `${JSON.stringify(ensure)}{}`,
    list: '[]',
    'wrong type': JSON.stringify({ ...ensure, parameters: { weight: 5 } }),
    'too deep': JSON.stringify({ ...ensure, more: 0 }).replace('"more":0', `"more":${deep}`),
  };
  for (const [what, body] of Object.entries(bad)) {
    const { code, error } = await call('ensureBackend', body);
    assert.deepEqual([code, typeof error], [400, 'string'], what);
    assert.doesNotMatch(error, /\n|\.js/, what);
  }
  assert.equal((await call('ensureBackend', 'x'.repeat(5_000_000))).code, 413);
  const maps = { lbInfo: null, parameters: null, injectedInfo: null, unknown: 1 };
  assert.equal((await call('ensureBackend', { ...ensure, ...maps })).status, 'Succ');
});

test('methods, paths and probes', async () => {
  const { app } = await server({});
  const request = async (method: 'GET' | 'POST' | 'PUT', url: string) => {
    const { statusCode, headers } = await app.inject({ method, url });
    return [statusCode, headers.allow];
  };
  assert.deepEqual(await request('GET', '/ensureBackend'), [405, 'POST']);
  assert.deepEqual(await request('PUT', '/healthz?x'), [405, 'GET, POST']);
  for (const path of ['/', '/nothing', '/ensureBackend/', '/constructor']) {
    assert.deepEqual(await request('POST', path), [404, undefined]);
  }
  for (const path of ['/healthz', '/livez', '/readyz']) assert.deepEqual(await request('GET', path), [200, undefined]);
  assert.deepEqual(await request('POST', '/healthz'), [200, undefined]);
});

test('the token of a load balancer, and the time that a backend drains', () => {
  assert.deepEqual(['createLoadBalancer(a(b))', 'plain', 'x()'].map(tokenOf), ['a(b)', 'plain', 'x()']);
  const ago = (seconds: number) => new Date(Date.now() - seconds * 1000).toISOString();
  assert.equal(Math.round(drainTimeLeft(ago(10), 30)), 20);
  assert.deepEqual([drainTimeLeft(ago(31), 30), drainTimeLeft(undefined, 30), drainTimeLeft(ago(1), 0)], [0, 0, 0]);
  assert.throws(() => drainTimeLeft('yesterday', 30), /firstRequestedAt/);
});

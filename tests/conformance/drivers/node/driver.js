/**
 * A template for LBCF drivers with Express: replace cloud.js with your cloud's client library.
 *
 * It stores nothing between calls: the controller sends `lbInfo` and `backendAddr` with each call, and the
 * cloud stores the rest. It never returns an earlier result for a `recordID`, because settings change under
 * the same one. It changes only the backend of the call.
 *
 * This cloud takes a while to create a load balancer. The driver does not wait for it: it returns `Running`,
 * and the controller repeats the call until the response is `Succ` or `Fail`.
 */

import { createServer } from 'node:http';
import { parseArgs } from 'node:util';
import express from 'express';
import * as address from './address.js';
import { Cloud, CloudError, NotFound } from './cloud.js';
import { observer } from './observer.js';
import * as wire from './wire.js';

const cloud = new Cloud();

// Responses. Every response has status 200, also a rejection, whose reason reaches the user as `msg`.

const succ = (fields = {}) => ({ status: 'Succ', msg: '', ...fields });
const fail = (msg) => ({ status: 'Fail', msg });
// Without `minRetryDelayInSeconds`, an integer, the controller chooses when to poll.
const running = (msg) => ({ status: 'Running', msg });
const verdict = (problem) => ({ succ: problem === undefined, msg: problem ?? '' });

// The rules of the fields. The same rules apply in `validate…` and in the operations themselves: objects can
// reach the controller without having been validated. Each returns a message, or undefined.

const problemWithLoadBalancer = ({ vpc = '', port = '80' }, attributes) => {
  if (!vpc.startsWith('vpc-')) return `lbSpec.vpc: "${vpc}": must name a network, as in "vpc-1"`;
  if (!isWholeNumber(port, 1, 65535)) return `lbSpec.port: "${port}": not a port from 1 to 65535`;
  return problemWithAttributes(attributes);
};

const problemWithAttributes = ({ bandwidth = '1' }) =>
  isWholeNumber(bandwidth, 1, 999999999)
    ? undefined
    : `attributes.bandwidth: "${bandwidth}": not a whole number from 1 to 999999999`;

const problemWithParameters = ({ weight = '100' }) =>
  isWholeNumber(weight, 0, 100)
    ? undefined
    : `parameters.weight: "${weight}": not a whole number from 0 to 100`;

const isWholeNumber = (text, least, most) =>
  /^[0-9]{1,9}$/.test(text) && Number(text) >= least && Number(text) <= most;

const problemWithOperation = (operation) =>
  ['Create', 'Update'].includes(operation) ? undefined : `operation: "${operation}": not Create or Update`;

// The webhooks: each is a function from the body of the request to that of the response. With a cloud behind
// a network they are `async`, and nothing else changes.

const webhooks = {
  healthz: () => ({ healthy: true }),

  validateLoadBalancer(body) {
    const operation = wire.text(wire.call(body), 'operation');
    const [spec, attributes] = [wire.map(body, 'lbSpec'), wire.map(body, 'attributes')];
    const old = wire.map(body, 'oldAttributes');
    wire.flag(body, 'dryRun');
    if (operation === 'Update' && (attributes.charge ?? old.charge) !== (old.charge ?? attributes.charge)) {
      return verdict(`attributes.charge: cannot be changed from "${old.charge}" to "${attributes.charge}"`);
    }
    return verdict(problemWithOperation(operation) ?? problemWithLoadBalancer(spec, attributes));
  },

  createLoadBalancer(body) {
    const { recordID, dryRun } = wire.operation(body);
    const [spec, attributes] = [wire.map(body, 'lbSpec'), wire.map(body, 'attributes')];
    if (recordID === '') return fail('recordID: missing; without it a repeated call would create twice');
    const problem = problemWithLoadBalancer(spec, attributes);
    if (problem) return fail(problem);
    // The recordID serves as client token: each call finds what the first one started, and
    // none starts it again, also if several run concurrently.
    const lb = cloud.create(recordID, spec, attributes, { dryRun });
    // A dry run returns the final result: there is nothing for which the controller could wait.
    return lb.ready || dryRun ? succ({ lbInfo: { lbID: lb.id } }) : running(`${lb.id} is being created`);
  },

  ensureLoadBalancer(body) {
    const { lbInfo, dryRun } = wire.operation(body);
    const attributes = wire.map(body, 'attributes');
    const problem = problemWithAttributes(attributes);
    if (problem) return fail(problem);
    cloud.setAttributes(identity(lbInfo), attributes, { dryRun });
    return succ();
  },

  deleteLoadBalancer(body) {
    const { recordID, lbInfo, dryRun } = wire.operation(body);
    wire.map(body, 'attributes');
    // An empty lbInfo means that the controller never received an identity: the creation still runs,
    // or its last response was lost. This is the last chance to delete what it created.
    const id = lbInfo.lbID ?? cloud.findByToken(tokenOfCreation(recordID))?.id;
    // An unknown load balancer is already deleted: after a Fail the controller would retry indefinitely.
    unlessGone(() => cloud.delete(id, { dryRun }));
    return succ();
  },

  validateBackend(body) {
    const operation = wire.text(wire.call(body), 'operation');
    const backendType = wire.text(body, 'backendType');
    wire.flag(body, 'dryRun');
    wire.map(body, 'lbInfo'); // empty as long as the load balancer has not been created
    // Deployed controllers write a capital O, the specification a small one. Nothing depends on the
    // old parameters here; a driver that forbids a change compares them.
    wire.map(body, body.OldParameters == null ? 'oldParameters' : 'OldParameters');
    if (!['Pod', 'Service', 'Static'].includes(backendType)) {
      return verdict(`backendType: "${backendType}": not Pod, Service or Static`);
    }
    return verdict(problemWithOperation(operation) ?? problemWithParameters(wire.map(body, 'parameters')));
  },

  generateBackendAddr(body) {
    wire.operation(body);
    const [pod, service] = [wire.object(body, 'podBackend'), wire.object(body, 'serviceBackend')];
    if (!pod === !service) return fail('either podBackend or serviceBackend is needed');
    return succ({ backendAddr: pod ? address.ofPod(pod) : address.ofService(service) });
  },

  ensureBackend(body) {
    const { lbInfo, dryRun } = wire.operation(body);
    const [addr, parameters] = [wire.text(body, 'backendAddr'), wire.map(body, 'parameters')];
    wire.map(body, 'injectedInfo');
    const unusable = address.USABLE.test(addr) ? null : `backendAddr: ${JSON.stringify(addr)}: not HOST:PORT/PROTOCOL`;
    const problem = unusable ?? problemWithParameters(parameters);
    if (problem) return fail(problem);
    cloud.bind(identity(lbInfo), addr, parameters, { dryRun });
    return succ({ injectedInfo: {} }); // the address identifies the backend, so nothing else has to be stored
  },

  deregisterBackend(body) {
    const { lbInfo, dryRun } = wire.operation(body);
    const addr = wire.text(body, 'backendAddr');
    wire.map(body, 'parameters');
    wire.map(body, 'injectedInfo');
    unlessGone(() => cloud.unbind(lbInfo.lbID, addr, { dryRun })); // it may have been deleted with its load balancer
    return succ();
  },
};

/** The load balancer of a call: the `lbInfo` that `createLoadBalancer` returned. */
function identity({ lbID }) {
  if (lbID === undefined) throw new NotFound('lbInfo.lbID: missing; the load balancer has not been created');
  return lbID;
}

/** The recordID of the creation of the object that is being deleted, if recordIDs have their usual form.
 * With another form no load balancer has this token, and nothing is deleted. */
function tokenOfCreation(recordID) {
  const usual = 'deleteLoadBalancer(';
  return recordID.startsWith(usual) ? `createLoadBalancer(${recordID.slice(usual.length)}` : '';
}

function unlessGone(act) {
  try {
    act();
  } catch (error) {
    if (!(error instanceof NotFound)) throw error;
  }
}

// The server.

const app = express();
app.disable('etag'); // it would turn a response into a 304
app.enable('case sensitive routing').disable('x-powered-by');
app.use('/_observe', observer(cloud));
// A request contains a whole pod, and the default limit of Express is 100 kB. Every media type is decoded as
// JSON, because callers differ. Express would decode an empty body as an empty object.
const verify = (_request, _response, body) => {
  if (body.length === 0) throw new wire.BadRequest('the body is empty');
};
const json = express.json({ limit: '4mb', type: () => true, verify });
const notAllowed = (methods) => (_request, response) =>
  response.set('Allow', methods).status(405).json({ error: `this takes ${methods}` });
const { healthz, ...calls } = webhooks;
const probe = (_request, response) => response.json(healthz()); // whatever its body is
app.route('/healthz').get(probe).post(probe).all(notAllowed('GET, POST'));
for (const [name, answer] of Object.entries(calls)) {
  const act = async (request, response) => response.json(await answer(request.body));
  app.route(`/${name}`).post(json, act).all(notAllowed('POST'));
}
app.use((_request, response) => response.status(404).json({ error: 'there is no such webhook' }));
// A rejection by the cloud becomes a `Fail`, which the controller retries later. All other errors are invalid
// calls or bugs, with a JSON response, too.
app.use((error, _request, response, _next) => {
  if (error instanceof CloudError) return response.json({ ...fail(error.message), reason: error.reason });
  const status = error.status ?? 500;
  if (status >= 500) console.error(error);
  return response.status(status).json({ error: status < 500 ? error.message : 'a mistake in the driver' });
});

const { values: options } = parseArgs({
  options: { host: { type: 'string', default: '127.0.0.1' }, port: { type: 'string', default: '8080' } },
});
// Longer than the idle timeout of callers, so that no call uses a connection that is being closed. A request
// that arrives too slowly is rejected.
const limits = { keepAliveTimeout: 75_000, requestTimeout: 10_000, connectionsCheckingInterval: 1000 };
const server = createServer(limits, app);
server.listen(Number(options.port), options.host, () => {
  console.log(`listening on ${options.host}:${server.address().port}`);
});
process.on('SIGTERM', () => process.exit(0));

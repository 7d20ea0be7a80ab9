/**
 * What every LBCF driver needs, whatever its load balancer: errors, and the server of the webhooks, by the rules of LBCF's
 * specification. There is nothing to fill in.
 */

import Fastify, { type FastifyError, type FastifyInstance } from 'fastify';
import { Operations, type WebhookResponse } from './operations.js';
import { requestSchemas } from './schemas.js';
import type { Driver, Reason, ResultOf, Webhook } from './types.js';

/** A failure: operations respond with Fail, validations with succ false. Users read the message. */
export class DriverError extends Error {
  constructor(
    readonly reason: Reason,
    message: string,
  ) {
    super(message);
  }
}

/** Not done yet, and no failure: the response is Running, and the controller calls again after the delay. */
export class NotYet extends Error {
  constructor(
    message: string,
    readonly delaySeconds = 0,
  ) {
    super(message);
  }
}

/** Identifies a load balancer in all its operations: the uid in the parentheses of recordID, or the whole text. */
export function tokenOf(recordID: string): string {
  return /\((.*)\)/s.exec(recordID)?.[1] || recordID;
}

/** For how many seconds a backend still drains. Depends on the request only, so it survives restarts. */
export function drainTimeLeft(firstRequestedAt: string | null | undefined, drainSeconds: number): number {
  if (firstRequestedAt == null) return 0;
  const since = Date.parse(firstRequestedAt);
  if (Number.isNaN(since)) throw invalid('firstRequestedAt', firstRequestedAt, 'not a time as in RFC 3339');
  return Math.max(0, (since - Date.now()) / 1000 + drainSeconds);
}

/** A value that is not accepted: the message has the field, the value and what is allowed. */
export function invalid(field: string, value: string, problem: string): DriverError {
  return new DriverError('InvalidArgument', `${field}: ${JSON.stringify(value)}: ${problem}`);
}

type OtherWebhook = Exclude<Webhook, 'healthz'>;

/** Decisions are answered yes or no. Operations about one load balancer or one backend run one after the other. */
const scopes: Record<OtherWebhook, 'decision' | 'loadBalancer' | 'backend' | 'unordered'> = {
  validateLoadBalancer: 'decision',
  createLoadBalancer: 'loadBalancer',
  ensureLoadBalancer: 'loadBalancer',
  deleteLoadBalancer: 'loadBalancer',
  validateBackend: 'decision',
  generateBackendAddr: 'unordered',
  ensureBackend: 'backend',
  deregisterBackend: 'backend',
  judgePodDeregister: 'decision',
  listBackends: 'unordered',
};

type WebhookRequest = { recordID?: string; namespace?: string; name?: string; [name: string]: unknown };

/** The same text for the same value, whatever the order of its members. */
function canonical(value: unknown): string {
  const sort = (_name: string, member: unknown) => {
    if (typeof member !== 'object' || member === null || Array.isArray(member)) return member;
    return Object.fromEntries(Object.entries(member).sort(([one], [other]) => (one < other ? -1 : 1)));
  };
  try {
    return JSON.stringify(value, sort);
  } catch {
    throw badRequest('the body is nested too deeply');
  }
}

function badRequest(message: string): Error {
  return Object.assign(new Error(message), { statusCode: 400 });
}

/** In one line: a message, or the stack of an unexpected error. */
function describe(error: unknown): string {
  return JSON.stringify(error instanceof Error ? (error.stack ?? error.message) : String(error));
}

type Log = (line: string) => void;

/** The server of a driver, which does not listen yet. */
export function createServer(driver: Driver, { deadlineMs = 8000, log = console.error as Log } = {}): FastifyInstance {
  const operations = new Operations(deadlineMs);

  /** Calls the driver. Errors become responses. */
  const respond = async (webhook: OtherWebhook, request: WebhookRequest): Promise<WebhookResponse> => {
    const isDecision = scopes[webhook] === 'decision';
    try {
      const result = await driver[webhook](request as never);
      return { ...result, ...(isDecision ? { succ: true } : { status: 'Succ' }), msg: '' };
    } catch (error) {
      const isKnown = error instanceof DriverError || error instanceof NotYet;
      const msg = isKnown ? error.message : 'internal error of the driver, which is in its log';
      if (error instanceof NotYet && !isDecision) {
        return { status: 'Running', msg, minRetryDelayInSeconds: error.delaySeconds };
      }
      const about = `${request.namespace ?? ''}/${request.name ?? ''} ${request.recordID ?? ''}`;
      log(`${webhook} ${describe(about)} ${isDecision ? 'succ false' : 'Fail'} ${describe(isKnown ? msg : error)}`);
      if (isDecision) return { succ: false, msg };
      return { status: 'Fail', msg, reason: error instanceof DriverError ? error.reason : 'Internal' };
    }
  };
  const checkHealth = async (): Promise<ResultOf<'healthz'>> => {
    try {
      return await driver.healthz({});
    } catch (error) {
      log(`healthz ${describe(error)}`);
      return { healthy: false };
    }
  };

  const app = Fastify({
    bodyLimit: 4 * 1024 * 1024,
    requestTimeout: 10_000,
    // Longer than controllers keep idle connections, so that no call uses a connection that is being closed.
    keepAliveTimeout: 75_000,
    ajv: { customOptions: { coerceTypes: false, useDefaults: false, removeAdditional: false, allowUnionTypes: true } },
  });

  // Each body is JSON, whatever its content-type is. JSON.parse makes own properties, of any name.
  const utf8 = new TextDecoder('utf-8', { fatal: true });
  app.removeAllContentTypeParsers();
  app.addContentTypeParser<Buffer>('*', { parseAs: 'buffer' }, async (_request: unknown, body: Buffer) => {
    try {
      return body.length > 0 ? JSON.parse(utf8.decode(body)) : undefined;
    } catch (error) {
      throw badRequest(`the body is not JSON: ${(error as Error).message}`);
    }
  });
  app.addHook('onRequest', async (request, reply) => {
    delete request.raw.headers['content-type'];
    if (!request.is404) return;
    const url = request.url.replace(/\?.*/, '');
    const methods = ['GET', 'POST'].filter((method) => app.hasRoute({ method, url })).join(', ');
    if (methods === '') return reply.code(404).send({ error: 'no such webhook' });
    return reply
      .code(405)
      .headers({ allow: methods })
      .send({ error: `the method is not ${methods}` });
  });
  // When the server ends, a connection that is kept would hold it up.
  let isClosing = false;
  app.addHook('preClose', async () => void (isClosing = true));
  app.addHook('onSend', async (_request, reply) => void (isClosing && reply.header('connection', 'close')));
  app.setErrorHandler((error: FastifyError, _request, reply) => {
    const { statusCode = 500 } = error;
    if (statusCode >= 500) log(`internal error ${describe(error)}`);
    return reply.code(statusCode).send({ error: statusCode < 500 ? error.message : 'internal error' });
  });

  app.get('/livez', () => 'ok');
  app.get('/readyz', () => 'ok');
  app.route({ method: ['GET', 'POST'], url: '/healthz', handler: checkHealth });
  for (const webhook of Object.keys(scopes) as OtherWebhook[]) {
    const body = requestSchemas[webhook];
    app.post<{ Body: WebhookRequest }>(`/${webhook}`, { schema: { body } }, async ({ body: request }, reply) => {
      request.oldParameters ??= request.OldParameters;
      for (const [name, member] of Object.entries(body.properties)) {
        if ('additionalProperties' in member) request[name] ??= {};
      }
      const run = () => respond(webhook, request);
      if (scopes[webhook] === 'decision') return run();
      const content = webhook + canonical({ ...request, retryID: undefined });
      return operations.call(objectOf(webhook, request) ?? content, content, run, () => !reply.raw.destroyed);
    });
  }
  return app;
}

/** What the operation is about, if others about it have to wait. */
function objectOf(webhook: OtherWebhook, { recordID = '', lbInfo, backendAddr }: WebhookRequest): string | undefined {
  if (scopes[webhook] === 'loadBalancer') return `load balancer ${tokenOf(recordID)}`;
  return scopes[webhook] === 'backend' ? `backend ${canonical([lbInfo, backendAddr])}` : undefined;
}

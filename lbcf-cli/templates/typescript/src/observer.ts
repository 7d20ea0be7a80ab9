/**
 * The state of the cloud, whatever the driver responds: for `lbcf conformance`, with --observe. Everyone who can call
 * the driver can use it: not for production.
 *
 * FILL-IN: read it from your load balancer's API. POST /_observe/fault makes the API fail for a while; with a real one,
 * remove the route and `fault` in conformance.yaml, or block the connection to it.
 */

import type { FastifyInstance } from 'fastify';
import type { Cloud } from './cloud.js';
import { lbInfoOf, readAttributes } from './driver.js';
import { parseAddress } from './lbcf/address.js';
import { invalid } from './lbcf/runtime.js';
import type { StringMap } from './lbcf/types.js';

/** A change that the driver does not know of, as by hand. */
type Change = { lbInfo: StringMap; addr: string; attributes?: StringMap };

const map = { type: 'object', additionalProperties: { type: 'string' } };
const schema = (required: string[]) => ({
  body: {
    type: 'object',
    required,
    properties: { lbInfo: map, attributes: map, addr: { type: 'string' }, on: { type: 'boolean' } },
  },
});

/** Adds the routes of the observer, next to the webhooks. */
export function addObserver(app: FastifyInstance, cloud: Cloud): void {
  app.get('/_observe', () => ({
    loadBalancers: cloud.list().map((each) => ({
      lbInfo: lbInfoOf(each),
      attributes: each.attributes,
      backends: each.backends.map(({ addr, weight }) => ({ addr, parameters: { weight: `${weight}` } })),
    })),
  }));

  const onPost = <Body>(path: string, required: string[], change: (body: Body) => Promise<void> | void) => {
    app.post(`/_observe/${path}`, { schema: schema(required) }, async ({ body }, reply) => {
      try {
        await change(body as Body);
        return await reply.send({});
      } catch (error) {
        return await reply.code(400).send({ error: (error as Error).message });
      }
    });
  };
  onPost<Change>('foreign', ['lbInfo', 'addr'], async ({ lbInfo, addr }) => {
    if (!parseAddress(addr)) throw invalid('addr', addr, 'not IP:port');
    await cloud.register(lbInfo.lbID ?? '', { addr, weight: 1 });
  });
  onPost<Change>('unbind', ['lbInfo', 'addr'], ({ lbInfo, addr }) => cloud.deregister(lbInfo.lbID ?? '', addr));
  onPost<Change>('attributes', ['lbInfo'], ({ lbInfo, attributes = {} }) =>
    cloud.setAttributes(lbInfo.lbID ?? '', readAttributes(attributes)),
  );
  onPost<{ on: boolean }>('fault', ['on'], ({ on }) => cloud.setOutage(on));
}

/**
 * For tests only: what the cloud holds, for `lbcf conformance`, which compares it with what the driver said.
 * It has nothing to do with the webhooks; leave it out where the driver serves real users.
 */

import express from 'express';
import * as wire from './wire.js';

/** Serves `/_observe`. */
export function observer(cloud) {
  const router = express.Router();

  router.get('/', (_request, response) => {
    const loadBalancers = cloud.all().map((lb) => ({
      lbInfo: { lbID: lb.id },
      attributes: lb.attributes,
      backends: [...lb.backends].map(([addr, parameters]) => ({ addr, parameters })),
    }));
    response.json({ loadBalancers });
  });

  // A backend that somebody else binds.
  router.post('/foreign', express.json(), ({ body }, response) => {
    const { lbID } = wire.map(wire.call(body), 'lbInfo');
    cloud.bind(lbID, wire.text(body, 'addr'), {}, { dryRun: false });
    response.json({});
  });

  return router;
}

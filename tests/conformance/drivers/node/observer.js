/**
 * For tests only: the contents of the cloud, which `lbcf conformance` compares with the driver's responses.
 * It is no webhook; remove it from a driver in production.
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

  // A backend that is registered outside of the driver.
  router.post('/foreign', express.json(), ({ body }, response) => {
    const { lbID } = wire.map(wire.call(body), 'lbInfo');
    cloud.bind(lbID, wire.text(body, 'addr'), {}, { dryRun: false });
    response.json({});
  });

  return router;
}

/**
 * A load balancer cloud in memory: replace it with your cloud's client library.
 *
 * Like other clouds it takes a while to create a load balancer, rejects requests with errors, is independent
 * of Kubernetes, and makes creation idempotent by a client token. It stores everything that the driver has to
 * find again, so the driver could be restarted at any time (if this cloud were not in its memory).
 *
 * Each method is one atomic call of the cloud's API. With `dryRun`, a call returns its result and changes
 * nothing.
 */

import { randomBytes } from 'node:crypto';

const CREATION_MS = 300;
const MAX_LOAD_BALANCERS = 1000;
const MAX_BACKENDS = 1000; // of one load balancer

/** The cloud rejects the request; the message is the reason. */
export class CloudError extends Error {}

/** The load balancer does not exist. */
export class NotFound extends CloudError {
  reason = 'NotFound'; // after ensureLoadBalancer the controller creates the load balancer again
}

/** A load balancer in the cloud. */
class LoadBalancer {
  // A random id is never reused, so an old reference cannot hit another load balancer.
  id = `lb-${randomBytes(8).toString('hex')}`;
  attributes = {};
  /** Parameters by address. */
  backends = new Map();

  constructor(clientToken, spec, readyAt) {
    this.clientToken = clientToken;
    this.spec = spec;
    this.readyAt = readyAt;
  }

  /** Whether it is created. This depends only on the time: nothing runs in the background. */
  get ready() {
    return performance.now() >= this.readyAt;
  }

  /** The attributes after an update: the given ones, and the billing model, which is immutable once it
   * is set. */
  changedTo(attributes) {
    const { charge } = this.attributes;
    if (charge === undefined) return attributes;
    const wanted = attributes.charge ?? charge;
    if (wanted !== charge) {
      throw new CloudError(`${this.id} is charged "${charge}"; this cannot be changed to "${wanted}"`);
    }
    return { ...attributes, charge };
  }
}

/** Load balancers and their backends. */
export class Cloud {
  #loadBalancers = new Map();

  /** Starts to create a load balancer; the same client token returns the same one, ready or not. */
  create(clientToken, spec, attributes, { dryRun }) {
    let lb = this.findByToken(clientToken);
    if (!lb) {
      if (this.#loadBalancers.size >= MAX_LOAD_BALANCERS) {
        throw new CloudError(`quota: there are ${MAX_LOAD_BALANCERS} load balancers already`);
      }
      lb = new LoadBalancer(clientToken, spec, performance.now() + CREATION_MS);
    } else if (!sameMap(lb.spec, spec)) {
      throw new CloudError(`${lb.id} was created with the same token from another lbSpec`);
    }
    const changed = lb.changedTo(attributes);
    if (!dryRun) {
      lb.attributes = changed;
      this.#loadBalancers.set(lb.id, lb);
    }
    return lb;
  }

  /** The load balancer that was created with this client token, if any. */
  findByToken(clientToken) {
    return this.all().find((lb) => lb.clientToken === clientToken);
  }

  /** The load balancer with this id. */
  get(id) {
    const lb = this.#loadBalancers.get(id);
    if (!lb) throw new NotFound(`there is no load balancer "${id}"`);
    return lb;
  }

  /** Updates a load balancer's attributes. */
  setAttributes(id, attributes, { dryRun }) {
    const lb = this.get(id);
    const changed = lb.changedTo(attributes);
    if (!dryRun) lb.attributes = changed;
  }

  /** Deletes a load balancer, also one that is being created, with its backends. */
  delete(id, { dryRun }) {
    const lb = this.get(id);
    if (!dryRun) this.#loadBalancers.delete(lb.id);
  }

  /** Registers one backend, or updates its parameters; all others stay unchanged. */
  bind(id, addr, parameters, { dryRun }) {
    const { backends } = this.get(id);
    if (!backends.has(addr) && backends.size >= MAX_BACKENDS) {
      throw new CloudError(`quota: ${id} has ${MAX_BACKENDS} backends already`);
    }
    if (!dryRun) backends.set(addr, parameters);
  }

  /** Deregisters one backend, if it is registered. */
  unbind(id, addr, { dryRun }) {
    const { backends } = this.get(id);
    if (!dryRun) backends.delete(addr);
  }

  /** All load balancers, also those being created. */
  all() {
    return [...this.#loadBalancers.values()];
  }
}

function sameMap(one, other) {
  const names = Object.keys(one);
  return names.length === Object.keys(other).length && names.every((name) => one[name] === other[name]);
}

/**
 * A load balancer cloud in memory: the place of your cloud's client library.
 *
 * It behaves as clouds do: creating takes a while, what it refuses it refuses by errors, it knows nothing
 * of Kubernetes, and it makes creation repeatable by a client token. Everything that the driver has to find
 * again is kept here, so the driver may be restarted at any time (were this cloud not in its own memory).
 *
 * Each method is one call of the cloud's interface, and one step: nothing happens in between. With `dryRun`,
 * a call says what it would say, and changes nothing.
 */

import { randomBytes } from 'node:crypto';

const CREATION_MS = 300;
const MAX_LOAD_BALANCERS = 1000;
const MAX_BACKENDS = 1000; // of one load balancer

/** The cloud refuses; the message says why, for people. */
export class CloudError extends Error {}

/** There is no such load balancer. */
export class NotFound extends CloudError {}

/** A load balancer as the cloud has it. */
class LoadBalancer {
  // A random id is never used again, so what still names a deleted load balancer cannot hit another one.
  id = `lb-${randomBytes(8).toString('hex')}`;
  attributes = {};
  /** Parameters by address. */
  backends = new Map();

  constructor(clientToken, spec, readyAt) {
    this.clientToken = clientToken;
    this.spec = spec;
    this.readyAt = readyAt;
  }

  /** Whether its creation is over. How far it is follows from the time: nothing runs for it. */
  get ready() {
    return performance.now() >= this.readyAt;
  }

  /** The attributes that a change leads to: these, and how the load balancer is charged, which is fixed
   * once it is set. */
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

  /** Begins to create a load balancer; the same client token gives the same one, ready or not. */
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

  /** The load balancer that was created with this client token, if there is one. */
  findByToken(clientToken) {
    return this.all().find((lb) => lb.clientToken === clientToken);
  }

  /** The load balancer with this id. */
  get(id) {
    const lb = this.#loadBalancers.get(id);
    if (!lb) throw new NotFound(`there is no load balancer "${id}"`);
    return lb;
  }

  /** Brings a load balancer to these attributes. */
  setAttributes(id, attributes, { dryRun }) {
    const lb = this.get(id);
    const changed = lb.changedTo(attributes);
    if (!dryRun) lb.attributes = changed;
  }

  /** Deletes a load balancer, also one that is being created, with whatever is bound to it. */
  delete(id, { dryRun }) {
    const lb = this.get(id);
    if (!dryRun) this.#loadBalancers.delete(lb.id);
  }

  /** Adds one backend, or brings it to these parameters; all others stay as they are. */
  bind(id, addr, parameters, { dryRun }) {
    const { backends } = this.get(id);
    if (!backends.has(addr) && backends.size >= MAX_BACKENDS) {
      throw new CloudError(`quota: ${id} has ${MAX_BACKENDS} backends already`);
    }
    if (!dryRun) backends.set(addr, parameters);
  }

  /** Takes one backend away, if it is there. */
  unbind(id, addr, { dryRun }) {
    const { backends } = this.get(id);
    if (!dryRun) backends.delete(addr);
  }

  /** All there is, also what is being created. */
  all() {
    return [...this.#loadBalancers.values()];
  }
}

function sameMap(one, other) {
  const names = Object.keys(one);
  return names.length === Object.keys(other).length && names.every((name) => one[name] === other[name]);
}

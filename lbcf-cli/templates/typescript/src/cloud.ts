/**
 * The client of the load balancer's API.
 *
 * FILL-IN: a client of that API, in place of this one, which keeps load balancers in memory, and with --cloud-file in a
 * file that survives the process. The driver needs only the public functions of Cloud, and errors with a reason. Take
 * credentials from files, which a Kubernetes Secret can be mounted as.
 */

import { randomBytes } from 'node:crypto';
import { readFileSync, renameSync, writeFileSync } from 'node:fs';
import { DriverError } from './lbcf/runtime.js';
import type { StringMap } from './lbcf/types.js';
import { Proxies } from './proxy.js';

const MAX_LOAD_BALANCERS = 1000;

/** What users choose when they create a load balancer. */
export type Spec = { vpcID: string; port: number; protocol: string };

/** A backend; one with weight 0 gets no new connections. Without recordID somebody else has registered it. */
export type Backend = { addr: string; weight: number; recordID?: string };

export type LoadBalancer = { id: string; token: string; spec: Spec; attributes: StringMap; backends: Backend[] };

type State = { loadBalancers: LoadBalancer[] };
type Options = { file?: string | undefined; forward?: boolean };

/** Each function is one call of the API, which changes all or nothing. With dryRun it checks, and changes nothing. */
export class Cloud {
  readonly #file: string | undefined;
  readonly #proxies: Proxies | undefined;
  #state: State = { loadBalancers: [] };
  #lastChange: Promise<unknown> = Promise.resolve();
  #hasOutage = false;

  private constructor({ file, forward }: Options) {
    this.#file = file;
    this.#proxies = forward ? new Proxies() : undefined;
  }

  /** Connects to the cloud. Throws if the file cannot be read or a port cannot be used. */
  static async connect(options: Options = {}): Promise<Cloud> {
    const cloud = new Cloud(options);
    if (options.file !== undefined) cloud.#state = read(options.file);
    await cloud.#forward(cloud.#state);
    return cloud;
  }

  /** Creates a load balancer, or returns the one that was created with this token. */
  create(token: string, spec: Spec, attributes: StringMap, dryRun = false): Promise<LoadBalancer> {
    return this.#change(dryRun, ({ loadBalancers }) => {
      const existing = loadBalancers.find((each) => each.token === token);
      if (existing) return Object.assign(existing, { attributes });
      if (loadBalancers.length >= MAX_LOAD_BALANCERS) {
        throw new DriverError('QuotaExceeded', `there are ${MAX_LOAD_BALANCERS} load balancers already`);
      }
      // A random ID is never used again, so that a call about a deleted load balancer finds no other one.
      const created = { id: `lb-${randomBytes(6).toString('hex')}`, token, spec, attributes, backends: [] };
      loadBalancers.push(created);
      return created;
    });
  }

  setAttributes(id: string, attributes: StringMap, dryRun = false): Promise<void> {
    return this.#change(dryRun, (state) => void (get(state, id).attributes = attributes));
  }

  /** Deletes a load balancer with all its backends. */
  delete(id: string, dryRun = false): Promise<void> {
    return this.#change(dryRun, (state) => {
      const deleted = get(state, id);
      state.loadBalancers = state.loadBalancers.filter((each) => each !== deleted);
    });
  }

  /** Registers a backend, or replaces what is registered with its address. */
  register(id: string, backend: Backend, dryRun = false): Promise<void> {
    return this.#change(dryRun, (state) => {
      const { backends } = get(state, id);
      const at = backends.findIndex(({ addr }) => addr === backend.addr);
      backends.splice(at < 0 ? backends.length : at, 1, backend);
    });
  }

  /** Lets no new connections reach a backend; false if it is not registered. */
  drain(id: string, addr: string, dryRun = false): Promise<boolean> {
    return this.#change(dryRun, (state) => {
      const backend = get(state, id).backends.find((each) => each.addr === addr);
      if (backend) backend.weight = 0;
      return backend !== undefined;
    });
  }

  /** Deregisters a backend, if it is registered. */
  deregister(id: string, addr: string, dryRun = false): Promise<void> {
    return this.#change(dryRun, (state) => {
      const found = get(state, id);
      found.backends = found.backends.filter((each) => each.addr !== addr);
    });
  }

  /** The load balancer that was created with this token. */
  async find(token: string): Promise<LoadBalancer | undefined> {
    this.#check();
    return this.#state.loadBalancers.find((each) => each.token === token);
  }

  async get(id: string): Promise<LoadBalancer> {
    this.#check();
    return get(this.#state, id);
  }

  /** All load balancers, also in an outage: for tests and the observer. */
  list(): readonly LoadBalancer[] {
    return this.#state.loadBalancers;
  }

  /** Starts or ends an outage, in which the API does not respond: for the observer. */
  setOutage(on: boolean): void {
    this.#hasOutage = on;
  }

  async close(): Promise<void> {
    await this.#proxies?.close();
  }

  #check(): void {
    if (this.#hasOutage) throw new DriverError('Unavailable', "the load balancer's API does not respond");
  }

  /** Changes a copy, which becomes the state when it is saved. Changes are made one after the other. */
  #change<Result>(dryRun: boolean, change: (state: State) => Result): Promise<Result> {
    const done = this.#lastChange.then(async () => {
      this.#check();
      const next = structuredClone(this.#state);
      const result = change(next);
      if (!dryRun) {
        await this.#forward(next);
        this.#save(next);
        this.#state = next;
      }
      return result;
    });
    this.#lastChange = done.catch(() => undefined);
    return done;
  }

  async #forward({ loadBalancers }: State): Promise<void> {
    // What this proxy forwards is TCP.
    const listeners = loadBalancers.filter(({ spec }) => spec.protocol === 'TCP');
    await this.#proxies?.update(
      listeners.map(({ spec, backends }) => ({
        port: spec.port,
        backends: backends.filter(({ weight }) => weight > 0),
      })),
    );
  }

  /** Replaces the file as a whole: a process that ends here leaves the old one or the new one. */
  #save(state: State): void {
    if (this.#file === undefined) return;
    writeFileSync(`${this.#file}.new`, JSON.stringify(state));
    renameSync(`${this.#file}.new`, this.#file);
  }
}

function get({ loadBalancers }: State, id: string): LoadBalancer {
  const found = loadBalancers.find((each) => each.id === id);
  if (!found) throw new DriverError('NotFound', `load balancer ${JSON.stringify(id)} not found`);
  return found;
}

/** Reads the file; a missing one is an empty cloud. */
function read(file: string): State {
  try {
    const state: State = JSON.parse(readFileSync(file, 'utf8'));
    const isComplete = ({ id, spec, attributes, backends }: LoadBalancer) => id && spec && attributes && backends;
    if (!Array.isArray(state?.loadBalancers) || !state.loadBalancers.every(isComplete))
      throw new Error('not the load balancers that a driver has saved');
    return state;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return { loadBalancers: [] };
    throw new Error(`--cloud-file ${file}: ${(error as Error).message}`);
  }
}

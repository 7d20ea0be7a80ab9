/**
 * A TCP proxy in this process, in place of a real load balancer, so that --forward brings requests to the pods.
 *
 * FILL-IN: remove this file and --forward. Connections are your load balancer's work.
 */

import { once } from 'node:events';
import { connect, createServer, type Server, type Socket } from 'node:net';
import { pipeline } from 'node:stream';
import { parseAddress } from './lbcf/address.js';
import { DriverError } from './lbcf/runtime.js';

/** A port of a load balancer, and the backends that are open for new connections. */
export type Listener = { port: number; backends: { addr: string; weight: number }[] };

type Proxy = { server: Server; backends: Listener['backends']; turn: number };

/** The proxies of all load balancers, by port. Each connection goes to the next backend; weights do not matter. */
export class Proxies {
  readonly #proxies = new Map<number, Proxy>();
  readonly #connections = new Set<Socket>();

  /** Listens at these ports and no others. Throws if a port cannot be used; then the others stay as they were. */
  async update(listeners: Listener[]): Promise<void> {
    if (new Set(listeners.map(({ port }) => port)).size < listeners.length) {
      throw new DriverError('Conflict', 'two load balancers have the same port');
    }
    for (const { port, backends } of listeners) {
      const proxy = this.#proxies.get(port) ?? (await this.#listen(port));
      proxy.backends = backends;
    }
    for (const [port, { server }] of this.#proxies) {
      if (listeners.some((each) => each.port === port)) continue;
      server.close();
      this.#proxies.delete(port);
    }
  }

  /** Ends all connections. */
  async close(): Promise<void> {
    await this.update([]);
    for (const connection of this.#connections) connection.destroy();
  }

  async #listen(port: number): Promise<Proxy> {
    const server = createServer({ allowHalfOpen: true });
    const proxy: Proxy = { server, backends: [], turn: 0 };
    server.on('connection', (client) => this.#forward(client, proxy));
    server.listen(port, '127.0.0.1');
    await once(server, 'listening').catch((error: Error) => {
      throw new DriverError('Conflict', `port ${port} cannot be used: ${error.message}`);
    });
    this.#proxies.set(port, proxy);
    return proxy;
  }

  #forward(client: Socket, proxy: Proxy): void {
    this.#connections.add(client);
    client.on('close', () => this.#connections.delete(client));
    const backend = parseAddress(proxy.backends[proxy.turn++ % proxy.backends.length]?.addr ?? '');
    // Either side may break off: `pipeline` then ends the other one.
    if (backend) pipeline(client, connect({ ...backend, allowHalfOpen: true }), client, () => client.destroy());
    else client.destroy();
  }
}

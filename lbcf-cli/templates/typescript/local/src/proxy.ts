/**
 * HAProxy as the load balancer: --forward starts `haproxy`, with a configuration that this file writes, and lets it
 * read that again when load balancers or backends change.
 */

import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, renameSync, writeFileSync } from 'node:fs';
import { get } from 'node:http';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { parseAddress } from './lbcf/address.js';
import { DriverError, invalid } from './lbcf/runtime.js';

/** A port of a load balancer, and the backends that are open for new connections. */
export type Listener = { port: number; backends: { addr: string; weight: number }[] };

// A line on stdin is a reload. At the end of stdin, which comes also when the driver is killed, HAProxy ends.
const RUN = `haproxy -W -db -q -f "$0/haproxy.cfg" &
while read -r _; do kill -USR2 $!; done
kill $!; wait $! 2>/dev/null; rm -r "$0"`;

/** The proxies of all load balancers: one HAProxy. */
export class Proxies {
  #folder = '';
  #listeners = '';
  #ports: number[] = [];
  #version = 0;
  #haproxy: ChildProcess | undefined;

  constructor() {
    const { error } = spawnSync('haproxy', ['-v']);
    if (error) throw new Error(`--forward: haproxy cannot be started: ${error.message}`);
  }

  /** Listens at these ports and no others, when it returns. Throws if a port cannot be used. */
  async update(listeners: Listener[]): Promise<void> {
    const ports = listeners.map(({ port }) => port);
    if (new Set(ports).size < ports.length) throw new DriverError('Conflict', 'two load balancers have the same port');
    const config = listeners.map(configOf).join('');
    if (this.#haproxy && config === this.#listeners) return;
    await Promise.all(ports.filter((port) => !this.#ports.includes(port)).map(checkFree));
    [this.#listeners, this.#ports] = [config, ports];
    this.#folder ||= mkdtempSync(join(tmpdir(), 'haproxy-'));
    this.#version += 1;
    const socket = join(this.#folder, 'version.sock');
    const file = join(this.#folder, 'haproxy.cfg');
    writeFileSync(`${file}.new`, preambleOf(socket, this.#version) + config);
    renameSync(`${file}.new`, file);
    // In a process group of its own, so that Ctrl-C reaches the driver only. Its output goes to stderr.
    if (this.#haproxy) this.#haproxy.stdin?.write('\n');
    else this.#haproxy = spawn('sh', ['-c', RUN, this.#folder], { detached: true, stdio: ['pipe', 2, 2] });
    for (let attempt = 0; (await read(socket)) !== `${this.#version}`; attempt++) {
      if (attempt >= 100) throw new DriverError('Unavailable', "HAProxy does not start: see the driver's log");
      await sleep(50);
    }
  }

  async close(): Promise<void> {
    this.#haproxy?.stdin?.end();
    if (this.#haproxy?.exitCode === null) await once(this.#haproxy, 'exit');
  }
}

/** The settings of all proxies, and a frontend that tells which version of the configuration is in use. */
function preambleOf(socket: string, version: number): string {
  return `defaults
  mode tcp
  balance roundrobin
  timeout connect 5s
  timeout client 1h
  timeout server 1h
frontend version
  mode http
  bind unix@${socket}
  http-request return content-type text/plain string ${version}
`;
}

/** Users choose ports and addresses: only numbers and IPs become part of the configuration. */
function configOf({ port, backends }: Listener): string {
  const servers = backends.map(({ addr, weight }, number) => {
    if (!parseAddress(addr)) throw invalid('backendAddr', addr, 'not IP:port');
    return `  server backend-${number} ${addr} weight ${Number(weight)}\n`;
  });
  return `listen port-${Number(port)}\n  bind 127.0.0.1:${Number(port)}\n${servers.join('')}`;
}

/** HAProxy would share a port with another process. */
async function checkFree(port: number): Promise<void> {
  const server = createServer().listen(port, '127.0.0.1');
  await once(server, 'listening').catch((error: Error) => {
    throw new DriverError('Conflict', `port ${port} cannot be used: ${error.message}`);
  });
  await new Promise((resolve) => server.close(resolve));
}

/** What HAProxy responds at this socket; nothing if it does not. */
async function read(socketPath: string): Promise<string> {
  return new Promise((resolve) => {
    const request = get({ socketPath, agent: false }, (response) => response.on('data', (data) => resolve(`${data}`)));
    request.on('close', () => resolve(''));
    request.on('error', () => resolve(''));
  });
}

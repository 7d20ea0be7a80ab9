/** Starts the driver; `node dist/main.js --help` lists the flags. */

import type { AddressInfo } from 'node:net';
import { parseArgs } from 'node:util';
import { Cloud } from './cloud.js';
import { createDriver } from './driver.js';
import { createServer } from './lbcf/runtime.js';
import { addObserver } from './observer.js';

const HELP = `An LBCF driver.

Usage: node dist/main.js [OPTIONS]

Options:
  --listen HOST:PORT  Serve at this address; port 0 is any free port [default: 127.0.0.1:__PORT__] [env: LISTEN]
  --cloud-file FILE   Keep the load balancers in this file [env: CLOUD_FILE]
  --forward           Listen on 127.0.0.1 at the port of each load balancer, and forward to its backends [env: FORWARD=true]
  --observe           Show what is in the cloud at /_observe, and allow to change it there: for tests [env: OBSERVE=true]
  --drain SECONDS     Open no new connections to a backend for this time before it is deregistered [default: 0] [env: DRAIN]
  --help              Print help
`;

function fail(problem: unknown): never {
  console.error(problem instanceof Error ? problem.message : problem);
  process.exit(2);
}

function readFlags() {
  const string = { type: 'string' } as const;
  const boolean = { type: 'boolean' } as const;
  const { values } = parseArgs({
    options: { listen: string, 'cloud-file': string, forward: boolean, observe: boolean, drain: string, help: boolean },
  });
  const { env } = process;
  const isOn = (name: 'forward' | 'observe') => {
    const value = env[name.toUpperCase()] || 'false';
    if (!['true', 'false'].includes(value)) throw new Error(`${name.toUpperCase()}: "${value}": not true or false`);
    return values[name] ?? value === 'true';
  };
  const listen = values.listen ?? (env.LISTEN || '127.0.0.1:__PORT__');
  const [, host, port] = /^(.+):([0-9]{1,5})$/.exec(listen) ?? [];
  if (host === undefined || Number(port) > 65535) throw new Error(`--listen: "${listen}": not HOST:PORT`);
  const drain = values.drain ?? (env.DRAIN || '0');
  if (!/^[0-9]{1,6}$/.test(drain)) throw new Error(`--drain: "${drain}": not a number of seconds`);
  return {
    help: values.help,
    listen: { host: host.replace(/^\[(.*)\]$/, '$1'), port: Number(port) },
    cloud: { file: values['cloud-file'] ?? (env.CLOUD_FILE || undefined), forward: isOn('forward') },
    observe: isOn('observe'),
    drain: Number(drain),
  };
}

async function main(): Promise<void> {
  const flags = readFlags();
  if (flags.help) {
    process.stdout.write(HELP);
    return;
  }
  const cloud = await Cloud.connect(flags.cloud);
  const server = createServer(createDriver(cloud, flags.drain));
  if (flags.observe) addObserver(server, cloud);

  // Responds to the calls in flight first. Then nothing is left to do, and the process ends.
  const end = async () => {
    setTimeout(() => process.exit(1), 30_000).unref();
    await server.close();
    await cloud.close();
  };
  process.once('SIGTERM', () => void end());
  process.once('SIGINT', () => void end());

  await server.listen(flags.listen);
  const { address, family, port } = server.server.address() as AddressInfo;
  console.log(`listening on http://${family === 'IPv6' ? `[${address}]` : address}:${port}`);
}

await main().catch(fail);

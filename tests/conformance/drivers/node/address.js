/**
 * The address of a backend in the load balancer.
 *
 * It depends only on the request, so the same backend always has the same address, and two backends never
 * share one.
 */

import { CloudError } from './cloud.js';
import * as wire from './wire.js';

/** What the cloud can use: users may write any text as a static address. */
export const USABLE = /^\S+:\d{1,5}(\/[A-Z]+)?$/;
const PROTOCOLS = ['TCP', 'UDP', 'SCTP'];
const PREFERENCE = ['InternalIP', 'ExternalIP']; // the types of node addresses, in order of preference

/** The backend has no address (yet); the message is the reason. */
export class NoAddress extends CloudError {}

/** The pod's own IP and port. */
export function ofPod(backend) {
  const pod = wire.embedded(backend, 'pod');
  const { number, protocol } = portOf(backend);
  const ip = wire.text(wire.object(pod, 'status') ?? {}, 'podIP');
  if (ip === '') throw new NoAddress(`pod ${nameOf(pod)} has no IP yet`);
  return write(ip, number, protocol);
}

/** The node's IP and the node port of the service's port. */
export function ofService(backend) {
  const service = wire.embedded(backend, 'service');
  const { number, protocol } = portOf(backend);
  const ports = wire.list(wire.object(service, 'spec') ?? {}, 'ports');
  const port = ports
    .filter((port) => wire.integer(port, 'port') === number && protocolOf(port) === protocol)
    .find((port) => wire.integer(port, 'nodePort') > 0);
  if (!port) throw new NoAddress(`service ${nameOf(service)} has no node port for ${number}/${protocol}`);
  return write(nodeAddress(backend), port.nodePort, protocol);
}

function write(ip, port, protocol) {
  const host = ip.includes(':') ? `[${ip}]` : ip;
  return `${host}:${port}/${protocol}`;
}

/** The port of a backend: `portNumber` is the older name of the number. */
function portOf(backend) {
  const port = wire.object(backend, 'port') ?? {};
  const number = wire.integer(port, 'port') || wire.integer(port, 'portNumber');
  if (number < 1 || number > 65535) throw new NoAddress(`port ${number}: not a port from 1 to 65535`);
  return { number, protocol: protocolOf(port) };
}

function protocolOf(port) {
  const protocol = (wire.text(port, 'protocol') || 'TCP').toUpperCase();
  if (!PROTOCOLS.includes(protocol)) throw new NoAddress(`protocol "${protocol}": not TCP, UDP or SCTP`);
  return protocol;
}

function nodeAddress(backend) {
  // A sample of the specification has `nodeAddress`.
  const given = backend.nodeAddresses == null ? 'nodeAddress' : 'nodeAddresses';
  const usable = wire.list(backend, given).filter((each) => wire.text(each, 'address') !== '');
  const rank = ({ type }) => (PREFERENCE.includes(type) ? PREFERENCE.indexOf(type) : PREFERENCE.length);
  const [best] = usable.sort((one, other) => rank(one) - rank(other));
  if (!best) throw new NoAddress(`node ${wire.text(backend, 'nodeName')} has no address`);
  return best.address;
}

function nameOf(object) {
  return wire.text(wire.object(object, 'metadata') ?? {}, 'name');
}

/**
 * Under which address the load balancer knows a backend.
 *
 * The address is made of nothing but what the request says, so that the same backend has the same address
 * whenever it is asked for, and two backends never share one.
 */

import { CloudError } from './cloud.js';
import * as wire from './wire.js';

const PROTOCOLS = ['TCP', 'UDP', 'SCTP'];
const PREFERENCE = ['InternalIP', 'ExternalIP']; // by which addresses nodes are reached

/** The backend has no address (yet); the message says what is missing. */
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

/** Which port of the backend: `portNumber` is how the number was called once. */
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
  // A sample of the specification says `nodeAddress`.
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

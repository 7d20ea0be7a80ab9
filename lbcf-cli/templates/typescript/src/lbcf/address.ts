/**
 * The address of a backend, IP:port: of a pod's port, of a Service's node port, or of an endpoint of a Service. It
 * depends only on the request, so that the same backend has the same address each time.
 */

import { isIP, isIPv6 } from 'node:net';
import { DriverError, invalid, NotYet } from './runtime.js';
import type { RequestOf } from './types.js';

type Request = RequestOf<'generateBackendAddr'>;
type Backend<Kind extends 'podBackend' | 'serviceBackend' | 'endpointBackend'> = NonNullable<Request[Kind]>;
type Port = { port?: number; portNumber?: number; protocol?: string };

/** The address of the request's backend, for a load balancer with this protocol. */
export function addressOf(request: Request, protocol: string): string {
  // An endpoint that is a pod comes as both: the pod is what is registered.
  if (request.podBackend) return ofPod(request.podBackend, protocol);
  if (request.serviceBackend) return ofService(request.serviceBackend, protocol);
  if (request.endpointBackend) return ofEndpoint(request.endpointBackend, protocol);
  throw new DriverError('InvalidArgument', 'one of podBackend, serviceBackend and endpointBackend is needed');
}

/** Unspecified and multicast addresses. */
const noServer = /^(0\.0\.0\.0|2(2[4-9]|3[0-9])\..*|::|ff.*)$/i;

/** The parts of an address, which users write, too; undefined if it is not IP:port. */
export function parseAddress(address: string): { host: string; port: number } | undefined {
  const [, v6, v4, digits] = /^(?:\[([0-9A-Fa-f:.]+)\]|([0-9.]+)):([1-9][0-9]{0,4})$/.exec(address) ?? [];
  const [host, port] = [v6 ?? v4 ?? '', Number(digits)];
  if (isIP(host) !== (v6 === undefined ? 4 : 6) || port > 65535 || noServer.test(host)) return undefined;
  // In its usual spelling only: another one would be another backend.
  const isUsual = v6 === undefined || new URL(`http://[${host}]`).hostname === `[${host}]`;
  return isUsual ? { host, port } : undefined;
}

function ofPod({ pod, port }: Backend<'podBackend'>, protocol: string): string {
  const number = numberOf(port, protocol);
  const ip = pod.status?.podIP || pod.status?.podIPs?.[0]?.ip;
  if (!ip) throw new NotYet(`pod ${pod.metadata?.name ?? ''} has no IP yet`);
  return join('podBackend', ip, number);
}

function ofService({ service, port, nodeName, nodeAddresses }: Backend<'serviceBackend'>, protocol: string): string {
  const number = numberOf(port, protocol);
  const found = service.spec?.ports?.find((each) => each.port === number && (each.protocol || 'TCP') === protocol);
  if (!found?.nodePort) {
    const name = service.metadata?.name ?? '';
    throw new DriverError('InvalidArgument', `service ${name} has no node port for ${number}/${protocol}`);
  }
  const ofType = (type: string) => nodeAddresses?.find((each) => each.type === type && each.address)?.address;
  const ip = ofType('InternalIP') ?? ofType('ExternalIP');
  if (!ip) throw new NotYet(`node ${nodeName ?? ''} has no IP yet`);
  return join('serviceBackend', ip, found.nodePort);
}

function ofEndpoint(endpoint: Backend<'endpointBackend'>, protocol: string): string {
  return join('endpointBackend', endpoint.address ?? '', numberOf(endpoint, protocol));
}

/** The number of the port, which is called portNumber, too. The protocol has to be that of the load balancer. */
function numberOf(port: Port, protocol: string): number {
  const number = port.port || port.portNumber || 0;
  const actual = port.protocol || 'TCP';
  if (actual !== protocol) {
    throw new DriverError('InvalidArgument', `port ${number} is ${actual}, but the load balancer uses ${protocol}`);
  }
  return number;
}

function join(member: string, ip: string, port: number): string {
  const address = isIPv6(ip) ? `[${ip}]:${port}` : `${ip}:${port}`;
  if (!parseAddress(address)) throw invalid(member, address, 'not an IP and a port');
  return address;
}

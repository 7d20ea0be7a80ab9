/**
 * The driver's own logic. FILL-IN: the fields of your load balancer, and the functions below.
 *
 * LBCF's controller watches pods and Services and calls these functions. It repeats a call until it succeeds, and later,
 * for example when a response was lost, the controller restarted or a parameter changed. So each function brings the
 * cloud to the requested state, and succeeds if it is already in that state. Keep no state between calls: processes
 * restart. The runtime does the rest: repeated calls join the running one, slow ones are answered with Running.
 *
 * An error is a failure, which LBCF retries: DriverError tells users why, NotYet means that it takes more time.
 */

import type { Cloud, LoadBalancer, Spec } from './cloud.js';
import { addressOf, parseAddress } from './lbcf/address.js';
import { DriverError, drainTimeLeft, invalid, NotYet, tokenOf } from './lbcf/runtime.js';
import type { Driver, StringMap } from './lbcf/types.js';

// FILL-IN: fields. Users write them in manifests, and on the wire they are maps of strings.

/** `spec.lbSpec` of a LoadBalancer, which is immutable. */
function readSpec(lbSpec: StringMap): Spec {
  const { lbVpcID = '', lbListenerPort = '', lbListenerProtocol = 'TCP', ...others } = lbSpec;
  rejectOthers('lbSpec', others);
  if (lbVpcID === '') throw new DriverError('InvalidArgument', 'lbSpec.lbVpcID: is required');
  return {
    vpcID: lbVpcID,
    port: readNumber('lbSpec.lbListenerPort', lbListenerPort, 1, 65535),
    protocol: readChoice('lbSpec.lbListenerProtocol', lbListenerProtocol, ['TCP', 'UDP']),
  };
}

/** `spec.attributes` of a LoadBalancer, with the defaults of those that users did not set. Other keys are stored. */
export function readAttributes(attributes: StringMap): StringMap {
  const { chargeType = 'TRAFFIC_POSTPAID_BY_HOUR', 'max-bandwidth-out': bandwidth } = attributes;
  readChoice('attributes.chargeType', chargeType, ['TRAFFIC_POSTPAID_BY_HOUR', 'BANDWIDTH_POSTPAID_BY_HOUR']);
  if (bandwidth !== undefined) readNumber('attributes.max-bandwidth-out', bandwidth, 0, 4294967295);
  return { ...attributes, chargeType };
}

/** `spec.parameters` of a BackendGroup. */
function readWeight({ weight = '10', ...others }: StringMap): number {
  rejectOthers('parameters', others);
  return readNumber('parameters.weight', weight, 0, 255);
}

function readNumber(field: string, value: string, min: number, max: number): number {
  const isNumber = /^(0|[1-9][0-9]{0,9})$/.test(value) && Number(value) >= min && Number(value) <= max;
  if (!isNumber) throw invalid(field, value, `not a number from ${min} to ${max}`);
  return Number(value);
}

function readChoice(field: string, value: string, choices: string[]): string {
  if (!choices.includes(value)) throw invalid(field, value, `not ${choices.join(' or ')}`);
  return value;
}

/** A misspelt field must not be ignored. */
function rejectOthers(map: string, others: StringMap): void {
  for (const [name, value] of Object.entries(others)) throw invalid(`${map}.${name}`, value, 'no such field');
}

/** The identity of a load balancer: what later calls find it by. LBCF shows `address` to users. */
export function lbInfoOf({ id, spec }: LoadBalancer): StringMap {
  return { lbID: id, protocol: spec.protocol, address: `127.0.0.1:${spec.port}` };
}

const KEEP_REGISTERED = 'lbcf.example.com/keep-registered';

/** FILL-IN: the functions, with the client of your API. */
export function createDriver(cloud: Cloud, drainSeconds = 0): Driver {
  return {
    /** Whether the driver can work. */
    healthz: () => ({ healthy: true, specification: '1', features: ['cancel', 'reasons'] }),

    /** Rejects a load balancer when a user applies it. */
    validateLoadBalancer({ operation, lbSpec, attributes }) {
      readChoice('operation', operation, ['Create', 'Update']);
      readSpec(lbSpec);
      readAttributes(attributes);
    },

    /** Creates the load balancer. The token prevents that a repeated call creates a second one. */
    async createLoadBalancer({ recordID, lbSpec, attributes, dryRun }) {
      const [token, spec] = [tokenOf(recordID), readSpec(lbSpec)];
      return { lbInfo: lbInfoOf(await cloud.create(token, spec, readAttributes(attributes), dryRun)) };
    },

    /** Sets all attributes. */
    async ensureLoadBalancer({ recordID, lbInfo, attributes, dryRun }) {
      // The controllers of LBCF's first edition may send no lbInfo here.
      const id = lbInfo.lbID ?? (await cloud.find(tokenOf(recordID)))?.id ?? '';
      await cloud.setAttributes(id, readAttributes(attributes), dryRun);
    },

    /** Deletes the load balancer; without lbInfo, what a creation with the same token has begun. */
    async deleteLoadBalancer({ recordID, lbInfo, dryRun }) {
      const id = lbInfo.lbID ?? (await cloud.find(tokenOf(recordID)))?.id;
      if (id !== undefined) await unlessGone(cloud.delete(id, dryRun));
    },

    /** Rejects the parameters of backends when a user applies them; lbInfo may still be empty. */
    validateBackend({ operation, backendType, parameters }) {
      readChoice('operation', operation, ['Create', 'Update']);
      readChoice('backendType', backendType, ['Pod', 'Service', 'Static']);
      readWeight(parameters);
    },

    /** Returns the address of the backend, always the same for the same backend. Registers nothing. */
    generateBackendAddr: (request) => ({ backendAddr: addressOf(request, request.lbInfo.protocol ?? 'TCP') }),

    /** Registers the backend with these parameters, or updates it; ends its deregistration if that is Running. */
    async ensureBackend({ recordID, lbInfo, backendAddr, parameters, dryRun }) {
      if (!parseAddress(backendAddr)) throw invalid('backendAddr', backendAddr, 'not IP:port');
      await cloud.register(lbInfo.lbID ?? '', { addr: backendAddr, weight: readWeight(parameters), recordID }, dryRun);
      // LBCF stores this map and sends it in later calls.
      return { injectedInfo: {} };
    },

    /** Deregisters the backend, after it has drained, and leaves all others, which LBCF may not have registered. */
    async deregisterBackend({ lbInfo, backendAddr, firstRequestedAt, dryRun }) {
      const [id, timeLeft] = [lbInfo.lbID ?? '', drainTimeLeft(firstRequestedAt, drainSeconds)];
      // The weight is in the cloud, so a restart of the driver loses nothing.
      if (timeLeft > 0 && (await unlessGone(cloud.drain(id, backendAddr, dryRun)))) {
        throw new NotYet(`${backendAddr} drains for ${Math.ceil(timeLeft)} s`, 1);
      }
      await unlessGone(cloud.deregister(id, backendAddr, dryRun));
    },

    /** Keeps pods with this annotation registered while they are not ready. */
    judgePodDeregister({ notReadyPods }) {
      const keeps = (notReadyPods ?? []).filter((pod) => pod.metadata?.annotations?.[KEEP_REGISTERED] === 'true');
      return {
        doNotDeregister: keeps.map(({ metadata: { name = '', namespace = '' } = {} }) => ({
          metadata: { name, namespace },
        })),
      };
    },

    /** Returns all backends, also those that somebody else has registered. */
    async listBackends({ lbInfo }) {
      const { backends } = await cloud.get(lbInfo.lbID ?? '');
      return {
        backends: backends.map(({ addr, weight, recordID }) => ({
          backendAddr: addr,
          parameters: { weight: `${weight}` },
          ...(recordID === undefined ? {} : { recordID }),
        })),
      };
    },
  };
}

/** Deleting what does not exist succeeds. */
async function unlessGone<Result>(deletion: Promise<Result>): Promise<Result | undefined> {
  return deletion.catch((error: unknown) => {
    if (error instanceof DriverError && error.reason === 'NotFound') return undefined;
    throw error;
  });
}

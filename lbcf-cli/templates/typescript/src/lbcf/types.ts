/** The types of webhooks, derived from those that are generated from LBCF's OpenAPI document. */

import type { paths } from './webhooks.js';

export type StringMap = Record<string, string>;

type NameOf<Path> = Path extends `/${infer Name}` ? Name : never;
export type Webhook = NameOf<keyof paths>;
type Json<Body> = Body extends { content: { 'application/json': infer Content } } ? Content : never;
type Bodies = {
  [Path in keyof paths as NameOf<Path>]: {
    request: Json<NonNullable<paths[Path]['post']['requestBody']>>;
    response: Json<paths[Path]['post']['responses'][200]>;
  };
};
type MapsOf<Body> = { [Name in keyof Body]-?: NonNullable<Body[Name]> extends StringMap ? Name : never }[keyof Body];

/** The request of a webhook, in which a map that is absent or null is empty. */
export type RequestOf<W extends Webhook> = Omit<Bodies[W]['request'], MapsOf<Bodies[W]['request']>> & {
  [Name in MapsOf<Bodies[W]['request']>]: StringMap;
};

type Added = 'status' | 'succ' | 'msg' | 'reason' | 'minRetryDelayInSeconds';
type Rest<Body> = [Exclude<keyof Body, Added>] extends [never] ? void : Omit<Body, Added>;

/** What a function of the driver returns: the response without what the runtime adds to it. */
export type ResultOf<W extends Webhook> = Rest<Bodies[W]['response']>;

/** A driver has a function for each webhook; a new one in the OpenAPI document breaks the build until it has. */
export type Driver = { [W in Webhook]: (request: RequestOf<W>) => ResultOf<W> | Promise<ResultOf<W>> };

/** Why an operation failed, for the controller; other words mean nothing to it. */
export type Reason =
  | 'InvalidArgument'
  | 'NotFound'
  | 'QuotaExceeded'
  | 'Throttled'
  | 'Conflict'
  | 'Unavailable'
  | 'PermissionDenied'
  | 'Internal';

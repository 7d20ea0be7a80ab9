// Part of a driver, written with the generated types: it only has to compile.

import type { components, operations } from "./lbcf-webhooks";

type Schemas = components["schemas"];

export function ensureBackend(request: Schemas["EnsureBackendRequest"]): Schemas["EnsureBackendResponse"] {
  if (request.dryRun === true) {
    return { status: "Fail", msg: "this driver cannot rehearse" };
  }
  const weight: string | undefined = request.parameters?.["weight"];
  if (weight === undefined) {
    return { status: "Running", msg: `${request.backendAddr ?? ""} has no weight yet`, minRetryDelayInSeconds: 2 };
  }
  return { status: "Succ", msg: "", injectedInfo: { weight } };
}

export function validateBackend(request: Schemas["ValidateBackendRequest"]): Schemas["ValidateBackendResponse"] {
  return { succ: request.backendType === "Pod", msg: "" };
}

export type CreateAnswer =
  operations["createLoadBalancer"]["responses"]["200"]["content"]["application/json"];

// @ts-expect-error: a status is one of three words.
export const wrong: CreateAnswer = { status: "Done", msg: "" };

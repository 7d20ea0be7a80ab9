/**
 * Repeated calls, order and deadlines. A controller repeats a call whose response it did not get: the repeated call joins
 * the operation that is running. Operations about one object run one after the other.
 */

export type WebhookResponse = { status?: string; succ?: boolean; msg?: string; [name: string]: unknown };
type Operation = { content: string; response: Promise<WebhookResponse>; isLate?: true; expiry?: NodeJS.Timeout };

/** Runs operations in order, once for all callers with the same content, and to the end if the callers have gone. */
export class Operations {
  /** The last operation about each object. Calls join only this one: what an earlier one did is outdated. */
  readonly last = new Map<string, Operation>();

  constructor(readonly deadlineMs: number) {}

  /** The response, or Running when the deadline is over. `isConnected` tells whether the caller still waits for it. */
  async call(object: string, content: string, run: () => Operation['response'], isConnected: () => boolean) {
    let operation = this.last.get(object);
    if (operation?.content !== content) operation = this.#start(object, content, operation, run);
    const response = await within(this.deadlineMs, operation.response);
    if (response && isConnected()) this.#forget(object, operation);
    if (response) return response;
    operation.isLate = true;
    return { status: 'Running', msg: 'the operation continues', minRetryDelayInSeconds: 1 };
  }

  #start(object: string, content: string, earlier: Operation | undefined, run: () => Operation['response']): Operation {
    const response = earlier ? earlier.response.then(run) : run();
    const operation: Operation = { content, response };
    this.last.set(object, operation);
    const forget = () => this.#forget(object, operation);
    void response.then(({ status }) => {
      // A result that no caller has received is for the next call, or a slow operation would start again each time.
      if (status === 'Succ' || operation.isLate) operation.expiry = setTimeout(forget, 60_000).unref();
      else forget();
    });
    return operation;
  }

  #forget(object: string, operation: Operation): void {
    clearTimeout(operation.expiry);
    if (this.last.get(object) === operation) this.last.delete(object);
  }
}

/** The result, or undefined if it takes longer. */
async function within<Result>(ms: number, result: Promise<Result>): Promise<Result | undefined> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => (timer = setTimeout(resolve, ms, undefined)));
  return Promise.race([result, late]).finally(() => clearTimeout(timer));
}

/**
 * Decodes requests of the controller. It rejects wrong types (`"5"` is not a number), ignores unknown
 * fields, and decodes `null` as an empty map, which controllers in Go send.
 */

/** An invalid call: the response has status 400. */
export class BadRequest extends Error {
  status = 400;
}

const isObject = (value) => typeof value === 'object' && value !== null && !Array.isArray(value);
// JSON can contain half of a surrogate pair, which no response could repeat.
const isString = (value) => typeof value === 'string' && value.isWellFormed();
const isBoolean = (value) => typeof value === 'boolean';
const isInteger = (value) => Number.isSafeInteger(value);

/** The value of a field, or `missing` where it is absent or `null`. */
function read(object, name, is, what, missing) {
  const value = object[name] ?? missing;
  if (value !== missing && !is(value)) throw new BadRequest(`${name}: not ${what}`);
  return value;
}

export const text = (object, name) => read(object, name, isString, 'a string', '');
export const flag = (object, name) => read(object, name, isBoolean, 'true or false', false);
export const integer = (object, name) => read(object, name, isInteger, 'an integer', 0);
export const object = (parent, name) => read(parent, name, isObject, 'an object', undefined);
export const list = (parent, name) => {
  const elements = read(parent, name, Array.isArray, 'a list', []);
  if (!elements.every(isObject)) throw new BadRequest(`${name}: not a list of objects`);
  return elements;
};

/** A map of strings to strings. */
export function map(parent, name) {
  const value = object(parent, name) ?? {};
  for (const [key, entry] of Object.entries(value)) {
    if (!isString(key) || !isString(entry)) throw new BadRequest(`${name}.${key}: not a string`);
  }
  return value;
}

/** A pod or a service: controllers send objects, the specification shows a string with JSON. */
export function embedded(parent, name) {
  let value = parent[name];
  if (isString(value)) {
    try {
      value = JSON.parse(value);
    } catch (error) {
      throw new BadRequest(`${name}: ${error.message}`);
    }
  }
  if (!isObject(value)) throw new BadRequest(`${name}: not an object`);
  return value;
}

/** The whole call. */
export function call(body) {
  if (!isObject(body)) throw new BadRequest('the body is not a JSON object');
  return body;
}

/** The common fields of all operations, which are repeated until they succeed. The `recordID` is any text,
 * equal in all calls for one operation on one object; the `retryID` is different in each call. */
export function operation(body) {
  return {
    recordID: text(call(body), 'recordID'),
    retryID: text(body, 'retryID'),
    dryRun: flag(body, 'dryRun'),
    lbInfo: map(body, 'lbInfo'),
  };
}

/**
 * Writes src/lbcf/schemas.ts: the JSON schemas of requests, by webhook, from LBCF's OpenAPI document.
 * Types exist at compile time only; with these schemas Fastify checks bodies at run time.
 *
 * The schemas check types, and nothing else: a value that has the right type and is not allowed, such as an
 * unknown protocol, is for the driver, which responds with a message for the user. `null` is empty for each map
 * and list.
 */

import { readFileSync, writeFileSync } from 'node:fs';

const [source, target] = process.argv.slice(2);
const { paths, components } = JSON.parse(readFileSync(source, 'utf8'));

function simplify(schema) {
  if (schema.$ref) return simplify(components.schemas[schema.$ref.split('/').at(-1)]);
  if (schema.oneOf) return orNull(simplify(schema.oneOf[0])); // of a schema and null
  const result = { type: schema.type };
  if (schema.properties) {
    const properties = Object.entries(schema.properties).map(([name, member]) => [name, simplify(member)]);
    result.properties = Object.fromEntries(properties);
    // Controllers of the first edition capitalize this member.
    if (schema.properties.oldParameters) result.properties.OldParameters = result.properties.oldParameters;
    const required = (schema.required ?? []).filter((name) => !result.properties[name].type.includes('null'));
    if (required.length > 0) result.required = required;
  }
  if (schema.additionalProperties?.type) result.additionalProperties = simplify(schema.additionalProperties);
  if (schema.items) result.items = simplify(schema.items);
  return schema.type === 'array' || result.additionalProperties ? orNull(result) : result;
}

function orNull(schema) {
  return { ...schema, type: [...new Set([schema.type, 'null'].flat())] };
}

/** One line for each member. */
function print(webhook, { type, required = [], properties = {} }) {
  const members = Object.entries(properties).map(([name, member]) => `      ${name}: ${JSON.stringify(member)},\n`);
  const head = `    type: ${JSON.stringify(type)},\n    required: ${JSON.stringify(required)},\n`;
  return `  ${webhook}: {\n${head}    properties: {\n${members.join('')}    },\n  },\n`;
}

const schemas = Object.entries(paths).map(([path, { post }]) => {
  return print(path.slice(1), simplify(post.requestBody.content['application/json'].schema));
});
writeFileSync(
  target,
  `/** The JSON schemas of requests: written by schemas.mjs, not by hand. */
export const requestSchemas = {\n${schemas.join('')}};\n`,
);

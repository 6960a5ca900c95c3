import type { Parts, Reply } from '../reference.ts';
import type { Data } from '../tools.ts';
import { broken } from './broken-server.ts';

/** Changes the definition of the first tool in the list; what the tool does stays as it is. */
const defined = (edit: (definition: Data) => Data) => (parts: Parts) => {
  const { list } = parts;
  parts.list = (cursor) => {
    const [first, ...others] = list(cursor).tools as Data[];
    return { tools: [edit(first as Data), ...others] };
  };
};
/** Changes the outputSchema of the first tool. */
const output = (edit: (schema: Data) => Data) =>
  defined((definition) => ({ ...definition, outputSchema: edit(definition.outputSchema as Data) }));
/** Changes the inputSchema of the first tool. */
const input = (edit: (schema: Data) => Data) =>
  defined((definition) => ({ ...definition, inputSchema: edit(definition.inputSchema as Data) }));
const meta = (_meta: Data) => defined((definition) => ({ ...definition, _meta }));
const health = (edit: (body: Data, reply: Reply) => Reply) => (parts: Parts) => {
  const { health } = parts;
  parts.health = () => edit(health().body as Data, health());
};

/** What a server says of itself and of its tools: C§2.1, C§2.3, C§2.4. */
export const brokenDescriptions = [
  broken(
    'C§2.3',
    'health is 204, since it has nothing to say',
    ['health.fields', 'health.status'],
    (parts) => {
      parts.health = () => ({ status: 204 });
    },
  ),
  broken('C§2.3', 'health is the text OK', 'health.fields', (parts) => {
    parts.health = () => ({ status: 200, headers: { 'content-type': 'text/plain' }, body: 'OK' });
  }),
  broken(
    'C§2.3',
    'health has a number as version',
    ['health.fields'],
    health((body, reply) => ({ ...reply, body: { ...body, version: 3 } })),
  ),
  broken(
    'C§2.3, C§9.2',
    'health names the version of package.json, initialize another one',
    'identity.same',
    health((body, reply) => ({ ...reply, body: { ...body, version: '0.0.1' } })),
  ),
  broken('C§2.4', 'no version in serverInfo', ['identity.name', 'discovery.client'], (parts) => {
    const { initialize } = parts.methods;
    parts.methods.initialize = (params, asked) => ({
      ...(initialize?.(params, asked) as Data),
      serverInfo: { name: parts.identity.name },
    });
  }),
  broken('C§2.4', 'the capability tools is not declared', 'identity.tools', (parts) => {
    parts.capabilities = { resources: {} };
  }),
  broken(
    'C§2.1',
    'a tool without an outputSchema',
    'output.object-root',
    defined(({ outputSchema: _, ...definition }) => definition),
  ),
  broken(
    'C§2.1',
    'the outputSchema may be null: type ["object", "null"]',
    ['output.object-root', 'discovery.client'],
    output((schema) => ({ ...schema, type: ['object', 'null'] })),
  ),
  broken(
    'C§2.1',
    'success or failure as anyOf at the root of the outputSchema',
    ['output.no-root-union'],
    output((schema) => ({
      ...schema,
      anyOf: [{ required: ['lake'] }, { required: ['error'] }],
    })),
  ),
  broken(
    'C§2.1',
    'no list of required parameters',
    'input.required',
    input(({ required: _, ...schema }) => schema),
  ),
  broken(
    'C§2.1',
    'a required parameter under its old name',
    ['input.required-declared', 'input.smoke-arguments', 'submission.succeeds'],
    input((schema) => ({ ...schema, required: ['lakeName'] })),
  ),
  broken(
    'C§2.1',
    'a default that is the text of a number',
    'input.default',
    input((schema) => ({
      ...schema,
      properties: {
        ...(schema.properties as Data),
        deepest: { type: 'integer', description: 'Depth from which lakes count.', default: '1' },
      },
    })),
  ),
  broken('C§2.1', 'two tools of one name', 'tool.name-unique', (parts) => {
    const { list } = parts;
    parts.list = (cursor) => {
      const listed = list(cursor).tools as Data[];
      const description = 'Returns the depths of a reservoir. Use it when a question is about a dam.';
      return { tools: [...listed, { ...listed[0], description }] };
    };
  }),
  broken(
    'C§2.1',
    'an empty description',
    'tool.description',
    defined((definition) => ({ ...definition, description: '' })),
  ),
  broken(
    'facts, Tool definitions',
    '$schema of 2020-12 in the outputSchema',
    ['schema.no-dialect', 'output.compiles'],
    output((schema) => ({ $schema: 'https://json-schema.org/draft/2020-12/schema', ...schema })),
  ),
  broken(
    'facts, Tool definitions',
    'fields of success are required and never null',
    ['output.holds-empty', 'output.holds-failure', 'result.fits', 'result.failure-fits', 'outcome.client'],
    output((schema) => ({
      ...schema,
      properties: { ...(schema.properties as Data), greatest: { type: 'number', description: 'Depth.' } },
    })),
  ),
  broken(
    'facts, _meta',
    'a rate limit as text',
    'meta.shape',
    meta({ rateLimit: { maxRequestsPerMinute: '60' } }),
  ),
  broken(
    'facts, _meta',
    'a recommended batch tool that does not exist',
    'meta.references',
    meta({ rateLimit: { recommendedBatchTools: ['lake_depths'] } }),
  ),
];

import { effects, toolNamePattern } from 'market-mcp-contract/definition';
import type { JsonObject } from 'market-mcp-contract/json';
import { scalarTypes } from '../model/tool-model.ts';

const types: readonly string[] = [...scalarTypes, 'object', 'array'];
const numeric = ['number', 'integer'];

/** `then` forbids keywords of other types, so an editor marks them where they are written. */
function forbidForOtherTypes(allowedValues: readonly string[], keywords: readonly string[]): JsonObject {
  const otherTypes = types.filter((type) => !allowedValues.includes(type));
  return {
    if: { properties: { type: { enum: otherTypes } }, required: ['type'] },
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    then: { properties: Object.fromEntries(keywords.map((keyword) => [keyword, false])) },
  };
}

/** A list of what a definition describes. */
function definitionList(definition: string, description: string, extraKeywords: JsonObject = {}): JsonObject {
  return { type: 'array', items: { $ref: `#/definitions/${definition}` }, ...extraKeywords, description };
}

const shapeProperties: JsonObject = {
  type: { enum: types, description: 'Type of the value.' },
  description: { type: 'string', description: 'What the value means, with its unit.' },
  nullable: { type: 'boolean', description: 'Whether null is allowed as well.' },
  enum: {
    type: 'array',
    items: { type: ['string', 'number', 'boolean'] },
    minItems: 1,
    uniqueItems: true,
    description: 'The allowed values.',
  },
  default: { description: 'The value of an input that is left out.' },
  examples: { type: 'array', minItems: 1, description: 'Typical values; the first is used for samples.' },
  format: {
    type: 'string',
    minLength: 1,
    description: 'Format of a string, such as date-time, uri or email.',
  },
  pattern: { type: 'string', description: 'Regular expression that a string matches.' },
  minimum: { type: 'number', description: 'Smallest allowed number.' },
  maximum: { type: 'number', description: 'Largest allowed number.' },
  items: { $ref: '#/definitions/shape', description: 'The items of a list.' },
  fields: definitionList('field', 'The members of an object.'),
};

/** Which keywords a type has. */
const typeRules: JsonObject = {
  allOf: [
    forbidForOtherTypes(['array'], ['items']),
    forbidForOtherTypes(['object'], ['fields']),
    forbidForOtherTypes(numeric, ['minimum', 'maximum']),
    forbidForOtherTypes(['string'], ['format', 'pattern']),
    forbidForOtherTypes(scalarTypes, ['enum']),
    {
      if: { properties: { type: { const: 'array' } }, required: ['type'] },
      // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
      then: { required: ['items'] },
    },
  ],
};

const definitions = {
  typeRules,
  shape: {
    type: 'object',
    properties: shapeProperties,
    required: ['type'],
    additionalProperties: false,
    allOf: [{ $ref: '#/definitions/typeRules' }],
  },
  field: {
    type: 'object',
    properties: {
      name: { type: 'string', description: 'Key of the value in its object.' },
      required: {
        type: 'boolean',
        description: 'Whether the value is always present; otherwise it may be left out.',
      },
      ...shapeProperties,
    },
    required: ['name', 'type'],
    additionalProperties: false,
    allOf: [{ $ref: '#/definitions/typeRules' }],
  },
  example: {
    type: 'object',
    properties: {
      arguments: { type: 'object', description: 'The arguments of the call.' },
      expect: {
        enum: ['found', 'empty', 'fail'],
        description: 'Data, an explicit empty result, or a failure.',
      },
    },
    required: ['arguments', 'expect'],
    additionalProperties: false,
  },
  tool: {
    type: 'object',
    properties: {
      name: { type: 'string', pattern: toolNamePattern, description: 'Name of the tool in tools/call.' },
      description: {
        type: 'string',
        minLength: 1,
        description: 'What the tool returns and when to use it; agents choose tools by it.',
      },
      input: definitionList('field', 'The parameters; an empty list if there are none.'),
      output: definitionList(
        'field',
        'The fields of the result, or of each item if the tool returns a list.',
        {
          minItems: 1,
        },
      ),
      returns: {
        enum: ['record', 'list'],
        default: 'record',
        description:
          'record: the result has the output fields. list: the result has `items`, each with the output fields.',
      },
      examples: definitionList('example', 'Calls with a known outcome; the self-check makes each of them.'),
      title: { type: 'string', description: 'Display name; by default it follows from the name.' },
      effect: {
        enum: Object.keys(effects),
        description:
          'What a call does, from which the annotations follow: reads; computes, without asking anyone; adds; changes or deletes what exists; acts, each time anew. By default it follows from the name.',
      },
      annotations: {
        type: 'object',
        description: 'Single hints that differ from those of the effect, such as openWorldHint (MCP).',
      },
      icons: {
        type: 'array',
        items: { type: 'object', properties: { src: { type: 'string' } }, required: ['src'] },
        description: 'Pictures for clients that show tools (MCP).',
      },
      _meta: { type: 'object', description: "The platform's hints, such as rateLimit." },
    },
    required: ['name', 'description', 'input', 'output'],
    additionalProperties: false,
  },
};

/** The keys of a spec and of its parts. */
export const specKeys = {
  tool: Object.keys(definitions.tool.properties),
  field: Object.keys(definitions.field.properties),
  shape: Object.keys(definitions.shape.properties),
  example: Object.keys(definitions.example.properties),
} as const;

/** JSON Schema (draft-07) of one ToolSpec. */
export const toolSpecSchema: JsonObject = { definitions, $ref: '#/definitions/tool' };

/**
 * JSON Schema (draft-07) of a spec file with ToolSpecs: one, a list, or a list under `tools`. The package
 * contains it as `tool-spec.schema.json`.
 */
export const specFileSchema: JsonObject = {
  $schema: 'http://json-schema.org/draft-07/schema#',
  title: 'Tool specs of create-market-mcp',
  definitions,
  anyOf: [
    { $ref: '#/definitions/tool' },
    { type: 'array', items: { $ref: '#/definitions/tool' }, minItems: 1 },
    {
      type: 'object',
      properties: {
        $schema: { type: 'string' },
        tools: { type: 'array', items: { $ref: '#/definitions/tool' }, minItems: 1 },
      },
      required: ['tools'],
      additionalProperties: false,
    },
  ],
};

import type { JsonObject } from 'market-mcp-contract/json';
import { packageManagers } from '../../questions/package-managers.ts';
import { targetNames } from '../../questions/targets.ts';

const texts = { type: 'array', items: { type: 'string' } };

/** The JSON Schema of a manifest. */
export const manifestSchema: JsonObject = {
  type: 'object',
  properties: {
    schema: { const: 3 },
    template: { type: 'string', pattern: '^\\d{1,9}(\\.\\d{1,9}){2}(-[0-9A-Za-z.-]{1,64})?$' },
    platform: { type: 'string' },
    answers: {
      type: 'object',
      properties: {
        name: { type: 'string' },
        packageManager: { enum: [...packageManagers] },
        packageManagerVersion: { type: 'string', pattern: '^\\d[\\w.-]{0,63}$' },
        profile: { type: ['string', 'object'] },
        tools: texts,
        start: { enum: ['sample', 'openapi', 'url'] },
        variables: {
          type: 'array',
          items: {
            type: 'object',
            properties: {
              name: { type: 'string', pattern: '^[A-Za-z_][A-Za-z0-9_]*$' },
              kind: { enum: ['secret', 'url'] },
              text: { type: 'string' },
              fallback: { type: 'string' },
              optional: { const: true },
            },
            required: ['name', 'kind', 'text'],
          },
        },
        fields: { type: 'object', additionalProperties: texts },
        targets: { type: 'array', items: { enum: [...targetNames] } },
      },
      required: ['name', 'packageManager', 'profile', 'tools'],
    },
    listed: { type: ['object', 'null'], additionalProperties: { type: 'string' } },
    files: {
      type: 'object',
      additionalProperties: {
        type: 'object',
        properties: { sha256: { type: 'string' }, owner: { enum: ['yours', 'generated'] } },
        required: ['sha256', 'owner'],
      },
    },
  },
  required: ['schema', 'template', 'platform', 'answers', 'files'],
};

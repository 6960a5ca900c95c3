import { describe, expect, it } from 'vitest';
import { context } from '../../packages/contract/src/platforms/context.ts';
import { inspectToolList } from '../../packages/contract/src/rules/inspect.ts';
import { base, type Members, ok, toolOf } from './openapi.ts';

const parcel = { type: 'object', properties: { id: { type: 'string' }, status: { type: 'string' } } };

/** The tool of one operation. */
function toolAt(method: string, path: string, operation: Members, operationId = 'x') {
  const own = { operationId, responses: ok(parcel), ...operation };
  return toolOf(
    { ...base, info: { title: 'Parcel API' }, paths: { [path]: { [method]: own } } },
    operationId,
  );
}

const descriptionOf = async (...given: Parameters<typeof toolAt>) =>
  (await toolAt(...given)).tool.definition.description;

describe('the description of a tool', () => {
  it.each([
    ['/parcels/{parcelId}', 'one parcel'],
    ['/v1/parcels/{id}', 'one parcel'],
    ['/parcels', 'parcels'],
    ['/repos/{owner}/{repo}', 'one repo of one owner'],
    ['/repos/{owner}/{repo}/issues', 'issues of one repo'],
    ['/gas/{chain}', 'gas of one chain'],
    ['/api/v2/enterprises/{enterprise_slug}/licenses/{license_key}.json', 'one license of one enterprise'],
    ['/search/repositories', 'search repositories'],
    ['/addresses/{addressId}/statusReports', 'status reports of one address'],
  ])('names what %s is about', async (path, thing) => {
    expect(await descriptionOf('get', path, { summary: 'Get it' })).toBe(
      `Get it. Use it when a question is about ${thing} in Parcel API.`,
    );
  });

  it('names the API where the path says nothing', async () => {
    expect(await descriptionOf('get', '/', { summary: 'Get it' })).toBe(
      'Get it. Use it when a question is about Parcel API.',
    );
  });

  it('uses the summary, the description and the name of the operation before the path', async () => {
    const both = { summary: 'Get a parcel', description: 'With its last event.' };
    const use = 'Use it when a question is about one parcel in Parcel API.';
    const path = '/parcels/{id}';
    expect(await descriptionOf('get', path, both)).toBe(`Get a parcel. With its last event. ${use}`);
    expect(await descriptionOf('get', path, {}, 'getParcelById')).toBe(`Get parcel by id. ${use}`);
    expect(await descriptionOf('get', path, {})).toBe(`Returns one parcel: id, status. ${use}`);
  });

  it.each([
    [
      'put',
      'Replace a parcel',
      'Replace a parcel. Returns id, status. Use it to replace one parcel in Parcel API.',
    ],
    [
      'patch',
      undefined,
      'Changes one parcel. Returns id, status. Use it to change one parcel in Parcel API.',
    ],
    ['delete', 'Remove', 'Remove. Returns id, status. Use it to delete one parcel in Parcel API.'],
    ['post', 'Cancel a parcel', 'Cancel a parcel. Returns id, status. Use it for one parcel in Parcel API.'],
  ])('says what a %s does', async (method, summary, expected) => {
    expect(await descriptionOf(method, '/parcels/{id}', { summary })).toBe(expected);
  });

  it.each([
    ['/parcels/{id}/cancel', 'Use it to cancel one parcel in Parcel API.'],
    ['/parcels/{id}/set_state', 'Use it to set state of one parcel in Parcel API.'],
    ['/parcels/{id}/orders', 'Use it for orders of one parcel in Parcel API.'],
    ['/cancel', 'Use it for cancel in Parcel API.'],
    ['/people/{personId}/cards', 'Use it for cards of one person in Parcel API.'],
  ])('says what a post to %s is for', async (path, use) => {
    expect(await descriptionOf('post', path, { summary: 'Create it' })).toBe(`Create it. ${use}`);
  });

  it.each([
    ['get', '/'],
    ['get', '/v2/{id}'],
    ['post', '/parcels'],
  ])('is a to-do where %s %s says nothing', async (method, path) => {
    const { definition } = (await toolAt(method, path, {})).tool;
    expect(definition.description).toBe('TODO: what this tool returns, and when to use it.');
    const found = inspectToolList([definition], context).find(({ id }) => id === 'tool.to-do');
    expect(found?.problems).toContainEqual(expect.objectContaining({ path: 'description' }));
  });
});

describe('an argument without a description', () => {
  const cases: readonly (readonly [name: string, schema: object, description: string])[] = [
    ['parcelId', { type: 'string' }, 'Identifier of the parcel.'],
    ['parcel_ids', { type: 'array', items: { type: 'string' } }, 'Identifiers of the parcel.'],
    ['per_page', { type: 'integer' }, 'Maximum number of results.'],
    ['pageToken', { type: 'string' }, 'Where to continue, from the previous answer.'],
    ['state', { type: 'string', enum: ['open', 'closed'] }, 'State: open or closed.'],
    [
      'shipped_after',
      { type: 'string', format: 'date-time' },
      'Shipped after, as a date and time (2026-01-31T12:00:00Z).',
    ],
    ['max_weight_kg', { type: 'number' }, 'Max weight in kilograms.'],
    ['timeout_ms', { type: 'integer' }, 'Timeout in milliseconds.'],
    ['include_archived', { type: 'boolean' }, 'Whether to include archived.'],
    ['isPaid', { type: 'boolean' }, 'Whether it is paid.'],
    ['confidence', { type: 'number', minimum: 0, maximum: 1 }, 'Confidence, from 0 to 1.'],
    ['chain', { type: 'string', examples: ['base'] }, 'Chain, such as base.'],
  ];

  it.each(cases)('%s %j is described by its name and schema', async (name, schema, description) => {
    const parameters = [{ name, in: 'query', schema }];
    const { inputs } = await toolAt('get', '/parcels', { summary: 'Get it', parameters });
    expect(inputs[name]?.description).toBe(description);
  });

  it('is an identifier of what the path names before it', async () => {
    const { inputs } = await toolAt('get', '/parcels/{id}', { summary: 'Get it' });
    expect(inputs.id?.description).toBe('Identifier of the parcel.');
  });

  it.each([
    ['owner', { type: 'string' }],
    ['days', { type: 'string' }],
    ['archived', { type: 'boolean' }],
    ['constructor', { type: 'integer' }],
    ['_', { type: 'string', enum: ['a', 'b'] }],
  ])('%s %j is a to-do that the rule names', async (name, schema) => {
    const parameters = [{ name, in: 'query', schema }];
    const { tool, inputs } = await toolAt('get', '/parcels', { summary: 'Get it', parameters });
    expect(Object.values(inputs)[0]?.description).toBe(`TODO: what ${name} means, with its unit.`);
    const found = inspectToolList([tool.definition], context).find(({ id }) => id === 'tool.to-do');
    expect(found?.problems).toHaveLength(1);
  });

  it('has the description of the document if there is one', async () => {
    const parameters = [
      { name: 'limit', in: 'query', description: 'At most 50', schema: { type: 'integer' } },
    ];
    expect(
      (await toolAt('get', '/parcels', { summary: 'Get it', parameters })).inputs.limit?.description,
    ).toBe('At most 50');
  });
});

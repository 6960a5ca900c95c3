import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { planCreation } from '../../../src/changes/creation.ts';
import { startImport } from '../../../src/changes/import-run.ts';
import { Cancelled } from '../../../src/cli/prompts/leaving.ts';
import type { CreateQuestionAnswers } from '../../../src/questions/create.ts';
import { completeAnswers } from '../../../src/questions/create-answers.ts';
import { forwardRequest, startApi } from '../../api-server.ts';
import { openApi, serveTools } from '../../e2e/upstreams.ts';
import { keys } from '../../keys.ts';
import { directory } from '../../project/directory.ts';
import { drive, prompts } from './interview.ts';
import type { Answer } from './keyboard.ts';

const { ctrlC, ctrlU, down, enter, tab } = keys;
const secret = 'wJalrXUtnFEMIK7MDENGbPxRfiCY';

/** An API that records the key of each request. */
async function api() {
  const received: (string | undefined)[] = [];
  const { origin } = await startApi(({ headers }) => {
    received.push(String(headers['x-api-key'] ?? headers.authorization));
    return { body: { price: 1.5 } };
  });
  return { origin, received };
}

/** Answers the questions of create; the review sends the requests. */
async function answer(
  given: { readonly [part in keyof CreateQuestionAnswers]?: CreateQuestionAnswers[part] | undefined },
  answers: readonly Answer[],
) {
  vi.stubEnv('SECRET', secret);
  const run = startImport();
  const ran = await drive(answers, {
    run,
    flagAnswers: {
      directory: 'x',
      tool: 'get_x',
      description: [],
      platform: 'generic',
      ...given,
    } as Partial<CreateQuestionAnswers>,
    async review(parts) {
      const plan = completeAnswers(parts);
      const planned = await planCreation(plan, run);
      return planned.ok ? { ok: true, value: { plan, lines: ['package.json'] } } : planned;
    },
  });
  expect(ran.text).not.toContain(secret);
  return ran;
}

afterEach(() => vi.unstubAllEnvs());

describe('a request that may change something', () => {
  const lineOf = (origin: string) => [`curl ${origin}/prices -d chain=base`];

  it('is sent after a yes', async () => {
    const { origin, received } = await api();
    const { value } = await answer({ fromRequest: lineOf(origin), fields: [] }, [
      ['POST /prices may change something. Send it once, for real?', 'y', enter],
      [prompts.write, enter],
    ]);
    expect(received).toHaveLength(1);
    expect(value?.send).toBe(true);
  });

  it('is sent without a question with --effect reads', async () => {
    const { origin, received } = await api();
    const { value, text } = await answer({ fromRequest: lineOf(origin), fields: [], effect: 'reads' }, [
      ['A value that finds nothing', enter],
      [prompts.write, enter],
    ]);
    expect(text).not.toContain('may change something');
    expect(received).toHaveLength(1);
    expect(value?.send).toBeUndefined();
  });
});

describe('a variable of the environment', () => {
  const lineOf = (origin: string) => [`curl ${origin}/a -H 'x-api-key: $SECRET'`];

  it('is not sent if the author presses Enter, and then the key is asked for', async () => {
    const { origin, received } = await api();
    const { value, text } = await answer({ fromRequest: lineOf(origin), fields: [] }, [
      [`Send SECRET from your environment to ${origin}?`, enter],
      ['Value of SECRET', 'typed-key-1', enter],
      [prompts.write, enter],
    ]);
    expect(received).toEqual(['typed-key-1']);
    expect(value?.env).toEqual([]);
    expect(text).not.toContain('typed-key-1');
  });

  it('is sent after a yes, which the repeated command has as --env', async () => {
    const { origin, received } = await api();
    const { value } = await answer({ fromRequest: lineOf(origin), fields: [] }, [
      [`Send SECRET from your environment to ${origin}?`, 'y', enter],
      [prompts.write, enter],
    ]);
    expect(received).toEqual([secret]);
    expect(value?.env).toEqual(['SECRET']);
  });

  it('with --env is not asked for', async () => {
    const { origin, received } = await api();
    const given = { fromRequest: lineOf(origin), fields: [], env: ['SECRET'] };
    const { text } = await answer(given, [[prompts.write, enter]]);
    expect(received).toEqual([secret]);
    expect(text).not.toContain('from your environment');
  });

  it('that several requests name is asked for once, with all addresses', async () => {
    const [first, second] = await Promise.all([api(), api()]);
    const fromRequest = [...lineOf(first.origin), ...lineOf(second.origin)];
    const { error } = await answer({ fromRequest }, [
      [`Send SECRET from your environment to ${first.origin} and ${second.origin}?`, ctrlC],
    ]);
    expect(error).toBeInstanceOf(Cancelled);
    expect([first.received, second.received]).toEqual([[], []]);
  });

  it('that was allowed for one request is asked for again after another request is given', async () => {
    const [first, second] = await Promise.all([api(), api()]);
    const { value } = await answer({ fromRequest: lineOf(first.origin), env: ['SECRET'] }, [
      [prompts.write, down, enter],
      ['Which answer?', enter],
      ['Paste a curl command, or', ctrlU, lineOf(second.origin)[0] ?? '', enter],
      [prompts.tool, enter],
      [`Send SECRET from your environment to ${second.origin}?`, enter],
      ['Value of SECRET', 'typed-key-3', enter],
      ['and when should an agent use it?', enter],
      [prompts.write, enter],
    ]);
    expect(value?.env).toEqual([]);
    expect([first.received, second.received]).toEqual([[secret], ['typed-key-3']]);
  });

  it('of an operation of an OpenAPI document is asked for after the consent to send it', async () => {
    const { origin, received } = await api();
    const securitySchemes = { key: { type: 'http', scheme: 'bearer' } };
    const secured = { security: [{ key: [] }], components: { securitySchemes } };
    const get = { responses: { 200: { description: 'ok' } } };
    const path = join(directory(), 'api.json');
    writeFileSync(path, JSON.stringify(openApi(origin, 'Gas', { '/a': { get } }, secured)));
    vi.stubEnv('GAS_TOKEN', secret);
    const given = { fromOpenapi: path, operation: ['GET /a'], fields: [] };
    const { value } = await answer(given, [
      ['The document does not say what GET /a answers', 'y', enter],
      [`Send GAS_TOKEN from your environment to ${origin}?`, enter],
      ['Value of GAS_TOKEN', 'typed-key-2', enter],
      [prompts.write, enter],
    ]);
    expect(value).toMatchObject({ send: true, env: [] });
    expect(received).toEqual(['Bearer typed-key-2']);
  });
});

describe('the token of an MCP server', () => {
  /** A server that lists its tools for one token, and records what it gets. */
  async function server(token: string) {
    const tool = { name: 'get_weather', description: 'Returns the weather. Use it often.' };
    const listed = await serveTools('Weather', [
      { ...tool, inputSchema: { type: 'object' }, annotations: { readOnlyHint: true } },
    ]);
    const received = new Set<string>();
    const { origin } = await startApi((request) => {
      const { authorization = 'none' } = request.headers;
      received.add(authorization);
      return authorization === `Bearer ${token}` ? forwardRequest(request, listed) : { status: 401 };
    });
    return { origin, url: `${origin}/mcp`, received };
  }
  const open = { tool: undefined, fields: [] };

  it('is asked for if the variable must not be sent, until the server accepts it', async () => {
    const { origin, url, received } = await server('typed-token');
    vi.stubEnv('MCP_SOURCE_TOKEN', secret);
    const { value, text } = await answer({ ...open, fromUrl: url }, [
      [`Send MCP_SOURCE_TOKEN from your environment to ${origin}?`, enter],
      [`Token of ${origin}`, 'wrong-token', enter],
      ['it refuses the token'],
      [`Token of ${origin}`, 'typed-token', enter],
      ['Which of the 1 tools?', tab, enter],
      [prompts.write, enter],
    ]);
    expect([...received]).toEqual(['none', 'Bearer wrong-token', 'Bearer typed-token']);
    expect(value).not.toHaveProperty('env');
    expect(text).not.toMatch(/typed-token|wrong-token/);
  });

  it('is the variable after a yes', async () => {
    const { origin, url, received } = await server(secret);
    vi.stubEnv('MCP_SOURCE_TOKEN', secret);
    const { value } = await answer({ ...open, fromUrl: url }, [
      [`Send MCP_SOURCE_TOKEN from your environment to ${origin}?`, 'y', enter],
      ['Which of the 1 tools?', tab, enter],
      [prompts.write, enter],
    ]);
    expect([...received]).toEqual(['none', `Bearer ${secret}`]);
    expect(value?.env).toEqual(['MCP_SOURCE_TOKEN']);
  });

  it('is no reason to ask where the server needs none', async () => {
    vi.stubEnv('MCP_SOURCE_TOKEN', secret);
    const tool = { name: 'get_weather', description: 'Returns the weather. Use it often.' };
    const url = await serveTools('Open', [
      { ...tool, inputSchema: { type: 'object' }, annotations: { readOnlyHint: true } },
    ]);
    const { text } = await answer({ ...open, fromUrl: url }, [
      ['Which of the 1 tools?', tab, enter],
      [prompts.write, enter],
    ]);
    expect(text).not.toContain('MCP_SOURCE_TOKEN');
  });
});

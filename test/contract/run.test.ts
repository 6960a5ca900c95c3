import { createServer } from 'node:net';
import { describe, expect, it } from 'vitest';
import { context } from '../../packages/contract/src/platforms/all.ts';
import { runContract } from '../../packages/contract/src/run.ts';
import { Unreachable } from '../../packages/contract/src/wire/reach.ts';
import { type Breaks, createSteps, serve } from '../broken/good-server.ts';
import { trust } from '../broken/trust.ts';

/** Serves the good server with changes while `use` runs. */
async function serving<T>(breaks: Breaks, use: (url: string) => Promise<T>): Promise<T> {
  const server = await serve(createSteps(trust, breaks));
  try {
    return await use(server.url);
  } finally {
    await server.stop();
  }
}

describe('runContract', () => {
  it('judges rules without a token if there is no key', async () => {
    const report = await serving({}, (url) => runContract({ url, profile: context }));
    const status = new Map(report.rules.map(({ id, status }) => [id, status]));
    expect(report.ok).toBe(true);
    expect(status.get('gate.no-token')).toBe('pass');
    expect(status.get('gate.wrong-key')).toBe('not-run');
    expect(status.get('result.fits')).toBe('not-run');
    expect(report.rules.find(({ id }) => id === 'result.fits')?.reason).toBe(
      'no private key to sign platform tokens with',
    );
  });

  it('reports each rule when it is finished', async () => {
    const seen: [string, number, number][] = [];
    const report = await serving({}, (url) =>
      runContract(
        { url, profile: context },
        { onRule: ({ id }, done, total) => seen.push([id, done, total]) },
      ),
    );
    expect(seen.map(([id]) => id).toSorted()).toEqual(report.rules.map(({ id }) => id).toSorted());
    expect(seen.map(([, done]) => done)).toEqual(seen.map((_, index) => index + 1));
    expect(new Set(seen.map(([, , total]) => total))).toEqual(new Set([report.rules.length]));
  });

  it('fails on a MUST, not on advice', async () => {
    const breaks: Breaks = {
      answer: (good) => async (request) => {
        const answer = await good(request);
        return { ...answer, headers: { ...answer.headers, 'x-powered-by': 'Express' } };
      },
    };
    const overridden = {
      ...context,
      rules: { ...context.rules, overrides: { 'http.no-product-header': 'must' } },
    } as const;
    const [advised, failed] = await serving(breaks, (url) =>
      Promise.all([runContract({ url, profile: context }), runContract({ url, profile: overridden })]),
    );
    expect([advised.ok, advised.summary.advice, advised.summary.failed]).toEqual([true, 1, 0]);
    expect([failed.ok, failed.summary.advice, failed.summary.failed]).toEqual([false, 0, 1]);
  });

  it('reads an answer in server-sent events', async () => {
    const breaks: Breaks = {
      answer: (good) => async (request) => {
        const answer = await good(request);
        if (request.method !== 'POST' || request.path === '/health' || answer.status !== 200) return answer;
        const body = `event: message\ndata: ${JSON.stringify(answer.body)}\n\n`;
        return { ...answer, headers: { ...answer.headers, 'content-type': 'text/event-stream' }, body };
      },
    };
    const report = await serving(breaks, (url) => runContract({ url, profile: context }));
    expect(report.rules.filter(({ status }) => status === 'fail')).toEqual([]);
  });

  it('throws Unreachable if nothing answers', async () => {
    const silent = createServer((socket) => socket.destroy());
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve));
    const address = silent.address();
    const port = typeof address === 'object' ? address?.port : 0;
    await expect(runContract({ url: `http://127.0.0.1:${port}/mcp`, profile: context })).rejects.toThrow(
      Unreachable,
    );
    silent.close();
  });

  it('ends when its signal aborts', async () => {
    const stop = new AbortController();
    const run = serving({}, (url) =>
      runContract(
        { url, profile: context },
        { signal: stop.signal, onRule: () => stop.abort(new Error('stopped')) },
      ),
    );
    await expect(run).rejects.toThrow('stopped');
  });
});

import type { Server } from 'node:http';
import { createServer } from 'node:net';
import { describe, expect, it } from 'vitest';
import { context } from '../../packages/contract/src/platforms/all.ts';
import { runContract } from '../../packages/contract/src/run.ts';
import { Unreachable } from '../../packages/contract/src/wire/require-reachable.ts';
import { startApi } from '../api-server.ts';
import { serving, signer } from '../broken/trust.ts';
import { instead, methodOf, withAnswer } from '../broken/variant.ts';
import { listen } from '../listen.ts';

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

  it('reports a rule once whose verdict it gave up because the server ended', async () => {
    let server: Server | undefined;
    const pingsHangUp = instead((request) => {
      if (methodOf(request) === 'ping') return { status: 0 };
      if (request.body?.includes('no_such_tool')) {
        server?.close();
        server?.closeAllConnections();
      }
      return undefined;
    });
    const reported: [string, number, number][] = [];
    const variant = { ...pingsHangUp, attach: (attached: Server) => (server = attached) };
    const report = await serving(variant, (url) =>
      runContract(
        { url, profile: context, signer },
        { onRule: ({ id }, done, total) => reported.push([id, done, total]) },
      ),
    );
    expect(report.rules.find(({ id }) => id === 'protocol.ping')?.cause).toBe('unanswered');
    expect(reported.map(([id]) => id).toSorted()).toEqual(report.rules.map(({ id }) => id).toSorted());
    expect(reported.at(-1)?.slice(1)).toEqual([report.rules.length, report.rules.length]);
  });

  it('measures durations with at most one decimal', async () => {
    const { rules, summary } = await serving({}, (url) => runContract({ url, profile: context }));
    const durations = [summary.ms, ...rules.map(({ ms }) => ms)];
    expect(durations.filter((ms) => ms !== Math.round(ms * 10) / 10)).toEqual([]);
    expect(durations.some((ms) => ms > 0)).toBe(true);
  });

  it('fails on a MUST, not on advice', async () => {
    const named = withAnswer((answer) => ({
      ...answer,
      headers: { ...answer.headers, 'x-powered-by': 'Express' },
    }));
    const overridden = {
      ...context,
      rules: { ...context.rules, overrides: { 'http.no-product-header': 'must' } },
    } as const;
    const [advised, failed] = await serving(named, (url) =>
      Promise.all([runContract({ url, profile: context }), runContract({ url, profile: overridden })]),
    );
    expect([advised.ok, advised.summary.advice, advised.summary.failed]).toEqual([true, 1, 0]);
    expect([failed.ok, failed.summary.advice, failed.summary.failed]).toEqual([false, 0, 1]);
  });

  it('names the target of a redirect', async () => {
    const { origin } = await startApi(() => ({ status: 308, headers: { location: 'https://x.test/mcp' } }));
    const report = await runContract({ url: `${origin}/mcp`, profile: context });
    const initialize = report.rules.find(({ id }) => id === 'discovery.initialize');
    expect(initialize?.problems[0]?.actual).toBe('HTTP 308, a redirect to https://x.test/mcp');
  });

  it('throws Unreachable if nothing answers', async () => {
    const port = await listen(createServer((socket) => socket.destroy()));
    const run = runContract({ url: `http://127.0.0.1:${port}/mcp`, profile: context });
    await expect(run).rejects.toThrow(Unreachable);
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

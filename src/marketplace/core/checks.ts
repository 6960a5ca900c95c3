import { CommandError } from 'market-mcp-contract/command';
import type { CheckReport } from 'market-mcp-contract/report';
import { cannotStart } from '../../dev/state.ts';
import type { Jobs } from './jobs.ts';
import type { Marketplace } from './marketplace.ts';

/** Runs the contract on the author's server, and knows whether the last verdict still holds. */
export class Checks {
  readonly #marketplace: Marketplace;
  /** The newest check; the version is undefined if it checks an older build than the sources. */
  #checked: { readonly id: string; readonly version: string | undefined } | undefined;

  constructor(marketplace: Marketplace) {
    this.#marketplace = marketplace;
  }

  /** @throws CommandError `NOTHING_TO_CHECK` if no server is known, `NOT_STARTED` if it is known not to start. */
  async start(): Promise<ReturnType<Jobs['start']>> {
    const { jobs, options } = this.#marketplace;
    const { check } = options;
    if (!check) {
      const hint = 'Run the marketplace in a project, or name a server with --endpoint <url>.';
      throw new CommandError('NOTHING_TO_CHECK', 'no server is known', hint);
    }
    // It starts a separate process.
    const state = await this.#marketplace.state();
    if (state && cannotStart(state)) await this.#marketplace.requireRunning(state.url ?? '');
    const isOld = state?.kind === 'old-build' || state?.kind === 'building';
    const version = isOld ? undefined : await this.#version();
    const job = jobs.start('check', 'Check', (onStep) =>
      check((rule, completedCount, total) =>
        onStep({ label: 'Rules', status: 'running', details: [`${completedCount} of ${total}: ${rule}`] }),
      ),
    );
    this.#checked = { id: job.id, version };
    return job;
  }

  /** The newest check; its report is null until it has ended with a verdict, and current while the tools are those that it checks. */
  async last() {
    const job = this.#marketplace.jobs.newest('check');
    if (!job) return null;
    const isCurrent = job.id === this.#checked?.id && this.#checked.version === (await this.#version());
    return { job, report: job.result as CheckReport | null, isCurrent };
  }

  /** A text that changes with the tools: with their sources if these are known, else with the server's tools/list. */
  async #version(): Promise<string> {
    const { version, endpoint } = this.#marketplace.options;
    if (version) return version();
    const tools =
      endpoint === undefined ? [] : await this.#marketplace.caller.tools(endpoint).catch(() => []);
    return JSON.stringify(tools);
  }
}

import { randomUUID } from 'node:crypto';
import type { RegistrationStep } from './marketplace-model.ts';

/** A long-running task and its progress. */
export interface Job {
  readonly id: string;
  readonly kind: 'register' | 'check';
  readonly title: string;
  readonly steps: readonly RegistrationStep[];
  readonly state: 'running' | 'done';
  /** The result; its form depends on the kind. */
  readonly result: unknown;
  /** The reason if it failed. */
  readonly error: string | null;
}

const keptJobs = 50;

/** The jobs of a marketplace. Of finished jobs, only the newest are kept. */
export class Jobs {
  readonly #jobs = new Map<string, Job>();
  readonly #onChange: (job: Job) => void;

  constructor(onChange: (job: Job) => void) {
    this.#onChange = onChange;
  }

  get(id: string): Job | undefined {
    return this.#jobs.get(id);
  }

  newest(kind: Job['kind']): Job | undefined {
    return [...this.#jobs.values()].findLast((job) => job.kind === kind);
  }

  /** Starts a job and returns at once; `finished` resolves with the finished job. */
  start(
    kind: Job['kind'],
    title: string,
    work: (onStep: (step: RegistrationStep) => void) => Promise<unknown>,
  ): { readonly id: string; readonly finished: Promise<Job> } {
    const id = randomUUID();
    this.#put({ id, kind, title, steps: [], state: 'running', result: null, error: null });
    for (const [old, { state }] of this.#jobs) {
      if (this.#jobs.size <= keptJobs) break;
      if (state === 'done') this.#jobs.delete(old);
    }
    const finished = work((step) => this.#change(id, (job) => ({ steps: withStep(job.steps, step) }))).then(
      (result) => this.#change(id, () => ({ state: 'done', result })),
      (error: Error) => this.#change(id, () => ({ state: 'done', error: error.message })),
    );
    return { id, finished };
  }

  #change(id: string, changesOf: (job: Job) => Partial<Job>): Job {
    const job = this.#jobs.get(id);
    if (!job) throw new Error(`there is no job ${id}`);
    return this.#put({ ...job, ...changesOf(job) });
  }

  #put(job: Job): Job {
    this.#jobs.set(job.id, job);
    this.#onChange(job);
    return job;
  }
}

/** A step replaces an earlier one with the same label. */
function withStep(steps: readonly RegistrationStep[], step: RegistrationStep): readonly RegistrationStep[] {
  const at = steps.findIndex(({ label }) => label === step.label);
  if (at === -1) return [...steps, step];
  return steps.with(at, step);
}

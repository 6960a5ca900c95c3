import type { Context } from 'hono';
import type { Child } from 'hono/jsx';
import { CommandError } from 'market-mcp-contract/command';
import type { Job } from '../core/jobs.ts';
import type { Marketplace } from '../core/marketplace.ts';
import type { RegistrationStep } from '../core/model.ts';
import { Head, live, Notice, shown, Tag } from '../web/parts.tsx';
import type { Done, Site } from '../web/site.tsx';
import { Findings, FoldedList } from './findings.tsx';

/**
 * The answer to the start of a job: a person is led to its page, a program gets its result.
 *
 * @throws CommandError with the code if the job ended with an error.
 */
export async function doneWith(
  { id, finished }: ReturnType<Marketplace['jobs']['start']>,
  c: Context,
  code: string,
  dataOf: (job: Job) => unknown,
): Promise<Done> {
  if (!c.req.path.endsWith('.json')) return { data: { id }, to: `${c.req.path}/${id}` };
  const job = await finished;
  if (job.error !== null) throw new CommandError(code, job.error, 'See the traffic.');
  return { data: dataOf(job), to: '/' };
}

/** Adds the page of jobs of this kind, and the part of it that changes. */
export function jobPages(site: Site, kind: Job['kind'], view: (job: Job) => Child): void {
  const title = kind[0]?.toUpperCase() + kind.slice(1);
  site.page(
    `/${kind}/:id`,
    title,
    (c) => jobOf(site.marketplace, c.req.param('id')),
    ({ data: job }) => (
      <JobPage job={job}>
        <JobBody job={job}>{view(job)}</JobBody>
      </JobPage>
    ),
  );
}

/** @throws CommandError if there is no such job. */
function jobOf(marketplace: Marketplace, id = ''): Job {
  const job = marketplace.jobs.get(id.replace(/\.json$/, ''));
  if (job) return job;
  throw new CommandError('NO_SUCH_JOB', 'this run no longer exists', 'Start a new one.');
}

const words: { readonly [status in RegistrationStep['status']]: string } = {
  running: 'running',
  pass: 'passed',
  fail: 'failed',
  advice: 'advice',
};

export function Steps({ steps }: { steps: readonly RegistrationStep[] }) {
  if (steps.length === 0) return null;
  return (
    <ol class="steps panel">
      {steps.map((step) => (
        <li>
          <span>
            <Tag mark={step.status}>{words[step.status]}</Tag>
          </span>
          <div class="stack tight">
            <h3>{shown(step.label)}</h3>
            <StepDetails step={step} />
          </div>
        </li>
      ))}
    </ol>
  );
}

/** What a step has found: by rule or call where it has problems, else as text. */
export function StepDetails({ step: { details, findings = [] } }: { step: RegistrationStep }) {
  if (findings.length > 0) return <Findings findings={findings} />;
  return <FoldedList items={details} limit={shownDetails} noun="line" view={shown} />;
}

const shownDetails = 10;

/** The page of a job. The inner part follows the job until it is done. */
export function JobPage({ job, children }: { job: Job; children?: Child }) {
  const { id, kind, state } = job;
  const part = state === 'running' ? live('job', `/${kind}/${id}`, `job:${id}`) : { id: 'job' };
  return (
    <>
      <Head title={job.title} />
      {job.state === 'running' && (
        <noscript>
          <p>Reload the page to see how far it has come.</p>
        </noscript>
      )}
      <div
        class="stack"
        aria-live="polite"
        {...part}
        {...(state === 'running' && { 'aria-busy': 'true' as const })}
      >
        {children}
      </div>
    </>
  );
}

/** The part of a job's page that changes. */
export function JobBody({ job, children }: { job: Job; children?: Child }) {
  const done = job.state === 'done' ? { 'data-done': '', tabindex: -1 } : {};
  return (
    <div class="stack" {...done}>
      {job.state === 'running' && (
        <p>
          <Tag mark="running">running</Tag>
        </p>
      )}
      {job.error !== null && <Notice mark="fail" title="The run ended with an error" lines={[job.error]} />}
      {children}
    </div>
  );
}

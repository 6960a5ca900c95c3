import type { Child } from 'hono/jsx';
import type { Job } from '../core/jobs.ts';
import type { Step } from '../core/model.ts';
import { Head, live, type Mark, Notice, shown, Tag } from '../web/parts.tsx';

const words: { readonly [status in Step['status']]: string } = {
  running: 'running',
  pass: 'passed',
  fail: 'failed',
  advice: 'advice',
};

export function Steps({ job }: { job: Job }) {
  if (job.steps.length === 0) return null;
  return (
    <ol class="steps panel">
      {job.steps.map(({ label, status, details }) => (
        <li>
          <span>
            <Tag mark={status as Mark}>{words[status]}</Tag>
          </span>
          <div class="stack tight">
            <h3>{shown(label)}</h3>
            {details.length > 0 && (
              <ul>
                {details.slice(0, 30).map((detail) => (
                  <li>{shown(detail)}</li>
                ))}
              </ul>
            )}
          </div>
        </li>
      ))}
    </ol>
  );
}

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
      <div class="stack" aria-live="polite" {...part}>
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
      {job.state === 'running' && <Tag mark="running">running</Tag>}
      {job.error !== null && <Notice mark="fail" title="The run ended with an error" lines={[job.error]} />}
      {children}
    </div>
  );
}

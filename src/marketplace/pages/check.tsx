import type { CheckReport } from '../../check/model.ts';
import { countsOf, verdictOf } from '../../check/report/format.ts';
import { reporters } from '../../check/report/index.ts';
import type { Job } from '../core/jobs.ts';
import { Head, live, Notice, Text } from '../web/parts.tsx';
import { JobBody, Steps } from './job.tsx';

export interface CheckData {
  readonly available: boolean;
  readonly last: Job | null;
}

export function Check({ data: { available, last } }: { data: CheckData }) {
  return (
    <>
      <Head title="Check">Every rule of the contract, with the report that market-mcp check prints.</Head>
      {available ? (
        <form method="post" action="/check" class="row">
          <button type="submit" class="primary">
            Run the check
          </button>
          <span class="soft small">
            In a project it starts instances of its own; your running server is left alone.
          </span>
        </form>
      ) : (
        <Notice
          mark="advice"
          title="There is no server to check"
          lines={['Run the marketplace in a project, or with --endpoint.']}
        />
      )}
      <section class="stack" {...live('last', '/check', 'server', 'check', `job:${last?.id}`)}>
        {last && (
          <>
            {last.state === 'done' && <h2>Last check</h2>}
            <JobBody job={last}>
              <CheckView job={last} />
            </JobBody>
          </>
        )}
      </section>
    </>
  );
}

export function CheckView({ job }: { job: Job }) {
  const report = job.result as CheckReport | null;
  if (!report) return <Steps job={job} />;
  const { summary, ok } = report;
  return (
    <>
      <Notice
        mark={ok ? 'pass' : 'fail'}
        title={`The check ${report.complete || !ok ? '' : 'ended: '}${verdictOf(report)}`}
        lines={[countsOf(summary)]}
      />
      <Text text={reporters.pretty(report, { color: false, verbose: false })} report />
    </>
  );
}

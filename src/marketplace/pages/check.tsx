import type { Child } from 'hono/jsx';
import { CommandError, counted } from 'market-mcp-contract/command';
import { shorten } from 'market-mcp-contract/json';
import {
  type CheckReport,
  countsAsFailure,
  countsOf,
  exampleText,
  explanations,
  groupOf,
  reasonLine,
  remarksOf,
  ruleNameErrors,
  ruleOrigin,
  rules,
  verdictOf,
} from 'market-mcp-contract/report';
import type { Job } from '../core/jobs.ts';
import { findingOf } from '../core/marketplace-model.ts';
import {
  CodeCell,
  FieldList,
  Head,
  LinkButton,
  live,
  type Mark,
  Notice,
  PostButton,
  Table,
  Tag,
  Text,
  visibleText,
} from '../web/parts.tsx';
import { RuleLink, tryPath } from '../web/references.tsx';
import type { Site } from '../web/site.tsx';
import { doneWith, Findings, JobBody, jobPages, Steps } from './job.tsx';
import { sourceRoutes } from './source.tsx';

/** Check: the page, its runs, the explanation of each rule, and the sources that a finding names. */
export function checkRoutes(site: Site): void {
  const { checks } = site;
  site.page('/check', 'Check', () => load(site), Check);
  site.post('/check', async (_input, c) =>
    doneWith(await checks.start(), c, 'NOT_CHECKED', ({ result }) => result),
  );
  site.page('/check/rules/:id', 'Rule', (c) => ruleOf(c.req.param('id') ?? ''), Rule);
  sourceRoutes(site);
  jobPages(site, 'check', (job) => <CheckView job={job} />);
}

async function load({ checks, marketplace }: Site) {
  const last = await checks.last();
  const available = marketplace.options.check !== undefined;
  return { available, last: last?.job ?? null, isCurrent: last?.isCurrent ?? false };
}

function Check({ data: { available, last, isCurrent } }: { data: Awaited<ReturnType<typeof load>> }) {
  return (
    <>
      <Head title="Check">Every rule of the contract, and what to change where your server breaks one.</Head>
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
            {!isCurrent && last.state === 'done' && (
              <Notice
                mark="advice"
                title="Your tools have changed since this check"
                lines={['Run it again for a verdict on what your server is now.']}
              />
            )}
            <JobBody job={last}>
              <CheckReportView job={last} />
            </JobBody>
          </>
        )}
      </section>
    </>
  );
}

/** A check that runs or has ended, on its own page. */
function CheckView({ job }: { job: Job }) {
  return (
    <>
      <CheckReportView job={job} />
      {job.state === 'done' && (
        <div class="row">
          <PostButton to="/check" label="Run the check again" />
        </div>
      )}
    </>
  );
}

function VerdictNotice({ report }: { report: CheckReport }) {
  const verdict = verdictOf(report);
  const isDecided = verdict === 'passed' || verdict === 'failed';
  let mark: Mark = report.ok ? 'pass' : 'advice';
  if (verdict === 'failed') mark = 'fail';
  return (
    <Notice
      mark={mark}
      title={isDecided ? `The check ${verdict}` : `Result of the check: ${verdict}`}
      lines={[countsOf(report.summary)]}
    />
  );
}

/** The verdict, then what failed, what could be better, what was not run and why, and what passed. */
function CheckReportView({ job }: { job: Job }) {
  const report = job.result as CheckReport | null;
  if (!report) return <Steps steps={job.steps} />;
  const { rules, demands } = report;
  const failed = rules.filter((rule) => rule.status === 'fail' && countsAsFailure(rule, demands));
  const advice = rules.filter((rule) => rule.status === 'fail' && !countsAsFailure(rule, demands));
  const passed = rules.filter(({ status }) => status === 'pass');
  const remarks = remarksOf(report).filter(({ about }) => about !== 'coverage');
  return (
    <>
      <VerdictNotice report={report} />
      {failed.length > 0 && (
        <Part mark="fail" title={`${counted(failed.length, 'rule')} failed`}>
          <Findings findings={failed.map(findingOf)} />
        </Part>
      )}
      {advice.length > 0 && (
        <Part mark="advice" title={counted(advice.length, 'warning')}>
          <Findings findings={advice.map(findingOf)} />
        </Part>
      )}
      {remarks.length > 0 && (
        <Part mark="advice" title="Also found">
          <ul>
            {remarks.map(({ about, text }) => (
              <li>
                <b>{visibleText(about)}</b>: {visibleText(text)}
              </li>
            ))}
          </ul>
        </Part>
      )}
      <NotRun report={report} />
      <Rehearsal report={report} />
      {passed.length > 0 && (
        <details class="panel">
          <summary>{counted(passed.length, 'rule')} passed</summary>
          <dl class="fields small">
            {[...new Set(passed.map(({ id }) => groupOf(id)))].map((group) => (
              <>
                <dt class="mono">{group}</dt>
                <dd class="row soft">
                  <Ids ids={passed.map(({ id }) => id).filter((id) => groupOf(id) === group)} />
                </dd>
              </>
            ))}
          </dl>
        </details>
      )}
    </>
  );
}

function Part({ mark, title, children }: { mark: Mark; title: string; children?: Child }) {
  return (
    <section class="panel">
      <h2 class={`marked ${mark}`}>{title}</h2>
      {children}
    </section>
  );
}

function Ids({ ids }: { ids: readonly string[] }) {
  return ids.map((id) => <RuleLink id={id} />);
}

/** The rules that were not run, by reason. */
function NotRun({ report: { rules, demands } }: { report: CheckReport }) {
  const notRun = rules.filter(({ status }) => status === 'not-run');
  if (notRun.length === 0) return null;
  const isFailure = (reason: string) =>
    notRun.some((rule) => rule.reason === reason && countsAsFailure(rule, demands));
  const reasons = [...new Set(notRun.map(({ reason = '' }) => reason))];
  return (
    <Part mark="none" title={`${counted(notRun.length, 'rule')} not run`}>
      <ul class="findings">
        {[...reasons.filter(isFailure), ...reasons.filter((reason) => !isFailure(reason))].map((reason) => (
          <li class="stack tight">
            <p>
              {isFailure(reason) && <Tag mark="fail">counts as failed</Tag>} {visibleText(reasonLine(reason))}
            </p>
            <p class="row">
              <Ids ids={notRun.filter((rule) => rule.reason === reason).map(({ id }) => id)} />
            </p>
          </li>
        ))}
      </ul>
    </Part>
  );
}

/** The submission test, tool by tool. */
function Rehearsal({ report: { rehearsal = [] } }: { report: CheckReport }) {
  if (rehearsal.length === 0) return null;
  return (
    <section class="stack tight">
      <h2>Submission rehearsal</h2>
      <p class="soft small">The calls of the marketplace's submission test, with sample arguments.</p>
      <Table label="Submission rehearsal" heads={['Tool', 'Try it with', 'Verdict', 'ms']}>
        {rehearsal.map(({ tool, arguments: args, status, ms }) => (
          <tr>
            <CodeCell>{visibleText(tool)}</CodeCell>
            <CodeCell>
              <a href={tryPath(tool, args)}>{visibleText(shorten(args))}</a>
            </CodeCell>
            <td>
              <Tag mark={status}>{status === 'pass' ? 'passed' : 'failed'}</Tag>
            </td>
            <td class="num">{Math.round(ms)}</td>
          </tr>
        ))}
      </Table>
    </section>
  );
}

/** @throws CommandError `NO_SUCH_RULE` */
function ruleOf(name: string) {
  const id = name.replace(/\.json$/, '');
  const rule = rules.find((rule) => rule.id === id);
  const explanation = explanations[id];
  if (rule && explanation) {
    const { level, title, source, fact, fix } = rule;
    return { id, level, title, source, ...(fact && { fact }), fix, ...explanation };
  }
  const [error] = ruleNameErrors('rule', id);
  const hint = error?.hint ?? 'market-mcp explain lists all rules.';
  throw new CommandError('NO_SUCH_RULE', `there is no rule ${JSON.stringify(id)}`, hint);
}

/** What `market-mcp explain <rule>` prints, as a page. */
function Rule({
  data: { id, level, title, fact, why, failing, passing, fix, source },
}: {
  data: ReturnType<typeof ruleOf>;
}) {
  return (
    <>
      <Head title={id}>{title}</Head>
      <p class="row">
        <Tag mark={level === 'must' ? 'fail' : 'advice'}>{level.toUpperCase()}</Tag>
        <span class="soft small">
          {level === 'must'
            ? 'Without it, the listing is rejected or the tool breaks.'
            : 'Without it, the tool works worse.'}
          {fact && ' The platform profile decides its level.'}
        </span>
      </p>
      <p>{visibleText(why)}</p>
      <div class="split even">
        <section class="stack tight">
          <h2 class="marked fail">Fails</h2>
          <Text text={exampleText(failing)} />
        </section>
        <section class="stack tight">
          <h2 class="marked pass">Passes</h2>
          <Text text={exampleText(passing)} />
        </section>
      </div>
      <FieldList fields={{ fix, source: ruleOrigin(source) }} />
      <p>
        <LinkButton to="/check" label="Back to the check" />
      </p>
    </>
  );
}

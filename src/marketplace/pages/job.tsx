import type { Context } from 'hono';
import type { Child } from 'hono/jsx';
import { CommandError, counted } from 'market-mcp-contract/command';
import { groupsOf, type ProblemGroup } from 'market-mcp-contract/report';
import type { Job } from '../core/jobs.ts';
import type { Marketplace } from '../core/marketplace.ts';
import type { RegistrationStep, StepFinding } from '../core/marketplace-model.ts';
import { FieldList, Head, LinkButton, live, Notice, Tag, visibleText } from '../web/parts.tsx';
import { RuleLink, SourceLink, tryPath } from '../web/references.tsx';
import type { Done, Site } from '../web/site.tsx';

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
    ({ data: job }) => <JobPage job={job}>{view(job)}</JobPage>,
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
            <h3>{visibleText(step.label)}</h3>
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
  return <FoldedList items={details} limit={shownDetails} noun="line" view={visibleText} />;
}

const shownDetails = 10;

/** The page of a job. The inner part follows the job until it is done. */
export function JobPage({ job, children }: { job: Job; children?: Child }) {
  const { id, kind, title, state } = job;
  const isRunning = state === 'running';
  const part = isRunning
    ? { ...live('job', `/${kind}/${id}`, `job:${id}`), 'aria-busy': 'true' as const }
    : { id: 'job' };
  return (
    <>
      <Head title={title} />
      {isRunning && (
        <noscript>
          <p>Reload the page to see how far it has come.</p>
        </noscript>
      )}
      <div class="stack" aria-live="polite" {...part}>
        <JobBody job={job}>{children}</JobBody>
      </div>
    </>
  );
}

/** The part of a job's page that changes. */
export function JobBody({ job, children }: { job: Job; children?: Child }) {
  const doneAttributes = job.state === 'done' ? { 'data-done': '', tabindex: -1 } : {};
  return (
    <div class="stack" {...doneAttributes}>
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

/** The rules or calls with problems. Equal problems are shown once, with their places folded. */
export function Findings({ findings }: { findings: readonly StepFinding[] }) {
  return (
    <ul class="findings">
      {findings.map((finding) => (
        <FindingItem finding={finding} />
      ))}
    </ul>
  );
}

function FindingItem({ finding }: { finding: StepFinding }) {
  const { rule, title, fix, problems } = finding;
  const fixes = new Set(problems.map((problem) => problem.fix ?? fix));
  return (
    <li class="stack">
      <h3>
        {rule !== undefined && <RuleLink id={rule} />} <span class="soft">{visibleText(title)}</span>
      </h3>
      <FoldedList
        items={groupsOf(problems)}
        limit={shownProblems}
        noun="problem"
        view={(group) => (
          <Group group={group} hasTitle={rule === undefined} fix={fixes.size > 1 ? fix : undefined} />
        )}
      />
      {fixes.size === 1 && (
        <p>
          <b>Fix:</b> {visibleText([...fixes][0])}
        </p>
      )}
    </li>
  );
}

const shownProblems = 5;
const shownPaths = 3;
/** Node refuses requests with more than 16 KiB before the body. */
const maxPath = 8_000;

interface GroupProps {
  readonly group: ProblemGroup;
  /** Whether the title of the finding names the tool and its arguments. */
  readonly hasTitle: boolean;
  /** The fix if the problem has none; undefined if one fix for all problems stands below them. */
  readonly fix: string | undefined;
}

function Group({ group: { problem, paths }, hasTitle, fix }: GroupProps) {
  const { tool, arguments: args, expected, actual, cause, at } = problem;
  const tried = tool === undefined || args === undefined ? '' : tryPath(tool, args);
  const placeTexts = paths.length > 1 ? [counted(paths.length, 'place')] : paths;
  const names = tool === undefined || hasTitle ? placeTexts : [tool, ...placeTexts];
  return (
    <div class="stack tight">
      {names.length > 0 && <p class="mono">{visibleText(names.join(' · '))}</p>}
      {paths.length > 1 && (
        <FoldedList
          items={paths}
          limit={shownPaths}
          noun="place"
          view={(path) => <code>{visibleText(path)}</code>}
        />
      )}
      <FieldList
        fields={{
          expected: visibleText(expected),
          got: visibleText(actual),
          ...(cause && { error: <b>{visibleText(cause.message)}</b> }),
          ...(at !== undefined && { change: <SourceLink at={at} /> }),
          ...(fix !== undefined && { fix: visibleText(problem.fix ?? fix) }),
        }}
      />
      {tried !== '' && tried.length <= maxPath && (
        <div class="row">
          <LinkButton to={tried} label="Try it with these arguments" />
        </div>
      )}
    </div>
  );
}

interface FoldedListProps<T> {
  readonly items: readonly T[];
  /** So many are shown, the others folded. */
  readonly limit: number;
  readonly noun: string;
  readonly view: (item: T) => Child;
}

/** A list of which only the first items are shown; the others can be unfolded. */
export function FoldedList<T>({ items, limit, noun, view }: FoldedListProps<T>) {
  if (items.length === 0) return null;
  const list = (some: readonly T[]) => (
    <ul>
      {some.map((item) => (
        <li>{view(item)}</li>
      ))}
    </ul>
  );
  const hiddenCount = items.length - limit;
  return (
    <>
      {list(items.slice(0, limit))}
      {hiddenCount > 0 && (
        <details>
          <summary>{counted(hiddenCount, `more ${noun}`)}</summary>
          {list(items.slice(limit))}
        </details>
      )}
    </>
  );
}

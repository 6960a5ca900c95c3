import type { Child } from 'hono/jsx';
import { counted } from 'market-mcp-contract/command';
import { groupsOf, type ProblemGroup } from 'market-mcp-contract/report';
import type { Finding } from '../core/model.ts';
import { FieldList, LinkButton, shown } from '../web/parts.tsx';
import { RuleLink, SourceLink, tryPath } from '../web/references.tsx';

/** The rules or calls with problems. Equal problems are shown once, with their places folded. */
export function Findings({ findings }: { findings: readonly Finding[] }) {
  return (
    <ul class="findings">
      {findings.map((finding) => (
        <FindingItem finding={finding} />
      ))}
    </ul>
  );
}

function FindingItem({ finding }: { finding: Finding }) {
  const { rule, title, fix, problems } = finding;
  const fixes = new Set(problems.map((problem) => problem.fix ?? fix));
  return (
    <li class="stack">
      <h3>
        {rule !== undefined && <RuleLink id={rule} />} <span>{shown(title)}</span>
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
          <b>Fix:</b> {shown([...fixes][0])}
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
  /** The fix if the problem has none of its own; undefined if one fix for all problems stands below them. */
  readonly fix: string | undefined;
}

function Group({ group: { problem, paths }, hasTitle, fix }: GroupProps) {
  const { tool, arguments: args, expected, actual, cause, at } = problem;
  const tried = tool === undefined || args === undefined ? '' : tryPath(tool, args);
  const where = paths.length > 1 ? [counted(paths.length, 'place')] : paths;
  const names = [...(tool === undefined || hasTitle ? [] : [tool]), ...where];
  return (
    <div class="stack tight">
      {names.length > 0 && <p class="mono">{shown(names.join(' · '))}</p>}
      {paths.length > 1 && (
        <FoldedList
          items={paths}
          limit={shownPaths}
          noun="place"
          view={(path) => <code>{shown(path)}</code>}
        />
      )}
      <FieldList
        fields={{
          expected: shown(expected),
          got: shown(actual),
          ...(cause && { error: <b>{shown(cause.message)}</b> }),
          ...(at !== undefined && { change: <SourceLink at={at} /> }),
          ...(fix !== undefined && { fix: shown(problem.fix ?? fix) }),
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
  const more = items.length - limit;
  return (
    <>
      {list(items.slice(0, limit))}
      {more > 0 && (
        <details>
          <summary>{counted(more, `more ${noun}`)}</summary>
          {list(items.slice(limit))}
        </details>
      )}
    </>
  );
}

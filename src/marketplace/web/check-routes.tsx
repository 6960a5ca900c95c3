import { explanations } from '../../check/explain/index.ts';
import { nameErrors } from '../../check/select.ts';
import { rules } from '../../contract/catalogue.ts';
import { isInside, readIfThere } from '../../project/read/inside.ts';
import type { Checks } from '../core/checks.ts';
import { MarketError } from '../core/errors.ts';
import { Check, CheckView } from '../pages/check.tsx';
import { Rule, type RuleData } from '../pages/rule.tsx';
import { Source, type SourceData } from '../pages/source.tsx';
import { doneWith, jobPages } from './market-routes.tsx';
import { isSource } from './references.tsx';
import type { Site } from './site.tsx';

/** Check: the page, its runs, the explanation of each rule, and the sources that a finding names. */
export function checkRoutes(site: Site, checks: Checks): void {
  const { options } = site.marketplace;
  site.page(
    '/check',
    'Check',
    async () => {
      const last = await checks.last();
      return {
        available: options.check !== undefined,
        last: last?.job ?? null,
        isCurrent: last?.isCurrent ?? false,
      };
    },
    Check,
  );
  site.post('/check', async (_input, c) =>
    doneWith(await checks.start(), c, 'NOT_CHECKED', ({ result }) => result),
  );
  site.page('/check/rules/:id', 'Rule', (c) => ruleOf(c.req.param('id') ?? ''), Rule);
  site.page(
    '/check/source',
    'Source',
    (c) => {
      const { file = '', line } = c.req.query();
      return sourceOf(
        options.sources ? options.directory : undefined,
        file,
        /^[1-9]\d*$/.test(line ?? '') ? Number(line) : null,
      );
    },
    Source,
  );
  jobPages(site, 'check', (job) => <CheckView job={job} />);
}

/** @throws MarketError `NO_SUCH_RULE` */
function ruleOf(name: string): RuleData {
  const id = name.replace(/\.json$/, '');
  const rule = rules.find((one) => one.id === id);
  const explanation = explanations[id];
  if (rule && explanation) {
    const { level, title, source, fact, fix } = rule;
    return { id, level, title, source, ...(fact && { fact }), fix, ...explanation };
  }
  const [error] = nameErrors('rule', id);
  const hint = error?.hint ?? 'market-mcp explain lists all rules.';
  throw new MarketError('NO_SUCH_RULE', `there is no rule ${JSON.stringify(id)}`, hint);
}

/** So many lines before and after the named one are shown. */
const around = 500;
/** And so many characters of a line: generated sources have lines of megabytes. */
const shownCharacters = 2_000;

/**
 * A TypeScript source of the project.
 *
 * @param directory of the project; undefined if there is none.
 * @throws MarketError `NO_SUCH_SOURCE`; ProjectError if a link is on the way.
 */
function sourceOf(directory: string | undefined, file: string, line: number | null): SourceData {
  const isNamed = directory !== undefined && isSource(file) && isInside(file);
  const content = isNamed ? readIfThere(directory, file) : undefined;
  if (!content) {
    const message = `there is no source ${JSON.stringify(file)} in this project`;
    throw new MarketError('NO_SUCH_SOURCE', message, 'Give a file below src/ that ends in .ts.');
  }
  const all = content.toString('utf8').replace(/\n$/, '').split(/\r?\n/);
  const first = Math.max(1, Math.min(line ?? 1, all.length) - around);
  const shown = all.slice(first - 1, first + 2 * around);
  const isCut = shown.some(({ length }) => length > shownCharacters);
  return { file, line, first, lines: shown.map(cut), isCut, total: all.length };
}

function cut(line: string): string {
  const more = line.length - shownCharacters;
  return more > 0 ? `${line.slice(0, shownCharacters)} … and ${more} more characters` : line;
}

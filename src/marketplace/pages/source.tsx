import { CommandError } from 'market-mcp-contract/command';
import { isInside, readIfThere } from '../../project/read/resolve-inside.ts';
import { CopyButton, Head, visibleText } from '../web/parts.tsx';
import { isSource } from '../web/references.tsx';
import type { Site } from '../web/site.tsx';

export function sourceRoutes(site: Site): void {
  const { sources, directory } = site.marketplace.options;
  site.page(
    '/check/source',
    'Source',
    (c) => {
      const { file = '', line = '' } = c.req.query();
      return readSource(sources && directory, file, /^[1-9]\d*$/.test(line) ? Number(line) : null);
    },
    Source,
  );
}

/** So many lines before and after the named one are shown. */
const around = 500;
/** And so many characters of a line: generated sources have lines of megabytes. */
const shownCharacters = 2_000;

/**
 * A TypeScript source of the project.
 *
 * @param directory of the project; undefined if there is none.
 * @throws CommandError `NO_SUCH_SOURCE`, or if a link is on the way.
 */
function readSource(directory: string | undefined, file: string, line: number | null) {
  const isNamed = directory !== undefined && isSource(file) && isInside(file);
  const content = isNamed ? readIfThere(directory, file) : undefined;
  if (!content) {
    const message = `there is no source ${JSON.stringify(file)} in this project`;
    throw new CommandError('NO_SUCH_SOURCE', message, 'Give a file below src/ that ends in .ts.');
  }
  const allLines = content.toString('utf8').replace(/\n$/, '').split(/\r?\n/);
  const first = Math.max(1, Math.min(line ?? 1, allLines.length) - around);
  const shownLines = allLines.slice(first - 1, first + 2 * around);
  const isCut = shownLines.some(({ length }) => length > shownCharacters);
  return { file, line, first, lines: shownLines.map(cut), isCut, total: allLines.length };
}

function cut(line: string): string {
  const hiddenCount = line.length - shownCharacters;
  if (hiddenCount > 0) return `${line.slice(0, shownCharacters)} … and ${hiddenCount} more characters`;
  return line;
}

/** A source file of the project with numbered lines. */
function Source({
  data: { file, line, first, lines, isCut, total },
}: {
  data: ReturnType<typeof readSource>;
}) {
  const last = first + lines.length - 1;
  return (
    <>
      <Head title={file}>Read only: change it in your editor. The server restarts when you save.</Head>
      <div class="row">
        <code id="place">{visibleText(line === null ? file : `${file}:${line}`)}</code>
        <CopyButton of="place" label="Copy the path" />
      </div>
      {lines.length < total && (
        <p class="soft small">
          Lines {first} to {last} of {total}.
        </p>
      )}
      {isCut && <p class="soft small">The ends of long lines are left out.</p>}
      <section class="scroll" tabindex={0} aria-label={`Lines of ${file}`}>
        <ol class="source mono soft" start={first}>
          {lines.map((text, at) => (
            <li
              id={`L${first + at}`}
              {...(first + at === line && { class: 'now', 'aria-current': 'true' as const })}
            >
              <code>{visibleText(text)}</code>
            </li>
          ))}
        </ol>
      </section>
    </>
  );
}

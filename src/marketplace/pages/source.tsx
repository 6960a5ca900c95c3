import { CopyButton, Head, shown } from '../web/parts.tsx';

export interface SourceData {
  /** Path in the project. */
  readonly file: string;
  /** The line to look at; null if none is known. */
  readonly line: number | null;
  /** Number of the first of `lines`. */
  readonly first: number;
  readonly lines: readonly string[];
  /** Whether the end of a long line is left out. */
  readonly isCut: boolean;
  /** Number of lines in the whole file. */
  readonly total: number;
}

/** A source file of the project with numbered lines. */
export function Source({ data: { file, line, first, lines, isCut, total } }: { data: SourceData }) {
  const last = first + lines.length - 1;
  return (
    <>
      <Head title={file}>Read only: change it in your editor. The server restarts when you save.</Head>
      <div class="row">
        <code id="place">{shown(line === null ? file : `${file}:${line}`)}</code>
        <CopyButton of="place" label="Copy the path" />
      </div>
      {lines.length < total && (
        <p class="soft small">
          Lines {first} to {last} of {total}.
        </p>
      )}
      {isCut && <p class="soft small">The ends of long lines are left out.</p>}
      <section class="scroll" tabindex={0} aria-label={`Lines of ${file}`}>
        <ol class="source" start={first}>
          {lines.map((text, at) => (
            <li
              id={`L${first + at}`}
              {...(first + at === line && { class: 'now', 'aria-current': 'true' as const })}
            >
              <code>{shown(text)}</code>
            </li>
          ))}
        </ol>
      </section>
    </>
  );
}

import type { CallCause } from '../core/model.ts';
import type { ExchangeOutcome } from '../core/outcome.ts';
import { FieldList, shown, Tag, Text } from '../web/parts.tsx';
import { SourceLink } from '../web/references.tsx';

const outcomeMarks = { found: 'pass', empty: 'pass', failed: 'fail', refused: 'none' } as const;

/** How an exchange ended, and its code. */
export function OutcomeText({ of, before = '' }: { of: ExchangeOutcome | null; before?: string }) {
  if (of === null) return <Tag mark="running">waiting</Tag>;
  const { kind, code } = of;
  if (kind === 'answered') return <span class="soft">answered</span>;
  const note = kind === 'refused' ? 'as expected' : code;
  return (
    <span class="outcome">
      <Tag mark={kind === 'empty' && code !== null ? 'advice' : outcomeMarks[kind]}>
        {before}
        {kind}
      </Tag>
      {note !== null && <span class="soft small">{shown(note)}</span>}
    </span>
  );
}

/** The cause of a failed call: the error, the request to the API, the place and the fix; then the log. */
export function Why({ cause }: { cause: CallCause }) {
  const { message, source, at, fix, lines } = cause;
  return (
    <section class="notice fail" aria-label="The cause">
      <strong>{shown(message)}</strong>
      <FieldList
        fields={{
          ...(source && { Request: shown(source) }),
          ...(at !== undefined && { Place: <SourceLink at={at} /> }),
          ...(fix && { Fix: shown(fix) }),
        }}
      />
      {lines.length > 0 && (
        <details>
          <summary>Log of this call</summary>
          <Text text={lines.join('\n')} />
        </details>
      )}
    </section>
  );
}

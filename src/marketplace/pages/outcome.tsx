import type { ExchangeOutcome } from '../core/outcome.ts';
import { shown, Tag } from '../web/parts.tsx';

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

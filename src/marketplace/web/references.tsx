import { type WritingEffect, writingEffect } from 'market-mcp-contract/definition';
import type { Json, JsonObject } from 'market-mcp-contract/json';
import { parseLocation } from 'market-mcp-contract/report';
import type { ExchangeOutcome } from '../core/call-verdict.ts';
import type { CallCause } from '../core/marketplace-model.ts';
import { FieldList, Tag, Text, visibleText } from './parts.tsx';

/** The words of a badge, and what they mean. */
const effectWords: { readonly [effect in WritingEffect]: readonly [string, string] } = {
  adds: ['adds data', 'Each call adds something'],
  changes: ['changes data', 'A call changes or deletes what exists'],
  acts: ['acts', 'Each call sends, pays or runs something'],
  unknown: ['may change data', 'Neither its hints nor its name say that it only reads'],
};

/** The badge of a tool that does more than read; nothing for others. */
export function EffectTag({ effect }: { effect: WritingEffect | null | undefined }) {
  if (!effect) return null;
  const [words, meaning] = effectWords[effect];
  return (
    <span class="tag small effect" title={meaning}>
      {words}
    </span>
  );
}

/** The same in a text, such as an option of a list. */
export function withEffect(name: string, definition: JsonObject): string {
  const effect = writingEffect(definition);
  if (effect) return `${name} (${effectWords[effect][0]})`;
  return name;
}

/** Whether the page for sources shows this file of a project. */
export function isSource(file: string): boolean {
  return /^src\/.+\.ts$/.test(file);
}

/** A place in the project, `src/tools/x.ts:12`, with a link to the page that shows it. */
export function SourceLink({ at }: { at: string }) {
  const { file, line } = parseLocation(at);
  if (!isSource(file)) return <code>{visibleText(at)}</code>;
  const place = line === undefined ? '' : `&line=${line}#L${line}`;
  return (
    <a href={`/check/source?file=${encodeURIComponent(file)}${place}`}>
      <code>{visibleText(at)}</code>
    </a>
  );
}

/** A rule with a link to its explanation. */
export function RuleLink({ id }: { id: string }) {
  return (
    <a href={`/check/rules/${encodeURIComponent(id)}`}>
      <code>{visibleText(id)}</code>
    </a>
  );
}

/** The address of Try it with these arguments. */
export function tryPath(tool: string, args: Json): string {
  return `/try?tool=${encodeURIComponent(tool)}&arguments=${encodeURIComponent(JSON.stringify(args))}`;
}

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
      {note !== null && <span class="soft small">{visibleText(note)}</span>}
    </span>
  );
}

/** The cause of a failed call: the error, the request to the API, the place and the fix; then the log. */
export function Why({ cause }: { cause: CallCause }) {
  const { message, source, at, fix, lines } = cause;
  return (
    <section class="notice fail" aria-label="The cause">
      <strong>{visibleText(message)}</strong>
      <FieldList
        fields={{
          ...(source && { Request: visibleText(source) }),
          ...(at !== undefined && { Place: <SourceLink at={at} /> }),
          ...(fix && { Fix: visibleText(fix) }),
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

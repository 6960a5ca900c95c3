import type { JsonObject } from '../../contract/model.ts';
import { type CompiledTool, misfit } from './compile.ts';
import type { Outcome } from './define-tool.ts';

/** A complete `tools/call` result (C§2.2). */
export interface CallResult {
  readonly content: readonly { readonly type: 'text'; readonly text: string }[];
  /** The value that the text denotes. Absent only where the outputSchema cannot hold a failure. */
  readonly structuredContent?: JsonObject;
  readonly isError?: true;
}

export type Failure = Extract<Outcome, { kind: 'fail' }>;

/** The result of an outcome, or in words how it differs from the tool's outputSchema. */
export function resultOf(compiled: CompiledTool, outcome: Outcome): CallResult | string {
  switch (outcome?.kind) {
    case 'found':
      return answer(compiled, outcome.data);
    case 'empty':
      return answer(compiled, {
        ...compiled.blank,
        searchExhausted: true,
        noResultsReason: outcome.reason,
      });
    case 'fail':
      return failure(compiled, outcome);
    default:
      return 'run must return what found(), empty() or fail() gave';
  }
}

/**
 * A failure that fits the outputSchema: empty values, the signal, and those hints that the schema admits. Where the
 * schema admits no failure at all, the text alone.
 */
export function failure(compiled: CompiledTool, { code, message, hints = {} }: Failure): CallResult {
  const signal = { error: code, message };
  let best = answer(compiled, { ...compiled.blank, ...signal });
  if (typeof best === 'string') {
    return { content: [{ type: 'text', text: JSON.stringify(signal) }], isError: true };
  }
  let admitted: JsonObject = {};
  for (const [name, value] of Object.entries(hints)) {
    const wider = { ...admitted, [name]: value };
    const result = answer(compiled, { ...compiled.blank, ...wider, ...signal });
    if (typeof result === 'string') continue;
    best = result;
    admitted = wider;
  }
  return { ...best, isError: true };
}

/** Serializes once and validates the value that the text denotes: what the caller will see. */
function answer({ validateOutput }: CompiledTool, data: object): CallResult | string {
  let text: string;
  try {
    text = JSON.stringify(data) ?? 'null';
  } catch (error) {
    return `structuredContent: ${(error as Error).message}`;
  }
  const structuredContent: JsonObject = JSON.parse(text);
  return (
    misfit(validateOutput, structuredContent, 'structuredContent') ?? {
      content: [{ type: 'text', text }],
      structuredContent,
    }
  );
}

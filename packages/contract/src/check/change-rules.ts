/**
 * Who may fail after a change of a tool, until the marketplace and its buyers know the new list.
 * `caller`: sends arguments as before. `reader`: expects answers as before.
 * `dispute`: the author in a dispute. The schema of the last listing or refresh decides it (C§3.2, C§9.3).
 */
export type Party = 'caller' | 'reader' | 'dispute';

export interface ChangeRule {
  /** What has changed, in words. */
  readonly what: string;
  /** Who breaks; null if that is not known. */
  readonly breaks: readonly Party[] | null;
}

const answers = ['reader', 'dispute'] as const;

const byId = <Id extends string>(rules: { readonly [id in Id]: ChangeRule }) => rules;

/**
 * The rules that say who breaks. An id names the side of a tool (`input` or `output`), the part, and its change.
 * `narrower` and `wider` compare the values that a schema accepts; `other` is neither. The author loses a dispute about an answer
 * that the earlier outputSchema refuses. An answer that it accepts can still lack what a reader used.
 */
export const changeRules = byId({
  'tool.new': { what: 'the tool is new', breaks: [] },
  'tool.gone': { what: 'the tool was removed', breaks: ['caller', 'dispute'] },
  'tool.fingerprint': { what: 'changed', breaks: null },
  'tool.text': { what: 'the text or the metadata changed', breaks: [] },

  'input.member.new': { what: 'new', breaks: [] },
  'input.member.demanded': { what: 'new and required', breaks: ['caller'] },
  'input.member.gone': { what: 'removed', breaks: ['caller'] },
  'input.required.added': { what: 'required now', breaks: ['caller'] },
  'input.required.gone': { what: 'no longer required', breaks: [] },
  'input.type.narrower': { what: 'takes fewer types', breaks: ['caller'] },
  'input.type.wider': { what: 'takes more types', breaks: [] },
  'input.type.other': { what: 'takes another type', breaks: ['caller'] },
  'input.enum.narrower': { what: 'takes fewer values', breaks: ['caller'] },
  'input.enum.wider': { what: 'takes more values', breaks: [] },
  'input.enum.other': { what: 'takes other values', breaks: ['caller'] },
  'input.limit.narrower': { what: 'is limited more', breaks: ['caller'] },
  'input.limit.wider': { what: 'is limited less', breaks: [] },
  'input.limit.other': { what: 'is limited otherwise', breaks: ['caller'] },
  'input.text': { what: 'the text changed', breaks: [] },

  'output.member.new': { what: 'new', breaks: [] },
  'output.member.refused': { what: 'new, which the earlier schema refuses', breaks: ['dispute'] },
  'output.member.gone': { what: 'removed', breaks: ['reader'] },
  'output.member.lost': { what: 'removed, and was required', breaks: answers },
  'output.required.added': { what: 'required now', breaks: [] },
  'output.required.gone': { what: 'no longer required', breaks: answers },
  'output.type.narrower': { what: 'has fewer types', breaks: [] },
  'output.type.wider': { what: 'has more types', breaks: answers },
  'output.type.other': { what: 'has another type', breaks: answers },
  'output.enum.narrower': { what: 'has fewer values', breaks: [] },
  'output.enum.wider': { what: 'has more values', breaks: answers },
  'output.enum.other': { what: 'has other values', breaks: answers },
  'output.limit.narrower': { what: 'is limited more', breaks: [] },
  'output.limit.wider': { what: 'is limited less', breaks: answers },
  'output.limit.other': { what: 'is limited otherwise', breaks: answers },
  'output.text': { what: 'the text changed', breaks: [] },
});

export type ChangeId = keyof typeof changeRules;

const verbs: { readonly [party in Party]: string } = {
  caller: 'breaks callers',
  reader: 'breaks readers',
  dispute: 'loses disputes',
};

/** Whom a change breaks, in words. */
export function brokenBy(breaks: ChangeRule['breaks']): string {
  if (breaks === null) return 'may break callers';
  if (breaks.length === 0) return 'safe for callers';
  return breaks.map((party) => verbs[party]).join(', ');
}

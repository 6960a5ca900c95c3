import { formatFields } from '../../fields/language.ts';
import { checkLines } from '../../fields/lines.ts';
import type { Field } from '../../model/model.ts';
import type { Asker } from './asker.ts';
import { askField, type FieldKind } from './form.ts';
import { Back, Cancelled, unfinishedFields } from './leaving.ts';

/**
 * Asks for a list of fields: as lines of the field language, or step by step if the author wants that. The answers of the
 * form become lines, too.
 *
 * @param suggested the answer for Enter alone
 * @param before an earlier answer to edit
 */
export async function askFields(
  asker: Asker,
  message: string,
  kind: FieldKind,
  suggested: readonly Field[],
  before?: readonly Field[],
): Promise<readonly Field[]> {
  const { flag, hasDefault } = kind;
  let lines = linesOf(before, hasDefault);
  for (;;) {
    const answer = await asker.fields({
      message: `${message} One ${kind.noun} per line: name:type ${hasDefault ? '[=default] ' : ''}description`,
      flag,
      lines,
      suggested: formatFields(suggested),
      optional: hasDefault,
      hasDefaults: hasDefault,
    });
    if (answer.kind === 'fields') return answer.fields;
    lines = await withForm(asker, kind, answer.lines, answer.row);
  }
}

async function withForm(
  asker: Asker,
  kind: FieldKind,
  lines: readonly string[],
  row: number,
): Promise<readonly string[]> {
  const { fields } = checkLines(lines, kind.flag);
  try {
    const field = await askField(asker, kind, fields);
    const written = lines.toSpliced(row, 1, ...formatFields([field]));
    return [...written.filter((line) => line.trim() !== ''), ''];
  } catch (error) {
    if (error instanceof Back) return lines;
    if (error instanceof Cancelled) throw new Cancelled({ unfinished: unfinishedFields(kind.flag, fields) });
    throw error;
  }
}

function linesOf(before: readonly Field[] | undefined, isOptional: boolean): readonly string[] {
  if (before === undefined) return [];
  return before.length === 0 && isOptional ? ['none'] : [...formatFields(before), ''];
}

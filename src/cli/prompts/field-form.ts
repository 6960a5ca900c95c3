import { parseText, pass, type Result, reject, unwrap } from 'market-mcp-contract/command';
import { checkLines } from '../../fields/field-lines.ts';
import { parseValue, parseValues } from '../../fields/field-values.ts';
import { formatFields, withShapeMembers } from '../../fields/language.ts';
import { parsePlainFieldName } from '../../model/names.ts';
import { type Field, type FieldType, type Shape, scalarTypes } from '../../model/tool-model.ts';
import type { Asker } from './asker.ts';
import type { FieldKind } from './field-editor.ts';
import { askInOrder, Back, orBack, type PromptStep } from './leaving.ts';

/** The form asks for members of members, no deeper; deeper ones are written as lines. */
const deepest = 2;

/** The answers that are typed as text. */
type TextPart = 'name' | 'description' | 'allowed' | 'fallback' | 'examples';

/** The answers about one field, as they were typed. */
interface FieldAnswers {
  readonly name?: string;
  readonly type?: FieldType | `${FieldType}[]`;
  readonly description?: string;
  readonly required?: boolean;
  readonly members?: readonly FieldAnswers[];
  /** Values as text; empty if there are none. */
  readonly allowed?: string;
  readonly fallback?: string;
  readonly examples?: string;
}

/**
 * Asks for a list of fields: as lines of the field language, or step by step if the author wants that. The answers of the form also become
 * lines.
 *
 * @param suggested the answer for Enter without text
 * @param previous an earlier answer to edit
 */
export async function askFields(
  asker: Asker,
  message: string,
  kind: FieldKind,
  suggested: readonly Field[],
  previous?: readonly Field[],
): Promise<readonly Field[]> {
  const { flag, isInput } = kind;
  const isNone = previous?.length === 0 && isInput && suggested.length > 0;
  let lines: readonly string[] = [];
  if (isNone) lines = ['none'];
  else if (previous !== undefined) lines = [...formatFields(previous), ''];
  for (;;) {
    const answer = await asker.fields({
      message: `${message} One ${kind.noun} per line, such as ${kind.samples.join(' · ')}`,
      kind,
      lines,
      suggested: formatFields(suggested),
    });
    if (answer.fields) return answer.fields;
    const { fields } = checkLines(answer.lines, flag);
    const steps = (answers: FieldAnswers) =>
      fieldSteps({ asker, kind, above: '', depth: 0 }, fields, answers);
    const field = await orBack(askInOrder<FieldAnswers>(steps, {}));
    lines = answer.lines;
    if (field === 'back') continue;
    const formattedLines = lines.toSpliced(answer.row, 1, ...formatFields([answeredField(field)]));
    lines = [...formattedLines.filter((line) => line.trim() !== ''), ''];
  }
}

/** The object that gets a field, and the prompts that ask for it. */
interface Place {
  readonly asker: Asker;
  readonly kind: FieldKind;
  /** Path of the object; empty at the top. */
  readonly above: string;
  readonly depth: number;
}

/**
 * The questions about one field.
 *
 * @param siblings the other fields of the object that contains the field
 */
function fieldSteps(
  { asker, kind, above: parentPath, depth }: Place,
  siblings: readonly Field[],
  { name = '', type, members, allowed: allowedValues }: FieldAnswers,
): readonly PromptStep<FieldAnswers>[] {
  const { flag, noun, isInput } = kind;
  const path = parentPath === '' ? name : `${parentPath}.${name}`;
  const bareShape = answeredShape({ type, members });
  const limited = answeredShape({ type, members, allowed: allowedValues });
  const isObject = (bareShape.items ?? bareShape).type === 'object';
  const isOpen = bareShape.type !== 'boolean' && !isObject;
  const hasValues = depth === 0 || !isInput;
  /** Adds the answer of a text prompt. */
  const text =
    (part: TextPart, message: string, placeholder: string, parse: (text: string) => Result<string>) =>
    async (so: FieldAnswers): Promise<FieldAnswers> => {
      const initial = part === 'name' ? undefined : '';
      return {
        ...so,
        [part]: await asker.text({ message, placeholder, initial, previous: so[part], parse }),
      };
    };
  const chooseType: PromptStep<FieldAnswers> = async (so) => {
    const chosenType = await asker.choose(`Type of ${path}`, typeChoices(depth), so.type);
    // Members and values belong to the former type.
    const { name, description, required } = so;
    if (chosenType === so.type) return so;
    return { name, description, required, type: chosenType };
  };
  const fill: PromptStep<FieldAnswers> = async (so) => {
    const place = { asker, kind, above: path, depth: depth + 1 };
    return { ...so, members: await askMembers(place, so.members ?? []) };
  };
  const list = (of: Shape) => (values: string) => readableText(values, parseValues(values, of, flag));
  const allow: PromptStep<FieldAnswers> = async (so) => {
    const hint = 'Enter to allow all, or a list: base, ethereum';
    const allowedText = await text('allowed', `Allowed values of ${path}`, hint, list(bareShape))(so);
    // Allowed values are examples themselves.
    if (allowedText.allowed) return { ...allowedText, examples: undefined };
    return allowedText;
  };
  const fallback = (value: string) => readableText(value, parseValue(value, limited, flag));
  const steps: readonly (PromptStep<FieldAnswers> | false)[] = [
    text('name', `Name of the ${noun}${parentPath && ` of ${parentPath}`}`, 'symbol', (nameText) =>
      ownName(nameText, siblings, flag),
    ),
    chooseType,
    text('description', `What does ${path} mean?`, 'a description, with its unit', (words) =>
      parseText(words, flag),
    ),
    async (so) => ({ ...so, required: await asker.confirm(kind.isRequired(path), so.required ?? true) }),
    isObject && fill,
    hasValues && isOpen && !bareShape.items && allow,
    hasValues && isInput && text('fallback', `Default of ${path}`, 'Enter for none', fallback),
    hasValues &&
      isOpen &&
      !limited.enum &&
      text('examples', `Examples of ${path}`, 'Enter for none, or a list: BTC, ETH', list(limited)),
  ];
  return steps.filter((step) => step !== false);
}

/** The text of a value, if it can be read. */
function readableText(text: string, read: Result<unknown>): Result<string> {
  return read.ok ? pass(text) : read;
}

/** Asks for the members of an object, at least one. Going back repeats the last question about the last one. */
async function askMembers(place: Place, previous: readonly FieldAnswers[]): Promise<readonly FieldAnswers[]> {
  const { asker, kind, above: parentPath } = place;
  let members = previous;
  for (;;) {
    const wantsAnother =
      members.length === 0 || (await orBack(asker.confirm(`Another ${kind.noun} of ${parentPath}?`, false)));
    if (wantsAnother === false) return members;
    const reopened = wantsAnother === 'back' ? members.at(-1) : undefined;
    if (reopened) members = members.slice(0, -1);
    const siblings = members.map(answeredField);
    const steps = (answers: FieldAnswers) => fieldSteps(place, siblings, answers);
    const last = reopened && { from: steps(reopened).length - 1, isBack: true };
    const member = await orBack(askInOrder(steps, reopened ?? {}, last));
    if (member !== 'back') members = [...members, member];
    else if (members.length === 0) throw new Back();
  }
}

function answeredField({ name = '', required, description, ...rest }: FieldAnswers): Field {
  return { name, ...(required && { required }), ...answeredShape(rest), ...(description && { description }) };
}

function answeredShape({
  type = 'string',
  members,
  allowed: allowedValues,
  fallback,
  examples,
}: FieldAnswers): Shape {
  const base = type.replace('[]', '') as FieldType;
  const bareShape: Shape = type === base ? { type: base } : { type: 'array', items: { type: base } };
  const filled = members ? withShapeMembers(bareShape, members.map(answeredField)) : bareShape;
  const limited = allowedValues
    ? { ...filled, enum: [...new Set(unwrap(parseValues(allowedValues, filled, '')))] }
    : filled;
  return {
    ...limited,
    ...(fallback && { default: unwrap(parseValue(fallback, limited, '')) }),
    ...(examples && { examples: unwrap(parseValues(examples, limited, '')) }),
  };
}

function ownName(text: string, siblings: readonly Field[], flag: string): Result<string> {
  const name = text.trim();
  if (!siblings.some((sibling) => sibling.name === name)) return parsePlainFieldName(name, flag);
  return reject(flag, name, `${name} already exists`, 'Choose another name.');
}

function typeChoices(depth: number) {
  const bases = depth < deepest ? ([...scalarTypes, 'object'] as const) : scalarTypes;
  return [
    ...bases.map((type) => ({ value: type, label: type === 'object' ? 'object with members' : type })),
    ...bases.map((type) => ({
      value: `${type}[]` as const,
      label: type === 'object' ? 'list of objects' : `list of ${type}s`,
    })),
  ];
}

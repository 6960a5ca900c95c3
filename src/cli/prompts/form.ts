import type { Json } from '../../contract/model.ts';
import { parseValue, parseValues } from '../../fields/values.ts';
import { inputError, pass, refuse } from '../../model/input-error.ts';
import { type Field, type FieldType, type Result, type Shape, scalarTypes } from '../../model/model.ts';
import { parsePlainFieldName } from '../../model/names.ts';
import { parseText } from '../../model/text.ts';
import type { Asker } from './asker.ts';
import { Back, orBack } from './leaving.ts';
import { askInOrder, type Step } from './steps.ts';

/** How the form asks for a parameter or a field of the answer. */
export interface FieldKind {
  /** `parameter` */
  readonly noun: string;
  /** `--input` */
  readonly flag: string;
  /** `Must symbol be given?` */
  isRequired(path: string): string;
  /** Only parameters have defaults. */
  readonly hasDefault: boolean;
}

/** The form asks for members of members, no deeper; deeper ones are written as lines. */
const deepest = 2;
type ListOf = `${(typeof scalarTypes)[number] | 'object'}[]`;

/** An answer and the text that was typed for it. */
interface Typed<T> {
  readonly text: string;
  readonly value: T;
}

/** The answers about one field. */
interface FieldAnswers {
  readonly name?: string;
  readonly type?: FieldType | ListOf;
  readonly description?: string;
  readonly required?: boolean;
  readonly members?: readonly FieldAnswers[];
  readonly allowed?: Typed<readonly Json[] | undefined>;
  readonly fallback?: Typed<Json | undefined>;
  readonly examples?: Typed<readonly Json[] | undefined>;
}

/**
 * Asks for one field step by step.
 *
 * @param siblings the other fields
 * @throws Back if the author goes back from the first question
 */
export async function askField(asker: Asker, kind: FieldKind, siblings: readonly Field[]): Promise<Field> {
  return fieldOf(
    await askInOrder<FieldAnswers>((answers) => fieldSteps(asker, kind, siblings, '', 0, answers), {}),
  );
}

function fieldOf({ name = '', required, description, ...rest }: FieldAnswers): Field {
  return {
    name,
    ...(required && { required }),
    ...shapeWith(rest),
    ...(description !== undefined && description !== '' && { description }),
  };
}

/**
 * @param siblings the other fields of the object that contains the field
 * @param above path of that object; empty at the top
 */
function fieldSteps(
  asker: Asker,
  kind: FieldKind,
  siblings: readonly Field[],
  above: string,
  depth: number,
  answers: FieldAnswers,
): readonly Step<FieldAnswers>[] {
  const path = above === '' ? (answers.name ?? '') : `${above}.${answers.name}`;
  const base = shapeOf(answers.type ?? 'string');
  const inner = base.items ?? base;
  const isScalar = base.type !== 'object' && base.type !== 'array';
  const hasValues = depth === 0 || !kind.hasDefault;
  const name: Step<FieldAnswers> = async (so) => ({
    ...so,
    name: await asker.text({
      message: `Name of the ${kind.noun}${above && ` of ${above}`}`,
      placeholder: 'symbol',
      ...(so.name !== undefined && { before: so.name }),
      parse: (text) => ownName(text, siblings, kind.flag),
    }),
  });
  const type: Step<FieldAnswers> = async (so) => {
    const chosen = await asker.choose(`Type of ${path}`, typeChoices(depth), so.type);
    if (chosen === so.type) return so;
    // Members and values belong to the former type.
    const { members: _, allowed: __, fallback: ___, examples: ____, ...rest } = so;
    return { ...rest, type: chosen };
  };
  const description: Step<FieldAnswers> = async (so) => ({
    ...so,
    description: await asker.text({
      message: `What does ${path} mean?`,
      placeholder: 'a description, with its unit',
      initial: { text: '', value: '' },
      ...(so.description !== undefined && { before: so.description }),
      parse: (text) => parseText(text, kind.flag),
    }),
  });
  const required: Step<FieldAnswers> = async (so) => ({
    ...so,
    required: await asker.confirm(kind.isRequired(path), so.required ?? true),
  });
  const members: Step<FieldAnswers> = async (so) => ({
    ...so,
    members: await askMembers(asker, kind, path, depth + 1, so.members ?? []),
  });
  return [
    name,
    type,
    description,
    required,
    ...(inner.type === 'object' ? [members] : []),
    ...(hasValues ? valueSteps(asker, kind, path, answers, isScalar) : []),
  ];
}

/** Allowed values, default and examples; each must match those before. */
function valueSteps(
  asker: Asker,
  { flag, hasDefault }: FieldKind,
  path: string,
  answers: FieldAnswers,
  isScalar: boolean,
): readonly Step<FieldAnswers>[] {
  const { type, members, allowed } = answers;
  const bare = shapeWith({ ...(type && { type }), ...(members && { members }) });
  const nothing = { text: '', value: { text: '', value: undefined } };
  const isBoolean = bare.type === 'boolean';
  const asksAllowed: Step<FieldAnswers> = async ({ examples, ...so }) => {
    const allowed = await asker.text<Typed<readonly Json[] | undefined>>({
      message: `Allowed values of ${path}`,
      placeholder: 'Enter to allow all, or a list: base, ethereum',
      initial: nothing,
      ...(so.allowed && { before: so.allowed.text }),
      parse: (text) => typed(text, parseValues(text, bare, flag)),
    });
    // Allowed values are examples themselves.
    return { ...so, allowed, ...(examples && allowed.value === undefined && { examples }) };
  };
  const limited = shapeWith({
    ...(type && { type }),
    ...(members && { members }),
    ...(allowed && { allowed }),
  });
  const asksDefault: Step<FieldAnswers> = async (so) => ({
    ...so,
    fallback: await asker.text<Typed<Json | undefined>>({
      message: `Default of ${path}`,
      placeholder: 'Enter for none',
      initial: nothing,
      ...(so.fallback && { before: so.fallback.text }),
      parse: (text) => typed(text, parseValue(text, limited, flag)),
    }),
  });
  const asksExamples: Step<FieldAnswers> = async (so) => ({
    ...so,
    examples: await asker.text<Typed<readonly Json[] | undefined>>({
      message: `Examples of ${path}`,
      placeholder: 'Enter for none, or a list: BTC, ETH',
      initial: nothing,
      ...(so.examples && { before: so.examples.text }),
      parse: (text) => typed(text, parseValues(text, limited, flag)),
    }),
  });
  const hasExamples = allowed?.value === undefined && !isBoolean && (bare.items ?? bare).type !== 'object';
  return [
    ...(isScalar && !isBoolean ? [asksAllowed] : []),
    ...(hasDefault ? [asksDefault] : []),
    ...(hasExamples ? [asksExamples] : []),
  ];
}

function typed<T>(text: string, parsed: Result<T>): Result<Typed<T>> {
  return parsed.ok ? pass({ text, value: parsed.value }) : parsed;
}

/** Asks for the members of an object, at least one. Going back repeats the last question about the last one. */
async function askMembers(
  asker: Asker,
  kind: FieldKind,
  above: string,
  depth: number,
  before: readonly FieldAnswers[],
): Promise<readonly FieldAnswers[]> {
  let members = before;
  /** The member to which the author goes back. */
  let reopened: FieldAnswers | undefined;
  for (;;) {
    if (members.length > 0 && reopened === undefined) {
      const another = await orBack(asker.confirm(`Another ${kind.noun} of ${above}?`, false));
      if (another === false) return members;
      if (another === 'back') {
        reopened = members.at(-1);
        members = members.slice(0, -1);
      }
    }
    const siblings = members.map(fieldOf);
    const member = await orBack(
      askInOrder<FieldAnswers>(
        (answers) => fieldSteps(asker, kind, siblings, above, depth, answers),
        reopened ?? {},
        reopened && {
          from: fieldSteps(asker, kind, siblings, above, depth, reopened).length - 1,
          isBack: true,
        },
      ),
    );
    reopened = undefined;
    if (member !== 'back') members = [...members, member];
    else if (members.length === 0) throw new Back();
  }
}

function shapeWith({ type = 'string', members, allowed, fallback, examples }: FieldAnswers): Shape {
  const bare = shapeOf(type);
  const filled = members ? withMembers(bare, members.map(fieldOf)) : bare;
  return {
    ...filled,
    ...(allowed?.value && { enum: [...new Set(allowed.value)] }),
    ...(fallback?.value !== undefined && { default: fallback.value }),
    ...(examples?.value && { examples: examples.value }),
  };
}

function withMembers(shape: Shape, fields: readonly Field[]): Shape {
  return shape.items ? { ...shape, items: withMembers(shape.items, fields) } : { ...shape, fields };
}

function shapeOf(type: FieldType | ListOf): Shape {
  if (!type.endsWith('[]')) return { type: type as FieldType };
  return { type: 'array', items: { type: type.slice(0, -2) as FieldType } };
}

function ownName(text: string, siblings: readonly Field[], flag: string): Result<string> {
  const name = text.trim();
  if (!siblings.some((sibling) => sibling.name === name)) return parsePlainFieldName(name, flag);
  return refuse(inputError(flag, name, `${name} already exists`, 'Choose another name.'));
}

function typeChoices(depth: number) {
  const bases = depth < deepest ? ([...scalarTypes, 'object'] as const) : scalarTypes;
  return [
    ...bases.map((type) => ({ value: type, label: type === 'object' ? 'object with members' : type })),
    ...bases.map((type) => ({
      value: `${type}[]` as ListOf,
      label: type === 'object' ? 'list of objects' : `list of ${type}s`,
    })),
  ];
}

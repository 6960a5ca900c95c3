import type { Readable, Writable } from 'node:stream';
import { platforms } from '../../contract/platforms/index.ts';
import { type CreateParts, createQuestions } from '../../questions/create.ts';
import { type CreateAnswers, completeAnswers } from '../../questions/create-answers.ts';
import { refuse } from '../../spec/fault.ts';
import type { Fault, Result } from '../../spec/model.ts';
import { Asker, Cancelled } from './asker.ts';
import { askFields, type FieldKind } from './fields.ts';

export { Cancelled } from './asker.ts';

export interface CreatePrompts {
  /** What flags have answered; it is not asked again. */
  readonly given: Partial<CreateParts>;
  /** The lines that say what will be written, or what is wrong with the answers. */
  review(answers: CreateAnswers): Result<readonly string[]> | Promise<Result<readonly string[]>>;
  /** What stands against a directory that is valid as a name, such as files in it. */
  directoryFault?(directory: string): Fault | undefined;
  readonly input?: Readable;
  readonly output?: Writable;
}

type Part = 'directory' | 'tool' | 'description' | 'input' | 'output' | 'returns' | 'platform';
type Parts = Partial<CreateParts>;

/**
 * Asks for everything that flags have not answered, shows what will be written, and asks once whether to.
 *
 * @throws Cancelled where the author cancels any prompt or declines at the end, and where the input ends.
 */
export async function askCreate(prompts: CreatePrompts): Promise<CreateAnswers> {
  const asker = new Asker(prompts.input, prompts.output);
  asker.title('create-market-mcp');
  let parts: Parts = prompts.given;
  for (const part of partsOf(parts)) {
    if (parts[part] === undefined) parts = await ask(asker, part, parts, prompts);
  }
  for (;;) {
    const answers = completeAnswers(parts);
    const reviewed = await prompts.review(answers);
    const way = await decide(asker, reviewed);
    if (way === 'write') return answers;
    if (way === 'cancel') throw new Cancelled();
    const part = await asker.choose(
      'Which answer?',
      partsOf(parts).map((value) => ({ value, label: labels[value] })),
    );
    parts = await ask(asker, part, parts, prompts);
  }
}

const parameter: FieldKind = {
  noun: 'parameter',
  flag: '--input',
  isRequired: (path) => `Must ${path} be given?`,
  hasDefault: true,
};
const field: FieldKind = {
  noun: 'field',
  flag: '--output',
  isRequired: (path) => `Is ${path} always there?`,
  hasDefault: false,
};

const labels: { readonly [part in Part]: string } = {
  directory: 'Directory',
  tool: 'Name of the tool',
  description: 'Description',
  input: 'What it takes',
  output: 'What it returns',
  returns: 'One record or a list',
  platform: 'Marketplace',
};

function partsOf({ spec }: Parts): readonly Part[] {
  if (spec !== undefined) return ['directory', 'platform'];
  return ['directory', 'tool', 'description', 'input', 'returns', 'output', 'platform'];
}

async function decide(
  asker: Asker,
  reviewed: Result<readonly string[]>,
): Promise<'write' | 'change' | 'cancel'> {
  const change = { value: 'change', label: 'Change an answer' } as const;
  const cancel = { value: 'cancel', label: 'Cancel' } as const;
  if (!reviewed.ok) {
    asker.warn(reviewed.faults.map(({ where, message, hint }) => `${where}: ${message}. ${hint}`));
    return asker.choose('This cannot be built yet.', [change, cancel]);
  }
  asker.show('This will be written', reviewed.value);
  return asker.choose('Write it?', [{ value: 'write', label: 'Yes' }, change, cancel]);
}

/** Asks one question and adds its answer to those before. */
async function ask(asker: Asker, part: Part, parts: Parts, prompts: CreatePrompts): Promise<Parts> {
  switch (part) {
    case 'directory':
      return { ...parts, directory: await askDirectory(asker, parts, prompts) };
    case 'tool':
    case 'description':
      return { ...parts, [part]: await askText(asker, part, parts) };
    case 'input': {
      const { prompt, initial } = createQuestions.input;
      return {
        ...parts,
        input: await askFields(asker, prompt.message, parameter, parts.input ?? initial(parts)),
      };
    }
    case 'output': {
      const { prompt, initial } = createQuestions.output;
      const message = parts.returns === 'list' ? 'What does each item hold?' : prompt.message;
      return { ...parts, output: await askFields(asker, message, field, parts.output ?? initial(parts)) };
    }
    case 'returns': {
      const options = [
        { value: 'record', label: 'One record' },
        { value: 'list', label: 'A list', hint: 'items and their count' },
      ] as const;
      const { prompt, initial } = createQuestions.returns;
      return {
        ...parts,
        returns: await asker.choose(prompt.message, options, parts.returns ?? initial(parts)),
      };
    }
    case 'platform': {
      const options = platforms.map(({ name, title }) => ({ value: name, label: title, hint: name }));
      return {
        ...parts,
        platform: await asker.choose(createQuestions.platform.prompt.message, options, parts.platform),
      };
    }
  }
}

function askText(asker: Asker, part: 'tool' | 'description', parts: Parts): Promise<string> {
  const { prompt, initial, parse } = createQuestions[part];
  const text = parts[part] ?? initial(parts);
  return asker.text({ ...prompt, initial: { text, value: text }, parse });
}

function askDirectory(asker: Asker, parts: Parts, { directoryFault }: CreatePrompts): Promise<string> {
  const { prompt, initial, parse } = createQuestions.directory;
  const judged = (text: string): Result<string> => {
    const parsed = parse(text);
    const inTheWay = parsed.ok ? directoryFault?.(parsed.value) : undefined;
    return inTheWay ? refuse(inTheWay) : parsed;
  };
  const wished = parts.directory ?? initial(parts);
  const free = [wished, ...[2, 3, 4, 5].map((i) => `${wished}-${i}`)].find((path) => judged(path).ok);
  return asker.text({
    ...prompt,
    ...(free !== undefined && { initial: { text: free, value: free } }),
    parse: judged,
  });
}

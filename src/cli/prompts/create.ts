import { marketplaces } from '../../contract/platforms/index.ts';
import { refuse } from '../../model/input-error.ts';
import type { InputError, Result } from '../../model/model.ts';
import { type CreateParts, createQuestions } from '../../questions/create.ts';
import { type CreateAnswers, completeAnswers } from '../../questions/create-answers.ts';
import type { Asker } from './asker.ts';
import { askAll, type Flow, type Streams } from './flow.ts';
import { isStartOpen, withStart } from './start.ts';
import { askToolPart, type Started, type ToolPart, toolLabels, toolParts } from './tool.ts';

export { Cancelled } from './leaving.ts';

export interface CreatePrompts extends Streams {
  /** Answers from flags; they are not asked again. */
  readonly given: Partial<CreateParts>;
  readonly review: Flow<never, object, CreateAnswers>['review'];
  readonly resume: Flow<never, Parts, CreateAnswers>['resume'];
  readonly interrupted: Flow<never, object, CreateAnswers>['interrupted'];
  /** Why a valid directory name is refused, such as a directory that is not empty. */
  directoryError?(directory: string): InputError | undefined;
}

type Part = 'directory' | ToolPart | 'platform';
type Parts = Started<Partial<CreateParts>>;

/**
 * Asks for everything that flags have not answered, shows what will be written, and asks for confirmation once.
 *
 * @throws Cancelled if the author cancels a prompt or declines, or the input ends.
 */
export function askCreate(prompts: CreatePrompts): Promise<CreateAnswers> {
  const start = isStartOpen(prompts.given) ? (['start'] as const) : [];
  const flow: Flow<Part, Parts, CreateAnswers> = {
    title: 'create-market-mcp',
    given: withStart(prompts.given),
    labels: { directory: 'Directory', ...toolLabels, platform: 'Marketplace' },
    partsOf: (parts) => [...start, 'directory', ...toolParts(parts), 'platform'],
    ask: (asker, part, parts, isBack) => ask(asker, part, parts, isBack, prompts),
    complete: completeAnswers,
    review: prompts.review,
    resume: prompts.resume,
    interrupted: prompts.interrupted,
  };
  return askAll(flow, prompts);
}

async function ask(
  asker: Asker,
  part: Part,
  parts: Parts,
  isBack: boolean,
  prompts: CreatePrompts,
): Promise<Parts> {
  if (part === 'directory') return { ...parts, directory: await askDirectory(asker, parts, prompts) };
  if (part === 'platform') return { ...parts, platform: await askPlatform(asker, parts) };
  return askToolPart<Parts>(asker, part, parts, createQuestions.tool, isBack);
}

function askPlatform(asker: Asker, { platform }: Parts): Promise<string> {
  const options = marketplaces.map(({ name, title }) => ({
    value: name,
    label: name === 'generic' ? 'Any (the contract alone)' : title,
    hint: name,
  }));
  return asker.choose(createQuestions.platform.prompt.message, options, platform);
}

function askDirectory(asker: Asker, parts: Parts, { directoryError }: CreatePrompts): Promise<string> {
  const { prompt, initial, parse } = createQuestions.directory;
  const judged = (text: string): Result<string> => {
    const parsed = parse(text);
    const inTheWay = parsed.ok ? directoryError?.(parsed.value) : undefined;
    return inTheWay ? refuse(inTheWay) : parsed;
  };
  const requested = initial(parts);
  const free = [requested, ...[2, 3, 4, 5].map((i) => `${requested}-${i}`)].find((path) => judged(path).ok);
  return asker.text({
    ...prompt,
    ...(free !== undefined && { initial: { text: free, value: free } }),
    ...(parts.directory !== undefined && { before: parts.directory }),
    parse: judged,
  });
}

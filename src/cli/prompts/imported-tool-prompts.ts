import { CommandError, orCommandError, pass, type Result, reject, unwrap } from 'market-mcp-contract/command';
import { grouped, isObject, type JsonObject, objectOr, propertiesOf, textOr } from 'market-mcp-contract/json';
import { generic } from 'market-mcp-contract/platforms';
import type { ImportRun } from '../../changes/import-run.ts';
import { importTools, importWholeTools } from '../../changes/import-tools.ts';
import { sentReadInput } from '../../changes/openapi.ts';
import { sendsRequests } from '../../changes/request-tools.ts';
import { fieldsSchema } from '../../fields/shape.ts';
import { fieldsOf, tokensOf, withFields } from '../../import/answer-fields.ts';
import type { ImportedTool } from '../../import/imported-tool.ts';
import { plainText } from '../../import/openapi/document-text.ts';
import { prepareTools } from '../../import/prepare.ts';
import { toolToDo } from '../../import/to-do.ts';
import { type PartialAnswers, sourceQuestion, withDefaults } from '../../questions/partial-answers.ts';
import { toolAnswers } from '../../questions/tool-answers.ts';
import { descriptionQuestion, type ToolQuestionAnswers } from '../../questions/tool-questions.ts';
import {
  type ExampleValue,
  exampleFor,
  formatExampleValue,
  type MissingExample,
  missingExamples,
  parseExampleValue,
} from '../../tools/example-values.ts';
import type { Asker } from './asker.ts';
import { askInOrder, Back } from './leaving.ts';
import type { PromptContext } from './prompt-context.ts';
import { readAnsweredRequests } from './request-prompts.ts';

/** Asks for examples: of a read that is sent, one that finds nothing, and of a spec, one for each parameter without a value. */
export function askExamples(
  asker: Asker,
  partialAnswers: Partial<ToolQuestionAnswers>,
  context: PromptContext,
  isBack: boolean,
): Promise<readonly ExampleValue[]> {
  const ask = sourceQuestion(partialAnswers) === 'spec' ? askMissingExamples : askEmptyExample;
  return ask(asker, partialAnswers, context, isBack);
}

/**
 * The tools of the answers so far. If they are made from a request, it is sent here, at the first question that needs its response; the
 * plan takes the response from `run.responses`.
 *
 * @returns an empty list after an error in their source or in the response, which the plan of the review reports
 */
async function sendAndImportTools(
  answers: PartialAnswers,
  { run }: PromptContext,
): Promise<readonly ImportedTool[]> {
  const completeToolAnswers = toolAnswers(withDefaults(answers));
  const importedTools = await orCommandError(() => importTools(completeToolAnswers, generic, run));
  if (importedTools instanceof CommandError || !importedTools.ok) return [];
  return importedTools.value;
}

/** Asks for an example value of each parameter that would get a placeholder. Enter keeps the placeholder. */
async function askMissingExamples(
  asker: Asker,
  partialAnswers: Partial<ToolQuestionAnswers>,
  context: PromptContext,
  isBack: boolean,
): Promise<readonly ExampleValue[]> {
  const { example: previous = [], ...otherAnswers } = partialAnswers;
  const preparedTools = prepareTools(await sendAndImportTools(otherAnswers, context), generic);
  const missing = preparedTools.ok ? missingExamples(preparedTools.value.tools) : [];
  if (isBack && missing.length === 0) throw new Back();
  const open = missing.findIndex((example) => !previous.some((value) => isFor(value, example)));
  const steps = missing.map((example) => async (earlier: readonly ExampleValue[]) => {
    const values = await askExample(asker, example, earlier);
    asker.unfinished = () => ({ example: values });
    return values;
  });
  const from = isBack ? steps.length - 1 : Math.max(0, open);
  return askInOrder(() => steps, previous, { isBack, from });
}

/** Asks for one example and adds it to the others. */
async function askExample(
  asker: Asker,
  missing: MissingExample,
  values: readonly ExampleValue[],
): Promise<readonly ExampleValue[]> {
  const { tool, parameter } = missing;
  const text = await asker.text({
    message: `Example of ${tool}.${parameter}: the marketplace calls the tool with it`,
    placeholder: 'none: a placeholder that the check reports',
    initial: '',
    previous: values.find((value) => isFor(value, missing))?.text,
    parse(typed) {
      const value = exampleFor(typed, missing, '--example');
      return value.ok ? pass(typed) : value;
    },
  });
  const otherExamples = values.filter((value) => !isFor(value, missing));
  if (text === '') return otherExamples;
  return [...otherExamples, { tool, parameter, text }];
}

/**
 * Asks for arguments that find nothing, before a read is sent: with them, it is sent once more. Enter skips it.
 *
 * @throws Back if there is nothing to ask
 */
export async function askEmptyExample(
  asker: Asker,
  partialAnswers: PartialAnswers,
  { run }: PromptContext,
  isBack: boolean,
): Promise<readonly ExampleValue[]> {
  const root = await inputOfRead(partialAnswers, run);
  const names = propertiesOf(root).map(([name]) => name);
  const [first] = names;
  if (root === undefined || first === undefined) {
    if (isBack) throw new Back();
    return partialAnswers.example ?? [];
  }
  const [previous] = partialAnswers.example ?? [];
  const text = await asker.text({
    message: `A value that finds nothing, such as ${first}=…: it is sent once, and becomes the empty example`,
    placeholder: 'Enter skips it',
    initial: '',
    previous: previous && formatExampleValue(previous),
    parse: (typed) => emptyExample(typed, root),
  });
  if (text === '') return [];
  return [unwrap(parseExampleValue(text, '--example'))];
}

/** The text of an example for the inputSchema of a read; empty if there is none. */
function emptyExample(typed: string, root: JsonObject): Result<string> {
  if (typed.trim() === '') return pass('');
  const parsed = parseExampleValue(typed, '--example');
  if (!parsed.ok) return parsed;
  const { parameter, text } = parsed.value;
  const schema = objectOr(root.properties)[parameter];
  if (!isObject(schema)) {
    const names = propertiesOf(root).map(([name]) => name);
    return reject(
      '--example',
      typed,
      `names ${parameter}, which is not an argument`,
      `They are ${names.join(', ')}.`,
    );
  }
  const value = exampleFor(text, { schema, root }, '--example');
  return value.ok ? pass(typed) : value;
}

/** The inputSchema of the one read that will be sent; undefined if there is none. */
async function inputOfRead(partialAnswers: PartialAnswers, run: ImportRun): Promise<JsonObject | undefined> {
  const answers = toolAnswers(partialAnswers);
  if (answers.kind === 'openapi') return sentReadInput(answers, run);
  if (answers.kind !== 'request' || !sendsRequests(answers)) return undefined;
  const [request, ...otherRequests] = await readAnsweredRequests(answers, run);
  const isReading = request?.onlyReads === true || answers.effect === 'reads';
  if (!request || otherRequests.length > 0 || !isReading) return undefined;
  return { type: 'object', ...fieldsSchema(request.input) };
}

function isFor(value: ExampleValue, { tool, parameter }: MissingExample): boolean {
  return value.tool === tool && value.parameter === parameter;
}

/**
 * Asks for the description of an imported tool, with the derived one as the text to edit; of several tools, for those that
 * have none. Enter takes the derived one.
 */
export async function askDescriptions(
  asker: Asker,
  { description: previous = [], ...answers }: Partial<ToolQuestionAnswers>,
  context: PromptContext,
  isBack: boolean,
): Promise<readonly string[]> {
  const tools = (await sendAndImportTools(answers, context)).map(({ entry }) => entry);
  const isOnlyTool = tools.length === 1;
  const open = tools.filter(({ description }) => isOnlyTool || description === toolToDo);
  if (isBack && open.length === 0) throw new Back();
  const steps = open.map(({ name, description }) => async (earlier: readonly string[]) => {
    const start = isOnlyTool ? '' : `${name}: `;
    const previousText = earlier.find((text) => text.startsWith(start));
    const derived = textOr(description);
    const isMissing = derived === toolToDo;
    const text = await asker.text<string>({
      message: descriptionQuestion(String(name)),
      placeholder: isMissing ? 'none: a to-do that the check reports' : derived,
      initial: isMissing ? '' : derived,
      previous: previousText?.slice(start.length),
      parse: pass,
    });
    const otherDescriptions = earlier.filter((otherText) => otherText !== previousText);
    const descriptions = text.trim() === '' ? otherDescriptions : [...otherDescriptions, `${start}${text}`];
    asker.unfinished = () => ({ description: descriptions });
    return descriptions;
  });
  return askInOrder(() => steps, previous, { isBack, from: isBack ? steps.length - 1 : 0 });
}

/** A smaller tool is asked about only if fields were chosen before. */
const minTokensToAsk = 500;

/**
 * Asks which fields of the answers to keep, for one tool after the other; Enter keeps all. The selection and its size are shown while they
 * change.
 */
export async function askAnswerFields(
  asker: Asker,
  { fields: previous, ...otherAnswers }: Partial<ToolQuestionAnswers>,
  context: PromptContext,
  isBack: boolean,
): Promise<readonly string[]> {
  const tools = await sendAndImportTools(otherAnswers, context);
  const toolPrefixes = tools.map(({ entry }) => `${entry.name}:`);
  const wholeToolAnswers = toolAnswers(withDefaults({ ...otherAnswers, fields: toolPrefixes }));
  const imported = await orCommandError(() => importWholeTools(wholeToolAnswers, generic, context.run));
  const wholeTools = imported instanceof CommandError || !imported.ok ? [] : imported.value;
  const askedTools = tools.filter(
    (tool) => tool.fields !== undefined && (previous?.length || tokensOf(tool) >= minTokensToAsk),
  );
  if (isBack && askedTools.length === 0) throw new Back();
  const steps = askedTools.map((tool) => async (earlier: readonly string[]) => {
    const name = `${tool.entry.name}:`;
    const isOnlyTool = tools.length === 1;
    const ownFields = earlier.filter((text) => isOnlyTool || text.startsWith(name));
    const paths = ownFields.flatMap((text) => text.replace(name, '').split(','));
    const wholeTool = wholeTools[tools.indexOf(tool)];
    const chosenFields = await askFieldsOfTool(asker, tool, wholeTool ?? tool, paths);
    const otherFields = earlier.filter((text) => !ownFields.includes(text));
    const prefix = isOnlyTool ? '' : name;
    const allFields = [...otherFields];
    if (chosenFields.length > 0) allFields.push(prefix + chosenFields.join(','));
    asker.unfinished = () => ({ fields: allFields });
    return allFields;
  });
  return askInOrder(() => steps, previous ?? [], { isBack, from: isBack ? steps.length - 1 : 0 });
}

/** @param wholeTool the tool with every field of its answer; `tool` may lack those that an import leaves out unless chosen */
function askFieldsOfTool(
  asker: Asker,
  tool: ImportedTool,
  wholeTool: ImportedTool,
  previous: readonly string[],
): Promise<string[]> {
  const fieldCount = fieldsOf(tool).length;
  const options = fieldsOf(wholeTool).map(({ path, schema: { type, description } }) => ({
    value: path,
    label: path,
    hint: [[type ?? []].flat().join(' or '), plainText(description, 50)].filter(Boolean).join(' · '),
  }));
  const statusOf = (chosenFields: readonly string[]) => {
    if (chosenFields.length === 0)
      return `Enter keeps all ${fieldCount}, about ${grouped(tokensOf(tool))} tokens`;
    const fields = withFields([wholeTool], [chosenFields.join(',')]);
    const reduced = (fields.ok && fields.value[0]) || tool;
    return `${fieldsOf(reduced).length} of ${options.length}, about ${grouped(tokensOf(reduced))} tokens`;
  };
  return asker.search(`Which fields of ${tool.entry.name}?`, options, previous, statusOf);
}

import { inputError, pass, type Result, refuse, reject } from 'market-mcp-contract/command';
import { effects } from 'market-mcp-contract/definition';
import type { JsonObject } from 'market-mcp-contract/json';
import type { PlatformProfile } from 'market-mcp-contract/platforms';
import type { Imported } from '../import/model.ts';
import { type OpenApiDocument, readOpenApi } from '../import/openapi/document.ts';
import { toolsOfDocument } from '../import/openapi/index.ts';
import { checkedDocument } from '../import/openapi/operations.ts';
import { type HeaderPairs, readDocumentText, shownPlace } from '../project/read/document.ts';
import type { ToolAnswers } from '../questions/tool-answers.ts';
import { metaOf } from '../tools/meta.ts';
import { samplesAt } from './samples.ts';
import { forWriting } from './writing.ts';

type Answers = Extract<ToolAnswers, { kind: 'openapi' }>;

/** The tools of the chosen operations. */
export async function fromOpenApi(
  answers: Answers,
  { toolMeta }: PlatformProfile,
): Promise<Result<readonly Imported[]>> {
  const { tool = null, description, title, effect, fields, meta } = answers;
  const { operation: operations, strictSchema: isStrict, fromSample: paths = [] } = answers;
  const { document, where, url } = await documentAt(answers.fromOpenapi, answers.header);
  if (!document.ok) return document;
  const forOne = [
    { flag: '--description', text: description },
    { flag: '--title', text: title },
    { flag: '--from-sample', text: paths[0] },
  ].filter(({ text }) => text !== undefined && operations.length !== 1);
  if (forOne.length > 0) {
    const message = `is for one tool, but ${operations.length} operations are chosen`;
    return refuse(
      ...forOne.map(({ flag, text }) =>
        inputError(flag, text, message, `Choose one operation, or remove ${flag}.`),
      ),
    );
  }
  const isReduced = (tool: string) =>
    (fields ?? []).some(
      (text) => text.startsWith(`${tool}:`) || (operations.length === 1 && !/^[\w.-]+:/.test(text)),
    );
  const samples = await samplesAt(paths);
  if (!samples.ok) return samples;
  const choice = { operations, tool, isReduced, isStrict, samples: samples.value };
  const tools = toolsOfDocument(document.value, choice, where, url);
  if (!tools.ok) return tools;
  const added = {
    ...(description !== undefined && { description }),
    ...(title !== undefined && { title }),
    ...(effect !== undefined && { annotations: effects[effect] }),
    ...(meta.length > 0 && { _meta: metaOf(meta, toolMeta) }),
  };
  return pass(
    tools.value.map((tool) => {
      const imported = { ...tool, entry: { ...tool.entry, ...added } };
      const { annotations } = imported.entry as { readonly annotations?: JsonObject };
      return annotations?.readOnlyHint === false ? forWriting(imported, toolMeta) : imported;
    }),
  );
}

interface Placed {
  readonly document: Result<OpenApiDocument>;
  readonly where: string;
  readonly url: string | null;
}

const known = new Map<string, Placed>();

/**
 * The document at a path or URL, or on stdin. Each is read once per run. `where` names it in errors.
 *
 * @param headers for the download
 */
export async function documentAt(place: string, headers: HeaderPairs = []): Promise<Placed> {
  const before = known.get(place);
  if (before) return before;
  const where = place === '-' ? '--from-openapi' : shownPlace(place);
  if (headers.length > 0 && !/^https?:\/\//i.test(place)) {
    const document = reject('--header', undefined, 'is for a document at a URL', 'Remove --header.');
    return { document, where, url: null };
  }
  const { text, url, beside } = await readDocumentText(place, headers);
  const read = await readOpenApi(text, where, beside);
  const placed = { document: read.ok ? checkedDocument(read.value, where) : read, where, url };
  if (placed.document.ok) known.set(place, placed);
  return placed;
}

import { Ajv, type Options } from 'ajv';
import standalone from 'ajv/dist/standalone/index.js';
import ajvFormats from 'ajv-formats';
import { unwrap } from 'market-mcp-contract/command';
import { clientSettings, recent, settings } from 'market-mcp-contract/json';
import { platforms } from 'market-mcp-contract/platforms';
import { entriesOf } from '../../src/changes/entries.ts';
import { prepare } from '../../src/import/prepare.ts';
import { completeAnswers } from '../../src/questions/create-answers.ts';

// The packages are CommonJS: their types describe the namespace, but Node imports the function.
const addFormats = ajvFormats as unknown as typeof ajvFormats.default;
const codeOf = standalone as unknown as typeof standalone.default;

/** The ways to read a schema, by the prefix of the keys of `recent`; `checked` ones have also passed the meta-schema. */
const readings: Readonly<Record<string, Options>> = {
  plain: { ...settings, validateSchema: false, meta: false },
  formats: clientSettings,
};

export interface CompiledModule {
  /** The keys of `recent`, each with the name of its validator in the module. */
  readonly names: ReadonlyMap<string, string>;
  readonly code: string;
}

/** The validators of all schemas that a project with the default tool needs: one module for each way to read them. */
export async function defaultValidators(): Promise<readonly CompiledModule[]> {
  const answers = completeAnswers({ directory: 'made' });
  for (const profile of platforms) {
    const { ok } = prepare(unwrap(await entriesOf(answers, profile)), profile);
    if (!ok) throw new Error(`${profile.name}: the default tool does not meet its rules`);
  }
  return Object.entries(readings).map(([reading, options]) => compiledModule(reading, options));
}

function compiledModule(reading: string, options: Options): CompiledModule {
  const ajv = new Ajv({ ...options, code: { source: true, esm: true, lines: true } });
  if (options.validateFormats) addFormats(ajv);
  const keys = recent
    .keys()
    .map((key) => ({ key, reading: /\w+(?= {)/.exec(key)?.[0], text: key.slice(key.indexOf('{')) }));
  const read = keys.filter((key) => key.reading === reading);
  const texts = [...new Set(read.map(({ text }) => text))];
  const nameOf = (text: string) => `validate_${texts.indexOf(text)}`;
  for (const text of texts) ajv.addSchema(JSON.parse(text), nameOf(text));
  return {
    names: new Map(read.map(({ key, text }) => [key, nameOf(text)])),
    code: codeOf(ajv, Object.fromEntries(texts.map((text) => [nameOf(text), nameOf(text)]))),
  };
}

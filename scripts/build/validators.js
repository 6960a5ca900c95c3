import { basename } from 'node:path';
import { Ajv } from 'ajv';
import standalone from 'ajv/dist/standalone/index.js';
import { load } from '../load.js';

// Rolldown plugins that replace schemas by compiled code.

const { settings } = await load('packages/contract/src/json/ajv.ts');

const loading = new Map();

/** The schema of a module, which is loaded once for all bundles. */
async function schemaOf(id) {
  if (!loading.has(id)) loading.set(id, load(id));
  return (await loading.get(id)).schema;
}

/** Replaces each module that compiles one of our schemas at run time. */
export function compiledSchemas() {
  return {
    name: 'compiled schemas',
    async load(id) {
      if (!id.endsWith('-validator.ts')) return;
      return `${codeOf(await schemaOf(id), settings)}\nexport const validator = () => validate;`;
    },
  };
}

/**
 * Replaces the same modules by what loads the complete validators in `compilerFile`. That of manifests, which most commands
 * read, becomes code that only decides whether a value is valid, a third as long; the complete one describes what is invalid.
 */
export function briefSchemas(compilerFile) {
  const prefix = '\0brief ';
  return {
    name: 'brief schemas',
    resolveId(source) {
      if (source.startsWith(prefix)) return source;
    },
    async load(id) {
      if (id.startsWith(prefix)) return briefCode(await schemaOf(id.slice(prefix.length)));
      if (!id.endsWith('-validator.ts')) return;
      const name = basename(id, '-validator.ts');
      const whole = `require('${compilerFile}').validators['${name}']()`;
      // What they validate are authors' schemas, and texts that contain some: both need the compiler anyway.
      if (name !== 'manifest') return `export const validator = () => ${whole};`;
      return `import isValid from ${JSON.stringify(prefix + id)};
        const validate = (value) => {
          validate.errors = null;
          if (isValid(value)) return true;
          const whole = ${whole};
          const valid = whole(value);
          validate.errors = whole.errors;
          return valid;
        };
        export const validator = () => validate;`;
    },
  };
}

function briefCode(schema) {
  const plain = JSON.parse(
    JSON.stringify(schema, (key, value) =>
      key === 'description' && typeof value === 'string' ? undefined : value,
    ),
  );
  return codeOf(plain, { ...settings, allErrors: false, messages: false })
    .replaceAll(/^(const err\d+ =) \{.*\};$/gm, '$1 {};')
    .replaceAll(/^(validate\d+\.errors =) \[\{.*\}\];$/gm, '$1 [{}];');
}

function codeOf(schema, options) {
  const code = { source: true, esm: true, lines: true };
  const ajv = new Ajv({ ...options, validateSchema: false, inlineRefs: false, code });
  return standalone.default(ajv, ajv.compile(schema));
}

/** Replaces the empty module of precompiled validators by one with those of the default tool's schemas. */
export function compiledDefaults() {
  const prefix = '\0default validators ';
  let modules;
  return {
    name: 'compiled defaults',
    async buildStart() {
      // It imports the built runtime: a clean checkout has none before.
      const { defaultValidators } = await load('scripts/build/default-validators.ts');
      modules = await defaultValidators();
    },
    resolveId(source) {
      if (source.startsWith(prefix)) return source;
    },
    load(id) {
      if (id.startsWith(prefix)) return modules[id.slice(prefix.length)].code;
      if (!/[\\/]json[\\/]precompiled\.ts$/.test(id)) return;
      const imports = modules.map((_, i) => `import * as module${i} from '${prefix}${i}';`);
      const members = modules.flatMap(({ names }, i) =>
        [...names].map(([key, name]) => `[${JSON.stringify(key)}, module${i}.${name}]`),
      );
      return `${imports.join('\n')}\nexport const precompiled = new Map([${members.join(',\n')}]);`;
    },
  };
}

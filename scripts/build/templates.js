import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { load } from '../load.js';

// Rolldown plugins that replace the module that compiles templates at run time by compiled templates.

const { precompile } = await load('src/render/compiled.ts');

/** The templates of files that few projects have. */
const rare =
  /^(?:source|tool\/api-tool|project\/(?:kubernetes|render|wrangler|\.yarnrc|\.github\/workflows\/watch))\b/;

/** The templates that most creations need; the others are in `rareFile`, which is loaded when one of them is rendered. */
export function commonTemplates(rareFile) {
  return replaced((name) => !rare.test(name), `(name) => all[name] ?? require('${rareFile}').compiled(name)`);
}

/** The other templates. */
export function rareTemplates() {
  return replaced((name) => rare.test(name), '(name) => all[name]');
}

function replaced(isWanted, compiled) {
  return {
    name: 'compiled templates',
    load(id) {
      if (!/[\\/]render[\\/]compiled\.ts$/.test(id)) return;
      const members = readdirSync('templates', { recursive: true })
        .map((path) => path.replaceAll('\\', '/'))
        .filter((name) => name.endsWith('.hbs') && isWanted(name))
        .map((name) => `${JSON.stringify(name)}: ${code(name)}`);
      return `const all = {${members.join(',\n')}};\nexport const compiled = ${compiled};`;
    },
  };
}

/** The code of a template without source positions, and without a fallback that our engine does not need. */
function code(name) {
  const place = '\\{"start":\\{[^}]*\\},"end":\\{[^}]*\\}\\}';
  return precompile(readFileSync(join('templates', name), 'utf8'))
    .replaceAll(new RegExp(`,"loc":${place}|, ?${place} ?(?=\\))`, 'g'), '')
    .replaceAll(
      /(lookupProperty = container\.lookupProperty) \|\| function[^{]*\{(?:[^{}]|\{[^{}]*\})*\}/g,
      '$1',
    );
}

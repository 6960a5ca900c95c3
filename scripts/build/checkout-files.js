import { load } from '../load.js';

/** Modules that read files of the checkout when they are loaded. */
const dataModules = /[\\/](?:assets|explanations|locked)\.ts$/;

/**
 * A plugin of rolldown for files of the checkout that the package needs. A module that reads text files is replaced by the values of its
 * exports. Templates become files of the package: the build compiles those that are rendered, and copies the others.
 *
 * @param {{ templates?: boolean }} [options] whether the bundle renders templates
 * @returns {import('rolldown').Plugin}
 */
export function checkoutFiles({ templates = false } = {}) {
  return {
    name: 'checkout files',
    load: {
      filter: { id: dataModules },
      async handler(id) {
        const values = Object.entries(await load(id));
        return values.map(([name, value]) => `export const ${name} = ${JSON.stringify(value)};`).join('\n');
      },
    },
    async generateBundle() {
      if (!templates) return;
      const { readTemplates } = await load('src/project/package/templates.ts');
      const { precompile } = await load('src/render/compiled.ts');
      for (const [path, content] of readTemplates()) {
        const isRendered = path.endsWith('.hbs');
        this.emitFile({
          type: 'asset',
          fileName: `templates/${path}${isRendered ? '.js' : ''}`,
          source: isRendered ? precompile(content.toString()) : content,
        });
      }
    },
  };
}

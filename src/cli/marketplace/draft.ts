import type { Project } from '../../project/model.ts';

/** The form, filled in from a project. */
export function draftOf({ manifest, tools, profile }: Project) {
  const descriptions = tools.flatMap(({ source }) => source.definition?.description ?? []);
  const [section = 'Features:', ...sections] = profile.listing.descriptionSections;
  const words = manifest.answers.name.replace(/^@[^/]+\//, '').replaceAll(/[-_.]+/g, ' ');
  const name = words.charAt(0).toUpperCase() + words.slice(1);
  return {
    name,
    description: [
      `${name}: ${tools.length === 1 ? 'one tool' : `${tools.length} tools`}.`,
      '',
      section,
      ...descriptions.map((text) => `- ${text}`),
      ...sections.flatMap((title) => ['', title, '- ']),
    ].join('\n'),
  };
}

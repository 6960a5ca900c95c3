import { generic } from './generic.ts';
import type { PlatformProfile } from './profile.ts';

/** Published criteria of both directories that a definition or a result can meet. */
const commonLevels = {
  'tool.name-pattern': 'must',
  'tool.description-complete': 'must',
  'fit.hints': 'must',
  'fit.hints-consistent': 'must',
  'fit.no-instructions': 'must',
  'fit.no-promotion': 'must',
  'fit.no-conversation': 'must',
  'fit.one-effect': 'must',
} as const;

/** Claude's directory of connectors. Only its requirements on tools are checked; its token is not the contract's. */
export const claudeDirectory: PlatformProfile = {
  ...generic,
  name: 'claude-directory',
  title: "Claude's connectors directory (criteria for tools)",
  rules: {
    facts: 'should',
    overrides: { ...commonLevels, 'fit.hints-complete': 'should', 'fit.title': 'must' },
  },
  sources: {
    ...generic.sources,
    rules:
      'claude.com/docs/connectors/building/review-criteria; support.claude.com, Software Directory Policy',
  },
};

/** ChatGPT's directory of apps. Only its requirements on tools are checked; its token is not the contract's. */
export const openaiApps: PlatformProfile = {
  ...generic,
  name: 'openai-apps',
  title: "ChatGPT's app directory (criteria for tools)",
  rules: {
    facts: 'should',
    overrides: { ...commonLevels, 'fit.hints-complete': 'must', 'fit.no-secrets': 'must' },
  },
  sources: { ...generic.sources, rules: 'developers.openai.com/plugins/plugin-guidelines' },
};

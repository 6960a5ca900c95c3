import { interfaceSentences } from './interface.ts';
import type { Sentence } from './model.ts';
import { serviceSentences } from './service.ts';

export type { Sentence };

/** Sections 1 to 9 of the contract, in order. */
export const sentences: readonly Sentence[] = [...serviceSentences, ...interfaceSentences];

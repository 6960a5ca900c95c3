import fc from 'fast-check';
import { seed } from './random.ts';

// A failure is repeated by TEST_SEED alone.
fc.configureGlobal({ seed });

export default fc;
export * from 'fast-check';

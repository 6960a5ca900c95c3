import fc from 'fast-check';
import { seed } from './random.ts';

// TEST_SEED alone repeats a failure.
fc.configureGlobal({ seed });

export default fc;
export * from 'fast-check';

import { expect, it } from 'vitest';
import { boundedValidator } from '../../../packages/contract/src/wire/client.ts';

it('compiles a schema again after an interrupted compilation', async () => {
  let reads = 0;
  const schema = {
    type: 'object' as const,
    properties: {
      code: {
        type: 'string',
        // The fourth read is in the middle of the compilation. It waits past the limit without using CPU time, as on a busy
        // machine.
        get pattern() {
          reads += 1;
          if (reads === 4) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10_000);
          return '^a$';
        },
      },
    },
  };
  const { getValidator } = await boundedValidator();
  const validate = getValidator(schema);
  expect(reads).toBeGreaterThan(4);
  expect(validate({ code: 'a' }).valid).toBe(true);
  expect(validate({ code: 'b' }).valid).toBe(false);
});

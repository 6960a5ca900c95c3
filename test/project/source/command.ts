import { unwrap } from '../../../packages/contract/src/command/command-error.ts';
import { argumentsInSchema } from '../../../src/changes/send-requests.ts';
import { fieldsSchema } from '../../../src/fields/shape.ts';
import { curlRequest } from '../../../src/import/request/curl-options.ts';
import { parseRequest } from '../../../src/import/request/parse-request.ts';
import { type TrialResponse, tryRequest } from '../../../src/project/source/trial.ts';

/** Sends the request of a curl command once, as an import does. */
export function sendCommand(line: string): Promise<TrialResponse> {
  const { call, input } = unwrap(parseRequest(curlRequest(line), { input: [], constants: [] }));
  return tryRequest(call, argumentsInSchema(fieldsSchema(input)), new Map(), { acceptsNotFound: false });
}

import { answerExplanations } from './answers.explained.ts';
import { callExplanations } from './call.explained.ts';
import { addressExplanations } from './endpoint.explained.ts';
import type { Explanations } from './explanation.ts';
import { fitExplanations } from './fit.explained.ts';
import { gateExplanations } from './gate.explained.ts';
import { modernExplanations } from './modern.explained.ts';
import { processExplanations } from './process.explained.ts';
import { protocolExplanations } from './protocol.explained.ts';
import { schemaExplanations } from './schema.explained.ts';
import { sessionExplanations } from './session.explained.ts';
import { definitionExplanations } from './tool.explained.ts';
import { httpExplanations } from './transport.explained.ts';

/** An explanation of every rule of the catalogue, by its id. */
export const explanations: Explanations = {
  ...definitionExplanations,
  ...schemaExplanations,
  ...fitExplanations,
  ...addressExplanations,
  ...sessionExplanations,
  ...protocolExplanations,
  ...httpExplanations,
  ...gateExplanations,
  ...modernExplanations,
  ...callExplanations,
  ...answerExplanations,
  ...processExplanations,
};

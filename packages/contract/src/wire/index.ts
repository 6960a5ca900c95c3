/** Requests to a server: guarded, signed, in both eras of MCP, with a plan of which tools may be called. */

export { sampleArguments } from '../platforms/sample-arguments.ts';
export type {
  Environment,
  Instance,
  Launch,
  OwnedServer,
  ProcessEnding,
  ProcessExit,
  Target,
} from '../target.ts';
export { addressScope, isLoopback } from './address.ts';
export { loadClient } from './client.ts';
export { msSince, nowMs } from './clock.ts';
export { valuesIn } from './events.ts';
export { fetchToolList } from './fetch-tool-list.ts';
export type { SentRequest } from './http.ts';
export { metaKey, modernRpc, modernVersion } from './modern-request.ts';
export { networkReason } from './network-error.ts';
export { Probe } from './probe.ts';
export { Hang } from './receive.ts';
export type { Recorder } from './recording.ts';
export { submissionTest, verdictsOf } from './rehearsal.ts';
export {
  incidentIn,
  isDeniedByStatus,
  nextId,
  type RpcAnswer,
  redirectTarget,
  resultText,
  rpcAnswer,
  rpcRequest,
  silentAnswerOrThrow,
} from './rpc.ts';
export {
  type CallPolicy,
  permissionOf,
  type SubmissionCall,
  submissionCalls,
  submissionHarm,
} from './safety.ts';
export { createSigner, newPrivateKey, type Signer, type TokenVariant } from './signer.ts';
export { listedOutputSchema } from './tool-cases.ts';
export { unrecordedFix } from './unrecorded.ts';

/** What a program with commands needs: flags, inputs, errors with exit codes, output that is safe to print. */
export {
  CommandError,
  type ExitCode,
  exitCodes,
  invalidInput,
  orCommandError,
  requireNone,
  unknownTool,
  unwrap,
} from './command-error.ts';
export { type FlagGroup, type Load, type Run, withFlags, withGroupedFlags } from './commander.ts';
export { toCommandError } from './errors.ts';
export {
  choice,
  type Flag,
  type FlagTable,
  flagName,
  list,
  off,
  on,
  replayFlags,
  textOption,
  type Values,
} from './flag-table.ts';
export { clip, counted, nameList, parseSomeText, parseText } from './format-text.ts';
export {
  closest,
  combineResults,
  errorSentence,
  inputError,
  oneOf,
  orList,
  pass,
  refuse,
  reject,
  spellingHint,
} from './input-error.ts';
export type { InputError, Result } from './input-result.ts';
export { isJwt, isKeyName } from './key-names.ts';
export { printable } from './paint.ts';
export { numberIn, pagePortIn } from './parse-numbers.ts';
export { withProgress } from './progress.ts';
export { proxyNote } from './proxy.ts';
export { allOf, readInput, utf8Text } from './read-input.ts';
export { runMain } from './run-main.ts';
export {
  notWritable,
  refuseUnwritable,
  replaceAtPath,
  replaceFile,
  saveJson,
  writeWhereLinksLead,
} from './save.ts';
export { isSecretValue } from './secret-values.ts';
export { asOperand, posixCommands, posixLine, shellLine } from './shell.ts';
export { onInterrupted, untilSignal } from './signals.ts';
export { errorLine, singleLine } from './single-line.ts';
export { canAsk } from './terminal.ts';
export { Output } from './terminal-output.ts';
export { uriDecoded } from './uri.ts';
export { hasUrlSecret, maskJson, maskUrl, urlMasker } from './url-secrets.ts';

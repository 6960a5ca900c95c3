/** Whether a person can answer: both streams are terminals, and no CI service is detected. */
export function canAsk(): boolean {
  const { CI } = process.env;
  const isCi = CI !== undefined && CI !== '' && CI !== 'false' && CI !== '0';
  return process.stdin.isTTY === true && process.stdout.isTTY === true && !isCi;
}

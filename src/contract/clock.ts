/** Milliseconds of a clock that only goes forwards. (`performance` would take some to load.) */
export function now(): number {
  return Number(process.hrtime.bigint()) / 1e6;
}

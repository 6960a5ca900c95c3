import { isFree } from '../src/system/ports.ts';

/**
 * Between the ports that the program gives to its own processes and those that operating systems choose. Each worker that runs beside
 * others has its own: between the choice of a port and its use, nobody else takes it.
 */
const ports = { first: 31_000, each: 400, step: 7 };
const worker = Number(process.env.VITEST_POOL_ID ?? 0) % 4;
let portsGiven = 0;

/** A port of 127.0.0.1 that is free until the test uses it. */
export async function freePort(): Promise<number> {
  for (let attempt = 1; attempt <= ports.each; attempt++) {
    const port = ports.first + worker * ports.each + ((portsGiven++ * ports.step) % ports.each);
    if (await isFree('127.0.0.1', port)) return port;
  }
  throw new Error(`no port of worker ${worker} is free`);
}

import { randomInt } from "node:crypto"
import { isFree } from "../../src/layers/FreePort.ts"

const count = 1_000
const places = 18

/** Each worker of the test run has separate ports: two that look at once would both find the same one free. */
const first = 12_000 + count * (Number(process.env["VITEST_POOL_ID"] ?? "0") % places)
let next = randomInt(count)

/** A free port of this machine that nothing else of this test run is given. */
export const freePort = async (): Promise<number> => {
  for (;;) {
    const port = first + next++ % count
    if (await isFree(port)) return port
  }
}

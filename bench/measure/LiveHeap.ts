import { appendFileSync } from "node:fs"

/*
 * Loaded into a server before its program (`--expose-gc --import ./bench/measure/LiveHeap.ts`): at each SIGUSR2 everything that
 * is unreachable is collected, and what is left is written to `BENCH_LIVE_HEAP` as a line, in bytes.
 */
const file = process.env["BENCH_LIVE_HEAP"] ?? ""

process.on("SIGUSR2", () => {
  globalThis.gc?.()
  const { external, heapUsed } = process.memoryUsage()
  appendFileSync(file, `${heapUsed + external}\n`)
})

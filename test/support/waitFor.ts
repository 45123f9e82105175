import { setTimeout as pause } from "node:timers/promises"

/**
 * Waits for a state instead of a time: asks `check` every 10 ms, and every 40 ms once that has gone on for half a
 * second, so that many who wait leave the processor to what they wait for, until it gives something other than undefined,
 * false or null, and returns that. Rejects with the description after `timeoutMs` (default 120 000), naming the last error.
 */
export const waitFor = async <A>(
  description: string,
  check: () => A | Promise<A>,
  timeoutMs = 120_000
): Promise<Exclude<A, undefined | null | false>> => {
  const begun = performance.now()
  const deadline = begun + timeoutMs
  let last: unknown
  for (;;) {
    try {
      const value = await check()
      // The three absent values are excluded by the comparison, which the compiler does not carry to a generic.
      if (value !== undefined && value !== null && value !== false) return value as Exclude<A, undefined | null | false>
      last = undefined
    } catch (error) {
      last = error
    }
    if (performance.now() > deadline) {
      throw new Error(`Waited ${timeoutMs} ms for: ${description}`, last === undefined ? {} : { cause: last })
    }
    await pause(performance.now() - begun < 500 ? 10 : 40)
  }
}

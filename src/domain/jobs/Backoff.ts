import type { Retries } from "./Task.ts"

/** What a task without back-off waits between two tries (contract, platform §12.2). */
const fallback: NonNullable<Retries["backoff"]> = { type: "fixed", delay: 1_000 }

/** Upper limit of a job's wait for its next try, also with exponential growth. */
const longest = 7 * 86_400_000

/**
 * Milliseconds to wait after so many failed tries (spec §3): `delay`, or `delay` times the factor (default 2) to the
 * power tries - 1. `random` in 0 to 1 spreads the wait by the task's jitter to either side.
 */
export const backoffAfter = (retries: Retries | undefined, tries: number, random: number): number => {
  const { ceiling = longest, delay, factor = 2, jitter = 0, type } = retries?.backoff ?? fallback
  const wait = type === "fixed" ? delay : delay * factor ** Math.min(tries - 1, 40)
  return Math.round(Math.min(ceiling, longest, wait * (1 + jitter * (2 * random - 1))))
}

import { Effect, type Scope } from "effect"
import type { CredentialRepo, KeyUse } from "./CredentialRepo.ts"

/** Delay before uses are written. */
const pause = "2 seconds"

/**
 * Counts the uses of keys in memory and writes them in batches, every few seconds and at shutdown: a request must not
 * cost a write. A killed process loses its unwritten counts.
 */
export const keyUses = Effect.fnUntraced(function*(
  record: CredentialRepo["Service"]["recordUses"]
): Effect.fn.Return<(id: string, now: number) => void, never, Scope.Scope> {
  let waiting = new Map<string, { count: number; at: number }>()

  const write = Effect.suspend(() => {
    if (waiting.size === 0) return Effect.void
    const uses = [...waiting].map(([id, { at, count }]): KeyUse => ({ id, count, at: new Date(at) }))
    waiting = new Map()
    return Effect.catchCause(record(uses), (cause) => Effect.logWarning("uses of API keys were not written", cause))
  })

  yield* Effect.addFinalizer(() => write)
  yield* Effect.forkScoped(Effect.forever(Effect.andThen(Effect.sleep(pause), write)))

  return (id, now) => {
    const use = waiting.get(id)
    if (use === undefined) waiting.set(id, { count: 1, at: now })
    else {
      use.count += 1
      use.at = now
    }
  }
})

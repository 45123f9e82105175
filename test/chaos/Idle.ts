import { assert, it } from "@effect/vitest"
import { Effect } from "effect"
import { freshDatabase } from "../support/Postgres.ts"
import { startService } from "../support/Service.ts"
import { tapOn } from "../support/StatementTap.ts"
import { waitFor } from "../support/waitFor.ts"

const stretchMs = 10_000

/** Each statement of the last stretch and how often it was sent, the most frequent first. */
const byCount = (sent: ReadonlyArray<{ readonly text: string }>) => {
  const counts = Map.groupBy(sent, ({ text }) => text.slice(0, 100))
  return [...counts].sort(([, a], [, b]) => b.length - a.length).map(([text, all]) => `${all.length} ${text}`).join(
    "\n"
  )
}

it.live("a process that has nothing to do sends at most four statements a second", () =>
  Effect.gen(function*() {
    const { take, url } = yield* Effect.flatMap(freshDatabase, ({ url }) => tapOn(url))
    yield* startService({ databaseUrl: url })
    const begun = performance.now()
    let sent: ReadonlyArray<{ readonly at: number; readonly text: string }> = []
    // Not in every stretch: the process has just started, and every ten minutes it has tasks to do.
    const isIdle = async () => {
      const now = performance.now()
      sent = [...sent, ...take().map(({ text }) => ({ at: now, text }))].filter(({ at }) => at > now - stretchMs)
      return now - begun > stretchMs && sent.length <= 4 * stretchMs / 1_000
    }
    const idle = yield* Effect.promise(() => waitFor("an idle stretch", isIdle).then(() => true, () => false))
    assert.isTrue(idle, byCount(sent))
    assert.isAbove(sent.length, 0)
  }).pipe(Effect.scoped), 120_000)

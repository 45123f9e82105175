import { Effect } from "effect"
import type { CurrentActor } from "stoa/plugin"
import type { ChannelError } from "./ChannelErrors.ts"
import type { Channels } from "./ChannelOptions.ts"
import { followOrder } from "./FollowOrder.ts"
import { settleLinked } from "./LinkedStock.ts"
import { orDefect, readEach, syncLevels, withLevels } from "./StorePages.ts"
import { archiveProducts, takesPart, writeProducts } from "./StoreProducts.ts"
import type { StoreSession } from "./StoreSessions.ts"
import type { CatalogCall } from "./StoreStock.ts"
import { entityMap } from "./StoreTables.ts"

/** What became of a hint; a failed one says why. */
export type Outcome = "handled" | "ignored" | { readonly failed: string }

/** Handles hints of one kind by the ids that they name, each once. It reads what is true now, and fails only if all have to wait. */
export type HintHandler = (
  call: CatalogCall,
  session: StoreSession,
  externalIds: ReadonlyArray<string>
) => Effect.Effect<ReadonlyMap<string, Outcome>, ChannelError, CurrentActor | Channels>

/** Writes products as the store has them now, and archives those that it no longer has. */
export const productHints: HintHandler = (call, session, externalIds) =>
  Effect.gen(function*() {
    const { channel: { catalog }, store } = session
    if (catalog === undefined) return new Map()
    const outcomes = new Map<string, Outcome>(externalIds.map((externalId) => [externalId, "handled"]))
    const read = yield* readEach(externalIds, catalog.product)
    const [there, away]: [Array<Parameters<typeof takesPart>[1]>, Array<string>] = [[], []]
    for (const one of read) {
      if ("failed" in one) outcomes.set(one.externalId, { failed: one.failed })
      else if (one.found !== undefined && takesPart(store, one.found)) there.push(one.found)
      else away.push(one.externalId)
    }
    const products = yield* withLevels(session, there)
    const { report } = yield* orDefect(
      writeProducts(
        call,
        store,
        products,
        { currency: yield* catalog.currency },
        () => archiveProducts(call, store.id, away)
      )
    )
    for (const { externalId, message } of report.skipped ?? []) outcomes.set(externalId, { failed: message })
    return outcomes
  })

/** Brings stock to what the store has now; things that are not known are left out. A store may name them by other ids. */
export const stockHints: HintHandler = (call, session, externalIds) =>
  Effect.gen(function*() {
    const { channel: { stock }, store } = session
    if (stock === undefined) return new Map()
    const named = (yield* stock.read(externalIds)).map(({ externalId }) => externalId)
    const known = yield* call.db.table(entityMap).list({
      storeId: store.id,
      kind: "variant",
      externalId: { in: [...new Set([...externalIds, ...named])] }
    })
    if (known.length === 0) return new Map()
    yield* syncLevels(call, session, known.map(({ externalId }) => externalId))
    yield* settleLinked(call, session, known.filter(({ goneAt, isLinked }) => isLinked && goneAt === null))
    const ours = new Set(known.map(({ externalId }) => externalId))
    const hasOthers = [...ours].some((externalId) => !externalIds.includes(externalId))
    const isKnown = (externalId: string) => ours.has(externalId) || hasOthers && !named.includes(externalId)
    return new Map(externalIds.filter(isKnown).map((externalId): [string, Outcome] => [externalId, "handled"]))
  }).pipe(orDefect)

/** Takes over what the store did to orders. */
export const orderHints: HintHandler = (call, session, externalIds) =>
  Effect.map(
    Effect.forEach(externalIds, (externalId) =>
      Effect.map(
        followOrder(call, session, externalId),
        (isOurs): [string, Outcome] => [externalId, isOurs ? "handled" : "ignored"]
      )),
    (outcomes) => new Map(outcomes)
  )

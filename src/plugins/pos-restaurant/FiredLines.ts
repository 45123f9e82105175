import { Effect, Layer } from "effect"
import { isDeepStrictEqual } from "node:util"
import { conflict, invalid, newId, PluginContext, type PluginDatabase } from "stoa/plugin"
import { type LineMove, type MovedUnits, Pos, PosExtensions } from "../pos/index.ts"
import { batchesOf, firedOf, itemsWith, unitsOf } from "./Batches.ts"
import { manage } from "./RestaurantOptions.ts"
import { type TicketItem, ticketItems } from "./Tickets.ts"

class IsFired extends conflict(
  "KdsFired",
  "The kitchen has this line: its metadata cannot change. Remove it and add another one."
) {}
class ReasonMissing
  extends invalid("KdsReason", "reason", "reason is required: the kitchen has this line.", "required")
{}

/** Taking away what the kitchen has needs a reason and an approval (contract-tills-channels §B 30). */
const requireApproval = Effect.fnUntraced(function*(
  db: PluginDatabase,
  { after, before, reason, sale, token }: LineMove
) {
  const units = yield* unitsOf(db, before.id)
  if (units === 0) return undefined
  if (after !== null && !isDeepStrictEqual(after.metadata, before.metadata)) return yield* new IsFired()
  if ((after?.quantity ?? 0) >= units) return undefined
  if (reason === undefined) return yield* new ReasonMissing()
  const { approve } = yield* Pos
  return yield* approve({ action: "fired", permission: manage, token, transactionId: sale.transaction.id })
})

/** Brings units on tickets to the line that a split or merge has brought them to. */
const moveUnits = Effect.fnUntraced(function*(db: PluginDatabase, moved: ReadonlyArray<MovedUnits>) {
  const { items, tickets } = yield* firedOf(db, [...new Set(moved.map(({ from }) => from))])
  const rows = new Map<string, TicketItem>(items.map((item) => [item.id, item]))
  const added: Array<TicketItem> = []
  for (const { from, quantity, to } of moved) {
    const own = [...rows.values()].filter(({ lineId }) => lineId === from)
    for (const [row, units] of itemsWith(quantity, batchesOf(tickets, own))) {
      if (units === row.quantity) rows.set(row.id, { ...row, lineId: to })
      else {
        rows.set(row.id, { ...row, quantity: row.quantity - units })
        added.push({ ...row, id: newId(), lineId: to, quantity: units, cancelledQuantity: 0 })
      }
    }
  }
  const changed = items.flatMap((item) => {
    const { id, lineId, quantity } = rows.get(item.id) ?? item
    return lineId === item.lineId && quantity === item.quantity ? [] : [{ id, lineId, quantity }]
  })
  if (changed.length > 0) yield* db.table(ticketItems).updateEach(changed)
  if (added.length > 0) yield* db.table(ticketItems).insertMany(added.map(({ createdAt: _, ...item }) => item))
})

/** What tills keep to because of a kitchen. */
export const firedLines = Layer.effectDiscard(
  Effect.gen(function*() {
    const { db } = yield* PluginContext
    const services = yield* Effect.context<Pos>()
    const { add } = yield* PosExtensions
    yield* add({
      lineChanging: (move) => Effect.provide(requireApproval(db, move), services),
      linesMoved: (moved) => moveUnits(db, moved)
    })
  })
)

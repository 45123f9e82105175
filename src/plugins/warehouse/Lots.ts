import { Context, Effect, Layer, Order, Schema } from "effect"
import {
  type Conflict,
  type CurrentActor,
  date,
  EntityId,
  idOf,
  invalid,
  PluginContext,
  type RowOf,
  table,
  text,
  type ValidationFailed,
  VariantId,
  WarehouseId
} from "stoa/plugin"
import { read, routes, units } from "./Documents.ts"

/** Units of a batch that came into a warehouse together and are still there. A batch that comes twice has two lots. */
export const lots = table("warehouse_lots", {
  warehouseId: idOf(WarehouseId),
  entityId: idOf(EntityId),
  variantId: idOf(VariantId).nullable,
  batchNumber: text,
  expiryDate: date.nullable,
  quantity: units
}, {
  counted: false,
  // Only lots with units left are listed and looked up: those that are empty are many, and expire first.
  indexes: [
    { columns: ["entityId", "warehouseId"], where: "quantity > 0" },
    { columns: ["warehouseId", "expiryDate", "createdAt"], where: "quantity > 0" },
    { columns: ["entityId", "expiryDate", "createdAt"], where: "quantity > 0" },
    { columns: ["variantId", "expiryDate", "createdAt"], where: "quantity > 0" },
    { columns: ["batchNumber", "expiryDate", "createdAt"], where: "quantity > 0" },
    { columns: ["expiryDate", "createdAt"], where: "quantity > 0" }
  ]
})

type Lot = RowOf<typeof lots>

/** Units of goods in a warehouse. */
export interface Units {
  readonly entityId: EntityId
  readonly variantId?: VariantId | null | undefined
  readonly warehouseId: WarehouseId
  readonly quantity: number
}

/** Units that come in. */
export interface ReceivedUnits extends Units {
  readonly batchNumber: string
  readonly expiryDate?: string | null | undefined
}

/** Units that leave: of this batch, else those that expire first. */
export interface LeavingUnits extends Units {
  readonly batchNumber?: string | null | undefined
  /** Lots that expired before this day leave last, as customers must not get them. Without it they leave first. */
  readonly goodOn?: string | undefined
}

/** Units that were taken out of a lot. */
export const TakenLot = Schema.Struct({
  batchNumber: Schema.String,
  expiryDate: Schema.NullOr(Schema.String),
  quantity: Schema.Int
})
export type TakenLot = typeof TakenLot.Type

class BatchShort extends invalid(
  "BatchShort",
  (line: number, _batch: string, _missing: number) => `lines.${line}.batchNumber`,
  (_line: number, batch: string, missing: number) =>
    `The warehouse has ${missing} units too few of the batch ${batch}.`,
  "insufficient_stock"
) {}

const placeOf = ({ entityId, variantId, warehouseId }: Omit<Units, "quantity">) =>
  // An id may come in capitals, as a request has it.
  `${variantId ?? entityId} ${warehouseId}`.toLowerCase()

/** Lots that never expire come last; the rest of the order is that in which they were received. */
const byExpiry = Order.mapInput(Order.String, ({ expiryDate }: Lot) => expiryDate ?? "9999-12-32")

/**
 * Which lots units leave from: first the lines that name a batch, then the others, first expired first out. What no lot
 * covers is stock without lots. `lots` are in the order in which they were received.
 */
export const chooseLots = (lots: ReadonlyArray<Lot>, lines: ReadonlyArray<LeavingUnits>) => {
  const left = new Map(lots.map(({ id, quantity }) => [id, quantity]))
  const byPlace = Map.groupBy(lots.toSorted(byExpiry), placeOf)
  const chosen = lines.map((line) => {
    const [batch, parts]: [string | null, Array<TakenLot>] = [line.batchNumber ?? null, []]
    const isExpired = ({ expiryDate }: Lot) =>
      expiryDate !== null && line.goodOn !== undefined && expiryDate < line.goodOn
    const inPlace = byPlace.get(placeOf(line)) ?? []
    const inTurn = [...inPlace.filter((lot) => !isExpired(lot)), ...inPlace.filter(isExpired)]
    return { batch, missing: line.quantity, parts, lots: inTurn }
  })
  for (
    const line of [
      ...chosen.filter(({ batch }) => batch !== null),
      ...chosen.filter(({ batch }) => batch === null)
    ]
  ) {
    for (const { batchNumber, expiryDate, id } of line.lots) {
      const quantity = Math.min(line.missing, left.get(id) ?? 0)
      if (quantity <= 0 || line.batch !== null && line.batch !== batchNumber) continue
      left.set(id, (left.get(id) ?? 0) - quantity)
      line.missing -= quantity
      line.parts.push({ batchNumber, expiryDate, quantity })
    }
  }
  const changed = lots.flatMap(({ id, quantity }) => {
    const rest = left.get(id) ?? 0
    return rest === quantity ? [] : [{ id, quantity: rest }]
  })
  return { chosen, changed }
}

/**
 * Lots of the goods in warehouses, for plugins that require this one. Both join the caller's transaction and take a constant
 * number of statements. Call them before `services.inventory.post`, and `take` before `receive`: receiving waits for none.
 */
export class Lots extends Context.Service<Lots, {
  /** Adds lots, one for each line. 422 for a quantity below 0. */
  readonly receive: (
    lines: ReadonlyArray<ReceivedUnits>
  ) => Effect.Effect<ReadonlyArray<Lot>, Conflict | ValidationFailed, CurrentActor>
  /**
   * Takes units out of lots and says for each line which: of the batch that it names, else first expired first out, lots
   * that never expire last. What no lot covers is stock without lots. 422 when a named batch has too little.
   */
  readonly take: (
    lines: ReadonlyArray<LeavingUnits>
  ) => Effect.Effect<ReadonlyArray<ReadonlyArray<TakenLot>>, ValidationFailed, CurrentActor>
}>()("stoa/plugins/warehouse/Lots") {
  static readonly layer = Layer.effect(
    Lots,
    Effect.map(PluginContext, ({ db }) => ({
      receive: Effect.fn("Lots.receive")((lines) =>
        db.table(lots).insertMany(
          lines.flatMap(({ batchNumber, entityId, expiryDate, quantity, variantId, warehouseId }) =>
            quantity === 0 ? [] : [{ entityId, variantId, warehouseId, batchNumber, expiryDate, quantity }]
          )
        )
      ),
      take: Effect.fn("Lots.take")(function*(lines) {
        const held = yield* db.table(lots).list({
          entityId: { in: lines.map(({ entityId }) => entityId) },
          warehouseId: { in: lines.map(({ warehouseId }) => warehouseId) },
          quantity: { gt: 0 }
        }, { order: ["createdAt"], limit: Number.MAX_SAFE_INTEGER, lock: true })
        const { changed, chosen } = chooseLots(held, lines)
        const short = chosen.findIndex(({ batch, missing }) => batch !== null && missing > 0)
        const { batch, missing = 0 } = chosen[short] ?? {}
        if (typeof batch === "string") return yield* new BatchShort(short, batch, missing)
        // They are locked and leave no less than 0.
        yield* Effect.catch(db.table(lots).updateEach(changed), Effect.die)
        return chosen.map(({ parts }) => parts)
      }, db.transaction)
    }))
  )
}

export const lotRoutes = [
  routes.list("/lots", {
    summary: "List lots that are in stock",
    description: "First those that expire first.",
    permission: read,
    query: {
      entityId: Schema.optional(EntityId),
      variantId: Schema.optional(VariantId),
      warehouseId: Schema.optional(WarehouseId),
      batchNumber: Schema.optional(text.schema),
      expiringBefore: Schema.optional(date.schema.annotate({ description: "Only lots that expire before this day." }))
    },
    success: lots.Row
  }).handle(({ db, page, query: { expiringBefore, ...same } }) =>
    db.table(lots).page(
      { ...same, quantity: { gt: 0 }, ...(expiringBefore !== undefined && { expiryDate: { lt: expiringBefore } }) },
      page,
      ["expiryDate", "createdAt"]
    )
  )
]

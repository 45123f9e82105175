import { Context, Effect, Layer, Order, Schema, Struct } from "effect"
import {
  about,
  boolean,
  type Conflict,
  type CoreServices,
  type CurrentActor,
  date,
  EntityId,
  idOf,
  invalid,
  NotFound,
  PluginContext,
  type PostedLine,
  type RowOf,
  type StockPostingLine,
  table,
  text,
  uuid,
  type ValidationFailed,
  VariantId,
  WarehouseId
} from "stoa/plugin"
import { someUnits, units } from "./Documents.ts"
import { nameLots, withheldUnits } from "./StockRepo.ts"

/** Units of a batch that came into a warehouse together and are still there. A batch that comes twice has two lots. */
export const lots = table("warehouse_lots", {
  warehouseId: idOf(WarehouseId),
  entityId: idOf(EntityId),
  variantId: idOf(VariantId).nullable,
  batchNumber: text.about("Batch of the goods."),
  expiryDate: date.nullable.about("Last day on which the goods are good."),
  quantity: units.about("Units of the lot."),
  isBlocked: boolean.default(false).about(
    "True: it does not leave, unless a document names its batch; `withheld` of its units are reserved."
  ),
  withheld: units.default(0).about("Units that are kept from sale while it is blocked."),
  reason: text.nullable.forPeople.about("Why it was last corrected or blocked.")
}, {
  counted: false,
  // Only lots with units left are listed and looked up: those that are empty are many, and expire first.
  indexes: [
    { columns: ["entityId", "warehouseId"], where: "quantity > 0" },
    { columns: ["warehouseId", "expiryDate", "createdAt"], where: "quantity > 0" },
    { columns: ["entityId", "expiryDate", "createdAt"], where: "quantity > 0" },
    { columns: ["variantId", "expiryDate", "createdAt"], where: "quantity > 0" },
    { columns: ["batchNumber", "expiryDate", "createdAt"], where: "quantity > 0" },
    { columns: ["isBlocked", "expiryDate", "createdAt"], where: "quantity > 0" },
    { columns: ["expiryDate", "createdAt"], where: "quantity > 0" }
  ]
})

type Lot = RowOf<typeof lots>

/** Units that left a lot, and the document or order that they left with. */
export const lotMovements = table("warehouse_lot_movements", {
  lotId: uuid.references(lots),
  warehouseId: idOf(WarehouseId),
  entityId: idOf(EntityId),
  variantId: idOf(VariantId).nullable,
  batchNumber: text.about("Batch of the goods."),
  expiryDate: date.nullable.about("Last day on which the goods are good."),
  quantity: someUnits.about("Units of the lot."),
  referenceType: text.nullable,
  referenceId: text.nullable
}, { counted: false, indexes: [{ columns: ["referenceId"] }, { columns: ["entityId", "batchNumber", "createdAt"] }] })

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

/** A line of a document: units that leave may name their batch. */
export interface LotLine extends StockPostingLine {
  readonly batchNumber?: string | null | undefined
}

/** Units that were taken out of a lot. */
export const TakenLot = Schema.Struct({
  batchNumber: Schema.String,
  expiryDate: Schema.NullOr(Schema.String).pipe(
    about("Last day on which the goods are good; null: they do not expire.")
  ),
  quantity: Schema.Int
})
export type TakenLot = typeof TakenLot.Type

class BatchShort extends invalid(
  "BatchShort",
  (line: number, _batch: string, _missing: number) => `lines.${line}.batchNumber`,
  (line: number, batch: string, missing: number) =>
    `lines.${line}.batchNumber names a batch of which the warehouse has ${missing} units too few: ${batch}.`,
  "insufficient_stock"
) {}

export const place = ["entityId", "variantId", "warehouseId"] as const

const sellableOf = ({ entityId, variantId }: Pick<Units, "entityId" | "variantId">) =>
  // An id may come in capitals, as a request has it.
  (variantId ?? entityId).toLowerCase()

const placeOf = (units: Omit<Units, "quantity">) => `${sellableOf(units)} ${units.warehouseId.toLowerCase()}`

/** Shares what left lots among the lines of its document: first the lines that name a batch. */
const shareLots = (gone: ReadonlyArray<RowOf<typeof lotMovements>>, lines: ReadonlyArray<LotLine>) => {
  const byPlace = Map.groupBy(gone.map((lot) => ({ lot, left: lot.quantity })), ({ lot }) => placeOf(lot))
  const shared = lines.map((line) => ({
    batch: line.batchNumber ?? null,
    missing: Math.max(0, -(line.delta ?? 0)),
    parts: new Array<TakenLot>(),
    lots: byPlace.get(placeOf(line)) ?? []
  }))
  for (const line of shared.toSorted(Order.mapInput(Order.Boolean, ({ batch }) => batch === null))) {
    for (const one of line.lots) {
      const quantity = Math.min(line.missing, one.left)
      if (quantity === 0 || line.batch !== null && line.batch !== one.lot.batchNumber) continue
      one.left -= quantity
      line.missing -= quantity
      line.parts.push({ batchNumber: one.lot.batchNumber, expiryDate: one.lot.expiryDate, quantity })
    }
  }
  return shared
}

/** Units of each named batch that leave each place, for the database. */
const namedUnits = (lines: ReadonlyArray<LotLine>) =>
  [
    ...Map.groupBy(
      lines.filter(({ batchNumber, delta = 0 }) => typeof batchNumber === "string" && delta < 0),
      (line) => `${placeOf(line)} ${line.batchNumber}`
    ).values()
  ].flatMap((same) =>
    same.slice(0, 1).map((line) => ({
      sellable: sellableOf(line),
      warehouse: line.warehouseId,
      batch: line.batchNumber,
      units: same.reduce((sum, { delta = 0 }) => sum - delta, 0)
    }))
  )

/** Ends the reservation of units of a blocked lot; a reservation that was ended by hand is no error. */
export const giveBack = (
  inventory: CoreServices["inventory"],
  { id: orderId, ...lot }: Omit<Units, "quantity"> & { readonly id: string },
  quantity: number
) =>
  quantity === 0 ? Effect.void : inventory.release({ ...Struct.pick(lot, place), orderId, quantity }).pipe(
    Effect.catchIf(Schema.is(NotFound), () => Effect.void)
  )

type Inventory = CoreServices["inventory"]
type PostFailure = Effect.Error<ReturnType<Inventory["post"]>>

/** Lots of the goods in warehouses, for plugins that require this one. Both join the caller's transaction. */
export class Lots extends Context.Service<Lots, {
  /** Adds lots, one for each line, before the caller posts their units. 422 for a quantity below 0. */
  readonly receive: (
    lines: ReadonlyArray<ReceivedUnits>
  ) => Effect.Effect<ReadonlyArray<Lot>, Conflict | ValidationFailed, CurrentActor>
  /**
   * Posts to stock, which takes what leaves out of lots: of the batch that a line names, else first expired first out. Says
   * which, for each line. What no lot covers is stock without lots. 422 when a named batch has too little.
   */
  readonly post: (
    inventory: Inventory,
    ...posting: readonly [Parameters<Inventory["post"]>[0], ReadonlyArray<LotLine>]
  ) => Effect.Effect<
    ReadonlyArray<PostedLine & { readonly lots: ReadonlyArray<TakenLot> }>,
    PostFailure,
    CurrentActor
  >
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
      post: Effect.fn("Lots.post")(function*(inventory, reference, lines) {
        const named = namedUnits(lines)
        if (named.length > 0) {
          yield* db.use(nameLots)(named)
          for (const { id, units, ...lot } of yield* db.use(withheldUnits)(named)) {
            yield* giveBack(inventory, { ...lot, id }, units)
            yield* db.table(lots).update(id, { withheld: lot.withheld - units }).pipe(Effect.catch(Effect.die))
          }
        }
        const posted = yield* inventory.post(reference, lines.map(Struct.omit(["batchNumber"])))
        const gone = yield* db.table(lotMovements).list(
          { referenceType: reference.type, referenceId: reference.id },
          { order: ["expiryDate", "createdAt"] }
        )
        const shared = shareLots(gone, lines)
        const isShort = ({ batch, missing }: typeof shared[number], line: number) =>
          batch !== null && missing > 0 && typeof posted[line]?.movementId === "string"
        const short = shared.findIndex(isShort)
        const { batch, missing = 0 } = shared[short] ?? {}
        if (typeof batch === "string") return yield* new BatchShort(short, batch, missing)
        return posted.map((one, line) => ({ ...one, lots: shared[line]?.parts ?? [] }))
      }, db.transaction)
    }))
  )
}

import { BigDecimal, Effect, Schema } from "effect"
import {
  type Actor,
  EntityId,
  group,
  idOf,
  integerBetween,
  invalid,
  type PluginCall,
  type PluginDatabase,
  text,
  ValidationFailed,
  VariantId,
  type WarehouseId
} from "stoa/plugin"
import { type StockLine, stockOf } from "./StockRepo.ts"

export const routes = group("Warehouse", "/warehouse")
export const [read, operate, admin] = ["warehouse:read", "warehouse:operate", "warehouse:admin"] as const

/** Documents are created and read with their lines, and only moved then. */
export const kept = { read, write: operate, patch: false, remove: false } as const

/** What the moves of documents need. */
export type Tools = Pick<PluginCall, "db" | "services">

/** Lines as they were given. */
export const inOrder = { order: ["createdAt"] } as const

export const units = integerBetween(0, 2_147_483_647)
export const someUnits = integerBetween(1, 2_147_483_647)

/** Columns of a line of any document. */
export const goodsColumns = {
  entityId: idOf(EntityId).existing("entity"),
  variantId: idOf(VariantId).existing("variant").nullable,
  itemName: text
}

/** Lines that a body names: at most 1000. */
export const namedLines = <S extends Schema.Top>(line: S) => Schema.Array(line).check(Schema.isMaxLength(1000))

/** The lines of a new document: at least one. */
export const linesOf = <S extends Schema.Top>(line: S) => namedLines(line).check(Schema.isMinLength(1))

/** Who writes a document. */
export const authorOf = ({ name, userId }: Actor): string => userId ?? name

/** The goods of a line in a warehouse. */
export const goodsAt = <V>(
  warehouseId: WarehouseId,
  { entityId, variantId }: { entityId: EntityId; variantId: V }
) => ({
  entityId,
  variantId,
  warehouseId
})

class CostTooLarge extends invalid("CostTooLarge", "items", "items cost more than an amount can be.") {}
class NotOfDocument extends invalid(
  "NotOfDocument",
  (line: number) => `items.${line}.itemId`,
  (line) => `items.${line}.itemId must be an item of this document that is named once.`
) {}

/** Units and what one of them costs: minor units, also a decimal text. */
interface Valued {
  readonly units: number
  readonly unitCost: number | string
}
const exactCost = ({ unitCost, units }: Valued) =>
  BigDecimal.multiply(BigDecimal.fromStringUnsafe(String(unitCost)), BigDecimal.fromBigInt(BigInt(Math.abs(units))))

/** The cost of all lines together, rounded once and half up to minor units; 422 for more than an amount can be. */
export const costOf = (lines: ReadonlyArray<Valued>) => {
  const sum = BigDecimal.sumAll(lines.map(exactCost))
  const total = BigDecimal.toNumberUnsafe(BigDecimal.round(sum, { scale: 0 }))
  return Number.isSafeInteger(total) ? Effect.succeed(total) : Effect.fail(new CostTooLarge())
}

/** What is given for items of a document, with each item; 422 for other items and those that are named twice. */
export const givenFor = Effect.fnUntraced(function*<Item extends { readonly id: string }, Given>(
  items: ReadonlyArray<Item>,
  given: ReadonlyArray<Given & { readonly itemId: string }>
) {
  const open = new Map(items.map((item) => [item.id, item]))
  const found: Array<{ readonly item: Item; readonly given: Given }> = []
  for (const [n, one] of given.entries()) {
    const item = open.get(one.itemId.toLowerCase())
    if (item === undefined) return yield* new NotOfDocument(n)
    open.delete(item.id)
    found.push({ item, given: one })
  }
  return found
})

/** What a warehouse has of each line and its cost; 422 that names each line with unknown goods. */
export const goodsIn = Effect.fn("Documents.goodsIn")(function*(
  db: PluginDatabase,
  warehouseId: WarehouseId,
  lines: ReadonlyArray<StockLine>
) {
  const found = yield* db.use(stockOf)(warehouseId, lines)
  const unknown = (n: number, name: string, message: string) => ({
    path: `items.${n}.${name}`,
    message,
    code: "not_found"
  })
  const issues = found.flatMap(({ isEntity, isVariant }, n) => [
    ...isEntity ? [] : [unknown(n, "entityId", "must be an entity of this organization.")],
    ...isVariant ? [] : [unknown(n, "variantId", "must be a variant of this entity.")]
  ])
  return issues.length === 0 ? found : yield* ValidationFailed.issues(issues)
})

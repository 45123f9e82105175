import { Effect } from "effect"
import { conflict, invalid, type NewRowOf, type PluginDatabase } from "stoa/plugin"
import { alone, pairOf } from "./Conversions.ts"
import { Units } from "./Units.ts"
import { entityUnits } from "./UnitTables.ts"
import { hasStock } from "./UnitUseRepo.ts"

class StockUnitInUse extends conflict(
  "StockUnitInUse",
  "The entity has stock, which is counted in its stock unit: another one needs it to be empty."
) {}
class NotConvertible extends invalid(
  "NotConvertible",
  (path: string) => path,
  () => "has no conversion to the stock unit"
) {}

/**
 * Sets in which units an entity is bought, kept in stock and sold. 404 for an unknown unit; 409 for another stock unit
 * while there is stock; 422 for units without a conversion to the stock unit.
 */
export const setEntityUnits = (db: PluginDatabase["Service"], input: NewRowOf<typeof entityUnits>) =>
  // In the turn of conversions, so that none of those that these units need is removed meanwhile.
  alone(
    db,
    Effect.gen(function*() {
      const { entityId, purchaseUomId, saleUomId, stockUomId } = input
      yield* pairOf(db, purchaseUomId, stockUomId)
      yield* pairOf(db, saleUomId, saleUomId)
      const before = yield* db.table(entityUnits).first({ entityId })
      const isOther = before !== undefined && before.stockUomId !== stockUomId
      if (isOther && (yield* hasStock(db, entityId))) return yield* new StockUnitInUse()
      const known = yield* Units.use((units) => units.known([entityId]))
      for (const [path, from] of Object.entries({ purchaseUomId, saleUomId })) {
        if (known.convert(1, { from, to: stockUomId }, entityId) === undefined) return yield* new NotConvertible(path)
      }
      return (yield* db.table(entityUnits).upsert(input, ["entityId"])).row
    })
  )

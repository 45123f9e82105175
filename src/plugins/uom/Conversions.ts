import { Effect } from "effect"
import { conflict, type EntityId, invalid, type NewRowOf, notFound, type PluginDatabase, type Which } from "stoa/plugin"
import { Rational } from "./Rational.ts"
import { ratiosOf, StockUnitUses, Units } from "./Units.ts"
import { type Conversion, conversions, entityUnits, units } from "./UnitTables.ts"
import { hasStock, needingEntity } from "./UnitUseRepo.ts"

class UnitNotFound extends notFound("Unit", "Unit not found.") {}
class ConversionExists extends conflict("ConversionExists", "There is a conversion between these units.") {}
class ConversionContradicts extends conflict(
  "ConversionContradicts",
  (factor: string) => `Other conversions already make this factor ${factor}.`
) {}
class ConversionNeeded extends conflict(
  "ConversionNeeded",
  (entityId: string) => `The units of the entity ${entityId} need this conversion.`
) {}
class CategoriesDiffer extends invalid(
  "CategoriesDiffer",
  "toUnitId",
  "toUnitId is of another category: name the entity that the conversion is for."
) {}
class StockUnitInUse extends conflict(
  "StockUnitInUse",
  "The entity has stock, which is counted in its stock unit: another one needs it to be empty."
) {}
class StockUnitNamed extends conflict(
  "StockUnitNamed",
  (document: string) => `The stock unit cannot change while the ${document} counts in it: finish or cancel it first.`
) {}
class NotConvertible extends invalid(
  "NotConvertible",
  (path: string) => path,
  (path) => `${path} must be a unit with a conversion to the stock unit.`
) {}
class FactorMissing extends invalid("FactorMissing", "factor", "factor or factorDecimal is required.", "required") {}

/** Conversions decide about one another, so the organization writes one at a time. */
export const alone = <A, E, R>(db: PluginDatabase, work: Effect.Effect<A, E, R>) =>
  db.transaction(Effect.andThen(db.turn("conversions"), work))

/** Both units, in the order of the ids; 404. */
export const pairOf = Effect.fnUntraced(function*(db: PluginDatabase, fromId: string, toId: string) {
  const found = yield* db.table(units).list({ id: { in: [fromId, toId] } })
  const [from, to] = [fromId, toId].map((id) => found.find((one) => one.id === id.toLowerCase()))
  return from === undefined || to === undefined ? yield* new UnitNotFound() : { from, to }
})

interface Factors {
  readonly factor?: number | undefined
  readonly factorDecimal?: string | undefined
}

/** The factor in both forms; the decimal one wins. */
const factorsOf = ({ factor, factorDecimal }: Factors) => {
  if (factorDecimal === undefined && factor === undefined) return Effect.fail(new FactorMissing())
  const exact = factorDecimal === undefined ? Rational.of(factor ?? 0).per(10_000) : Rational.of(factorDecimal)
  return Effect.succeed({ factorDecimal: exact.decimal(10), factor: exact.times(10_000).round() })
}

/** Conversions for all products, or those of an entity: within them no two ways lead to different factors. */
const othersOf = Effect.fnUntraced(function*(db: PluginDatabase, entityId: Conversion["entityId"], id?: string) {
  const found = yield* db.table(conversions).list({ entityId })
  return found.filter((one) => one.id !== id)
})

const refuseContradiction = (
  others: ReadonlyArray<Conversion>,
  { factorDecimal, fromUnitId, toUnitId }: Conversion
) => {
  const ratio = ratiosOf(others)({ from: fromUnitId, to: toUnitId })
  return ratio === undefined || ratio.equals(factorDecimal)
    ? Effect.void
    : Effect.fail(new ConversionContradicts(ratio.decimal(10)))
}

export const createConversion = (db: PluginDatabase, input: NewRowOf<typeof conversions> & Factors) =>
  alone(
    db,
    Effect.gen(function*() {
      const { from, to } = yield* pairOf(db, input.fromUnitId, input.toUnitId)
      const { entityId = null } = input
      if (entityId === null && from.category !== to.category) return yield* new CategoriesDiffer()
      const others = yield* othersOf(db, entityId)
      const isSame = (one: Conversion) => [one.fromUnitId, one.toUnitId].every((id) => id === from.id || id === to.id)
      if (others.some(isSame)) return yield* new ConversionExists()
      const made = yield* db.table(conversions).insert({ ...input, ...(yield* factorsOf(input)) })
      yield* refuseContradiction(others, made)
      return made
    })
  )

/** 409 while an entity has units that nothing else connects. */
const refuseNeeded = Effect.fnUntraced(function*(db: PluginDatabase, conversion: Conversion) {
  const { entityId, fromUnitId, id, toUnitId } = conversion
  const own = entityId === null ? [] : yield* othersOf(db, entityId, id)
  const rest = [...own, ...yield* othersOf(db, null, id)]
  const ratios = ratiosOf(rest)
  if (ratios({ from: fromUnitId, to: toUnitId }) !== undefined) return
  const all = [fromUnitId, toUnitId, ...rest.flatMap((one) => [one.fromUnitId, one.toUnitId])]
  const side = (to: string) => [...new Set(all)].filter((from) => ratios({ from, to }) !== undefined)
  const needing = yield* db.use(needingEntity)(conversion, { from: side(fromUnitId), to: side(toUnitId) })
  if (needing !== undefined) return yield* new ConversionNeeded(needing)
})

export const changeConversion = (db: PluginDatabase, id: string, input: Factors) =>
  alone(
    db,
    Effect.gen(function*() {
      const before = yield* db.table(conversions).get(id)
      const factors = yield* factorsOf(input)
      if (Rational.of(before.factorDecimal).equals(factors.factorDecimal)) return before
      yield* refuseNeeded(db, before)
      yield* refuseContradiction(yield* othersOf(db, before.entityId, id), { ...before, ...factors })
      return yield* db.table(conversions).update(id, factors)
    })
  )

export const removeConversion = (db: PluginDatabase, which: Which<typeof conversions>) =>
  alone(
    db,
    Effect.gen(function*() {
      yield* refuseNeeded(db, yield* db.table(conversions).get(which))
      return yield* db.table(conversions).delete(which)
    })
  )

/** 409 while there is stock or an open document in the stock unit of the entity. */
const refuseInUse = Effect.fnUntraced(function*(db: PluginDatabase, entityId: EntityId) {
  if (yield* db.use(hasStock)(entityId)) return yield* new StockUnitInUse()
  for (const find of (yield* StockUnitUses).all()) {
    const document = yield* find(entityId)
    if (document !== undefined) return yield* new StockUnitNamed(document)
  }
})

/**
 * Sets in which units an entity is bought, kept in stock and sold. 404 for an unknown unit; 409 for another stock unit
 * while there is stock or an open document; 422 for units without a conversion to the stock unit.
 */
export const setEntityUnits = (db: PluginDatabase, input: NewRowOf<typeof entityUnits>) =>
  // In the turn of conversions, so that none of those that these units need is removed meanwhile.
  alone(
    db,
    Effect.gen(function*() {
      const { entityId, purchaseUomId, saleUomId, stockUomId } = input
      yield* pairOf(db, purchaseUomId, stockUomId)
      yield* pairOf(db, saleUomId, saleUomId)
      const before = yield* db.table(entityUnits).first({ entityId })
      const isOther = before !== undefined && before.stockUomId !== stockUomId
      if (isOther) yield* refuseInUse(db, entityId)
      const known = yield* Units.use((units) => units.known([entityId]))
      for (const [path, from] of Object.entries({ purchaseUomId, saleUomId })) {
        if (known.convert(1, { from, to: stockUomId }, entityId) === undefined) return yield* new NotConvertible(path)
      }
      return (yield* db.table(entityUnits).upsert(input, ["entityId"])).row
    })
  )

import { Context, Effect, Layer } from "effect"
import {
  type CurrentActor,
  type EntityId,
  type ExtensionPoint,
  extensionPoint,
  PluginContext,
  type PluginDatabase,
  ValidationFailed
} from "stoa/plugin"
import { type Exact, Rational } from "./Rational.ts"
import { type Conversion, conversions, type EntityUnits, entityUnits, units } from "./UnitTables.ts"

type Edge = Pick<Conversion, "fromUnitId" | "toUnitId" | "factorDecimal">

/** A way from one unit to another. */
export interface UnitPair {
  readonly from: string
  readonly to: string
}

/** How many of one unit are one of another; undefined where no conversions lead from one to the other. */
export type Ratios = (pair: UnitPair) => Rational | undefined

/**
 * Each unit as a ratio to the base of its group, so that any of a group become any other in one step. An edge between
 * units that earlier ones connect counts nothing: what an entity says comes first and wins.
 */
export const ratiosOf = (edges: ReadonlyArray<Edge>): Ratios => {
  const ratios = new Map<string, { readonly base: string; readonly ratio: Rational }>()
  const of = (unit: string) => ratios.get(unit) ?? { base: unit, ratio: Rational.of(1) }
  for (const { factorDecimal, fromUnitId, toUnitId } of edges) {
    const [from, to] = [of(fromUnitId), of(toUnitId)]
    if (from.base === to.base) continue
    ratios.set(fromUnitId, from).set(toUnitId, to)
    const scale = Rational.of(factorDecimal).times(to.ratio).per(from.ratio)
    for (const [unit, { base, ratio }] of ratios) {
      if (base === from.base) ratios.set(unit, { base: to.base, ratio: ratio.times(scale) })
    }
  }
  return ({ from, to }) => {
    const [a, b] = [of(from), of(to)]
    return a.base === b.base ? a.ratio.per(b.ratio) : undefined
  }
}

/** The units of an organization and of some entities, as they were read. */
export interface KnownUnits {
  readonly has: (unitId: string) => boolean
  /** How a unit is written: "kg". */
  readonly codeOf: (unitId: string) => string | undefined
  /** Units in which an entity is bought, kept and sold; undefined where none are set. */
  readonly of: (entityId: EntityId) => EntityUnits | undefined
  /** An exact quantity in another unit, by the conversions of the entity and then those of all; undefined without any. */
  readonly convert: (quantity: Exact, pair: UnitPair, entityId?: EntityId) => Rational | undefined
}

/** An open document of an entity that counts in its stock unit, as a refusal names it: "purchase order PO-0001". */
export type StockUnitUse = (entityId: EntityId) => Effect.Effect<string | undefined, never, CurrentActor>

/** Plugins with documents in stock units add how one is found: an entity keeps its stock unit while there is one. */
export class StockUnitUses
  extends Context.Service<StockUnitUses, ExtensionPoint<StockUnitUse>>()("stoa/plugins/uom/StockUnitUses")
{
  static readonly layer = Layer.effect(StockUnitUses, extensionPoint<StockUnitUse>())
}

/** A quantity of an entity in a document; without a unit it is in the entity's stock unit. */
export interface UnitLine {
  readonly entityId: EntityId
  readonly quantity: number | string
  readonly uomId?: string | null | undefined
  /** Minor units for one of this unit. */
  readonly unitCost?: number | string | null | undefined
}

/** The same in whole stock units, as `services.inventory.post` takes it. */
export interface StockQuantity {
  readonly quantity: number
  /** Minor units for one stock unit, a decimal text of up to ten digits after the point. */
  readonly unitCost: string | undefined
}

const fault = (path: string, message: string) => Effect.fail(ValidationFailed.issues([{ path, message, code: "unit" }]))

const stockQuantity = (known: KnownUnits, { entityId, quantity, unitCost, uomId }: UnitLine, path: string) => {
  const stockUnit = known.of(entityId)?.stockUomId
  const unit = uomId ?? stockUnit
  if (unit !== undefined && !known.has(unit)) return fault(`${path}.uomId`, "must be a unit.")
  if (unit !== undefined && stockUnit === undefined) {
    return fault(`${path}.uomId`, "must be left out for an entity without a stock unit.")
  }
  const perUnit = unit === undefined || stockUnit === undefined
    ? Rational.of(1)
    : known.convert(1, { from: unit, to: stockUnit }, entityId)
  if (perUnit === undefined) {
    return fault(`${path}.uomId`, "must be a unit with a conversion to the entity's stock unit.")
  }
  const exact = perUnit.times(quantity)
  if (!exact.isWhole) return fault(`${path}.quantity`, `must be whole in stock units: it is ${exact.decimal(6)}.`)
  const cost = unitCost ?? undefined
  return Effect.succeed<StockQuantity>({
    quantity: exact.round(),
    unitCost: cost === undefined ? undefined : Rational.of(cost).per(perUnit).decimal(10)
  })
}

/**
 * Units of measure for other plugins: `requires: ["uom"], uses: Units`. Quantities stay exact; stock of the core is in whole
 * stock units.
 */
export class Units extends Context.Service<Units, {
  /** Reads the units of the organization and of these entities, in a constant number of statements. */
  readonly known: (entityIds: ReadonlyArray<EntityId>) => Effect.Effect<KnownUnits, never, CurrentActor>
  /**
   * The lines of a document in whole stock units, in their order. 422 naming the line (`items.3.uomId`; `path` is the name
   * of the list) for a unit that is unknown, has no conversion to the entity's stock unit, or gives a part of a unit.
   */
  readonly toStock: (
    lines: ReadonlyArray<UnitLine>,
    path?: string
  ) => Effect.Effect<ReadonlyArray<StockQuantity>, ValidationFailed, CurrentActor>
}>()("stoa/plugins/uom/Units") {
  static readonly make = Effect.map(PluginContext, ({ db }) => Units.of(makeUnits(db)))
  static readonly layer = Layer.effect(Units, Units.make)
}

const makeUnits = (db: PluginDatabase): Units["Service"] => {
  const known = Effect.fn("Units.known")(function*(entityIds: ReadonlyArray<EntityId>) {
    const codes = new Map((yield* db.table(units).list({})).map(({ code, id }) => [id, code]))
    const edges = yield* db.table(conversions).list({ or: [{ entityId: null }, { entityId: { in: entityIds } }] }, {
      order: ["createdAt"]
    })
    const own = yield* db.table(entityUnits).list({ entityId: { in: entityIds } })
    const byEntity = new Map(own.map((row) => [row.entityId, row]))
    const general = edges.filter(({ entityId }) => entityId === null)
    const groups = Map.groupBy(edges, ({ entityId }) => entityId)
    const forAll = ratiosOf(general)
    const ratios = new Map([...groups].map(([entityId, some]) => [entityId, ratiosOf([...some, ...general])]))
    return {
      has: (unitId) => codes.has(unitId),
      codeOf: (unitId) => codes.get(unitId),
      of: (entityId) => byEntity.get(entityId),
      convert: (quantity, pair, entityId) => (entityId && ratios.get(entityId) || forAll)(pair)?.times(quantity)
    } satisfies KnownUnits
  })
  return {
    known,
    toStock: Effect.fn("Units.toStock")(function*(lines, path = "items") {
      const found = yield* known(lines.map(({ entityId }) => entityId))
      return yield* Effect.forEach(lines, (line, n) => stockQuantity(found, line, `${path}.${n}`))
    })
  }
}

/** How much to buy so that `required` is left of it (contract, plugins §4: yield). */
export const purchaseQuantity = (required: Exact, yieldPercentage: number): number =>
  Rational.of(required).times(100).per(yieldPercentage).ceil()

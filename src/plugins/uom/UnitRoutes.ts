import { Effect, Schema } from "effect"
import {
  about,
  conflict,
  EntityId,
  fieldsOf,
  group,
  inputOf,
  invalid,
  notFound,
  type PluginDatabase,
  resource,
  Uuid
} from "stoa/plugin"
import { alone, changeConversion, createConversion, pairOf, removeConversion, setEntityUnits } from "./Conversions.ts"
import { Units } from "./Units.ts"
import { conversions, entityUnits, units } from "./UnitTables.ts"

const routes = group("Units of measure", "/uom")
const [read, write] = ["uom:read", "uom:admin"]

class CategoryInUse extends conflict("CategoryInUse", "Conversions of this unit need its category.") {}
class NoConversion
  extends invalid("NoConversion", "toUnitId", "toUnitId must be a unit with a conversion from this unit.")
{}
class TooLarge extends invalid("TooLarge", "quantity", "quantity is too large to be converted to this unit.") {}
class UnitsOfEntityNotFound extends notFound("UnitsOfEntity", "No units are set for this entity.") {}

const isConverted = (db: PluginDatabase, id: string) =>
  db.table(conversions).first({ entityId: null, or: [{ fromUnitId: id }, { toUnitId: id }] })

const unitRoutes = resource(routes, "/units", units, {
  noun: "unit",
  read,
  write,
  filters: ["category", "code", "isBaseUnit"],
  search: ["code", "name"],
  patch: ({ db, input, which }) =>
    alone(
      db,
      Effect.gen(function*() {
        const { category, id } = yield* db.table(units).get(which)
        const isOther = input.category !== undefined && input.category !== category
        if (isOther && (yield* isConverted(db, id)) !== undefined) return yield* new CategoryInUse()
        return yield* db.table(units).update(which, input)
      })
    )
})

const conversionRoutes = resource(routes, "/conversions", conversions, {
  noun: "conversion",
  read,
  write,
  filters: ["fromUnitId", "toUnitId", "entityId"],
  create: ({ db, input }) => createConversion(db, input),
  patch: {
    summary: "Change the factor of a conversion",
    description: "404 without it; 409 while units of an entity need it, or when others make its factor another one.",
    input: inputOf(conversions, { optional: ["factor", "factorDecimal"] }),
    answer: ({ db, input, params }) => changeConversion(db, params.id, input)
  },
  remove: ({ db, which }) => removeConversion(db, which)
})

/** A quantity in a request: a number, or a decimal text of any length that a number does not hold exactly. */
const Quantity = Schema.Union([
  Schema.Finite.check(Schema.isBetween({ minimum: 1e-10, maximum: 1e15 })),
  Schema.String.check(Schema.isPattern(/^(?!0+(\.0+)?$)\d{1,15}(\.\d{1,10})?$/, { expected: "a decimal above 0" }))
])

const Converted = Schema.Struct({
  result: Schema.Finite.annotate({ description: "Rounded to the precision of the target unit." }),
  fromCode: Schema.String.pipe(about("Code of the unit that was given.")),
  toCode: Schema.String.pipe(about("Code of the unit of `result`.")),
  precise: Schema.String.annotate({ description: "Decimal text; exact, or rounded to 20 digits after the point." })
})

export const uomRoutes = [
  ...unitRoutes,
  ...conversionRoutes,
  routes.post("/convert", {
    summary: "Convert a quantity",
    description:
      "With the conversions of `entityId`, if it is named. 404 for an unknown unit, 422 without a conversion.",
    permission: read,
    input: Schema.Struct({
      fromUnitId: Uuid,
      toUnitId: Uuid,
      quantity: Quantity,
      entityId: Schema.optional(EntityId)
    }),
    success: Converted
  }).handle(({ db, input: { entityId, fromUnitId, quantity, toUnitId } }) =>
    Effect.gen(function*() {
      const { from, to } = yield* pairOf(db, fromUnitId, toUnitId)
      const known = yield* Units.use((all) => all.known(entityId === undefined ? [] : [entityId]))
      const exact = known.convert(quantity, { from: from.id, to: to.id }, entityId)
      if (exact === undefined) return yield* new NoConversion()
      const result = Number(exact.decimal(to.precision))
      if (!Number.isFinite(result)) return yield* new TooLarge()
      return { result, fromCode: from.code, toCode: to.code, precise: exact.decimal(20) }
    })
  ),
  routes.post("/entities/:id/uom", {
    summary: "Set the units of an entity",
    description:
      "404 for an unknown unit; 409 for another stock unit while the entity has stock or open documents; 422 for a unit that has no " +
      "conversion to the stock unit.",
    permission: write,
    input: inputOf(entityUnits, {
      required: ["purchaseUomId", "stockUomId", "saleUomId"],
      optional: ["yieldPercentage"]
    }),
    success: entityUnits.Row
  }).handle(({ db, input, params: { id } }) => setEntityUnits(db, { ...input, entityId: EntityId.make(id) })),
  routes.get("/entities/:id/uom", {
    summary: "Get the units of an entity, with its conversions",
    description: "404 while none are set.",
    permission: read,
    success: Schema.Struct({
      ...fieldsOf(entityUnits),
      conversions: Schema.Array(conversions.Row).pipe(about("Factors of this entity alone."))
    })
  }).handle(({ db, params }) =>
    Effect.gen(function*() {
      const entityId = EntityId.make(params.id)
      const found = yield* db.table(entityUnits).first({ entityId })
      if (found === undefined) return yield* new UnitsOfEntityNotFound()
      return { ...found, conversions: yield* db.table(conversions).list({ entityId }) }
    })
  )
]

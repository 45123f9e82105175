import {
  amount,
  boolean,
  decimal,
  EntityId,
  idOf,
  integerBetween,
  oneOf,
  type RowOf,
  table,
  text,
  uuid
} from "stoa/plugin"

/** Units of an organization (contract, plugins §4). */
export const units = table("units_of_measure", {
  code: text.unique().about("Short name, such as kg."),
  name: text,
  category: oneOf(["weight", "volume", "length", "count", "area", "time"]).about(
    "Units of one category can be converted."
  ),
  isBaseUnit: boolean.default(false).about("Unit that others of the category are compared with; at most one."),
  precision: integerBetween(0, 6).default(2).about("Places after the point.")
}, {
  unique: [{ columns: ["category"], where: "is_base_unit" }],
  checks: { code_length: "length(code) <= 20" }
})
export type Unit = RowOf<typeof units>

/**
 * `1 from = factor to`. Between units of one category for all products; of an entity also between categories: 1 sack of
 * this flour is 25 kg.
 */
export const conversions = table("uom_conversions", {
  fromUnitId: uuid.references(units, "restrict"),
  toUnitId: uuid.references(units, "restrict"),
  /** Null: for all products. */
  entityId: idOf(EntityId).existing("entity").nullable,
  factorDecimal: decimal(20, 10).default("0").about("Units of the target in one unit of the source."),
  factor: amount.default(0).about("The factor times 10,000, rounded; `factorDecimal` counts.", {})
}, {
  unique: [
    { columns: ["fromUnitId", "toUnitId"], where: "entity_id is null" },
    { columns: ["entityId", "fromUnitId", "toUnitId"], where: "entity_id is not null" }
  ],
  checks: {
    above_zero: "factor_decimal > 0",
    two_units: "from_unit_id <> to_unit_id",
    scaled: "factor = round(factor_decimal * 10000)"
  }
})
export type Conversion = RowOf<typeof conversions>

/** In which units an entity is bought, kept in stock (whole numbers of it) and sold. */
export const entityUnits = table("entity_uom", {
  entityId: idOf(EntityId).existing("entity").unique(),
  purchaseUomId: uuid.references(units, "restrict"),
  stockUomId: uuid.references(units, "restrict"),
  saleUomId: uuid.references(units, "restrict"),
  yieldPercentage: integerBetween(1, 100).default(100).about(
    "Part of the purchased quantity that is left once it is cleaned and cut, in per cent."
  )
})
export type EntityUnits = RowOf<typeof entityUnits>

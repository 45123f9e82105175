import { Schema } from "effect"
import {
  about,
  amount,
  boolean,
  childOf,
  date,
  decimal,
  EntityId,
  fieldsOf,
  idOf,
  inputOf,
  integer,
  type RowOf,
  table,
  text,
  uuid,
  VariantId
} from "stoa/plugin"

/** Quantities of recipes: 15 digits, which a JSON number holds exactly. */
export const quantity = decimal(15, 6)
const unit = uuid.references("units_of_measure", "restrict").nullable

/** What a product is made of (contract, plugins §7). */
const yieldWords = "Quantity that one run makes, in `yieldUomId`, else in the stock unit of the product."

export const boms = table("production_boms", {
  entityId: idOf(EntityId).existing("entity"),
  variantId: idOf(VariantId).existing("variant").nullable,
  name: text,
  version: integer.default(1).about("Rises with each new version of the recipe."),
  familyId: uuid.about("Id of the first version; what refers to a version means the active one."),
  yieldQuantity: quantity.default("1").about(yieldWords),
  yieldUomId: unit,
  isActive: boolean.default(true),
  validTo: date.nullable.about("Last day on which it makes the product."),
  level: integer.default(0).about("Levels of assemblies below it."),
  totalCost: amount.default(0).about("Cost of its parts by today's costs.")
}, {
  unique: [{ columns: ["familyId"], where: "is_active" }, { columns: ["familyId", "version"] }],
  checks: { makes_some: "yield_quantity > 0" }
})
export type Bom = RowOf<typeof boms>

/** What one run takes of a material, or of what another bill of material makes. */
export const items = childOf(boms, "bomId", "production_bom_items", {
  bomId: uuid.references(boms),
  entityId: idOf(EntityId).existing("entity"),
  variantId: idOf(VariantId).existing("variant").nullable,
  itemName: text,
  quantity,
  uomId: unit,
  unitCost: amount.about("Cost of one of the unit that the quantity is in."),
  totalCost: amount.default(0).about("Cost of its parts by today's costs."),
  isSubAssembly: boolean.default(false).about(
    "Kept in stock: production takes it from there first, and makes the missing ones of their materials."
  ),
  subBomId: uuid.references(boms, "restrict").nullable,
  sortOrder: integer.default(0).about("Place on the bill, from 0.")
}, {
  indexes: [{ columns: ["bomId", "sortOrder"] }],
  checks: { needs_some: "quantity > 0", costs: "unit_cost >= 0" }
})
export type BomItem = RowOf<typeof items>

/** A quantity in a request, from 0: a number or a decimal text of at most six digits after the point. */
export const Quantity = Schema.Union([Schema.Finite, Schema.String]).check(
  Schema.makeFilter((value) =>
    /^\d{1,9}(\.\d{1,6})?$/.test(String(value)) || "must be a decimal of at most 9 digits before and 6 after the point."
  )
)

export const ItemInput = Schema.Struct({
  ...inputOf(items, {
    required: ["entityId", "itemName", "unitCost"],
    optional: ["variantId", "uomId", "isSubAssembly", "subBomId"]
  }).fields,
  quantity: Quantity
})
/** A product of nothing would cost nothing. */
export const ItemInputs = Schema.Array(ItemInput).check(Schema.isBetweenLength(1, 500))

export const BomInput = Schema.Struct({
  ...inputOf(boms, { required: ["entityId", "name"], optional: ["variantId", "yieldUomId", "validTo", "level"] })
    .fields,
  yieldQuantity: Schema.optional(Quantity).pipe(about(yieldWords)),
  items: ItemInputs
})

/** Changes that the next version brings. */
export const NextVersion = Schema.Struct({
  ...inputOf(boms, { optional: ["name", "yieldUomId", "validTo"] }).fields,
  yieldQuantity: Schema.optional(Quantity).pipe(about(yieldWords)),
  items: ItemInputs
})

export const BomView = Schema.Struct({ ...fieldsOf(boms), yieldQuantity: Schema.Finite.pipe(about(yieldWords)) })
export const ItemView = Schema.Struct({ ...fieldsOf(items), quantity: Schema.Finite })
export const BomWithItems = Schema.Struct({ ...BomView.fields, items: Schema.Array(ItemView) })

export const bomView = (bom: Bom): typeof BomView.Type => ({ ...bom, yieldQuantity: Number(bom.yieldQuantity) })
export const itemView = (item: BomItem): typeof ItemView.Type => ({ ...item, quantity: Number(item.quantity) })

import { Schema } from "effect"
import {
  boolean,
  CurrencyCode,
  date,
  document,
  email,
  EntityId,
  idOf,
  inputOf,
  integerBetween,
  json,
  jsonOf,
  type NewRowOf,
  type PluginConfig,
  PostalAddress,
  resource,
  type RowOf,
  table,
  text,
  uuid,
  VariantId
} from "stoa/plugin"
import { units } from "../uom/index.ts"
import { admin, read, routes } from "./Documents.ts"

/** Who goods are bought from (contract, plugins §5). */
export const suppliers = table("suppliers", {
  name: text,
  code: text.unique().about("Short name."),
  contactName: text.nullable.about("Person to ask for."),
  contactEmail: email.nullable,
  contactPhone: text.nullable,
  address: jsonOf(PostalAddress, 16_384).nullable,
  paymentTermsDays: integerBetween(0, 3_650).default(30).about("Days to pay a bill."),
  currency: text.fewValues.about("Currency of its prices and of orders to it."),
  taxId: text.nullable.about("Number at the tax office."),
  isActive: boolean.default(true),
  metadata: json.default({})
})
export type Supplier = RowOf<typeof suppliers>

/** At most so many minor units for one unit. */
export const maxCost = 1_000_000_000
/** At most so many units in a line. */
export const maxQuantity = 1_000_000

/** What a supplier asks for a thing, from a quantity on and in a time. */
export const supplierItems = table("supplier_items", {
  supplierId: uuid.references(suppliers),
  entityId: idOf(EntityId).existing("entity"),
  /** Null: of all variants that have no price of their own. */
  variantId: idOf(VariantId).existing("variant").nullable,
  /** Unit of the price. Null: the one in which the thing is bought. */
  uomId: uuid.references(units, "restrict").nullable,
  supplierSku: text.nullable.about("Article number of the supplier."),
  unitCost: integerBetween(1, maxCost).money().about("Cost of one unit."),
  minOrderQuantity: integerBetween(1, maxQuantity).default(1).about("Least units of an order."),
  leadTimeDays: integerBetween(0, 3_650).default(1).about("Days between order and delivery."),
  isPreferred: boolean.default(false).about("Ordered from first."),
  validFrom: date.nullable.about("First day of the cost, in UTC."),
  validTo: date.nullable.about("Last day of the cost.")
}, {
  strict: true,
  checks: { days: "valid_from is null or valid_to is null or valid_from <= valid_to" }
})
export type SupplierItem = RowOf<typeof supplierItems>

const supplierWithItems = document({ head: suppliers, lines: supplierItems, parent: "supplierId" })

const SupplierBody = Schema.Struct({
  ...inputOf(suppliers).fields,
  currency: Schema.optional(CurrencyCode)
})

/** A whole supplier: what the body leaves out is as in a new one. */
const wholeSupplier = (body: typeof SupplierBody.Type, currency: string): NewRowOf<typeof suppliers> => ({
  contactName: null,
  contactEmail: null,
  contactPhone: null,
  address: null,
  paymentTermsDays: 30,
  taxId: null,
  isActive: true,
  metadata: {},
  ...body,
  currency: body.currency ?? currency
})

/** A thing to be bought. */
export interface Wanted {
  readonly entityId: string
  readonly variantId: string | null
  readonly uomId: string | null
}

/**
 * Prices of a thing on a day. Those of its variant come in place of those of the entity, because a large one may cost more
 * than others. `buyingUnit` is the unit of prices that name none.
 */
export const pricesOf = (
  items: ReadonlyArray<SupplierItem>,
  { entityId, uomId, variantId }: Wanted,
  day: string,
  buyingUnit: string | null
): ReadonlyArray<SupplierItem> => {
  const valid = items.filter((one) =>
    one.entityId === entityId && (one.variantId === null || one.variantId === variantId) &&
    (one.uomId ?? buyingUnit) === uomId && (one.validFrom ?? day) <= day && (one.validTo ?? day) >= day
  )
  const ofVariant = valid.filter((one) => one.variantId !== null)
  return ofVariant.length > 0 ? ofVariant : valid
}

/** The lowest price for a quantity. */
export const bestPrice = (prices: ReadonlyArray<SupplierItem>, quantity: number): number | undefined => {
  const costs = prices.filter((one) => one.minOrderQuantity <= quantity).map(({ unitCost }) => unitCost)
  return costs.length === 0 ? undefined : Math.min(...costs)
}

const missing = "404 without it."
const taken = "409 when another one has the same code."

/** Suppliers and their prices (contract, plugins §5). */
export const supplierRoutes = ({ defaultCurrency }: PluginConfig) => {
  const currency = CurrencyCode.make(defaultCurrency)
  return [
    ...resource(routes, "/suppliers", suppliers, {
      noun: "supplier",
      read,
      write: admin,
      filters: ["isActive", "code", "currency"],
      search: ["name", "code"],
      create: {
        description: taken,
        input: SupplierBody,
        answer: ({ db, input }) => db.table(suppliers).insert(wholeSupplier(input, currency))
      },
      get: { summary: "Get a supplier with its prices", ...supplierWithItems.whole("supplier", "items") },
      patch: false,
      remove: false
    }),
    routes.put("/suppliers/:id", {
      summary: "Replace a supplier",
      description: `What the body leaves out is as in a new one. ${missing} ${taken}`,
      permission: admin,
      input: SupplierBody,
      success: suppliers.Row
    }).handle(({ db, input, params }) => db.table(suppliers).update(params.id, wholeSupplier(input, currency))),
    ...resource(routes, "/suppliers/:id/items", supplierItems, {
      noun: "price of a supplier",
      of: { table: suppliers, noun: "supplier", column: "supplierId" },
      rowId: "itemId",
      read,
      write: admin,
      list: false,
      get: false,
      create: {
        summary: "Add a price of a supplier",
        description:
          "For a quantity from `minOrderQuantity` on, from `validFrom` to `validTo`. 404 without the supplier."
      },
      patch: false,
      remove: false
    }),
    ...resource(routes, "/supplier-items", supplierItems, {
      noun: "price of a supplier",
      read,
      write: admin,
      filters: ["supplierId", "entityId", "variantId", "isPreferred"],
      without: ["supplierId"],
      create: false
    })
  ]
}

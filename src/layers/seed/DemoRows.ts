import { Result } from "effect"
import type { CatalogEntity } from "../../domain/catalog/Entity.ts"
import { combinationKey, fullProduct } from "../../domain/catalog/variants/Variant.ts"
import type { StockLevel } from "../../domain/inventory/StockLevel.ts"
import type { Change } from "../../domain/platform/events/Event.ts"
import { newId, type VariantId, type WarehouseId } from "../../domain/platform/ids/Id.ts"
import { CurrencyCode } from "../../domain/platform/money/Money.ts"
import { priceOf } from "../../domain/pricing/Price.ts"
import { promotionOf } from "../../domain/promotions/Promotion.ts"
import { brands, categories, type DemoProduct, products, promotions } from "./demo/Assortment.ts"

const usd = CurrencyCode.make("USD")
const eur = CurrencyCode.make("EUR")

/** Rows of the demo store by table, and its announced changes; the first product is the newest. */
export const demoRows = (organizationId: string, now: Date) => {
  const [brandIds, categoryIds, warehouseId] = [idsOf(brands), idsOf(categories), newId<WarehouseId>()]
  const placed = products.map((product, index) => {
    const entity = entityOf(product, organizationId, new Date(now.getTime() - index * 1000))
    return { product, entity, of: { organizationId, entityId: entity.id } }
  })
  const varied = placed.map(({ entity, product }) => ({ entity, product, ...variantRows(product, entity) }))
  const prices = placed.flatMap(({ entity, product }) => pricesOf(product, entity))
  const levels = varied.flatMap(({ entity, product, variants }) =>
    (variants.length === 0 ? [null] : variants).map((variant) =>
      levelOf(product, entity, variant?.id ?? null, warehouseId)
    )
  )
  const offers = promotions.map((promotion) =>
    Result.getOrThrow(promotionOf(promotion, { id: newId(), organizationId, now, defaultCurrency: usd }))
  )
  const rows = {
    brands: brands.map(({ displayName, slug }) => ({ id: brandIds.get(slug), organizationId, slug, displayName })),
    categories: categories.map(({ slug, titles }, sortOrder) => ({
      id: categoryIds.get(slug),
      organizationId,
      slug,
      sortOrder,
      metadata: { titles }
    })),
    catalog_entities: placed.map(({ entity }) => entity),
    entity_attributes: placed.flatMap(({ of, product }) =>
      (["en", "de"] as const).map((locale) => ({ id: newId(), ...of, locale, ...product[locale] }))
    ),
    entity_categories: placed.flatMap(({ of, product }) =>
      product.categories.map((slug, sortOrder) => ({ ...of, categoryId: categoryIds.get(slug), sortOrder }))
    ),
    entity_brands: placed.map(({ of, product }) => ({ ...of, brandId: brandIds.get(product.brand) })),
    option_types: varied.flatMap(({ optionTypes }) => optionTypes),
    option_values: varied.flatMap(({ optionValues }) => optionValues),
    variants: varied.flatMap(({ variants }) => variants),
    variant_option_values: varied.flatMap(({ variants }) =>
      variants.flatMap(({ combination, id: variantId }) =>
        combination.split(",").map((optionValueId) => ({ organizationId, variantId, optionValueId }))
      )
    ),
    prices,
    warehouses: [{ id: warehouseId, organizationId, name: "Main warehouse", code: "MAIN" }],
    ...stockRows(levels),
    promotions: offers
  }
  const events: ReadonlyArray<Change> = [
    ...rows.catalog_entities.map((payload) => event("catalog.create", "catalog_entity", payload)),
    ...prices.map((payload) => event("pricing.create", "price", payload)),
    ...levels.map((payload) => event("inventory.afterAdjust", "inventory", payload)),
    ...offers.map((payload) => event("promotions.create", "promotion", payload))
  ]
  return { rows, events }
}

const stockRows = (levels: ReadonlyArray<StockLevel>) => ({
  stock_items: levels.map(({ entityId, organizationId, variantId }) => ({
    organizationId,
    sellableId: variantId ?? entityId,
    version: 1
  })),
  stock_levels: levels.map(({ entityId, id, lastRestockedAt, quantityOnHand, updatedAt, variantId, ...level }) => ({
    id,
    organizationId: level.organizationId,
    sellableId: variantId ?? entityId,
    warehouseId: level.warehouseId,
    entityId,
    variantId,
    onHand: quantityOnHand,
    lastRestockedAt,
    updatedAt
  })),
  stock_movements: levels.filter(({ quantityOnHand }) => quantityOnHand > 0).map((level) => ({
    id: newId(),
    organizationId: level.organizationId,
    entityId: level.entityId,
    variantId: level.variantId,
    warehouseId: level.warehouseId,
    type: "receipt",
    quantity: level.quantityOnHand,
    reason: "Demo store"
  }))
})

const idsOf = (records: ReadonlyArray<{ readonly slug: string }>) => new Map(records.map(({ slug }) => [slug, newId()]))

const event = (
  type: Change["type"],
  entityType: Change["entityType"],
  payload: { readonly id: string }
): Change => ({ type, entityType, entityId: payload.id, payload })

const entityOf = (product: DemoProduct, organizationId: string, at: Date): CatalogEntity => ({
  id: newId(),
  organizationId,
  sourceStoreId: null,
  type: "product",
  slug: product.slug,
  status: "active",
  isVisible: true,
  taxClass: null,
  taxClassId: null,
  manageInventory: true,
  allowBackorder: false,
  backorderLimit: null,
  metadata: { sku: product.sku, weightGrams: product.weightGrams },
  createdAt: at,
  updatedAt: at,
  publishedAt: at
})

const variantRows = ({ options = [], sku }: DemoProduct, { id: entityId, organizationId }: CatalogEntity) => {
  const axes = options.map(({ name, values }) => ({
    id: newId(),
    name,
    values: values.map((value) => ({ id: newId(), value }))
  }))
  const texts = new Map(axes.flatMap(({ values }) => values.map(({ id, value }) => [id, value.toUpperCase()] as const)))
  return {
    optionTypes: axes.map(({ id, name }, sortOrder) => ({
      id,
      organizationId,
      entityId,
      name,
      displayName: name,
      sortOrder
    })),
    optionValues: axes.flatMap(({ id: optionTypeId, values }) =>
      values.map(({ id, value }, sortOrder) => ({
        id,
        organizationId,
        optionTypeId,
        value,
        displayValue: value,
        sortOrder
      }))
    ),
    variants: (axes.length === 0 ? [] : [...fullProduct(axes)]).map((combination, sortOrder) => ({
      id: newId<VariantId>(),
      organizationId,
      entityId,
      sku: [sku, ...combination.map((value) => texts.get(value))].join("-"),
      sortOrder,
      metadata: { generatedBy: "all" },
      combination: combinationKey(combination)
    }))
  }
}

const pricesOf = ({ prices }: DemoProduct, { createdAt, id: entityId, organizationId }: CatalogEntity) =>
  prices.flatMap(({ eur: inEuro, usd: inDollars, ...bounds }) =>
    [{ currency: usd, amount: inDollars }, { currency: eur, amount: inEuro }].map((price) =>
      Result.getOrThrow(priceOf({ entityId, ...price, ...bounds }, { id: newId(), organizationId, now: createdAt }))
    )
  )

const levelOf = (
  { stock }: DemoProduct,
  { createdAt, id: entityId, organizationId }: CatalogEntity,
  variantId: VariantId | null,
  warehouseId: WarehouseId
): StockLevel => ({
  id: newId(),
  organizationId,
  entityId,
  variantId,
  warehouseId,
  quantityOnHand: stock,
  quantityReserved: 0,
  quantityIncoming: 0,
  quantityInTransit: 0,
  available: stock,
  unitCost: null,
  averageCost: null,
  reorderThreshold: null,
  reorderQuantity: null,
  allowNegative: false,
  version: 1,
  lastRestockedAt: stock > 0 ? createdAt : null,
  updatedAt: createdAt
})

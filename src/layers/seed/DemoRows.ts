import type { Change } from "../../domain/events/Event.ts"
import { newId } from "../../domain/ids/Id.ts"
import { brands, categories, products, promotions } from "./demo/Assortment.ts"
import { entityOf, entityRow, type PlacedProduct, variantRows, wordRows } from "./DemoCatalogRows.ts"
import { levelOf, levelRows, priceRow, pricesOf, promotionFrom, promotionRow, receiptRow } from "./DemoOfferRows.ts"
import type { SeedRows } from "./SeedRepo.ts"

/** The rows of the demo store and what is announced of them. */
export interface DemoStoreRows {
  readonly rows: SeedRows
  readonly events: ReadonlyArray<Change>
}

const shelves = (organization: string) => {
  const brandRows = brands.map(({ displayName, slug }) => ({
    id: newId(),
    organization_id: organization,
    slug,
    display_name: displayName
  }))
  const categoryRows = categories.map(({ slug, titles }, index) => ({
    id: newId(),
    organization_id: organization,
    slug,
    sort_order: index,
    metadata: { titles }
  }))
  return { brandRows, categoryRows }
}

/** The demo store of an organization as of `now`; products follow one another by a second, the first the newest. */
export const demoRows = (organization: string, now: Date): DemoStoreRows => {
  const { brandRows, categoryRows } = shelves(organization)
  const brandIds = new Map(brandRows.map(({ id, slug }) => [slug as string, id]))
  const categoryIds = new Map(categoryRows.map(({ id, slug }) => [slug as string, id]))
  const warehouse = newId()
  const placed = products.map((product, index): PlacedProduct => ({
    id: newId(),
    organization,
    at: new Date(now.getTime() - index * 1000),
    product
  }))
  const varied = placed.map((one) => ({ placed: one, ...variantRows(one) }))
  const prices = placed.flatMap(pricesOf)
  const levels = varied.flatMap((one) => levelRows(one.placed, one.variants.map(({ id }) => id), warehouse))
  const offers = promotions.map((promotion) => promotionFrom(promotion, organization, now))
  const rows: SeedRows = {
    brands: brandRows,
    categories: categoryRows,
    catalog_entities: placed.map(entityRow),
    entity_attributes: placed.flatMap(wordRows),
    entity_categories: placed.flatMap(({ id, product }) =>
      product.categories.map((slug, index) => ({
        organization_id: organization,
        entity_id: id,
        category_id: categoryIds.get(slug),
        sort_order: index
      }))
    ),
    entity_brands: placed.map(({ id, product }) => ({
      organization_id: organization,
      entity_id: id,
      brand_id: brandIds.get(product.brand)
    })),
    option_types: varied.flatMap(({ option_types }) => option_types),
    option_values: varied.flatMap(({ option_values }) => option_values),
    variants: varied.flatMap(({ variants }) => variants),
    variant_option_values: varied.flatMap(({ variant_option_values }) => variant_option_values),
    prices: prices.map(priceRow),
    warehouses: [{ id: warehouse, organization_id: organization, name: "Main warehouse", code: "MAIN" }],
    stock_items: levels.map(({ sellable_id }) => ({ organization_id: organization, sellable_id, version: 1 })),
    stock_levels: levels,
    stock_movements: levels.filter(({ on_hand }) => on_hand > 0).map(receiptRow),
    promotions: offers.map(promotionRow)
  }
  const events: ReadonlyArray<Change> = [
    ...placed.map(entityOf).map((payload) => event("catalog.create", "catalog_entity", payload)),
    ...prices.map((payload) => event("pricing.create", "price", payload)),
    ...levels.map(levelOf).map((payload) => event("inventory.afterAdjust", "inventory", payload)),
    ...offers.map((payload) => event("promotions.create", "promotion", payload))
  ]
  return { rows, events }
}

const event = (
  type: Change["type"],
  entityType: Change["entityType"],
  payload: { readonly id: string }
): Change => ({ type, entityType, entityId: payload.id, payload })

import { Result } from "effect"
import { newId } from "../../domain/ids/Id.ts"
import { toLevel } from "../../domain/inventory/StockLevelRows.ts"
import { CurrencyCode } from "../../domain/money/Currency.ts"
import { type Price, priceOf } from "../../domain/pricing/Price.ts"
import type { NewPromotion, Promotion } from "../../domain/promotions/Promotion.ts"
import { promotionOf } from "../../domain/promotions/PromotionDraft.ts"
import type { PlacedProduct } from "./DemoCatalogRows.ts"

const usd = CurrencyCode.make("USD")
const eur = CurrencyCode.make("EUR")

/** The prices of a product as the pricing rules make them from request bodies. */
export const pricesOf = ({ at, id, organization, product }: PlacedProduct): ReadonlyArray<Price> =>
  product.prices.flatMap(({ eur: inEuro, usd: inDollars, ...bounds }) =>
    [{ currency: usd, amount: inDollars }, { currency: eur, amount: inEuro }].map((price) =>
      Result.getOrThrow(
        priceOf({ entityId: id, ...price, ...bounds }, { id: newId(), organizationId: organization, now: at })
      )
    )
  )

export const priceRow = (price: Price) => ({
  id: price.id,
  organization_id: price.organizationId,
  entity_id: price.entityId,
  currency: price.currency,
  amount: price.amount,
  customer_group_id: price.customerGroupId,
  min_quantity: price.minQuantity,
  created_at: price.createdAt,
  updated_at: price.updatedAt
})

export const promotionFrom = (sent: NewPromotion, organizationId: string, now: Date): Promotion =>
  Result.getOrThrow(promotionOf(sent, { id: newId(), organizationId, now, defaultCurrency: usd }))

export const promotionRow = (promotion: Promotion) => ({
  id: promotion.id,
  organization_id: promotion.organizationId,
  code: promotion.code,
  name: promotion.name,
  type: promotion.type,
  value: promotion.value,
  is_automatic: promotion.isAutomatic,
  conditions: promotion.conditions,
  created_at: promotion.createdAt,
  updated_at: promotion.updatedAt
})

/** A level of every variant, else of the product, in the warehouse. */
export const levelRows = (placed: PlacedProduct, variantIds: ReadonlyArray<string>, warehouse: string) =>
  (variantIds.length === 0 ? [null] : variantIds).map((variant) => ({
    id: newId(),
    organization_id: placed.organization,
    sellable_id: variant ?? placed.id,
    warehouse_id: warehouse,
    entity_id: placed.id,
    variant_id: variant,
    on_hand: placed.product.stock,
    last_restocked_at: placed.product.stock > 0 ? placed.at : null,
    updated_at: placed.at
  }))

type LevelRow = ReturnType<typeof levelRows>[number]

export const levelOf = (row: LevelRow) =>
  toLevel({
    ...row,
    reserved: 0,
    incoming: 0,
    unit_cost: null,
    reorder_threshold: null,
    reorder_quantity: null,
    allow_negative: false,
    version: 1n
  })

/** How the stock of a level came in. */
export const receiptRow = (row: LevelRow) => ({
  id: newId(),
  organization_id: row.organization_id,
  entity_id: row.entity_id,
  variant_id: row.variant_id,
  warehouse_id: row.warehouse_id,
  type: "receipt",
  quantity: row.on_hand,
  reason: "Demo store"
})

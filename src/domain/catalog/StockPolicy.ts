import { Schema, Struct } from "effect"

const Limit = Schema.Int.check(Schema.isBetween({ minimum: 0, maximum: 2_147_483_647 }))

/** How the stock of an entity limits its sale (contract-commerce §1). */
export const stockPolicy = {
  manageInventory: Schema.Boolean.annotate({
    description: "Its units are counted. Goods that are not counted can always be bought, and have no stock."
  }),
  allowBackorder: Schema.Boolean.annotate({
    description: "Units that are not there yet can be bought. They wait, and are allocated as stock comes in."
  }),
  backorderLimit: Schema.NullOr(Limit).annotate({
    description: "Units of it, or of each of its variants, that may wait for stock in all orders; null: any number.",
    examples: [50]
  })
}

const ofEntity = "Null: as its entity."

/** The same of a variant, which may leave each to its entity. */
export const variantStockPolicy = {
  manageInventory: Schema.NullOr(stockPolicy.manageInventory).annotate({
    description: `Its units are counted; ${ofEntity}`
  }),
  allowBackorder: Schema.NullOr(stockPolicy.allowBackorder).annotate({
    description: `Units that are not there yet can be bought; ${ofEntity}`
  }),
  backorderLimit: Schema.NullOr(Limit).annotate({
    description: `Units that may wait for stock in all orders; ${ofEntity}`,
    examples: [50]
  })
}

/** Fields that a request may set. */
export const stockPolicyInput = Struct.map(stockPolicy, Schema.optional)
export const variantStockPolicyInput = Struct.map(variantStockPolicy, Schema.optional)

export const stockPolicyFields = Struct.keys(stockPolicy)

/** Statements that let goods be sold before they are there. */
export const backorderColumns: ReadonlyArray<string> = [
  `alter table catalog_entities add column allow_backorder boolean not null default false,
    add column backorder_limit int check (backorder_limit >= 0)`,
  "alter table variants add column allow_backorder boolean, add column backorder_limit int check (backorder_limit >= 0)",
  `create or replace view catalog_entities_read as select id, organization_id, source_store_id, type, slug, status,
    is_visible, coalesce(tax_class_name(tax_class_id), tax_class) as tax_class, metadata, created_at, updated_at,
    published_at, manage_inventory, tax_class_id, allow_backorder, backorder_limit from catalog_entities`,
  `create or replace view variants_read as select id, organization_id, entity_id, source_store_id, sku, barcode,
    coalesce(tax_class_name(tax_class_id), tax_class) as tax_class, status, sort_order, metadata, manage_inventory,
    tax_class_id, allow_backorder, backorder_limit from variants`,
  `create or replace view plugin_entities as select id, organization_id, type, slug, status, is_visible, tax_class,
    metadata, created_at, updated_at, published_at, manage_inventory, tax_class_id, allow_backorder, backorder_limit
    from catalog_entities`,
  `create or replace view plugin_variants as select id, organization_id, entity_id, sku, barcode, tax_class, status,
    sort_order, metadata, manage_inventory, tax_class_id, allow_backorder, backorder_limit from variants`
]

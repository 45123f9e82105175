import type { CartLine, NewCartLine } from "../carts/Cart.ts"
import type { CatalogEntity, EntityChange, NewEntity } from "../catalog/Entity.ts"
import type { EntityQuery, EntityRead, EntityView } from "../catalog/EntityView.ts"
import type { CheckoutData } from "../checkout/PricedCart.ts"
import type { Customer } from "../customers/Customer.ts"
import type { Fulfillment } from "../fulfillment/Fulfillment.ts"
import type { CartId, CartLineId, EntityId, OrderId } from "../ids/Id.ts"
import type { StockLevel } from "../inventory/StockLevel.ts"
import type { Order } from "../orders/Order.ts"
import type { PageOf } from "../paging/Paging.ts"
import type { Price } from "../pricing/Price.ts"
import type { PriceModifier } from "../pricing/PriceModifier.ts"
import type { Promotion } from "../promotions/Promotion.ts"

export interface AddedItem extends NewCartLine {
  readonly cartId: CartId
}

export interface QuantityChange {
  readonly cartId: CartId
  readonly itemId: CartLineId
  readonly quantity: number
}

export interface StatusChange {
  readonly orderId: OrderId
  readonly fromStatus: string
  readonly newStatus: string
  readonly reason: string | null
  /** `fulfillment`: it follows from a fulfillment. */
  readonly source?: "fulfillment"
}

/** Categories to assign to an entity, by ids or slugs. */
export interface Categorized {
  /** Null for an entity that an import is about to create. */
  readonly entityId: EntityId | null
  /** Slugs of the categories to assign; an import creates missing ones. */
  readonly categories: ReadonlyArray<string>
  /** Other fields of the entity in an import; null where it has none. */
  readonly metadata: Readonly<Record<string, unknown>> | null
}

/** Entities that a batch of an import created and changed, within its transaction. */
export interface ImportedEntities {
  readonly created: ReadonlyArray<CatalogEntity>
  readonly updated: ReadonlyArray<{ readonly entity: CatalogEntity; readonly old: CatalogEntity }>
}

/** Keys of the core's before-hooks and the data they get and may replace (contract §0.5, platform §13). */
export interface BeforeHooks {
  readonly "catalog.beforeCreate": NewEntity
  readonly "catalog.beforeUpdate": EntityChange
  readonly "catalog.beforeDelete": EntityView
  readonly "catalog.beforeRead": EntityRead
  readonly "catalog.beforeList": EntityQuery
  readonly "catalog.beforeCategorize": Categorized
  readonly "catalog.beforeCommit": ImportedEntities
  readonly [ofType: `catalog.${string}.beforeCreate`]: NewEntity
  readonly [ofType: `catalog.${string}.beforeUpdate`]: EntityChange
  readonly [ofType: `catalog.${string}.beforeDelete`]: EntityView
  readonly [ofType: `catalog.${string}.beforeRead`]: EntityRead
  readonly [ofType: `catalog.${string}.beforeList`]: EntityQuery
  readonly "cart.beforeAddItem": AddedItem
  readonly "cart.beforeUpdateQuantity": QuantityChange
  readonly "cart.beforeRemoveItem": CartLine
  readonly "checkout.beforePayment": CheckoutData
  readonly "checkout.beforeCreate": CheckoutData
  readonly "orders.beforeCreate": CheckoutData
  readonly "orders.beforeStatusChange": StatusChange
}

/**
 * Keys of the core's after-hooks with the result of the operation (`result`) and its input (`data`, which is null where
 * the map has `never`).
 */
export interface AfterHooks {
  readonly "catalog.afterCreate": { readonly result: CatalogEntity; readonly data: NewEntity }
  readonly "catalog.afterUpdate": { readonly result: CatalogEntity; readonly data: CatalogEntity }
  readonly "catalog.afterDelete": { readonly result: CatalogEntity; readonly data: never }
  readonly "catalog.afterRead": { readonly result: EntityView; readonly data: EntityRead }
  readonly "catalog.afterList": { readonly result: PageOf<EntityView>; readonly data: EntityQuery }
  readonly [ofType: `catalog.${string}.afterCreate`]: { readonly result: CatalogEntity; readonly data: NewEntity }
  readonly [ofType: `catalog.${string}.afterUpdate`]: { readonly result: CatalogEntity; readonly data: CatalogEntity }
  readonly [ofType: `catalog.${string}.afterDelete`]: { readonly result: CatalogEntity; readonly data: never }
  readonly [ofType: `catalog.${string}.afterRead`]: { readonly result: EntityView; readonly data: EntityRead }
  readonly [ofType: `catalog.${string}.afterList`]: {
    readonly result: PageOf<EntityView>
    readonly data: EntityQuery
  }
  readonly "cart.afterAddItem": { readonly result: CartLine; readonly data: AddedItem }
  readonly "cart.afterUpdateQuantity": { readonly result: CartLine; readonly data: CartLine }
  readonly "cart.afterRemoveItem": { readonly result: CartLine; readonly data: CartLine }
  readonly "checkout.afterCreate": { readonly result: Order; readonly data: never }
  readonly "orders.afterCreate": { readonly result: Order; readonly data: never }
  readonly "orders.afterStatusChange": { readonly result: Order; readonly data: StatusChange }
  readonly "orders.afterGet": { readonly result: Order; readonly data: never }
  readonly "inventory.afterAdjust": { readonly result: StockLevel; readonly data: never }
  readonly "pricing.afterCreate": { readonly result: Price | PriceModifier; readonly data: never }
  readonly "pricing.afterUpdate": { readonly result: Price | PriceModifier; readonly data: never }
  readonly "promotions.afterCreate": { readonly result: Promotion; readonly data: never }
  readonly "promotions.afterUpdate": { readonly result: Promotion; readonly data: never }
  readonly "fulfillment.afterCreate": { readonly result: Fulfillment; readonly data: never }
  readonly "customers.afterCreate": { readonly result: Customer; readonly data: never }
  readonly "customers.afterUpdate": { readonly result: Customer; readonly data: never }
}

/** The data of the before-hooks of a key; any object for the keys of plugins. */
export type BeforeOf<Key extends string> = Key extends keyof BeforeHooks ? BeforeHooks[Key] : object

/** The result that the after-hooks of a key get; any object for the keys of plugins. */
export type AfterOf<Key extends string> = Key extends keyof AfterHooks ? AfterHooks[Key]["result"] : object

/** The data that the after-hooks of a key get. */
export type OldOf<Key extends string> = Key extends keyof AfterHooks ? AfterHooks[Key]["data"] : object

type FixedBefore = Exclude<keyof BeforeHooks, `catalog.${string}.${string}`>
type FixedAfter = Exclude<keyof AfterHooks, `catalog.${string}.${string}`>
type OfType = `catalog.<type>.${"before" | "after"}${"Create" | "Update" | "Delete" | "Read" | "List"}`

/**
 * Every key of the core with its kind of operation; docs/plugins.md says when each fires. It does not compile unless its
 * keys equal those of the maps above.
 */
export const hookOperations: Readonly<Record<FixedBefore | FixedAfter | OfType, string>> = {
  "catalog.beforeCreate": "create",
  "catalog.<type>.beforeCreate": "create",
  "catalog.afterCreate": "create",
  "catalog.<type>.afterCreate": "create",
  "catalog.beforeUpdate": "update",
  "catalog.<type>.beforeUpdate": "update",
  "catalog.afterUpdate": "update",
  "catalog.<type>.afterUpdate": "update",
  "catalog.beforeDelete": "delete",
  "catalog.<type>.beforeDelete": "delete",
  "catalog.afterDelete": "delete",
  "catalog.<type>.afterDelete": "delete",
  "catalog.beforeRead": "read",
  "catalog.<type>.beforeRead": "read",
  "catalog.afterRead": "read",
  "catalog.<type>.afterRead": "read",
  "catalog.beforeList": "list",
  "catalog.<type>.beforeList": "list",
  "catalog.afterList": "list",
  "catalog.<type>.afterList": "list",
  "catalog.beforeCategorize": "categorize",
  "catalog.beforeCommit": "commit",
  "cart.beforeAddItem": "addItem",
  "cart.afterAddItem": "addItem",
  "cart.beforeUpdateQuantity": "update",
  "cart.afterUpdateQuantity": "update",
  "cart.beforeRemoveItem": "removeItem",
  "cart.afterRemoveItem": "removeItem",
  "checkout.beforePayment": "create",
  "checkout.beforeCreate": "create",
  "checkout.afterCreate": "create",
  "orders.beforeCreate": "create",
  "orders.afterCreate": "create",
  "orders.beforeStatusChange": "statusChange",
  "orders.afterStatusChange": "statusChange",
  "orders.afterGet": "read",
  "inventory.afterAdjust": "update",
  "pricing.afterCreate": "create",
  "pricing.afterUpdate": "update",
  "promotions.afterCreate": "create",
  "promotions.afterUpdate": "update",
  "fulfillment.afterCreate": "create",
  "customers.afterCreate": "create",
  "customers.afterUpdate": "update"
}

/** Kind of operation of a key: from the table for keys of the core, the verb of the key for others. */
export const operationOf = (key: string): string => {
  const name = key.replace(/^catalog\..+\.(\w+)$/, "catalog.<type>.$1")
  if (isOfCore(name)) return hookOperations[name]
  const verb = key.slice(key.lastIndexOf(".") + 1).replace(/^(before|after)/, "")
  return verb.charAt(0).toLowerCase() + verb.slice(1)
}

const isOfCore = (name: string): name is keyof typeof hookOperations => Object.hasOwn(hookOperations, name)

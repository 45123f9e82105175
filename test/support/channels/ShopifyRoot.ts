import type { GraphQLResolveInfo } from "graphql"
import { ShopifyBulk } from "./ShopifyBulk.ts"
import type { ShopifyCatalog } from "./ShopifyCatalog.ts"
import type { RefundRequest } from "./ShopifyOrder.ts"
import type { ShopifyOrders } from "./ShopifyOrders.ts"
import { gid, idIn, type ShopifyContext, type ShopifySite } from "./ShopifyPages.ts"
import type { MetafieldSent } from "./ShopifyProduct.ts"
import { Idempotency, setQuantities, userError } from "./ShopifyStock.ts"
import type { ShopifyWebhooks } from "./ShopifyWebhooks.ts"

type OwnedMetafield = MetafieldSent & { readonly ownerId: string }

/** The fields of `Query` and `Mutation`. */
export class ShopifyRoot {
  readonly site: ShopifySite
  readonly catalog: ShopifyCatalog
  readonly orders: ShopifyOrders
  readonly webhooks: ShopifyWebhooks
  readonly bulk: ShopifyBulk
  readonly idempotency = new Idempotency()

  constructor(site: ShopifySite, catalog: ShopifyCatalog, orders: ShopifyOrders, webhooks: ShopifyWebhooks) {
    this.site = site
    this.catalog = catalog
    this.orders = orders
    this.webhooks = webhooks
    this.bulk = new ShopifyBulk(site, () => this.fields())
  }

  fields() {
    const { bulk, catalog, orders, webhooks } = this
    return {
      ...this.mutations(),
      shop: {
        id: gid("Shop", 1),
        name: "Emulated",
        currencyCode: this.site.currency,
        taxesIncluded: this.site.taxesIncluded,
        myshopifyDomain: this.site.domain,
        ianaTimezone: "Europe/Zurich"
      },
      node: ({ id }: { id: string }) => this.node(id),
      nodes: ({ ids }: { ids: ReadonlyArray<string> }) => ids.map((id) => this.node(id)),
      ...Object.fromEntries(["product", "productVariant", "inventoryItem", "order"].map((name) => [
        name,
        ({ id }: { id: string }) =>
          id.startsWith(`gid://shopify/${name[0]?.toUpperCase()}${name.slice(1)}/`) ? this.node(id) : null
      ])),
      job: ({ id }: { id: string }) => ({ id, done: true }),
      bulkOperation: bulk.poll,
      bulkOperations: bulk.list,
      currentBulkOperation: () => bulk.poll({}),
      products: catalog.list,
      orders: orders.list,
      locations: catalog.locationList,
      webhookSubscriptions: webhooks.list
    }
  }

  private node(id: string): object | null {
    const variant = this.catalog.variantOf(id)
    if (variant !== undefined) {
      return id.includes("/InventoryItem/")
        ? this.catalog.itemView(variant)
        : this.catalog.variantView(variant)
    }
    const order = this.orders.find(id)
    return order === undefined ? this.orders.part(id) ?? this.catalog.product(id) : this.orders.view(order)
  }

  /** All of a request, or none: of 25 at most, with the type that a metafield has, or with one if it is new. */
  private metafieldError(metafields: ReadonlyArray<OwnedMetafield>) {
    if (metafields.length > 25) {
      return userError("LESS_THAN_OR_EQUAL_TO", "Exceeded the maximum metafields input limit of 25.", "metafields")
    }
    for (const { key, namespace, ownerId, type, value = "" } of metafields) {
      const product = this.catalog.products.get(idIn("Product", ownerId) ?? 0)
      if (product === undefined) return userError("INVALID", "Owner does not exist.", "ownerId")
      const before = product.metafields.find((one) => one.namespace === namespace && one.key === key)
      if (before === undefined && type === undefined) return userError("BLANK", "Type can't be blank", "type")
      if (before !== undefined && type !== undefined && before.type !== type) {
        return userError("INVALID_TYPE", "Type must be consistent with the definition's type", "type")
      }
      if (value === "") return userError("BLANK", "Value can't be blank.", "value")
      if ((type ?? before?.type) === "single_line_text_field" && value.includes("\n")) {
        return userError("INVALID_VALUE", "Value must be a single line text string.", "value")
      }
    }
    return undefined
  }

  private writeMetafields(metafields: ReadonlyArray<OwnedMetafield>) {
    return [...Map.groupBy(metafields, ({ ownerId }) => ownerId)].flatMap(([ownerId, sent]) => {
      const product = this.catalog.products.get(idIn("Product", ownerId) ?? 0)
      return product === undefined ? [] : this.catalog.setMetafields(product, sent)
    })
  }

  private mutations() {
    const { catalog, idempotency, orders, site } = this
    return {
      bulkOperationRunQuery: (args: { query: string; groupObjects: boolean }, { version }: ShopifyContext) =>
        this.bulk.run(args, version),
      webhookSubscriptionCreate: this.webhooks.create,
      webhookSubscriptionDelete: this.webhooks.delete,
      productUpdate: (
        { product: { id, seo, ...fields } }: { product: { id: string } & Parameters<ShopifyCatalog["change"]>[1] }
      ) => {
        const product = catalog.products.get(idIn("Product", id) ?? 0)
        if (product === undefined) {
          return { product: null, userErrors: [userError(null, "Product does not exist", "id")] }
        }
        if (fields.title === "") {
          return { product: null, userErrors: [userError(null, "Title can't be blank", "title")] }
        }
        catalog.change(product, { ...fields, ...(seo && { seo: { ...product.fields.seo, ...seo } }) })
        return { product: catalog.view(product), userErrors: [] }
      },
      metafieldsSet: ({ metafields }: { metafields: ReadonlyArray<OwnedMetafield> }) => {
        const refused = this.metafieldError(metafields)
        if (refused !== undefined) return { metafields: null, userErrors: [refused] }
        return { metafields: this.writeMetafields(metafields), userErrors: [] }
      },
      metafieldsDelete: ({ metafields }: { metafields: ReadonlyArray<OwnedMetafield> }) => {
        this.writeMetafields(metafields)
        return { deletedMetafields: metafields, userErrors: [] }
      },
      inventorySetQuantities: (
        args: { input: Parameters<typeof setQuantities>[3] },
        context: ShopifyContext,
        info: GraphQLResolveInfo
      ) =>
        idempotency.once(
          info,
          context,
          args,
          (error) => ({ inventoryAdjustmentGroup: null, userErrors: [error] }),
          () => setQuantities(site, catalog, context, args.input)
        ),
      orderCreate: (
        { options, order }: {
          order: Parameters<ShopifyOrders["create"]>[0]
          options?: { inventoryBehaviour?: string } | null
        }
      ) => {
        const made = orders.create(order, options?.inventoryBehaviour ?? "BYPASS")
        return "error" in made
          ? { order: null, userErrors: [made.error] }
          : { order: orders.view(made.order), userErrors: [] }
      },
      orderCancel: ({ orderId, reason, refundMethod, restock }: {
        orderId: string
        reason: string
        restock: boolean
        refundMethod?: { originalPaymentMethodsRefund?: boolean | null } | null
      }) => {
        const order = orders.find(orderId)
        const refund = refundMethod?.originalPaymentMethodsRefund ?? false
        const error = order === undefined
          ? userError("NOT_FOUND", "Order does not exist", "orderId")
          : orders.cancel(order, { reason, restock, refund })
        return error === undefined
          ? { job: { id: gid("Job", site.nextId()), done: false }, orderCancelUserErrors: [] }
          : { job: null, orderCancelUserErrors: [error] }
      },
      refundCreate: (
        args: { input: RefundRequest & { orderId: string } },
        context: ShopifyContext,
        info: GraphQLResolveInfo
      ) =>
        idempotency.once(info, context, args, (error) => ({ userErrors: [error] }), () => {
          const order = orders.find(args.input.orderId)
          const made = order === undefined
            ? userError(null, "Order does not exist", "orderId")
            : orders.refund(order, args.input)
          if (order === undefined || "message" in made) return { userErrors: [made] }
          const index = order.refunds.indexOf(made)
          return { order: orders.view(order), refund: () => refundAt(orders.view(order), index), userErrors: [] }
        })
    }
  }
}

/** A refund as its order shows it. */
const refundAt = (order: object, index: number): unknown =>
  "refunds" in order && typeof order.refunds === "function" ? order.refunds({})[index] : null

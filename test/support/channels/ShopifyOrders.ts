import type { ShopifyCatalog } from "./ShopifyCatalog.ts"
import {
  fulfilmentOf,
  type Line,
  openOf,
  type OrderInput,
  type Refund,
  refundedOf,
  type RefundRequest,
  type ShopifyOrder,
  totalsOf,
  type Tracking
} from "./ShopifyOrder.ts"
import { orderPayload, orderView, partView } from "./ShopifyOrderViews.ts"
import {
  connection,
  gid,
  idIn,
  isoTime,
  matches,
  minorOf,
  type PageArgs,
  type ShopifyContext,
  type ShopifySite
} from "./ShopifyPages.ts"
import type { ShopifyVariant } from "./ShopifyProduct.ts"
import { type UserError, userError } from "./ShopifyStock.ts"

/** Orders of the emulated Shopify. */
export class ShopifyOrders {
  readonly orders = new Map<number, ShopifyOrder>()
  /** Orders a minute; five on trial and development stores. */
  perMinute = Number.POSITIVE_INFINITY
  /** How long a new order is not found by a search. */
  searchDelayMs = 0
  /** Whether jobs that cancel orders end without it. */
  keepsOrders = false
  private readonly site: ShopifySite
  private readonly catalog: ShopifyCatalog

  constructor(site: ShopifySite, catalog: ShopifyCatalog) {
    this.site = site
    this.catalog = catalog
  }

  create(input: OrderInput, inventoryBehaviour: string): { order: ShopifyOrder } | { error: UserError } {
    const now = this.site.now()
    const { lineItems = [], tags } = input
    const lines = lineItems.map(({ priceSet, quantity, sku, title, variantId }): Line => {
      const variant = this.catalog.variantOf(variantId)
      return {
        id: this.site.nextId(),
        variant,
        title: title ?? variant?.product.fields.title ?? "",
        sku: sku ?? variant?.sku ?? null,
        quantity,
        price: priceSet ? minorOf(priceSet.shopMoney.amount) : variant?.price ?? 0,
        fulfilled: 0,
        refunded: 0,
        claimed: inventoryBehaviour !== "BYPASS" && variant?.tracked === true ? quantity : 0
      }
    })
    const refuse = (code: string | null, message: string, ...field: ReadonlyArray<string>) => ({
      error: userError(code, message, ...field)
    })
    const recent = [...this.orders.values()].filter(({ created }) => created > now - 60_000)
    if (recent.length >= this.perMinute) return refuse(null, "Too many attempts. Please try again later.")
    if (lines.length === 0) {
      return refuse("INVALID", "Line items must have at least one line item", "order", "lineItems")
    }
    const unknown = lineItems.findIndex(({ title, variantId }, index) =>
      variantId ? lines[index]?.variant === undefined : !title
    )
    if (unknown >= 0) {
      return refuse("INVALID", "Variant does not exist", "order", "lineItems", String(unknown), "variantId")
    }
    if (tags?.some((tag) => tag.length > 40)) {
      return refuse("INVALID", "Tag exceeds maximum length of 40 characters", "order", "tags")
    }
    const short = lines.find(({ claimed, variant }) =>
      claimed > 0 && variant?.oversells === false && (variant.levels[0]?.available ?? 0) < claimed
    )
    if (inventoryBehaviour === "DECREMENT_OBEYING_POLICY" && short !== undefined) {
      return refuse("INVENTORY_CLAIM_FAILED", "Unable to reserve inventory", "order", "lineItems")
    }
    const id = this.site.nextId()
    const name = input.name ?? `#${1001 + this.orders.size}`
    const totals = totalsOf(input, lines)
    const order = {
      id,
      name,
      created: now,
      updated: now,
      input,
      lines,
      totals,
      fulfillments: [],
      refunds: [],
      cancelled: null
    }
    this.orders.set(id, order)
    for (const line of lines) this.move(line, -line.claimed, line.claimed)
    this.tell("orders/create", order)
    return { order }
  }

  /** The shop sends what is left, or so much of the first line that has something left. */
  fulfil(order: ShopifyOrder, tracking: Tracking = {}, most = Number.POSITIVE_INFINITY): void {
    let left = most
    const parts = order.lines.flatMap((line) => {
      const quantity = Math.min(openOf(line), left)
      left -= quantity
      return quantity > 0 ? [{ id: this.site.nextId(), line, quantity }] : []
    })
    if (parts.length === 0) return
    for (const { line, quantity } of parts) {
      line.fulfilled += quantity
      const taken = Math.min(line.claimed, quantity)
      line.claimed -= taken
      this.move(line, 0, -taken)
    }
    order.fulfillments.push({ id: this.site.nextId(), created: this.site.now(), tracking, parts })
    this.touch(order, fulfilmentOf(order) === "FULFILLED" ? "orders/fulfilled" : undefined)
  }

  cancel(order: ShopifyOrder, { reason = "OTHER", refund = true, restock = true } = {}): UserError | undefined {
    if (order.cancelled !== null) return userError("INVALID", "This order has already been canceled", "orderId")
    if (order.fulfillments.length > 0) {
      return userError("INVALID", "Cannot cancel an order that has fulfillments", "orderId")
    }
    if (this.keepsOrders) return undefined
    order.cancelled = { at: this.site.now(), reason }
    if (refund && order.totals.paid > refundedOf(order)) {
      const lines = order.lines.map(({ id, quantity, refunded }) => ({
        lineItemId: gid("LineItem", id),
        quantity: quantity - refunded,
        restockType: restock ? "CANCEL" : "NO_RESTOCK"
      }))
      this.refund(order, {
        refundLineItems: lines,
        transactions: [{ kind: "REFUND", amount: (order.totals.paid - refundedOf(order)) / 100 }]
      })
    } else if (restock) {
      for (const line of order.lines) this.restock(line, line.claimed)
    }
    this.touch(order, "orders/cancelled")
    return undefined
  }

  refund(order: ShopifyOrder, { note = null, refundLineItems, transactions }: RefundRequest): Refund | UserError {
    const parts = (refundLineItems ?? []).map(({ lineItemId, quantity, restockType }) => ({
      id: this.site.nextId(),
      line: order.lines.find(({ id }) => gid("LineItem", id) === lineItemId),
      quantity,
      restockType: restockType ?? "NO_RESTOCK"
    })).flatMap(({ line, ...part }) => line === undefined ? [] : [{ ...part, line }])
    const amount = (transactions ?? []).filter(({ kind }) => kind === "REFUND").reduce(
      (sum, one) => sum + minorOf(one.amount),
      0
    )
    if (parts.length < (refundLineItems ?? []).length) {
      return userError(null, "Line item does not exist", "refundLineItems")
    }
    if (parts.some(({ line, quantity }) => line.refunded + quantity > line.quantity)) {
      return userError(null, "Quantity cannot refund more items than were purchased", "refundLineItems")
    }
    if (amount > order.totals.paid - refundedOf(order)) {
      return userError(null, "Refund amount exceeds the amount available for refund", "transactions")
    }
    for (const { line, quantity, restockType } of parts) {
      line.refunded += quantity
      if (restockType !== "NO_RESTOCK") this.restock(line, quantity)
    }
    const refund = { id: this.site.nextId(), created: this.site.now(), note, amount, parts }
    order.refunds.push(refund)
    this.site.tell("refunds/create", {
      id: refund.id,
      admin_graphql_api_id: gid("Refund", refund.id),
      order_id: order.id,
      created_at: isoTime(refund.created),
      note,
      refund_line_items: parts.map(({ id, line, quantity, restockType }) => ({
        id,
        line_item_id: line.id,
        quantity,
        restock_type: restockType.toLowerCase()
      })),
      transactions: amount > 0 ? [{ kind: "refund", status: "success", amount: (amount / 100).toFixed(2) }] : []
    })
    this.touch(order)
    return refund
  }

  find(id: string): ShopifyOrder | undefined {
    return this.orders.get(idIn("Order", id) ?? 0)
  }

  list = (args: PageArgs & { query?: string | null; sortKey: string; reverse: boolean }, context: ShopifyContext) => {
    const indexed = this.site.now() - this.searchDelayMs
    const rows = [...this.orders.values()].filter((order) =>
      !args.query || order.created <= indexed && matches(args.query, {
          id: () => [order.id],
          name: () => [order.name],
          tag: () => order.input.tags ?? [],
          source_identifier: () => [order.input.sourceIdentifier ?? ""],
          created_at: () => [order.created],
          updated_at: () => [order.updated]
        })
    ).toSorted((left, right) =>
      ((args.sortKey === "UPDATED_AT" ? left.updated - right.updated : 0) || left.id - right.id) *
      (args.reverse ? -1 : 1)
    )
    return connection(() => rows, (row) => this.view(row))(args, context)
  }

  view(order: ShopifyOrder): object {
    return orderView(order, this.site, (variant) => this.catalog.variantView(variant))
  }

  /** A fulfillment or refund by its id. */
  part(id: string): object | undefined {
    const view = (variant: ShopifyVariant) => this.catalog.variantView(variant)
    return [...this.orders.values()].map((order) => partView(id, order, this.site, view)).find((one) =>
      one !== undefined
    )
  }

  private restock(line: Line, quantity: number): void {
    const held = Math.min(line.claimed, quantity)
    line.claimed -= held
    if (line.variant?.tracked === true) this.move(line, quantity, -held)
  }

  private move({ variant }: Line, available: number, committed: number): void {
    const [level] = variant?.levels ?? []
    if (variant === undefined || level === undefined || available === 0 && committed === 0) return
    this.catalog.setLevel(variant, level, {
      available: level.available + available,
      committed: level.committed + committed
    })
  }

  private touch(order: ShopifyOrder, topic?: string): void {
    order.updated = this.site.now()
    if (topic !== undefined) this.tell(topic, order)
    this.tell("orders/updated", order)
  }

  private tell(topic: string, order: ShopifyOrder): void {
    this.site.tell(topic, orderPayload(order))
  }
}

import type { WooCatalog, WooSite } from "./WooCatalog.ts"
import { isExempt, type LineInput, type OrderInput, orderStatuses, readOrder, readRefund } from "./WooOrderInput.ts"
import type { Meta } from "./WooProductInput.ts"
import { dateOf, idsOf, oneOf, wooDates, WooRefusal } from "./WooRequests.ts"

const names = [
  "first_name",
  "last_name",
  "company",
  "address_1",
  "address_2",
  "city",
  "state",
  "postcode",
  "country"
] as const

interface Line {
  readonly id: number
  readonly product_id: number
  readonly variation_id: number
  readonly name: string
  readonly quantity: number
  readonly subtotal: number
  readonly total: number
  readonly meta_data: ReadonlyArray<typeof Meta.Type>
}

interface Refund {
  readonly id: number
  readonly created: number
  readonly amount: number
  readonly reason: string
  readonly byGateway: boolean
  readonly lines: ReadonlyArray<{ readonly line: Line; readonly quantity: number; readonly total: number }>
}

export interface WooOrder {
  readonly id: number
  readonly created: number
  readonly lines: ReadonlyArray<Line>
  /** Shipping and fees. */
  readonly extras: { readonly shipping: number; readonly fees: number }
  readonly refunds: Array<Refund>
  input: OrderInput
  status: (typeof orderStatuses)[number] | "trash"
  modified: number
  paid: number | null
  completed: number | null
  stockTaken: boolean
}

const cents = (text: string | number | undefined) => Math.round(Number(text ?? 0) * 100)
const money = (amount: number) => (amount / 100).toFixed(2)

/** Orders and refunds of the emulated WooCommerce. */
export class WooOrders {
  readonly orders = new Map<number, WooOrder>()
  /** Payment methods that give money back when a refund asks for it. */
  readonly gateways = new Set<string>()
  private readonly site: WooSite
  private readonly catalog: WooCatalog

  constructor(site: WooSite, catalog: WooCatalog) {
    this.site = site
    this.catalog = catalog
  }

  create(body: unknown): WooOrder {
    const input = readOrder(body)
    if ((input.customer_id ?? 0) > 0) {
      throw new WooRefusal(400, "woocommerce_rest_invalid_customer_id", "Customer ID is invalid.")
    }
    if (input.shipping_lines?.some(({ method_id }) => !method_id)) {
      throw new WooRefusal(400, "woocommerce_rest_invalid_shipping_item", "Shipping method ID is required.")
    }
    const sum = (lines: ReadonlyArray<{ readonly total?: string }> = []) =>
      lines.reduce((total, line) => total + cents(line.total), 0)
    const now = this.site.now()
    const order: WooOrder = {
      id: this.site.nextId(),
      created: now,
      lines: (input.line_items ?? []).map((line) => this.lineOf(line)),
      extras: { shipping: sum(input.shipping_lines), fees: sum(input.fee_lines) },
      refunds: [],
      input,
      status: "pending",
      modified: now,
      paid: null,
      completed: null,
      stockTaken: false
    }
    this.orders.set(order.id, order)
    this.enter(order, input.set_paid === true ? "processing" : input.status ?? "pending")
    this.site.changed("order.created", order.id)
    return order
  }

  change(id: number, body: unknown): WooOrder {
    const order = this.get(id, 400)
    const input = readOrder(body)
    if (input.line_items !== undefined) {
      throw new WooRefusal(501, "not_emulated", "Lines of an order cannot be changed here.")
    }
    const kept = (order.input.meta_data ?? []).filter(({ key }) => !input.meta_data?.some((one) => one.key === key))
    order.input = { ...order.input, ...input, meta_data: [...kept, ...input.meta_data ?? []] }
    this.enter(order, input.set_paid === true && order.paid === null ? "processing" : input.status ?? order.status)
    this.touch(order)
    return order
  }

  remove(id: number, force: boolean): WooOrder {
    const order = this.get(id)
    if (force) this.orders.delete(id)
    else {
      order.status = "trash"
      this.site.changed("order.deleted", id)
    }
    return order
  }

  refund(id: number, body: unknown) {
    const order = this.orders.get(id)
    if (order === undefined) throw new WooRefusal(404, "woocommerce_rest_invalid_order_id", "Invalid order ID.")
    const { amount, api_refund = true, api_restock = true, line_items = [], reason = "" } = readRefund(body)
    const lines = line_items.flatMap(({ id: lineId, quantity = 0, refund_total }) => {
      const line = order.lines.find((one) => one.id === lineId)
      return line === undefined ? [] : [{ line, quantity, total: cents(refund_total) }]
    })
    const wanted = amount === undefined ? lines.reduce((sum, { total }) => sum + total, 0) : cents(amount)
    const refuse = (message: string) => new WooRefusal(500, "woocommerce_rest_cannot_create_order_refund", message)
    if (wanted < 0) {
      throw new WooRefusal(400, "woocommerce_rest_invalid_order_refund", "Refund amount must be greater than zero.")
    }
    if (wanted > this.totalOf(order) - refundedOf(order)) throw refuse("Invalid refund amount.")
    if (api_refund && !this.gateways.has(order.input.payment_method ?? "")) {
      throw refuse("The payment gateway for this order does not exist.")
    }
    const refund = {
      id: this.site.nextId(),
      created: this.site.now(),
      amount: wanted,
      reason,
      byGateway: api_refund,
      lines
    }
    order.refunds.push(refund)
    if (api_restock && order.stockTaken) {
      for (const { line, quantity } of lines) this.catalog.moveStock(line.variation_id || line.product_id, quantity)
    }
    if (refundedOf(order) === this.totalOf(order)) order.status = "refunded"
    this.touch(order)
    return this.refundView(refund, order)
  }

  get(id: number, status = 404): WooOrder {
    const order = this.orders.get(id)
    if (order === undefined) throw new WooRefusal(status, "woocommerce_rest_shop_order_invalid_id", "Invalid ID.")
    return order
  }

  /** Orders as a list request asks for them. A search looks at addresses, names of lines and the number, not at meta data. */
  find(query: URLSearchParams): ReadonlyArray<WooOrder> {
    const wanted = oneOf(query, "status", ["any", "trash", "checkout-draft", "auto-draft", ...orderStatuses], "any")
    const [include, search] = [idsOf(query, "include"), query.get("search")?.toLowerCase()]
    const [after, modifiedAfter] = [
      dateOf(query, "after", this.site.offsetMs),
      dateOf(query, "modified_after", this.site.offsetMs)
    ]
    const orderby = oneOf(query, "orderby", ["date", "id", "modified"], "date")
    const up = oneOf(query, "order", ["asc", "desc"], "desc") === "asc" ? 1 : -1
    const found = ({ id, input, lines }: WooOrder, text: string) =>
      String(id) === text || lines.some(({ name }) => name.toLowerCase().includes(text)) ||
      [input.billing, input.shipping].some((one) => Object.values(one ?? {}).join(" ").toLowerCase().includes(text))
    return [...this.orders.values()].filter((order) =>
      (wanted === "any" ? order.status !== "trash" : order.status === wanted) &&
      (include === undefined || include.includes(order.id)) && (search === undefined || found(order, search)) &&
      (after === undefined || order.created > after) && (modifiedAfter === undefined || order.modified > modifiedAfter)
    ).sort((left, right) =>
      up * (orderby === "modified" ? left.modified - right.modified || left.id - right.id : left.id - right.id)
    )
  }

  refundView({ amount, byGateway, created, id, lines, reason }: Refund, order: WooOrder) {
    return {
      id,
      ...wooDates("date_created", created, this.site.offsetMs),
      amount: money(amount),
      reason,
      refunded_payment: byGateway,
      meta_data: [],
      line_items: lines.map(({ line, quantity, total }, index) => ({
        ...this.lineView(line, order),
        id: id * 100 + index,
        quantity: -quantity,
        subtotal: money(-total),
        total: money(-total),
        meta_data: [{ key: "_refunded_item_id", value: String(line.id) }]
      }))
    }
  }

  view(order: WooOrder) {
    const { extras, id, input, lines, status } = order
    const taxOf = (net: number) => this.taxOf(net, order)
    const numbered = <A>(list: ReadonlyArray<A> = []) => list.map((one, index) => ({ id: id * 100 + index, ...one }))
    const address = Object.fromEntries(names.map((name) => [name, ""]))
    return {
      id,
      number: String(id),
      status,
      currency: input.currency ?? this.site.currency,
      prices_include_tax: this.site.pricesIncludeTax,
      ...wooDates("date_created", order.created, this.site.offsetMs),
      ...wooDates("date_modified", order.modified, this.site.offsetMs),
      ...wooDates("date_paid", order.paid, this.site.offsetMs),
      ...wooDates("date_completed", order.completed, this.site.offsetMs),
      shipping_total: money(extras.shipping),
      shipping_tax: money(taxOf(extras.shipping)),
      total: money(this.totalOf(order)),
      total_tax: money(taxOf(goodsOf(order)) + taxOf(extras.shipping) + taxOf(extras.fees)),
      customer_note: input.customer_note ?? "",
      billing: { ...address, email: "", phone: "", ...input.billing },
      shipping: { ...address, phone: "", ...input.shipping },
      payment_method: input.payment_method ?? "",
      transaction_id: input.transaction_id ?? "",
      meta_data: numbered(input.meta_data),
      line_items: lines.map((line) => this.lineView(line, order)),
      shipping_lines: numbered(input.shipping_lines),
      fee_lines: numbered(input.fee_lines),
      refunds: order.refunds.map((one) => ({ id: one.id, reason: one.reason, total: `-${money(one.amount)}` }))
    }
  }

  private lineView(line: Line, order: WooOrder) {
    const product = this.catalog.products.get(line.variation_id || line.product_id)
    return {
      ...line,
      sku: product?.fields.sku ?? null,
      subtotal: money(line.subtotal),
      total: money(line.total),
      total_tax: money(this.taxOf(line.total, order)),
      price: line.quantity === 0 ? 0 : line.total / 100 / line.quantity
    }
  }

  /** A line whose product is unknown becomes a line without one, as in WooCommerce. */
  private lineOf(
    { meta_data = [], name, product_id = 0, quantity = 1, sku, subtotal, total, variation_id = 0 }:
      typeof LineInput.Type
  ): Line {
    if (!sku && product_id === 0 && variation_id === 0) {
      throw new WooRefusal(400, "woocommerce_rest_required_product_reference", "Product ID or SKU is required.")
    }
    const product = sku
      ? [...this.catalog.products.values()].find(({ fields }) => fields.sku === sku)
      : this.catalog.products.get(variation_id || product_id)
    const gross = cents(product === undefined ? 0 : this.catalog.view(product).price) * quantity
    const net = this.site.pricesIncludeTax ? Math.round(gross / (1 + this.site.taxPercent / 100)) : gross
    return {
      id: this.site.nextId(),
      product_id: product === undefined ? 0 : product.parent || product.id,
      variation_id: product !== undefined && product.parent > 0 ? product.id : 0,
      name: name ?? product?.fields.name ?? "",
      quantity,
      subtotal: subtotal === undefined ? total === undefined ? net : cents(total) : cents(subtotal),
      total: total === undefined ? net : cents(total),
      meta_data
    }
  }

  /** Takes stock when an order is paid or held for payment, once, and gives it back when it is cancelled. */
  private enter(order: WooOrder, status: WooOrder["status"]): void {
    order.status = status
    if (["processing", "completed"].includes(status)) order.paid ??= this.site.now()
    if (status === "completed") order.completed ??= this.site.now()
    const takes = ["processing", "completed", "on-hold"].includes(status)
    const gives = ["cancelled", "pending"].includes(status)
    if (takes === order.stockTaken || !takes && !gives) return
    order.stockTaken = takes
    for (const { product_id, quantity, variation_id } of order.lines) {
      this.catalog.moveStock(variation_id || product_id, takes ? -quantity : quantity)
    }
  }

  private touch(order: WooOrder): void {
    order.modified = this.site.now()
    this.site.changed("order.updated", order.id)
  }

  private taxOf(net: number, { input }: WooOrder): number {
    return isExempt(input) ? 0 : Math.round(net * this.site.taxPercent / 100)
  }

  private totalOf(order: WooOrder): number {
    const { fees, shipping } = order.extras
    return [goodsOf(order), shipping, fees].reduce((sum, net) => sum + net + this.taxOf(net, order), 0)
  }
}

const goodsOf = ({ lines }: WooOrder) => lines.reduce((sum, { total }) => sum + total, 0)

const refundedOf = ({ refunds }: WooOrder) => refunds.reduce((sum, { amount }) => sum + amount, 0)

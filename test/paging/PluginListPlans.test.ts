import { giftCards } from "../../src/plugins/gift-cards/index.ts"
import { marketplace } from "../../src/plugins/marketplace/index.ts"
import { asVendor } from "../../src/plugins/marketplace/test/Calls.ts"
import { asAdmin, asCustomer } from "../support/TestApp.ts"
import { uuid } from "./ManyRows.ts"
import { last, lastOfOne, pluginLists } from "./PluginLists.ts"

const [customer, order] = ["11111111-1111-4111-8111-111111111111", "22222222-2222-4222-8222-222222222222"]

/** Values of the rows that are repeated. */
const samples = {
  marketplace_vendor_sub_orders: { orderId: order, subtotal: 2, commissionAmount: 1, payoutAmount: 1 },
  marketplace_disputes: { status: "resolved" },
  marketplace_vendor_reviews: { status: "published" },
  gift_cards: {
    purchaserId: customer,
    sourceOrderId: order,
    lastFour: "7777",
    currency: "USD",
    initialAmount: 1,
    balance: 1
  }
}

/** Tables that lists show: the last rows belong to the vendor, the sub-order or the customer who asks, the others to others. */
const growing = {
  marketplace_vendors: {},
  marketplace_commission_rules: {},
  marketplace_vendor_sub_orders: { columns: { ...lastOfOne("vendor_id"), order_id: uuid } },
  marketplace_vendor_entities: { columns: lastOfOne("vendor_id") },
  marketplace_disputes: { columns: lastOfOne("sub_order_id") },
  marketplace_return_requests: { columns: lastOfOne("sub_order_id") },
  marketplace_vendor_reviews: { columns: lastOfOne("vendor_id") },
  marketplace_adjustments: { columns: lastOfOne("vendor_id") },
  marketplace_vendor_members: { columns: lastOfOne("vendor_id") },
  marketplace_vendor_payouts: { columns: lastOfOne("vendor_id") },
  marketplace_vendor_documents: { columns: lastOfOne("vendor_id") },
  gift_cards: {
    columns: {
      ...lastOfOne("purchaser_id"),
      ...lastOfOne("source_order_id"),
      ...last("last_four", { value: "7777", others: "lpad((n % 7000)::text, 4, '0')" })
    }
  }
}

const asksOf = (vendor: string, subOrder: string) => {
  const [seller, buyer] = [asVendor(vendor), asCustomer("buyer")]
  const filters = {
    vendors: ["status=pending", "tier=standard"],
    "sub-orders": ["status=pending", `orderId=${order}`, `vendorId=${vendor}`, `vendorId=${vendor}&status=pending`],
    "commission-rules": [],
    disputes: ["status=resolved", `subOrderId=${subOrder}`],
    returns: ["status=requested", `subOrderId=${subOrder}`],
    payouts: ["status=pending", `vendorId=${vendor}`]
  }
  const admin = [
    ...Object.entries(filters).flatMap(([path, queries]) => [path, ...queries.map((query) => `${path}?${query}`)]),
    ...["products", "members", "documents", "adjustments", "reviews"].map((what) => `vendors/${vendor}/${what}`)
  ]
  const mine = [
    "returns",
    "returns?status=requested",
    `returns?subOrderId=${subOrder}`,
    "reviews",
    "reviews?status=published",
    "payouts",
    "payouts?status=pending"
  ]
  const own = ["orders", "orders?status=pending", "products", "members", "documents", ...mine]
  const cards = [
    "",
    "?status=active",
    "?currency=USD",
    "?lastFour=7777",
    `?purchaserId=${customer}`,
    `?sourceOrderId=${order}`
  ]
  return [
    ...admin.map((path) => [`/api/marketplace/${path}`, asAdmin] as const),
    ...own.map((path) => [`/api/marketplace/vendor/me/${path}`, seller] as const),
    ...["disputes", "returns"].flatMap((path) =>
      [buyer, seller].map((as) => [`/api/marketplace/${path}`, as] as const)
    ),
    ...cards.map((query) => [`/api/gift-cards${query}`, asAdmin] as const),
    ["/api/me/gift-cards", buyer] as const
  ]
}

pluginLists("lists of the marketplace and of gift cards", {
  plugins: [marketplace(), giftCards()],
  before: [
    `insert into customers (id, organization_id, user_id) values ('${customer}', 'org_default', 'buyer')`,
    `insert into orders (id, organization_id, order_number, status, currency, subtotal, tax_total, shipping_total,
        discount_total, grand_total, customer_id)
      values ('${order}', 'org_default', 'ORD-1', 'pending', 'USD', 2, 0, 0, 0, 2, '${customer}')`
  ],
  samples,
  growing,
  asks: (made) => asksOf(made("marketplace_vendors"), made("marketplace_vendor_sub_orders")),
  totals: { "/api/gift-cards?status": "time makes a card expire, no writer does" },
  exceptions: {
    "/api/marketplace/vendors?search": "a part of a text can be in any row",
    "/api/marketplace/sub-orders?orderId": "an order has one of each vendor"
  }
})

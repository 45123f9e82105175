import { Schema } from "effect"
import { CustomerId, OrderId, rowsOf, statement } from "stoa/plugin"

/** The part of a buyer's order that a vendor sold. */
const purchases = rowsOf(Schema.Struct({ orderId: OrderId, customerId: CustomerId, isDelivered: Schema.Boolean }))

/**
 * A purchase by the core's orders and customers alone: of the order that is named, delivered or not; else the last delivered one
 * without a review, or the last one at all where each has a review.
 */
export const purchaseOf = statement(
  "ReviewRepo.purchase",
  function*(sql, organizationId, userId: string, vendorId: string, orderId?: OrderId) {
    const [row] = yield* purchases(sql`select o.id as "orderId", c.id as "customerId",
        s.status = 'delivered' as "isDelivered"
      from plugin_customers c join plugin_orders o on o.organization_id = c.organization_id and o.customer_id = c.id
      join marketplace_vendor_sub_orders s on s.organization_id = o.organization_id and s.order_id = o.id
      where c.organization_id = ${organizationId} and c.user_id = ${userId} and s.vendor_id = ${vendorId}::uuid
        and ${orderId === undefined ? sql`s.status = 'delivered'` : sql`o.id = ${orderId}::uuid`}
      order by exists (select 1 from marketplace_vendor_reviews r where r.organization_id = ${organizationId}
        and r.order_id = o.id and r.vendor_id = s.vendor_id), o.placed_at desc, o.id desc limit 1`)
    return row
  }
)

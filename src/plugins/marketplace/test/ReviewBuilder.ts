import { Effect } from "effect"
import { onDatabase } from "../../../../test/checkout/CheckoutFixtures.ts"
import { theOrganization } from "../../../../test/support/TestApp.ts"
import { newId } from "../../../domain/ids/Id.ts"
import { type Sale } from "./SaleBuilder.ts"

/** Inserts a review of a sale. */
export const aReview = Effect.fnUntraced(
  function*(sale: Sale, rating = 5, status = "published", within?: string) {
    const id = newId()
    const organizationId = within ?? (yield* theOrganization)
    yield* onDatabase((sql) =>
      sql`insert into marketplace_vendor_reviews (id, organization_id, vendor_id, customer_id, order_id, rating, status)
        values (${id}::uuid, ${organizationId}, ${sale.vendorId}::uuid, ${sale.customerId}::uuid,
          ${sale.orderId}::uuid, ${rating}, ${status})`
    )
    return id
  }
)

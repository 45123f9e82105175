import type { WarehouseId } from "../ids/Id.ts"
import type { PostingReference } from "../inventory/StockPosting.ts"
import type { ManualOrderRequest } from "./Checkout.ts"

/** What has paid for goods that have left; minor units. */
export interface PaidTender {
  /** Provider that gives it back in a refund: one of the deployment or of a plugin. */
  readonly method: string
  readonly amount: number
  /** What the shopper knows it by. Default: the method. */
  readonly label?: string | undefined
  /** The provider's id of the payment. */
  readonly reference?: string | undefined
}

/** Goods that have left already: sold at a till, or by another channel. */
export interface SoldGoods extends
  Pick<
    ManualOrderRequest,
    "currency" | "customerGroupIds" | "customerId" | "email" | "lineItems" | "metadata" | "promotionCodes"
  >
{
  /** The document that sold them: one order for each. */
  readonly reference: PostingReference
  /** Where the goods left. */
  readonly warehouseId: WarehouseId
  /** They come to the order's total; each is captured. */
  readonly tenders: ReadonlyArray<PaidTender>
  /** Minor units. Default 0. */
  readonly shippingTotal?: number | undefined
  /** `metadata.channel` of the order. */
  readonly channel?: string | undefined
  /** Default: now. */
  readonly soldAt?: Date | undefined
}

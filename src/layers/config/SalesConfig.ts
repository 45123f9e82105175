import { defaultSettings, type Requirement } from "../../domain/platform/settings/StoreSettings.ts"
import * as is from "./Rules.ts"
import { group, setting } from "./Settings.ts"

/** Carts, checkouts, orders and returns (docs/orders.md). */
export const salesSettings = {
  cart: group({
    /** Life of a cart in minutes from its creation. Default 10080, seven days. */
    ttlMinutes: setting(is.whole(1, 52_560_000), defaultSettings.cartTtlMinutes),
    /** Lines of a cart, 1 to 2000; a checkout reads and prices all of them at once. Default 500. */
    maxLines: setting(is.whole(1, 2_000), defaultSettings.cartMaxLines)
  }),
  checkout: group({
    /** Seconds that stock is held for a checkout in progress. Default 900. */
    holdSeconds: setting(is.whole(1, 31_536_000), defaultSettings.holdSeconds),
    /** Orders of a shopper (`POST /api/orders`) that may wait for their payment at once. Default 3. */
    maxUnpaidOrders: setting(is.whole(0, 1_000_000), defaultSettings.maxUnpaidOrders),
    /** What a checkout must know: `email`, `shippingAddress` (for goods that are carried), `billingAddress`, `phone`. Default: nothing. */
    requires: setting(is.code<ReadonlyArray<Requirement>>(), defaultSettings.requires),
    /** Whether addresses need a state where the post of their country asks for one, as in AE and HK. Default false. */
    strictAddresses: setting(is.flag, defaultSettings.strictAddresses),
    /** Minutes to confirm a payment, as with 3-D Secure; then the order is cancelled. Default 60. */
    confirmationMinutes: setting(is.whole(1, 525_600), defaultSettings.confirmationMinutes)
  }),
  orders: group({
    /** Hours after which an unpaid pending order is cancelled; drafts are not. 0: never. Default 48. */
    staleHours: setting(is.whole(0, 87_600, " of hours (0: never)"), defaultSettings.staleOrderHours)
  }),
  returns: group({
    /** Days after the delivery, else after the order, in which shoppers can ask for a return. 0: never. Default 30. */
    days: setting(is.whole(0, 36_500, " of days (0: never)"), defaultSettings.returnDays)
  })
}

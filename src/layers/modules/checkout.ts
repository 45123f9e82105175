import { Layer } from "effect"
import { basketRepoLayer } from "../../domain/checkout/BasketRepo.ts"
import { CheckoutPricing } from "../../domain/checkout/CheckoutPricing.ts"
import { CheckoutRunRepo } from "../../domain/checkout/CheckoutRunRepo.ts"
import { createOrderRepoLayer } from "../../domain/checkout/CreateOrderRepo.ts"
import { migrations } from "../../domain/checkout/migrations.ts"
import { OrderPaymentRepo } from "../../domain/checkout/OrderPaymentRepo.ts"
import { Quotes } from "../../domain/checkout/Quotes.ts"
import { CaptureRepo } from "../../domain/payments/CaptureRepo.ts"
import { defineModule } from "../../domain/platform/modules/Module.ts"
import { cartsHttp } from "../../http/carts/CartsHttp.ts"
import { capturesHttp, checkoutHttp, orderPaymentsHttp } from "../../http/checkout/CheckoutHttp.ts"
import { shippingQuotesHttp } from "../../http/shipping/ShippingHttp.ts"
import { PaymentSessions } from "../../workflows/carts/PaymentSessions.ts"
import { TotalledCarts } from "../../workflows/carts/TotalledCarts.ts"
import { captureOrderLayer, Captures, lateCaptureLayer } from "../../workflows/checkout/Captures.ts"
import { checkoutLayer } from "../../workflows/checkout/Checkout.ts"
import { Checkouts } from "../../workflows/checkout/Checkouts.ts"
import { OrderPayments } from "../../workflows/checkout/OrderPayments.ts"
import { payOrderLayer } from "../../workflows/checkout/PayOrder.ts"
import { voidPaymentLayer } from "../../workflows/payments/VoidPayment.ts"
import { carts } from "./carts.ts"
import { fulfillment } from "./fulfillment.ts"
import { inventory } from "./inventory.ts"
import { orders } from "./orders.ts"
import { payments } from "./payments.ts"
import { pricing } from "./pricing.ts"
import { promotions } from "./promotions.ts"
import { shipping } from "./shipping.ts"
import { tax } from "./tax.ts"

/** From a cart to a placed and paid order (contract §3). */
export const checkout = defineModule({
  id: "checkout",
  requires: [carts, pricing, promotions, shipping, tax, inventory, orders, fulfillment, payments],
  permissions: [{ scope: "orders:create", description: "Check carts out" }],
  migrations,
  services: Layer.mergeAll(Checkouts.layer, OrderPayments.layer, PaymentSessions.layer, Quotes.layer).pipe(
    Layer.provideMerge(TotalledCarts.layer),
    Layer.provideMerge(
      Layer.mergeAll(
        CheckoutPricing.layer,
        CheckoutRunRepo.layer,
        basketRepoLayer,
        createOrderRepoLayer,
        OrderPaymentRepo.layer,
        Layer.provideMerge(Captures.layer, CaptureRepo.layer)
      )
    )
  ),
  actors: Layer.mergeAll(checkoutLayer, captureOrderLayer, lateCaptureLayer, payOrderLayer, voidPaymentLayer),
  routes: Layer.mergeAll(cartsHttp, checkoutHttp, shippingQuotesHttp, capturesHttp, orderPaymentsHttp)
})

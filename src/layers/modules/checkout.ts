import { Layer } from "effect"
import { WorkflowEngine } from "effect/workflow"
import { cartToDecideRepoLayer } from "../../domain/checkout/CartToDecideRepo.ts"
import { ClaimRepo, claimRepoLayer } from "../../domain/checkout/ClaimRepo.ts"
import { Decisions } from "../../domain/checkout/Decisions.ts"
import { PlaceRepo, placeRepoLayer } from "../../domain/checkout/PlaceRepo.ts"
import { ShippingQuotes } from "../../domain/checkout/ShippingQuotes.ts"
import { Fulfillments } from "../../domain/fulfillment/Fulfillments.ts"
import { Hooks } from "../../domain/hooks/Hooks.ts"
import { HoldRepo } from "../../domain/inventory/HoldRepo.ts"
import { ReservationRepo } from "../../domain/inventory/ReservationRepo.ts"
import { defineModule } from "../../domain/modules/Module.ts"
import { OrderNumbers } from "../../domain/orders/OrderNumbers.ts"
import { OrderRepo } from "../../domain/orders/OrderRepo.ts"
import { Orders } from "../../domain/orders/Orders.ts"
import { OrderStatusRepo } from "../../domain/orders/OrderStatusRepo.ts"
import { UnconfirmedOrderRepo } from "../../domain/orders/UnconfirmedOrderRepo.ts"
import { CaptureRepo, captureRepoLayer } from "../../domain/payments/CaptureRepo.ts"
import { CompensationFailureRepo } from "../../domain/payments/CompensationFailureRepo.ts"
import { PaymentAdapters } from "../../domain/payments/PaymentAdapter.ts"
import { StoreSettings } from "../../domain/settings/StoreSettings.ts"
import { StockDeskClient } from "../../entities/StockDeskClient.ts"
import { capturesHttp } from "../../http/checkout/CapturesHttp.ts"
import { checkoutHttp } from "../../http/checkout/CheckoutHttp.ts"
import { shippingQuotesHttp } from "../../http/shipping/ShippingQuotesHttp.ts"
import { captureOrderLayer } from "../../workflows/checkout/CaptureOrder.ts"
import { Captures } from "../../workflows/checkout/Captures.ts"
import { checkoutLayer } from "../../workflows/checkout/Checkout.ts"
import { Checkouts } from "../../workflows/checkout/Checkouts.ts"
import { AtFaultPoint } from "../../workflows/checkout/FaultPoint.ts"
import { lateCaptureLayer } from "../../workflows/checkout/LateCapture.ts"
import { voidPaymentLayer } from "../../workflows/payments/VoidPayment.ts"
import { ofRoutes, seeing } from "../Sight.ts"

/** From a cart to a placed and paid order (contract §3). It has no tables of its own. */
export const checkout = defineModule({
  id: "checkout",
  version: "1.0.0",
  requires: ["carts", "pricing", "promotions", "shipping", "tax", "inventory", "orders", "fulfillment", "payments"],
  permissions: [{ scope: "orders:create", description: "Check carts out" }],
  migrations: {},
  services: Layer.merge(Checkouts.layer, Layer.provide(ShippingQuotes.layer, cartToDecideRepoLayer)).pipe(
    Layer.provideMerge(
      Layer.mergeAll(
        Decisions.layer,
        claimRepoLayer,
        placeRepoLayer,
        Layer.provideMerge(Captures.layer, captureRepoLayer)
      )
    )
  ),
  actors: Layer.mergeAll(checkoutLayer, captureOrderLayer, lateCaptureLayer, voidPaymentLayer).pipe(
    seeing(
      AtFaultPoint,
      CaptureRepo,
      ClaimRepo,
      CompensationFailureRepo,
      Decisions,
      Fulfillments,
      HoldRepo,
      Hooks,
      OrderNumbers,
      OrderRepo,
      Orders,
      OrderStatusRepo,
      PaymentAdapters,
      PlaceRepo,
      ReservationRepo,
      StockDeskClient,
      StoreSettings,
      UnconfirmedOrderRepo,
      WorkflowEngine.WorkflowEngine
    )
  ),
  routes: Layer.mergeAll(checkoutHttp, shippingQuotesHttp, capturesHttp).pipe(
    seeing(Captures, Checkouts, ShippingQuotes, ...ofRoutes)
  )
})

import { Layer } from "effect"
import { WorkflowEngine } from "effect/workflow"
import { ClaimRepo, claimRepoLayer } from "../../domain/checkout/ClaimRepo.ts"
import { Decisions } from "../../domain/checkout/Decisions.ts"
import { PlaceRepo, placeRepoLayer } from "../../domain/checkout/PlaceRepo.ts"
import { Fulfillments } from "../../domain/fulfillment/Fulfillments.ts"
import { Hooks } from "../../domain/hooks/Hooks.ts"
import { HoldRepo } from "../../domain/inventory/HoldRepo.ts"
import { ReservationRepo } from "../../domain/inventory/ReservationRepo.ts"
import { defineModule } from "../../domain/modules/Module.ts"
import { OrderNumbers } from "../../domain/orders/OrderNumbers.ts"
import { OrderRepo } from "../../domain/orders/OrderRepo.ts"
import { OrderStatusRepo } from "../../domain/orders/OrderStatusRepo.ts"
import { UnconfirmedOrderRepo } from "../../domain/orders/UnconfirmedOrderRepo.ts"
import { PaymentAdapters } from "../../domain/payments/PaymentAdapter.ts"
import { StoreSettings } from "../../domain/settings/StoreSettings.ts"
import { StockDeskClient } from "../../entities/StockDeskClient.ts"
import { checkoutHttp } from "../../http/checkout/CheckoutHttp.ts"
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
  requires: ["carts", "pricing", "promotions", "inventory", "orders", "fulfillment", "payments"],
  permissions: [{ scope: "orders:create", description: "Check carts out" }],
  migrations: {},
  services: Layer.mergeAll(Checkouts.layer, Decisions.layer, claimRepoLayer, placeRepoLayer),
  actors: Layer.mergeAll(checkoutLayer, lateCaptureLayer, voidPaymentLayer).pipe(
    seeing(
      AtFaultPoint,
      ClaimRepo,
      Decisions,
      Fulfillments,
      HoldRepo,
      Hooks,
      OrderNumbers,
      OrderRepo,
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
  routes: checkoutHttp.pipe(seeing(Checkouts, ...ofRoutes))
})

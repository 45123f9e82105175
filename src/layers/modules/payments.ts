import { Layer } from "effect"
import { WorkflowEngine } from "effect/workflow"
import { defineModule } from "../../domain/modules/Module.ts"
import { migrations } from "../../domain/payments/migrations.ts"
import { PaymentAdapters } from "../../domain/payments/PaymentAdapter.ts"
import { paymentEventRepoLayer } from "../../domain/payments/PaymentEventRepo.ts"
import { PaymentEvents } from "../../domain/payments/PaymentEvents.ts"
import { RefundRepo, refundRepoLayer } from "../../domain/payments/RefundRepo.ts"
import { paymentsHttp } from "../../http/payments/PaymentsHttp.ts"
import { RefundSettlement } from "../../workflows/payments/RefundSettlement.ts"
import { settleRefundLayer } from "../../workflows/payments/SettleRefund.ts"
import { StatusChanges } from "../../workflows/payments/StatusChanges.ts"
import { UnconfirmedOrders } from "../../workflows/payments/UnconfirmedOrders.ts"
import { ofRoutes, seeing } from "../Sight.ts"

/** Money given back and the events of payment providers. Needs the services of orders and the payment adapters. */
export const payments = defineModule({
  id: "payments",
  version: "1.0.0",
  requires: ["orders", "fulfillment"],
  permissions: [],
  migrations,
  services: Layer.mergeAll(StatusChanges.layer, UnconfirmedOrders.layer).pipe(
    Layer.provideMerge(Layer.mergeAll(RefundSettlement.layer, PaymentEvents.layer)),
    Layer.provideMerge(Layer.mergeAll(refundRepoLayer, paymentEventRepoLayer))
  ),
  actors: settleRefundLayer.pipe(seeing(PaymentAdapters, RefundRepo, WorkflowEngine.WorkflowEngine)),
  routes: paymentsHttp.pipe(seeing(StatusChanges, ...ofRoutes))
})

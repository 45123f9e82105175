import { Layer } from "effect"
import { WorkflowEngine } from "effect/workflow"
import { defineModule } from "../../domain/modules/Module.ts"
import { compensationFailureRepoLayer } from "../../domain/payments/CompensationFailureRepo.ts"
import { CompensationFailures } from "../../domain/payments/CompensationFailures.ts"
import { migrations } from "../../domain/payments/migrations.ts"
import { PaymentAdapters } from "../../domain/payments/PaymentAdapter.ts"
import { paymentEventRepoLayer } from "../../domain/payments/PaymentEventRepo.ts"
import { PaymentEvents } from "../../domain/payments/PaymentEvents.ts"
import { refundDecisionRepoLayer } from "../../domain/payments/RefundDecisionRepo.ts"
import { refundRecordRepoLayer } from "../../domain/payments/RefundRecordRepo.ts"
import { RefundRepo, refundRepoLayer } from "../../domain/payments/RefundRepo.ts"
import { refundRetryRepoLayer } from "../../domain/payments/RefundRetryRepo.ts"
import { RefundReversalRepo, refundReversalRepoLayer } from "../../domain/payments/RefundReversalRepo.ts"
import { Refunds } from "../../domain/payments/Refunds.ts"
import { compensationsHttp } from "../../http/payments/CompensationsHttp.ts"
import { paymentsHttp } from "../../http/payments/PaymentsHttp.ts"
import { refundsHttp } from "../../http/payments/RefundsHttp.ts"
import { FullRefunds } from "../../workflows/payments/FullRefunds.ts"
import { RefundRequests } from "../../workflows/payments/RefundRequests.ts"
import { RefundSettlement } from "../../workflows/payments/RefundSettlement.ts"
import { settleRefundLayer } from "../../workflows/payments/SettleRefund.ts"
import { StatusChanges } from "../../workflows/payments/StatusChanges.ts"
import { UnconfirmedOrders } from "../../workflows/payments/UnconfirmedOrders.ts"
import { UnpaidCancellation } from "../../workflows/payments/UnpaidCancellation.ts"
import { UnwantedMoney } from "../../workflows/payments/UnwantedMoney.ts"
import { ofRoutes, seeing } from "../Sight.ts"

/** Money given back and the events of payment providers. Needs the services of orders and the payment adapters. */
export const payments = defineModule({
  id: "payments",
  version: "1.0.0",
  requires: ["inventory", "orders", "fulfillment"],
  permissions: [{ scope: "compensation:admin", description: "See to steps about money that failed for good" }],
  migrations,
  services: Layer.mergeAll(StatusChanges.layer, UnconfirmedOrders.layer, RefundRequests.layer).pipe(
    Layer.provideMerge(UnpaidCancellation.layer),
    Layer.provideMerge(
      Layer.mergeAll(
        RefundSettlement.layer,
        UnwantedMoney.layer,
        PaymentEvents.layer,
        FullRefunds.layer,
        Refunds.layer,
        CompensationFailures.layer
      )
    ),
    Layer.provideMerge(
      Layer.mergeAll(
        refundRepoLayer,
        refundDecisionRepoLayer,
        refundRecordRepoLayer,
        refundRetryRepoLayer,
        refundReversalRepoLayer,
        compensationFailureRepoLayer,
        paymentEventRepoLayer
      )
    )
  ),
  actors: settleRefundLayer.pipe(
    seeing(FullRefunds, PaymentAdapters, RefundRepo, RefundReversalRepo, WorkflowEngine.WorkflowEngine)
  ),
  routes: Layer.mergeAll(
    paymentsHttp.pipe(seeing(StatusChanges, ...ofRoutes)),
    refundsHttp.pipe(seeing(Refunds, RefundRequests, ...ofRoutes)),
    compensationsHttp.pipe(seeing(CompensationFailures, RefundRequests, ...ofRoutes))
  )
})

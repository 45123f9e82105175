import { Layer } from "effect"
import { defineModule } from "../../domain/modules/Module.ts"
import { compensationFailureRepoLayer } from "../../domain/payments/CompensationFailureRepo.ts"
import { CompensationFailures } from "../../domain/payments/CompensationFailures.ts"
import { migrations } from "../../domain/payments/migrations.ts"
import { paymentEventRepoLayer } from "../../domain/payments/PaymentEventRepo.ts"
import { PaymentEvents } from "../../domain/payments/PaymentEvents.ts"
import { refundCalculationRepoLayer } from "../../domain/payments/RefundCalculationRepo.ts"
import { refundRecordRepoLayer } from "../../domain/payments/RefundRecordRepo.ts"
import { refundRepoLayer } from "../../domain/payments/RefundRepo.ts"
import { refundRetryRepoLayer } from "../../domain/payments/RefundRetryRepo.ts"
import { refundReversalRepoLayer } from "../../domain/payments/RefundReversalRepo.ts"
import { Refunds } from "../../domain/payments/Refunds.ts"
import { paymentsHttp } from "../../http/payments/PaymentsHttp.ts"
import { compensationsHttp, refundsHttp } from "../../http/payments/RefundsHttp.ts"
import { FullRefunds } from "../../workflows/payments/FullRefunds.ts"
import { OrphanedPayments } from "../../workflows/payments/OrphanedPayments.ts"
import { RefundRequests } from "../../workflows/payments/RefundRequests.ts"
import { RefundSettlement } from "../../workflows/payments/RefundSettlement.ts"
import { settleRefundLayer } from "../../workflows/payments/SettleRefund.ts"
import { StatusChanges } from "../../workflows/payments/StatusChanges.ts"
import { UnpaidOrders } from "../../workflows/payments/UnpaidOrders.ts"
import { fulfillment } from "./fulfillment.ts"
import { inventory } from "./inventory.ts"
import { orders } from "./orders.ts"
import { tax } from "./tax.ts"

/** Money given back and the events of payment providers. Needs the services of orders and the payment adapters. */
export const payments = defineModule({
  id: "payments",
  requires: [inventory, orders, tax, fulfillment],
  permissions: [{ scope: "compensation:admin", description: "See to steps about money that failed for good" }],
  migrations,
  services: Layer.mergeAll(StatusChanges.layer, UnpaidOrders.layer, RefundRequests.layer).pipe(
    Layer.provideMerge(
      Layer.mergeAll(
        RefundSettlement.layer,
        OrphanedPayments.layer,
        PaymentEvents.layer,
        FullRefunds.layer,
        Refunds.layer,
        CompensationFailures.layer
      )
    ),
    Layer.provideMerge(
      Layer.mergeAll(
        refundRepoLayer,
        refundCalculationRepoLayer,
        refundRecordRepoLayer,
        refundRetryRepoLayer,
        refundReversalRepoLayer,
        compensationFailureRepoLayer,
        paymentEventRepoLayer
      )
    )
  ),
  actors: settleRefundLayer,
  routes: Layer.mergeAll(
    paymentsHttp,
    refundsHttp,
    compensationsHttp
  )
})

import { Layer } from "effect"
import { CollectedPaymentRepo } from "../../domain/payments/CollectedPaymentRepo.ts"
import { CompensationFailureRepo } from "../../domain/payments/CompensationFailureRepo.ts"
import { ExchangeCreditRepo } from "../../domain/payments/ExchangeCreditRepo.ts"
import { migrations } from "../../domain/payments/migrations.ts"
import { PaymentEventRepo } from "../../domain/payments/PaymentEventRepo.ts"
import { PaymentEvents } from "../../domain/payments/PaymentEvents.ts"
import { RefundCalculationRepo } from "../../domain/payments/RefundCalculationRepo.ts"
import { RefundPartRepo } from "../../domain/payments/RefundPartRepo.ts"
import { RefundRepo } from "../../domain/payments/RefundRepo.ts"
import { RefundReversalRepo } from "../../domain/payments/RefundReversalRepo.ts"
import { CompensationFailures, Refunds } from "../../domain/payments/Refunds.ts"
import { defineModule } from "../../domain/platform/modules/Module.ts"
import { compensationsHttp, paymentsHttp, refundsHttp } from "../../http/payments/PaymentsHttp.ts"
import { CollectedPayments } from "../../workflows/payments/CollectedPayments.ts"
import { exchangePayments } from "../../workflows/payments/ExchangePayments.ts"
import { OrphanedPayments } from "../../workflows/payments/OrphanedPayments.ts"
import { RefundRequests, RefundSettlement } from "../../workflows/payments/RefundSettlement.ts"
import { FullRefunds, settleRefundLayer } from "../../workflows/payments/SettleRefund.ts"
import { StatusChanges } from "../../workflows/payments/StatusChanges.ts"
import { UnpaidOrders } from "../../workflows/payments/UnpaidOrders.ts"
import { fulfillment } from "./fulfillment.ts"
import { inventory } from "./inventory.ts"
import { orders } from "./orders.ts"
import { tax } from "./tax.ts"

/** Refunds and provider events. Needs orders and payment adapters. */
export const payments = defineModule({
  id: "payments",
  requires: [inventory, orders, tax, fulfillment],
  permissions: [{ scope: "compensation:admin", description: "See to steps about money that failed for good" }],
  migrations,
  services: Layer.mergeAll(
    StatusChanges.layer,
    UnpaidOrders.layer,
    RefundRequests.layer,
    CollectedPayments.layer,
    Layer.provide(exchangePayments, ExchangeCreditRepo.layer)
  ).pipe(
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
        RefundPartRepo.layer,
        RefundRepo.layer,
        RefundCalculationRepo.layer,
        RefundReversalRepo.layer,
        CollectedPaymentRepo.layer,
        CompensationFailureRepo.layer,
        PaymentEventRepo.layer
      )
    )
  ),
  actors: settleRefundLayer,
  routes: Layer.mergeAll(paymentsHttp, refundsHttp, compensationsHttp)
})

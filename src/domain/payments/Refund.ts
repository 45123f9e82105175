/** A refund as its deciding transaction wrote it. */
export interface Refund {
  readonly id: string
  readonly orderId: string
  /** Minor units of the order's currency; 0 voids an authorization that was never captured. */
  readonly amount: number
  readonly reason: string
  readonly status: "pending" | "completed" | "failed" | "undone"
  /** How often its provider has refused it: a refusal ends a key, silence does not. */
  readonly refusals: number
  /** The order's payment at its provider; null for an order that was paid otherwise. */
  readonly intentId: string | null
  readonly provider: string | null
}

/** A refund that waits for its provider. */
export interface PendingRefund {
  readonly refundId: string
  readonly organizationId: string
  /** How often it was restarted after a failure; absent: never. */
  readonly restarts?: number | undefined
}

/** The provider's idempotency key: the same until the provider refuses, so a retry never refunds twice. */
export const refundKey = ({ id, refusals }: Refund): string => refusals === 0 ? id : `${id}:${refusals}`

import { Effect } from "effect"
import type { PluginDatabase } from "stoa/plugin"

/**
 * Keeps an order's money from others until the caller's transaction ends, as the core's refunds do: what is then read of
 * it stays so. Orders are locked before sub-orders and accounts.
 */
export const lockOrder = ({ sql }: PluginDatabase["Service"], organizationId: string, orderId: string) =>
  Effect.orDie(
    sql`select 1 from orders where id = ${orderId}::uuid and organization_id = ${organizationId} for update`
  )

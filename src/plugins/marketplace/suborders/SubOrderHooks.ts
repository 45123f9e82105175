import { Effect } from "effect"
import { beforeHook, HookRefusal, type PluginDatabase } from "stoa/plugin"
import { subOrders } from "./SubOrderTables.ts"

/** An order is fulfilled when every vendor has delivered its part, or is out of it (contract, plugins §1.3). */
export const subOrderHooks = (db: PluginDatabase["Service"]) => [
  beforeHook("orders.beforeStatusChange", ({ data }) =>
    Effect.gen(function*() {
      if (data.newStatus !== "fulfilled") return {}
      const open = yield* db.table(subOrders).count({
        orderId: data.orderId,
        status: { in: ["pending", "confirmed", "processing", "shipped"] }
      })
      // What is on its way is not there yet: the order waits for it.
      if (open > 0 && data.source === "fulfillment") return { newStatus: "partially_fulfilled" }
      if (open > 0) {
        return yield* Effect.fail(new HookRefusal(`${open} of the order's vendors have not delivered their part yet.`))
      }
      return {}
    }))
]

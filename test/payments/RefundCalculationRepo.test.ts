import { assert, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { CurrentActor } from "../../src/domain/access/Actor.ts"
import { RefundedStock } from "../../src/domain/inventory/RefundedStock.ts"
import { RefundedStockRepo } from "../../src/domain/inventory/RefundedStockRepo.ts"
import { calculateRefund } from "../../src/domain/payments/RefundCalculation.ts"
import { RefundCalculationRepo, refundCalculationRepoLayer } from "../../src/domain/payments/RefundCalculationRepo.ts"
import { statementsOf } from "../pricing/Statements.ts"
import { buildOrder, manager } from "../support/OrderBuilder.ts"
import { TestDatabase } from "../support/Postgres.ts"

const Repos = refundCalculationRepoLayer.pipe(
  Layer.provide(RefundedStock.layer),
  Layer.provide(RefundedStockRepo.layer),
  Layer.provideMerge(TestDatabase)
)

it.layer(Repos, { excludeTestServices: true })("a refund of lines", (it) => {
  it.effect("costs as many statements for 50 lines as for one", () =>
    Effect.gen(function*() {
      const refunds = yield* RefundCalculationRepo
      const costOf = Effect.fnUntraced(function*(count: number) {
        const order = yield* buildOrder({ lines: Array.from({ length: count }, () => ({ quantity: 2 })), onHand: 5 })
        const lines = order.lines.map(({ id }) => ({ lineItemId: id, quantity: 1 }))
        const write = refunds.write(order.id, "r", (found) => calculateRefund(found, { lines, restock: true }))
        return (yield* statementsOf(Effect.provideService(write, CurrentActor, manager()))).length
      })
      const [one, fifty] = [yield* costOf(1), yield* costOf(50)]
      assert.isAtMost(one, 8)
      assert.strictEqual(fifty, one)
    }))
})

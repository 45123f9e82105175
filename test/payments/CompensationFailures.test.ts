import { assert, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { HoldRepo } from "../../src/domain/inventory/HoldRepo.ts"
import { OrderStock } from "../../src/domain/inventory/Inventory.ts"
import { OrderHoldRepo } from "../../src/domain/inventory/OrderHoldRepo.ts"
import { CompensationFailureRepo } from "../../src/domain/payments/CompensationFailureRepo.ts"
import { calculateRefund } from "../../src/domain/payments/RefundCalculation.ts"
import { RefundCalculationRepo } from "../../src/domain/payments/RefundCalculationRepo.ts"
import { RefundRepo } from "../../src/domain/payments/RefundRepo.ts"
import { RefundReversalRepo } from "../../src/domain/payments/RefundReversalRepo.ts"
import { CurrentActor } from "../../src/domain/platform/access/Actor.ts"
import { type CompensationFailureId, newId } from "../../src/domain/platform/ids/Id.ts"
import { plansOf, statementsOf } from "../pricing/Statements.ts"
import { buildOrder, manager } from "../support/OrderBuilder.ts"
import { TestDatabase } from "../support/Postgres.ts"

const Repos = Layer.mergeAll(
  CompensationFailureRepo.layer,
  RefundCalculationRepo.layer,
  RefundRepo.layer,
  RefundReversalRepo.layer
).pipe(
  Layer.provideMerge(OrderStock.layer),
  Layer.provide(Layer.merge(HoldRepo.layer, OrderHoldRepo.layer)),
  Layer.provideMerge(TestDatabase)
)

const inStore = Effect.provideService(CurrentActor, manager())
const page = { page: 1, limit: 20 }

it.layer(Repos, { excludeTestServices: true })("money steps that failed for good", (it) => {
  it.effect("records an unanswered void once, and lets it be resolved once and not restarted", () =>
    Effect.gen(function*() {
      const failures = yield* CompensationFailureRepo
      const [checkoutId, organizationId] = [newId<CompensationFailureId>(), "org_default"]
      const failed = { organizationId, checkoutId, provider: "p", intentId: null, amount: 900, message: "m" }
      yield* failures.recordVoid(failed)
      yield* failures.recordVoid(failed)
      const { items, total } = yield* inStore(failures.list("open", page))
      assert.strictEqual(total, 1)
      assert.deepInclude(items[0], { id: checkoutId, kind: "void_failed", amount: 900, actions: ["resolve"] })
      const refused = yield* Effect.flip(inStore(Effect.flatMap(RefundReversalRepo, ({ retry }) => retry(checkoutId))))
      assert.strictEqual(refused._tag, "Conflict/StepNotRestartable")
      const elsewhere = Effect.provideService(CurrentActor, manager("org_else"))
      assert.strictEqual((yield* elsewhere(failures.list(undefined, page))).total, 0)
      assert.isFalse(yield* elsewhere(failures.resolve(checkoutId, null)))
      const both = [inStore(failures.resolve(checkoutId, null)), inStore(failures.resolve(checkoutId, null))]
      assert.deepStrictEqual((yield* Effect.all(both, { concurrency: 2 })).toSorted(), [false, true])
    }))

  it.effect("refunds 50 lines in as many statements as one", () =>
    Effect.gen(function*() {
      const refunds = yield* RefundCalculationRepo
      const costOf = Effect.fnUntraced(function*(count: number) {
        const order = yield* buildOrder({ lines: Array.from({ length: count }, () => ({ quantity: 2 })), onHand: 5 })
        const lines = order.lines.map(({ id }) => ({ lineItemId: id, quantity: 1 }))
        const write = refunds.write(order.id, "r", (found) => calculateRefund(found, { lines, restock: true }))
        return (yield* statementsOf(inStore(write))).length
      })
      const [one, fifty] = [yield* costOf(1), yield* costOf(50)]
      assert.isAtMost(one, 8)
      assert.strictEqual(fifty, one)
    }))

  it.effect("finds open failures, an order's refunds and its stock movements by indexes", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const order = yield* buildOrder({ lines: [{ quantity: 2 }], onHand: 5 })
      const others = yield* buildOrder()
      yield* sql`insert into compensation_failures (id, organization_id, kind, status, amount, message)
        select gen_random_uuid(), 'org_default', 'void_failed', 'resolved', 0, 'm' from generate_series(1, 20000)`
      yield* sql`insert into refunds (id, organization_id, order_id, amount, reason, status)
        select gen_random_uuid(), 'org_default', ${others.id}::uuid, 0, 'test', 'completed' from generate_series(1, 20000)`
      yield* sql`insert into stock_movements (id, organization_id, entity_id, warehouse_id, type, quantity,
          reference_type, reference_id)
        select gen_random_uuid(), 'org_default', ${order.lines[0]?.entityId ?? ""}::uuid, ${order.warehouseId}::uuid,
          'fulfillment', -1, 'order', gen_random_uuid()::text from generate_series(1, 20000)`
      for (const table of ["compensation_failures", "refunds", "stock_movements"]) yield* sql`analyze ${sql(table)}`
      const failures = yield* CompensationFailureRepo
      const records = yield* RefundRepo
      const stock = yield* OrderStock
      const open = yield* plansOf(inStore(failures.list("open", page)))
      assert.isTrue(open.some((plan) => plan.includes("compensation_failures_open")))
      open.forEach((plan) => assert.notMatch(plan, /Seq Scan on compensation_failures/))
      const listed = yield* plansOf(inStore(records.ofOrder(order.id, page)))
      listed.forEach((plan) => assert.include(plan, "refunds_order"))
      const units = [{ sellable: order.lines[0]?.entityId ?? "", quantity: 1 }]
      const [back = ""] = yield* plansOf(inStore(stock.restoreHold(order.id, units)))
      assert.include(back, "stock_movements_left")
      for (const plan of [...open, ...listed, back]) {
        assert.notMatch(plan, /Seq Scan on (compensation_failures|refunds|stock_movements)/)
      }
    }))
})

import { assert, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { newId } from "../../src/domain/ids/Id.ts"
import { RefundedStock } from "../../src/domain/inventory/RefundedStock.ts"
import { CaptureRepo, captureRepoLayer } from "../../src/domain/payments/CaptureRepo.ts"
import { RefundCalculationRepo, refundCalculationRepoLayer } from "../../src/domain/payments/RefundCalculationRepo.ts"
import { RefundRecordRepo, refundRecordRepoLayer } from "../../src/domain/payments/RefundRecordRepo.ts"
import { RefundRepo, refundRepoLayer } from "../../src/domain/payments/RefundRepo.ts"
import { RefundReversalRepo, refundReversalRepoLayer } from "../../src/domain/payments/RefundReversalRepo.ts"
import { buildOrder } from "../support/OrderBuilder.ts"
import { TestDatabase } from "../support/Postgres.ts"
import { here, outsider } from "./Anonymous.ts"

const Repos = Layer.mergeAll(
  captureRepoLayer,
  refundCalculationRepoLayer,
  refundRecordRepoLayer,
  refundRepoLayer,
  refundReversalRepoLayer
).pipe(
  // Nothing here gets as far as the stock.
  Layer.provide(Layer.mock(RefundedStock, {})),
  Layer.provideMerge(TestDatabase)
)

const page = { page: 1, limit: 9 }

/** A refund of a paid order, which waits for its provider, and both rows as they are. */
const aRefund = Effect.gen(function*() {
  const sql = yield* SqlClient.SqlClient
  const { grandTotal, id: order } = yield* buildOrder()
  const refund = newId()
  yield* sql`insert into refunds (id, organization_id, order_id, amount, reason, status)
    values (${refund}::uuid, 'org_default', ${order}::uuid, 500, 'damaged', 'pending')`
  const rows = sql`select o::text, r::text from orders o left join refunds r on r.order_id = o.id
    where o.id = ${order}::uuid order by r.id`
  return { order, refund, grandTotal, rows }
})

it.layer(Repos, { excludeTestServices: true })("money of another organization, past its services", (it) => {
  it.effect("refunds: not shown", () =>
    Effect.gen(function*() {
      const records = yield* RefundRecordRepo
      const { order, refund } = yield* aRefund
      const sql = yield* SqlClient.SqlClient
      assert.isUndefined(yield* outsider(records.find(refund)))
      assert.isUndefined(yield* outsider(records.ofOrder(order, page)))
      assert.isUndefined(yield* outsider(records.refundable(order)))
      assert.strictEqual((yield* here(records.ofOrder(order, page)))?.items.length, 1)
      // One in another organization's name is none of this order's.
      yield* sql`update refunds set organization_id = 'org_elsewhere' where id = ${refund}::uuid`
      assert.strictEqual((yield* here(records.ofOrder(order, page)))?.items.length, 0)
    }))

  it.effect("refunds: neither decided, nor sent, nor settled, nor undone, and nobody waits for their rows", () =>
    Effect.gen(function*() {
      const [pricing, refunds] = [yield* RefundCalculationRepo, yield* RefundRepo]
      const reversals = yield* RefundReversalRepo
      const { grandTotal, order, refund, rows } = yield* aRefund
      const before = yield* rows
      const decide = () => {
        throw new Error("Somebody decided on another organization's order.")
      }
      assert.strictEqual((yield* Effect.flip(outsider(pricing.write(order, "r", decide))))._tag, "NotFound")
      assert.isFalse(yield* outsider(refunds.send(refund)))
      assert.isFalse(yield* outsider(refunds.complete(refund, "ref")))
      assert.isFalse(yield* outsider(reversals.fail(refund, { message: "no", refused: true })))
      assert.strictEqual((yield* Effect.flip(outsider(reversals.undo(order, refund))))._tag, "NotFound")
      assert.strictEqual(yield* outsider(refunds.recordExternal(order, grandTotal, "ref")), 0)
      assert.deepStrictEqual(yield* rows, before)
      // Sent, so that it can neither be undone nor be missed.
      assert.isTrue(yield* here(refunds.send(refund)))
      assert.strictEqual((yield* Effect.flip(outsider(reversals.undo(order, refund))))._tag, "NotFound")
    }))

  it.effect("money that came too late is not returned elsewhere", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const refunds = yield* RefundRepo
      const { id } = yield* buildOrder({ captured: null, status: "cancelled" })
      const row = sql`select o::text from orders o where id = ${id}::uuid`
      const before = yield* row
      assert.isNull(yield* outsider(refunds.returnLate(id, 1_000)))
      assert.deepStrictEqual(yield* row, before)
    }))

  it.effect("captures are neither claimed nor released", () =>
    Effect.gen(function*() {
      const sql = yield* SqlClient.SqlClient
      const captures = yield* CaptureRepo
      const { id } = yield* buildOrder({ captured: null })
      const row = sql`select o::text from orders o where id = ${id}::uuid`
      assert.strictEqual((yield* Effect.flip(outsider(captures.claim(id, 5))))._tag, "NotFound")
      yield* here(captures.claim(id, 5))
      const before = yield* row
      yield* outsider(captures.release(id, 0))
      assert.deepStrictEqual(yield* row, before)
    }))
})

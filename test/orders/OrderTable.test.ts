import { assert, it } from "@effect/vitest"
import { Effect, Exit, Layer } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { RefundRepo } from "../../src/domain/payments/RefundRepo.ts"
import { CurrentActor } from "../../src/domain/platform/access/Actor.ts"
import { newId, type RefundId } from "../../src/domain/platform/ids/Id.ts"
import { atOnce } from "../support/AtOnce.ts"
import { buildOrder, manager } from "../support/OrderBuilder.ts"
import { TestDatabase } from "../support/Postgres.ts"

/** Values that no writer may give an order of 10.00 that is captured in full. */
const refusedValues: ReadonlyArray<readonly [what: string, set: string]> = [
  ["give back more than was captured", "refunded_total = 1001"],
  ["give back a negative amount", "refunded_total = -1"],
  ["lose the capture of a refund", "refunded_total = 500, amount_captured = null"],
  ["add up to another total", "tax_total = 1"],
  ["add the tax that its prices contain", "tax_included = true, tax_total = 1, grand_total = 1001"],
  ["contain more tax than it costs", "tax_included = true, tax_total = 1001"],
  ["have a negative discount", "discount_total = -1, grand_total = 1001"],
  ["have an unknown status", "status = 'lost'"]
]

/** Inserts a refund of an order. */
const refund = (orderId: string, amount: number, status = "pending", id = newId()) =>
  Effect.flatMap(
    SqlClient.SqlClient,
    (sql) =>
      sql`insert into refunds (id, organization_id, order_id, amount, reason, status)
        values (${id}::uuid, 'org_default', ${orderId}::uuid, ${amount}, 'r', ${status})`
  )

const inStore = Effect.provideService(CurrentActor, manager())

it.layer(RefundRepo.layer.pipe(Layer.provideMerge(TestDatabase)), { excludeTestServices: true })(
  "the table of orders",
  (it) => {
    const constrained = <A, R>(write: Effect.Effect<A, SqlError.SqlError, R>, what: string) =>
      Effect.map(Effect.flip(write), ({ reason }) => assert.strictEqual(reason._tag, "ConstraintError", what))

    it.effect("refuses amounts and statuses that contradict each other", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const { id } = yield* buildOrder()
        for (const [what, set] of refusedValues) {
          yield* constrained(sql`update orders set ${sql.literal(set)} where id = ${id}::uuid`, what)
        }
        const units = sql`update order_lines set refunded_quantity = quantity + 1 where order_id = ${id}::uuid`
        yield* constrained(units, "refund more units of a line than were sold")
      }))

    it.effect("refuses refunds beyond the capture, negative ones, and the restart of one that was paid in another way", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const { id } = yield* buildOrder()
        yield* constrained(refund(id, -1), "a negative refund")
        yield* refund(id, 600, "failed")
        yield* refund(id, 600)
        yield* constrained(sql`update refunds set status = 'pending' where order_id = ${id}::uuid`, "a restart")
        yield* constrained(refund(id, 401), "more than is left beside a pending refund")
        const partly = yield* buildOrder()
        yield* sql`update orders set refunded_total = 500 where id = ${partly.id}::uuid`
        yield* constrained(refund(partly.id, 501), "more than is left of the capture")
      }))

    it.effect("takes an order number once in an organization, and again in another one", () =>
      Effect.gen(function*() {
        const orderNumber = "ORD-2026-777777"
        yield* buildOrder({ orderNumber })
        yield* buildOrder({ orderNumber, organizationId: "org_other" })
        assert.isTrue(Exit.hasDies(yield* Effect.exit(buildOrder({ orderNumber }))))
      }))

    it.effect("takes one open failure of a refund", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const { id } = yield* buildOrder()
        const refundId = newId()
        yield* refund(id, 1, "failed", refundId)
        const fail = () =>
          sql`insert into compensation_failures (id, organization_id, kind, order_id, refund_id, amount, message)
            values (${newId()}::uuid, 'org_default', 'refund_failed', ${id}::uuid, ${refundId}::uuid, 1, 'm')`
        yield* fail()
        assert.strictEqual((yield* Effect.flip(fail())).reason._tag, "UniqueViolation")
      }))

    it.effect("takes one of two refunds at once that are too much together, also while the first is written", () =>
      Effect.gen(function*() {
        const [one, other] = [yield* buildOrder(), yield* buildOrder()]
        const ended = yield* atOnce(
          (sql) => sql`select 1 from orders where id = ${one.id}::uuid for update`,
          [Effect.exit(refund(one.id, 600)), Effect.exit(refund(one.id, 600))]
        )
        assert.strictEqual(ended.filter(Exit.isSuccess).length, 1)
        const [late] = yield* atOnce(
          (sql) => Effect.provideService(refund(other.id, 600), SqlClient.SqlClient, sql),
          [Effect.exit(refund(other.id, 600))]
        )
        assert.isTrue(late !== undefined && Exit.isFailure(late))
      }))

    it.effect("moves the total once for a refund that is settled twice at once", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const refunds = yield* RefundRepo
        const { id } = yield* buildOrder()
        const refundId = newId<RefundId>()
        yield* refund(id, 300, "pending", refundId)
        const complete = inStore(refunds.complete(refundId, null))
        const recorded = yield* Effect.all([complete, complete], { concurrency: "unbounded" })
        assert.deepStrictEqual(recorded.toSorted(), [false, true])
        assert.isFalse(yield* inStore(refunds.send(refundId)))
        const [row] = yield* sql`select refunded_total::int4 as total from orders where id = ${id}::uuid`
        assert.deepStrictEqual(row, { total: 300 })
      }))

    it.effect("counts a report of a provider once and up to the capture, also when it is received several times at once", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const refunds = yield* RefundRepo
        const { id } = yield* buildOrder()
        const report = Effect.orDie(sql.withTransaction(inStore(refunds.recordExternal(id, 5_000, "re_1", "pi_1"))))
        const lock = sql`select 1 from orders where id = ${id}::uuid for update`
        const amounts = yield* atOnce(() => lock, [report, report, report])
        assert.deepStrictEqual(amounts.toSorted((a, b) => a - b), [0, 0, 1_000])
      }))
  }
)

import { assert, it } from "@effect/vitest"
import { Effect, Exit, Layer } from "effect"
import { SqlClient, type SqlError } from "effect/sql"
import { CurrentActor } from "../../src/domain/access/Actor.ts"
import { newId } from "../../src/domain/ids/Id.ts"
import { RefundRepo, refundRepoLayer } from "../../src/domain/payments/RefundRepo.ts"
import { atOnce } from "../support/AtOnce.ts"
import { buildOrder, manager } from "../support/OrderBuilder.ts"
import { TestDatabase } from "../support/Postgres.ts"

type Write = (sql: SqlClient.SqlClient, id: string) => Effect.Effect<unknown, SqlError.SqlError>

/** What no writer may do to an order of 10.00, captured in full, whatever code he comes from. */
const refused: ReadonlyArray<readonly [what: string, write: Write]> = [
  [
    "give back more than was captured",
    (sql, id) => sql`update orders set refunded_total = 1001 where id = ${id}::uuid`
  ],
  ["give back a negative amount", (sql, id) => sql`update orders set refunded_total = -1 where id = ${id}::uuid`],
  [
    "lose the capture of what was given back",
    (sql, id) => sql`update orders set refunded_total = 500, amount_captured = null where id = ${id}::uuid`
  ],
  ["add up to another total", (sql, id) => sql`update orders set tax_total = 1 where id = ${id}::uuid`],
  [
    "add the tax that its prices contain",
    (sql, id) => sql`update orders set tax_included = true, tax_total = 1, grand_total = 1001 where id = ${id}::uuid`
  ],
  [
    "contain more tax than it costs",
    (sql, id) => sql`update orders set tax_included = true, tax_total = 1001 where id = ${id}::uuid`
  ],
  [
    "have a negative discount",
    (sql, id) => sql`update orders set discount_total = -1, grand_total = 1001 where id = ${id}::uuid`
  ],
  ["have an unknown status", (sql, id) => sql`update orders set status = 'lost' where id = ${id}::uuid`],
  [
    "refund more units of a line than were sold",
    (sql, id) => sql`update order_lines set refunded_quantity = quantity + 1 where order_id = ${id}::uuid`
  ],
  ["owe more than is left of what was captured", (sql, id) =>
    Effect.andThen(
      sql`update orders set refunded_total = 500 where id = ${id}::uuid`,
      sql`insert into refunds (id, organization_id, order_id, amount, reason, status)
        values (${newId()}::uuid, 'org_default', ${id}::uuid, 501, 'r', 'pending')`
    )],
  ["begin a refund anew whose money was given back otherwise", (sql, id) =>
    Effect.andThen(
      sql`insert into refunds (id, organization_id, order_id, amount, reason, status)
        select gen_random_uuid(), 'org_default', ${id}::uuid, 600, 'r', unnest(array['failed', 'pending'])`,
      sql`update refunds set status = 'pending' where order_id = ${id}::uuid`
    )],
  ["owe a negative refund", (sql, id) =>
    sql`insert into refunds (id, organization_id, order_id, amount, reason, status)
      values (${newId()}::uuid, 'org_default', ${id}::uuid, -1, 'r', 'pending')`]
]

const inStore = Effect.provideService(CurrentActor, manager())

it.layer(refundRepoLayer.pipe(Layer.provideMerge(TestDatabase)), { excludeTestServices: true })(
  "the table of orders",
  (it) => {
    for (const [what, write] of refused) {
      it.effect(`lets no order ${what}`, () =>
        Effect.gen(function*() {
          const sql = yield* SqlClient.SqlClient
          const { id } = yield* buildOrder()
          const { reason } = yield* Effect.flip(write(sql, id))
          assert.strictEqual(reason._tag, "ConstraintError", reason.message)
        }))
    }

    it.effect("has a number once in an organization, and again in another one", () =>
      Effect.gen(function*() {
        const orderNumber = "ORD-2026-777777"
        yield* buildOrder({ orderNumber })
        yield* buildOrder({ orderNumber, organizationId: "org_other" })
        assert.isTrue(Exit.hasDies(yield* Effect.exit(buildOrder({ orderNumber }))))
      }))

    it.effect("has one open failure of a refund, whoever writes it", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const { id } = yield* buildOrder()
        const refund = newId()
        yield* sql`insert into refunds (id, organization_id, order_id, amount, reason, status)
          values (${refund}::uuid, 'org_default', ${id}::uuid, 1, 'r', 'failed')`
        const fail = () =>
          sql`insert into compensation_failures (id, organization_id, kind, order_id, refund_id, amount, message)
            values (${newId()}::uuid, 'org_default', 'refund_failed', ${id}::uuid, ${refund}::uuid, 1, 'm')`
        yield* fail()
        assert.strictEqual((yield* Effect.flip(fail())).reason._tag, "UniqueViolation")
      }))

    it.effect("of two refunds at once that are too much together one is written down, whoever writes them", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const { id } = yield* buildOrder({ lines: [{ unitPrice: 1_000 }] })
        const write = () =>
          Effect.exit(
            sql`insert into refunds (id, organization_id, order_id, amount, reason, status)
              values (${newId()}::uuid, 'org_default', ${id}::uuid, 600, 'r', 'pending')`
          )
        const lock = sql`select 1 from orders where id = ${id}::uuid for update`
        const ended = yield* atOnce(() => lock, [write(), write()])
        assert.strictEqual(ended.filter(Exit.isSuccess).length, 1)
      }))

    it.effect("a refund waits for one that is being written, and is none when that leaves no room for it", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const { id } = yield* buildOrder({ lines: [{ unitPrice: 1_000 }] })
        const write = () =>
          sql`insert into refunds (id, organization_id, order_id, amount, reason, status)
            values (${newId()}::uuid, 'org_default', ${id}::uuid, 600, 'r', 'pending')`
        const [late] = yield* atOnce(write, [Effect.exit(write())])
        assert.isTrue(late !== undefined && Exit.isFailure(late))
      }))

    it.effect("one refund that is settled twice at once moves the total once", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const refunds = yield* RefundRepo
        const { id } = yield* buildOrder({ lines: [{ unitPrice: 1_000 }] })
        const refund = newId()
        yield* sql`insert into refunds (id, organization_id, order_id, amount, reason, status)
          values (${refund}::uuid, 'org_default', ${id}::uuid, 300, 'r', 'pending')`
        const complete = inStore(refunds.complete(refund, null))
        const recorded = yield* Effect.all([complete, complete], { concurrency: "unbounded" })
        assert.deepStrictEqual(recorded.toSorted(), [false, true])
        assert.isFalse(yield* inStore(refunds.send(refund)))
        const [row] = yield* sql`select refunded_total::int4 as total from orders where id = ${id}::uuid`
        assert.deepStrictEqual(row, { total: 300 })
      }))

    it.effect("the same report of a provider, received twice at once, is accounted for once and up to the capture", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const refunds = yield* RefundRepo
        const { id } = yield* buildOrder({ lines: [{ unitPrice: 1_000 }] })
        const report = Effect.orDie(sql.withTransaction(inStore(refunds.recordExternal(id, 5_000, "re_1"))))
        const lock = sql`select 1 from orders where id = ${id}::uuid for update`
        const amounts = yield* atOnce(() => lock, [report, report, report])
        assert.deepStrictEqual(amounts.toSorted((a, b) => a - b), [0, 0, 1_000])
      }))
  }
)

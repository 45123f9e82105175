import { assert, describe, it } from "@effect/vitest"
import { Effect, Exit, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { OrderPaymentRepo } from "../../src/domain/checkout/OrderPaymentRepo.ts"
import { UnpaidOrderRepo } from "../../src/domain/orders/UnpaidOrderRepo.ts"
import { CaptureRepo } from "../../src/domain/payments/CaptureRepo.ts"
import { CurrentActor } from "../../src/domain/platform/access/Actor.ts"
import { newId, type OrderId, type PaymentId } from "../../src/domain/platform/ids/Id.ts"
import { buildOrder, manager } from "../support/OrderBuilder.ts"
import { TestDatabase } from "../support/Postgres.ts"

const inStore = Effect.provideService(CurrentActor, manager())

const anUnpaidOrder = buildOrder({ captured: null, intentId: null })

const change = (change: string, id: OrderId) =>
  Effect.flatMap(SqlClient.SqlClient, (sql) => sql`${sql.literal(change.replaceAll("$id", `'${id}'::uuid`))}`)

const claim = (id: OrderId, payment = newId<PaymentId>()) =>
  inStore(OrderPaymentRepo.use((repo) => repo.claim(id, payment)))

const set = (assignment: string) => `update orders set ${assignment} where id = $id`

/** What keeps an order from being claimed. */
const hindrances = {
  "that is confirmed": set("status = 'confirmed'"),
  "that is cancelled": set("status = 'cancelled'"),
  "that is paid": set("amount_captured = 1000"),
  "that is being captured": set("capture_amount = 1000"),
  "that is free": set("grand_total = 0, subtotal = 0"),
  "that is a draft": set("is_draft = true"),
  "that comes from another system": set("imported_at = now()"),
  "whose payment waits for its capture": set("payment_intent_id = 'pay', payment_provider = 'test'"),
  "that another payment has claimed": set("payment_claim_id = gen_random_uuid()"),
  "of several payments":
    `insert into order_tenders (organization_id, order_id, position, provider, label, intent_id, is_stored_value, amount,
      refunded, needs_shopper) select organization_id, id, 0, 'test', 'test', 'pay', false, 400, 0, false
      from orders where id = $id`,
  "whose checkout is at work": `insert into checkout_runs (id, organization_id, owner, payload)
    select id, organization_id, gen_random_uuid(), '{}' from orders where id = $id`,
  "of another tenant": set("organization_id = 'org_other'")
}

describe("the claim of an order for another payment", () => {
  const layer = Layer.mergeAll(OrderPaymentRepo.layer, UnpaidOrderRepo.layer, CaptureRepo.layer)
  it.layer(Layer.provideMerge(layer, TestDatabase), { excludeTestServices: true })((it) => {
    for (const [what, statement] of Object.entries(hindrances)) {
      it.effect(`is refused for an order ${what}`, () =>
        Effect.gen(function*() {
          const { id } = yield* anUnpaidOrder
          yield* change(statement, id)
          assert.isUndefined(yield* claim(id))
        }))
    }

    it.effect("is given again to the payment that has it", () =>
      Effect.gen(function*() {
        const [{ grandTotal, id }, payment] = [yield* anUnpaidOrder, newId<PaymentId>()]
        const claimed = yield* claim(id, payment)
        assert.deepInclude(claimed, { amount: grandTotal, intentId: null, key: id })
        assert.deepStrictEqual(yield* claim(id, payment), claimed)
      }))

    it.effect("keeps the payment before it from being captured or confirmed", () =>
      Effect.gen(function*() {
        const { id, organizationId } = yield* buildOrder({ captured: null })
        yield* change(set("payment_due_at = now() + interval '1 hour'"), id)
        const confirm = UnpaidOrderRepo.use((repo) => repo.confirmed(id, organizationId, null))
        const capture = Effect.exit(inStore(CaptureRepo.use((repo) => repo.claim(id, undefined))))
        const payment = newId<PaymentId>()
        assert.isDefined(yield* claim(id, payment))
        yield* confirm
        yield* change(set("payment_claim_id = null"), id)
        assert.isDefined(yield* claim(id, payment), "it still waits")
        yield* change(set("payment_due_at = null"), id)
        assert.isTrue(Exit.isFailure(yield* capture))
        yield* change(set("payment_claim_id = null"), id)
        assert.isTrue(Exit.isSuccess(yield* capture))
      }))
  })
})

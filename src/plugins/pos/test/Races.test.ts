import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { PaymentDeclined } from "stoa/plugin"
import { holding, onDatabase, refused } from "../../../../test/checkout/CheckoutFixtures.ts"
import { scriptedProvider } from "../../../../test/checkout/ScriptedProvider.ts"
import { aProduct } from "../../../../test/support/Purchase.ts"
import { api, asAdmin, at, live, TestApp, testAppLayer } from "../../../../test/support/TestApp.ts"
import { pos, type PosTerminalAdapter } from "../index.ts"
import { aSale, aTill, aToken, complete, get, pay, post } from "./Till.ts"

/** Card terminals with a ledger by the key of each payment, and what happens while they are asked. */
const ledger = new Map<string, "collected" | "cancelled">()
const during = new Map<"start" | "cancel", Effect.Effect<unknown>>()
const meanwhile = (call: "start" | "cancel") =>
  Effect.suspend(() => {
    const work = during.get(call) ?? Effect.void
    during.delete(call)
    return work
  })
const declined = Effect.fail(new PaymentDeclined({ code: "PAYMENT_INTENT_CREATE_FAILED", message: "No." }))
const reader: PosTerminalAdapter = {
  id: "reader",
  start: ({ key }) =>
    Effect.map(meanwhile("start"), () => {
      if (!ledger.has(key)) ledger.set(key, "collected")
      return { intentId: key }
    }),
  status: (intentId) =>
    Effect.succeed(
      ledger.has(intentId)
        ? { status: "collected", amount: 1_000, tip: 0, label: "Visa 4242" }
        : { status: "failed", message: "Unknown." }
    ),
  cancel: (intentId) => Effect.andThen(meanwhile("cancel"), Effect.sync(() => void ledger.set(intentId, "cancelled"))),
  refund: () => declined
}

const cards = scriptedProvider(undefined, "gift-card")
let offering: Effect.Effect<unknown> = Effect.void
const stored = {
  ...cards.adapter,
  offer: ({ amount }: { readonly amount: number }) =>
    Effect.suspend(() => {
      const work = offering
      offering = Effect.void
      return Effect.map(work, () => ({ amount, label: "Card" }))
    })
}

const shop = layer(
  testAppLayer({ plugins: [pos({ terminals: [reader] })], payments: { adapters: [stored] } }, { logLevel: "none" }),
  live
)
const byReader = (path: string) => pay(path, 1_000, { method: "card", provider: "reader", readerId: "r1" })
const here = <A>(work: Effect.Effect<A, never, TestApp>) =>
  Effect.map(TestApp, (app) => Effect.provideService(work, TestApp, app))
const voiding = (path: string) => post(`${path}/void`, { reason: "x" })
const statusesOf = (path: string) =>
  Effect.map(get(path), (shown) => shown.list("data.payments").map((one) => at(one, "status")))

shop("payments of card terminals", (it) => {
  it.effect("are cancelled when their sale is voided while they begin", () =>
    Effect.gen(function*() {
      const { path } = yield* aSale(yield* aTill())
      ledger.clear()
      during.set("start", yield* here(voiding(path)))
      yield* byReader(path)
      assert.strictEqual((yield* get(path)).at("data.status"), "voided")
      assert.deepStrictEqual([...ledger.values()], ["cancelled"])
    }))

  it.effect("that begin while a sale is voided are given back with it, or keep it open", () =>
    Effect.gen(function*() {
      const { path } = yield* aSale(yield* aTill(), 2)
      const first = yield* byReader(path)
      yield* get(`${path}/payments/${first.text("data.id")}`)
      during.set("cancel", yield* here(pay(path, 1_000)))
      yield* voiding(path)
      const shown = yield* get(path)
      assert.isFalse(
        shown.at("data.status") === "voided" && (yield* statusesOf(path)).includes("collected"),
        JSON.stringify(shown.body)
      )
    }))

  it.effect("that go back are not found to be collected meanwhile", () =>
    Effect.gen(function*() {
      const { path } = yield* aSale(yield* aTill())
      const paid = yield* byReader(path)
      const own = `${path}/payments/${paid.text("data.id")}`
      assert.strictEqual((yield* get(own)).at("data.status"), "collected")
      during.set("cancel", yield* here(get(own)))
      yield* api("DELETE", `/api/pos${own}`, { as: asAdmin })
      assert.deepStrictEqual(yield* statusesOf(path), ["cancelled"])
    }))

  it.effect("that went back before the process died do not pay a sale", () =>
    Effect.gen(function*() {
      const { path } = yield* aSale(yield* aTill())
      const paid = yield* byReader(path)
      const own = `${path}/payments/${paid.text("data.id")}`
      yield* get(own)
      yield* onDatabase((sql) =>
        sql`create or replace function stop() returns trigger language plpgsql as $$ begin raise 'x'; end $$`
      )
      yield* onDatabase((sql) =>
        sql`create trigger stop before update on pos_payments for each row when (new.status = 'cancelled') execute function stop()`
      )
      refused(yield* api("DELETE", `/api/pos${own}`, { as: asAdmin }), 500, "INTERNAL_ERROR")
      yield* onDatabase((sql) => sql`drop trigger stop on pos_payments`)
      yield* get(own)
      yield* post(`${own}/retry`)
      assert.notInclude(yield* statusesOf(path), "collected")
      assert.isAtLeast((yield* complete(path)).status, 400)
    }))
})

shop("a gift card", (it) => {
  it.effect("is not charged for a sale that is voided before it is asked", () =>
    Effect.gen(function*() {
      const { path } = yield* aSale(yield* aTill())
      offering = yield* here(voiding(path))
      yield* pay(path, 1_000, { method: "gift_card", reference: "late" })
      assert.strictEqual((yield* get(path)).at("data.status"), "voided")
      const [row] = yield* onDatabase((sql) =>
        sql`select status from collected_payments order by created_at desc limit 1`
      )
      assert.include(["returned", "returning", undefined], row?.["status"])
    }))
})

const cashier = { ...holding("pos:operate"), userId: "cashier-1" }

shop("a supervisor's token", (it) => {
  it.effect("gives money back once", () =>
    Effect.gen(function*() {
      const till = yield* aTill()
      yield* post(`/shifts/${till.shiftId}/close`, { closingCount: 0 })
      const shift = yield* post("/shifts/open", { terminalId: till.terminalId, openingFloat: 0 }, cashier)
      const entityId = yield* aProduct({ price: 1_000, stock: 50 })
      const paths = yield* Effect.forEach([1, 2], () =>
        Effect.gen(function*() {
          const path = `/transactions/${
            (yield* post("/transactions", { shiftId: shift.text("data.id"), terminalId: till.terminalId }, cashier))
              .text("data.id")
          }`
          yield* post(`${path}/items`, { entityId }, cashier)
          yield* post(`${path}/payments`, { method: "cash", amount: 1_000 }, cashier)
          return path
        }))
      const token = yield* aToken("void")
      const asked = (path: string) =>
        api("POST", `/api/pos${path}/void`, {
          as: cashier,
          headers: { "x-pos-override": token },
          body: { reason: "x" }
        })
      const answers = yield* Effect.all(paths.map(asked), { concurrency: 2 })
      assert.deepStrictEqual(answers.map(({ status }) => status).toSorted(), [201, 403])
      const left = paths[answers.findIndex(({ status }) => status === 403)] ?? ""
      assert.deepStrictEqual(yield* statusesOf(left), ["collected"])
    }))
})

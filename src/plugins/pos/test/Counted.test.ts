import { assert, layer } from "@effect/vitest"
import { Effect } from "effect"
import { onDatabase, refused } from "../../../../test/checkout/CheckoutFixtures.ts"
import { eventually } from "../../../../test/support/Eventually.ts"
import { api, live, testAppLayer } from "../../../../test/support/TestApp.ts"
import { Jobs } from "../../../domain/platform/jobs/Jobs.ts"
import { type FiscalAdapter, pos } from "../index.ts"
import { aSale, aTill, complete, get, pay, post } from "./Till.ts"

let broken = ""
const fiscal: FiscalAdapter = {
  id: "signer",
  sign: ({ hash, terminalId }) =>
    terminalId === broken ? Effect.fail({ message: "Out of paper." }) : Effect.succeed({ signature: hash })
}

const shop = layer(testAppLayer({ plugins: [pos({ fiscal })] }, { logLevel: "none" }), live)

shop("what was counted", (it) => {
  it.effect("stays: no tip comes to a drawer that was counted, or to a closing", () =>
    Effect.gen(function*() {
      const till = yield* aTill({ tipMode: "on_receipt" })
      const tips = yield* Effect.forEach(["cash", "card"], (method) =>
        Effect.gen(function*() {
          const { path } = yield* aSale(till)
          const paid = yield* pay(path, 1_000, { method })
          yield* complete(path)
          return (amount: number) => post(`${path}/payments/${paid.text("data.id")}/tip`, { amount })
        }))
      const [byCash, byCard] = [tips[0] ?? (() => get("")), tips[1] ?? (() => get(""))]
      assert.deepStrictEqual([(yield* byCash(50)).status, (yield* byCard(50)).status], [201, 201])
      const closed = yield* post(`/shifts/${till.shiftId}/close`, { closingCount: 11_050 })
      assert.strictEqual(closed.at("data.cashVariance"), 0)
      refused(yield* byCash(60), 422, "VALIDATION_FAILED")
      assert.strictEqual((yield* byCard(60)).status, 201)
      yield* post("/closings", { terminalId: till.terminalId })
      refused(yield* byCard(70), 422, "VALIDATION_FAILED")
    }))

  it.effect("is signed at each till, also when the signatures of another one fail", () =>
    Effect.gen(function*() {
      const [first, second] = [yield* aTill(), yield* aTill()]
      const tills = [first, second].toSorted((one, other) => one.terminalId < other.terminalId ? -1 : 1)
      broken = tills[0]?.terminalId ?? ""
      yield* onDatabase((sql) =>
        sql`insert into pos_fiscal_records
            (id, organization_id, terminal_id, number, payload, previous_hash, hash, state)
          select gen_random_uuid(), 'org_default', ${broken}::uuid, n, '{}', '', '', 'pending' from generate_series(1, 501) n`
      )
      const { path } = yield* aSale(tills[1] ?? second)
      yield* pay(path, 1_000)
      yield* complete(path)
      const signed = Effect.map(
        get(`${path}/receipt`),
        (receipt) => receipt.at("data.fiscal.state") === "signed" ? true : undefined
      )
      yield* Effect.orDie((yield* Jobs).enqueue("pos/sign", {}, { organizationId: "org_default" }))
      yield* eventually("a signature", Effect.andThen(api("POST", "/api/jobs/run"), signed))
    }))
})

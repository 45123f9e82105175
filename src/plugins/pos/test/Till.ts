import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { hash, randomUUID } from "node:crypto"
import { onDatabase } from "../../../../test/checkout/CheckoutFixtures.ts"
import { aProduct, aWarehouse } from "../../../../test/support/Purchase.ts"
import { api, asAdmin } from "../../../../test/support/TestApp.ts"

export const post = (path: string, body: object = {}, as: typeof asAdmin = asAdmin) =>
  api("POST", `/api/pos${path}`, { as, body })
export const get = (path: string, as: typeof asAdmin = asAdmin) => api("GET", `/api/pos${path}`, { as })

let codes = 0

/** A till with an open shift, and something for 10.00 of which there are five. */
export const aTill = Effect.fnUntraced(function*(terminal: object = {}, openingFloat = 10_000) {
  const warehouseId = yield* aWarehouse()
  const made = yield* post("/terminals", { name: "Till", code: `T${++codes}`, warehouseId, ...terminal })
  assert.strictEqual(made.status, 201, JSON.stringify(made.body))
  const terminalId = made.text("data.id")
  const shift = yield* post("/shifts/open", { terminalId, openingFloat })
  assert.strictEqual(shift.status, 201, JSON.stringify(shift.body))
  return { terminalId, code: `T${codes}`, shiftId: shift.text("data.id"), warehouseId }
})
export type Till = Effect.Success<ReturnType<typeof aTill>>

/** A started transaction at a till, with units of something for 10.00. */
export const aSale = Effect.fnUntraced(
  function*(till: Pick<Till, "shiftId" | "terminalId">, quantity = 1, body: object = {}) {
    const entityId = yield* aProduct({ price: 1_000, stock: 50 })
    const started = yield* post("/transactions", { shiftId: till.shiftId, terminalId: till.terminalId, ...body })
    assert.strictEqual(started.status, 201, JSON.stringify(started.body))
    const path = `/transactions/${started.text("data.id")}`
    const item = yield* post(`${path}/items`, { entityId, quantity })
    assert.strictEqual(item.status, 201, JSON.stringify(item.body))
    return {
      entityId,
      id: started.text("data.id"),
      itemId: item.text("data.id"),
      path,
      receiptNumber: started.text("data.receiptNumber")
    }
  }
)

export const pay = (path: string, amount: number, body: object = {}) =>
  post(`${path}/payments`, { method: "cash", amount, ...body })
export const complete = (path: string) => post(`${path}/complete`)

/** A supervisor's token for an action. */
export const aToken = Effect.fnUntraced(function*(action: string) {
  const token = randomUUID()
  yield* onDatabase((sql) =>
    sql`insert into pos_overrides (id, organization_id, token_hash, operator_id, action, expires_at) values
      (gen_random_uuid(), 'org_default', ${hash("sha256", token, "base64url")}, 'supervisor', ${action},
        now() + interval '1 minute')`
  )
  return token
})

/** A till whose open shift is of this person. */
export const tillOf = Effect.fnUntraced(function*(as: typeof asAdmin) {
  const till = yield* aTill()
  yield* post(`/shifts/${till.shiftId}/close`, { closingCount: 10_000 })
  const shift = yield* post("/shifts/open", { terminalId: till.terminalId, openingFloat: 0 }, as)
  assert.strictEqual(shift.status, 201, JSON.stringify(shift.body))
  return { ...till, shiftId: shift.text("data.id") }
})

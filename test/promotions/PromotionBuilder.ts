import { Effect } from "effect"
import { newId } from "../../src/domain/platform/ids/Id.ts"
import { api, asAdmin } from "../support/TestApp.ts"

/** Creates a promotion, ten per cent off the order by default; returns its id and code. */
export const aPromotion = Effect.fnUntraced(function*(fields: object = {}) {
  const code = `P${newId().replaceAll("-", "").toUpperCase()}`
  const made = yield* api("POST", "/api/promotions", {
    as: asAdmin,
    body: { code, name: "Promotion", type: "percentage_off_order", value: 10, ...fields }
  })
  return { id: made.text("data.id"), code }
})

/** Changes a promotion. */
export const changePromotion = (id: string, body: object) =>
  api("PATCH", `/api/promotions/${id}`, { as: asAdmin, body })

/** How many orders use a promotion. */
export const usedCount = (id: string) =>
  Effect.map(changePromotion(id, {}), (changed) => changed.number("data.usedCount"))

import { assert, describe } from "@effect/vitest"
import { Effect } from "effect"
import { SqlClient } from "effect/sql"
import { newId } from "../../src/domain/platform/ids/Id.ts"
import { promotionReasons } from "../../src/domain/promotions/PromotionRules.ts"
import { otherOrganization, seedEntity, seedOrganization } from "../pricing/Seed.ts"
import { buildOrder } from "../support/OrderBuilder.ts"
import {
  api,
  asAdmin,
  asCustomer,
  asStaff,
  inOrganization,
  theOrganization,
  withSharedApp
} from "../support/TestApp.ts"

const create = Effect.fnUntraced(function*(fields: object = {}) {
  const body = { code: `C${newId()}`, name: "Ten off", type: "percentage_off_order", value: 10, ...fields }
  const made = yield* api("POST", "/api/promotions", { body, as: asAdmin })
  assert.strictEqual(made.status, 201)
  return { id: made.text("data.id"), code: made.text("data.code") }
})

const order = (entityId = newId()) => ({
  currency: "USD",
  subtotal: 3000,
  lineItems: [{ entityId, entityType: "product", quantity: 3, unitPrice: 1000, totalPrice: 3000 }]
})

const attempt = (code: string, fields: object = {}, as?: typeof asAdmin) =>
  api("POST", "/api/promotions/validate", {
    body: { ...order(), code, ...fields },
    ...(as === undefined ? {} : { as })
  })

const seedCustomer = Effect.fnUntraced(function*(userId: string, groups: ReadonlyArray<string>) {
  const [sql, id] = [yield* SqlClient.SqlClient, newId()]
  yield* sql`insert into customers (id, organization_id, user_id, group_ids)
    values (${id}::uuid, ${yield* theOrganization}, ${userId}, ${groups}::text[])`
  return id
})

describe("POST /promotions/validate", () => {
  withSharedApp((it) => {
    it.effect("shows any visitor what a code would give", () =>
      Effect.gen(function*() {
        const { code, id } = yield* create({ value: 12.5 })
        const answer = yield* attempt(` ${code.toLowerCase()} `)
        assert.deepStrictEqual([answer.status, answer.body], [200, {
          data: {
            totalDiscount: 375,
            freeShipping: false,
            applied: [{
              promotionId: id,
              code,
              type: "percentage_off_order",
              discountAmount: 375,
              freeShipping: false,
              description: "Ten off"
            }],
            rejectedCodes: []
          }
        }])
      }))

    it.effect("answers 404 for an unknown code and for another organization's", () =>
      Effect.gen(function*() {
        yield* seedOrganization
        const { code } = yield* create({ isAutomatic: true })
        for (
          const answer of [yield* attempt("NOPE"), yield* attempt(code, {}, inOrganization(otherOrganization, asAdmin))]
        ) {
          assert.deepStrictEqual([answer.status, answer.at("error.code")], [404, "NOT_FOUND"])
        }
      }))

    it.effect("looks up the categories of the lines itself", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const { entityId } = yield* seedEntity()
        const category = newId()
        yield* sql`insert into categories (id, organization_id, slug) values (${category}::uuid, ${yield* theOrganization}, 'shoes')`
        yield* sql`insert into entity_categories (organization_id, entity_id, category_id)
          values (${yield* theOrganization}, ${entityId}::uuid, ${category}::uuid)`
        const { code } = yield* create({ conditions: { categories: ["hats", "shoes"] } })
        assert.strictEqual((yield* attempt(code, order(entityId.toUpperCase()))).status, 200)
        assert.strictEqual((yield* attempt(code)).status, 422)
      }))

    it.effect("accepts claimed groups only from actors who may read customers", () =>
      Effect.gen(function*() {
        const { code } = yield* create({ conditions: { customerGroups: ["vip"] } })
        const vip = yield* seedCustomer("vip-user", ["vip"])
        const claim = { customerGroupIds: ["vip"], customerId: vip }
        assert.strictEqual((yield* attempt(code, claim)).status, 422)
        assert.strictEqual((yield* attempt(code, claim, asCustomer("plain-user"))).status, 422)
        assert.strictEqual((yield* attempt(code, {}, asCustomer("vip-user"))).status, 200)
        assert.strictEqual((yield* attempt(code, { customerGroupIds: ["vip"] }, asStaff)).status, 200)
        assert.strictEqual((yield* attempt(code, { customerId: vip }, asStaff)).status, 200)
        assert.strictEqual((yield* attempt(code, { customerId: vip, customerGroupIds: [] }, asStaff)).status, 422)
        assert.strictEqual((yield* attempt(code, { customerId: "no-uuid" }, asStaff)).status, 422)
      }))

    it.effect("counts what this customer used and ordered before", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const customerId = yield* seedCustomer("regular", [])
        const [once, first] = [
          yield* create({ usageLimitPerCustomer: 1 }),
          yield* create({ conditions: { firstOrderOnly: true } })
        ]
        const asRegular = asCustomer("regular")
        assert.strictEqual((yield* attempt(once.code, {}, asRegular)).status, 200)
        assert.strictEqual((yield* attempt(first.code, {}, asRegular)).status, 200)
        yield* sql`insert into promotion_buyer_usages (organization_id, promotion_id, buyer, used_count)
          values (${yield* theOrganization}, ${once.id}::uuid, ${`customer:${customerId}`}, 1)`
        yield* buildOrder({ customerId })
        const [used, ordered] = [yield* attempt(once.code, {}, asRegular), yield* attempt(first.code, {}, asRegular)]
        assert.deepStrictEqual(
          [used.at("error.details.issues.0.message"), ordered.at("error.details.issues.0.message")],
          [promotionReasons.customerLimit, promotionReasons.firstOrderOnly]
        )
        assert.strictEqual((yield* attempt(once.code)).status, 200)
        assert.strictEqual((yield* attempt(first.code, {}, asCustomer("somebody-new"))).status, 200)
      }))

    it.effect("creates no profile for a customer who validates a code", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const { code } = yield* create()
        assert.strictEqual((yield* attempt(code, {}, asCustomer("window-shopper"))).status, 200)
        assert.deepStrictEqual(yield* sql`select id from customers where user_id = 'window-shopper'`, [])
      }))

    it.effect("validates a promotion of the whole order on a subtotal without lines, but none of items", () =>
      Effect.gen(function*() {
        const bare = { subtotal: 2_000, lineItems: [] }
        const whole = yield* attempt((yield* create()).code, bare)
        assert.deepStrictEqual([whole.status, whole.at("data.totalDiscount")], [200, 200])
        const shipping = yield* attempt((yield* create({ type: "free_shipping", value: 0 })).code, bare)
        assert.deepStrictEqual([shipping.status, shipping.at("data.freeShipping")], [200, true])
        for (const ofItems of [{ type: "percentage_off_item" }, { conditions: { entityTypes: ["product"] } }]) {
          const refused = yield* attempt((yield* create(ofItems)).code, bare)
          assert.strictEqual(refused.at("error.details.issues.0.message"), promotionReasons.noEligibleItem)
        }
      }))

    it.effect("refuses an invalid order, naming the field", () =>
      Effect.gen(function*() {
        const { code } = yield* create()
        const line = order().lineItems[0]
        const refused: ReadonlyArray<readonly [object, string]> = [
          [{ code: "" }, "code"],
          [{ code: "a\u0000" }, "code"],
          [{ currency: "US" }, "currency"],
          [{ subtotal: 10.5 }, "subtotal"],
          [{ lineItems: undefined }, "lineItems"],
          [{ lineItems: [{ ...line, quantity: 0 }] }, "lineItems.0.quantity"],
          [{ lineItems: [{ ...line, unitPrice: -1 }] }, "lineItems.0.unitPrice"],
          [{ lineItems: [{ ...line, entityId: "x" }] }, "lineItems.0.entityId"]
        ]
        for (const [fields, path] of refused) {
          const answer = yield* attempt(code, fields)
          assert.deepStrictEqual([answer.status, answer.at("error.details.issues.0.path")], [422, path])
        }
      }))
  })
})

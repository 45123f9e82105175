import { assert, describe, it } from "@effect/vitest"
import { Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { type Actor, anonymousActor, CurrentActor } from "../../src/domain/access/Actor.ts"
import { CustomerRepo, customerRepoLayer } from "../../src/domain/customers/CustomerRepo.ts"
import { Customers } from "../../src/domain/customers/Customers.ts"
import { Hooks } from "../../src/domain/hooks/Hooks.ts"
import { newId } from "../../src/domain/ids/Id.ts"
import { manager } from "../support/OrderBuilder.ts"
import { TestDatabase } from "../support/Postgres.ts"

const shopper = (userId: string, organizationId = "org_default"): Actor => ({
  ...anonymousActor(organizationId, []),
  userId,
  email: `${userId}@example.test`,
  name: "A Shopper"
})

const eventsOf = Effect.fnUntraced(function*(customerId: string) {
  const sql = yield* SqlClient.SqlClient
  return yield* sql<{ type: string; payload: { id: string; email: string } }>`
    select type, payload from outbox_events where entity_type = 'customer' and entity_id = ${customerId}`
})

const profiles = Customers.layer.pipe(
  Layer.provideMerge(customerRepoLayer),
  Layer.provideMerge(TestDatabase),
  Layer.provide(Hooks.layerNone)
)

describe("customer profiles", () => {
  it.layer(profiles)((it) => {
    it.effect("are made on first use, announced once, and found ever after", () =>
      Effect.gen(function*() {
        const repo = yield* CustomerRepo
        const first = yield* repo.profileOf(shopper("u1"))
        const again = yield* repo.profileOf(shopper("u1"))
        assert.strictEqual(first?.email, "u1@example.test")
        assert.deepStrictEqual(first?.groupIds, [])
        assert.deepStrictEqual(again, first)
        const events = yield* eventsOf(first?.id ?? "")
        assert.strictEqual(events.length, 1)
        assert.strictEqual(events[0]?.type, "customers.create")
        assert.strictEqual(events[0]?.payload.id, first?.id)
        assert.strictEqual(events[0]?.payload.email, "u1@example.test")
      }))

    it.effect("twenty first uses at once make one profile and one event", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const repo = yield* CustomerRepo
        const profiles = yield* Effect.all(Array.from({ length: 20 }, () => repo.profileOf(shopper("u2"))), {
          concurrency: "unbounded"
        })
        assert.strictEqual(new Set(profiles.map((profile) => profile?.id)).size, 1)
        const rows = yield* sql<{ count: bigint }>`select count(*) from outbox_events
          where entity_type = 'customer' and payload->>'userId' = 'u2'`
        assert.strictEqual(rows[0]?.count, 1n)
      }))

    it.effect("anonymous visitors and API keys have none", () =>
      Effect.gen(function*() {
        const repo = yield* CustomerRepo
        assert.isNull(yield* repo.profileOf(anonymousActor("org_default", [])))
        assert.isNull(yield* repo.profileOf(manager()))
      }))

    it.effect("a login has a profile of its own in each organization, invisible to the others", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        yield* sql`insert into organizations (id, slug, name) values ('org_two', 'two', 'Two')`
        const { find, profileOf } = yield* CustomerRepo
        const [one, two] = [yield* profileOf(shopper("u3")), yield* profileOf(shopper("u3", "org_two"))]
        assert.notStrictEqual(one?.id, two?.id)
        const inTwo = Effect.provideService(find(one?.id ?? ""), CurrentActor, manager("org_two"))
        assert.isUndefined(yield* inTwo)
      }))

    it.effect("groups are those stored; an unknown customer has none and does not exist", () =>
      Effect.gen(function*() {
        const sql = yield* SqlClient.SqlClient
        const { profileOf } = yield* CustomerRepo
        const customers = yield* Customers
        const profile = yield* profileOf(shopper("u4"))
        const id = profile?.id ?? ""
        yield* sql`update customers set group_ids = '{vip,b2b}' where id = ${id}::uuid`
        const as = Effect.provideService(CurrentActor, manager())
        assert.deepStrictEqual(yield* as(customers.groupsOf(id)), ["vip", "b2b"])
        assert.deepStrictEqual(yield* as(customers.groupsOf(newId())), [])
        yield* as(customers.mustExist(id))
        assert.strictEqual((yield* Effect.flip(as(customers.mustExist(newId()))))._tag, "NotFound")
        assert.strictEqual((yield* Effect.flip(as(customers.mustExist("nobody"))))._tag, "NotFound")
        assert.strictEqual(yield* Effect.provideService(customers.ownProfileId, CurrentActor, shopper("u4")), id)
      }))
  })
})

import { assert } from "@effect/vitest"
import { Context, Effect, Exit, Ref } from "effect"
import { randomUUID } from "node:crypto"
import { CurrentActor, systemActor } from "../../src/domain/platform/access/Actor.ts"
import { Users } from "../../src/domain/platform/credentials/Users.ts"
import { onDatabase, openElsewhere } from "../checkout/CheckoutFixtures.ts"
import { eventually } from "../support/Eventually.ts"
import { api, servicesBeside, withApp } from "../support/TestApp.ts"
import { type SignedIn, signIn } from "./People.ts"

/** Uses the service as a store. */
const inStore = <A, E>(organization: string, ask: (users: Users["Service"]) => Effect.Effect<A, E, CurrentActor>) =>
  Effect.flatMap(
    servicesBeside(),
    (services) => Effect.provideService(ask(Context.get(services, Users)), CurrentActor, systemActor(organization))
  )

const vendorOf = ({ userId }: SignedIn) =>
  Effect.map(
    onDatabase((sql) =>
      sql<{ vendor: string | null }>`select vendor_id as vendor from users where id = ${userId}::uuid`
    ),
    (rows) => rows[0]?.vendor
  )

const profileIn = (organization: string, { userId }: SignedIn) =>
  onDatabase((sql) =>
    sql`insert into customers (id, organization_id, user_id) values (${randomUUID()}::uuid, ${organization}, ${userId})`
  )

withApp("users for plugins", (it) => {
  it.effect("users for plugins are members and customers of the store, not those of another store", () =>
    Effect.gen(function*() {
      yield* openElsewhere
      const clerk = yield* signIn({ role: "staff", organization: "org_other" })
      const shopper = yield* signIn()
      yield* profileIn("org_other", shopper)
      for (const person of [clerk, shopper]) {
        const who = { id: person.userId, email: person.email, name: "Ada" }
        for (const sought of [{ userId: person.userId }, { email: person.email.toUpperCase() }]) {
          assert.deepStrictEqual(yield* inStore("org_other", (users) => users.known(sought)), who)
          assert.isUndefined(yield* inStore("org_default", (users) => users.known(sought)))
        }
        const refused = yield* Effect.flip(
          inStore("org_default", (users) => users.actFor(person.userId, "v", Effect.void))
        )
        assert.strictEqual(refused._tag, "NotFound/Person")
        assert.strictEqual(yield* vendorOf(person), null)
      }
      assert.isUndefined(yield* inStore("org_other", (users) => users.known({ userId: "no uuid" })))
    }))

  it.effect("users for plugins act for one vendor: of concurrent assignments one succeeds, with its work", () =>
    Effect.gen(function*() {
      const person = yield* signIn({ role: "staff" })
      const works = yield* Ref.make(0)
      const exits = yield* inStore("org_default", (users) =>
        Effect.all(
          ["a", "b", "c"].map((vendor) =>
            Effect.exit(users.actFor(person.userId, vendor, Ref.update(works, (count) => count + 1)))
          ),
          { concurrency: 3 }
        ))
      assert.deepStrictEqual([exits.filter(Exit.isSuccess).length, yield* Ref.get(works)], [1, 1])
      assert.include(["a", "b", "c"], yield* vendorOf(person))
    }))

  it.effect("users for plugins stay unchanged when the work fails, and when they leave a vendor that they do not act for", () =>
    Effect.gen(function*() {
      const person = yield* signIn({ role: "staff" })
      const failed = yield* Effect.flip(
        inStore("org_default", (users) => users.actFor(person.userId, "first", Effect.fail("no")))
      )
      assert.deepStrictEqual([failed, yield* vendorOf(person)], ["no", null])
      yield* inStore("org_default", (users) => users.actFor(person.userId, "first", Effect.void))
      assert.strictEqual(
        yield* inStore("org_default", (users) => users.endActing(person.userId, "x", Effect.succeed(1))),
        1
      )
      assert.strictEqual(yield* vendorOf(person), "first")
      yield* inStore("org_default", (users) => users.endActing(person.userId, "first", Effect.void))
      assert.strictEqual(yield* vendorOf(person), null)
    }))

  it.effect("users for plugins are recorded in the change log of the store before and after a change", () =>
    Effect.gen(function*() {
      const person = yield* signIn({ role: "staff" })
      yield* inStore("org_default", (users) => users.actFor(person.userId, "kiln", Effect.void, "owner"))
      const trail = yield* eventually(
        "the entry",
        Effect.map(
          onDatabase((sql) =>
            sql<{ before: object; payload: object }>`select before, payload from outbox_events
              where type = 'users.update' and entity_id = ${person.userId} and organization_id = 'org_default'`
          ),
          ([entry]) => entry
        )
      )
      assert.deepStrictEqual(trail, {
        before: { id: person.userId, vendorId: null, vendorRole: null },
        payload: { id: person.userId, vendorId: "kiln", vendorRole: "owner" }
      })
      assert.strictEqual((yield* api("GET", "/api/me/profile", { headers: person.bearer })).status, 200)
    }))
})

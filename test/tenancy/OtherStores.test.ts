import { assert } from "@effect/vitest"
import { Effect } from "effect"
import { endpoints } from "../../src/http/docs/Docs.ts"
import { type Answer, api, withApp } from "../support/TestApp.ts"
import { footprintOf, journalAtRest, ownerless } from "./Footprint.ts"
import { asks, filled, nameless, namesIn, type Probe, reads, type RecordName, refusedAnyway, writes } from "./Probes.ts"
import { aStore, type Store } from "./Stores.ts"

const send = ({ body, method, path }: Probe, { as }: Store) =>
  api(method, path, { as, ...(body === undefined ? {} : { body }) })

const told = ({ method, path }: Probe, about: string, { body, status }: Answer) =>
  `${method} ${path} ${about}: ${status} ${JSON.stringify(body)}`

/** An answer without any record and without any stock. */
const isEmpty = (answer: Answer): boolean =>
  answer.status === 200 && !/"id":|:[1-9]/.test(JSON.stringify(answer.at("data")))

/** The names of all records of a store. */
const names = ({ as: _, ...records }: Store): ReadonlyArray<RecordName> =>
  // Every other key of a store names a record.
  Object.keys(records) as ReadonlyArray<RecordName>

/** What a store reads of itself, request by request. */
const readBy = Effect.fnUntraced(function*(store: Store) {
  yield* journalAtRest
  return yield* Effect.forEach(
    reads,
    (probe) => Effect.map(send(filled(probe, store), store), ({ body, status }) => ({ path: probe.path, status, body }))
  )
})

withApp("two stores in one database", (it) => {
  it.effect("every route is either asked about another store's records or names none", () =>
    Effect.sync(() => {
      // Whose users, sessions and memberships those are is asked in test/auth.
      const ofStores = endpoints().filter(({ path }) => !path.startsWith("/api/auth/"))
      const unasked = ofStores.filter((route) => ![...reads, ...writes, refusedAnyway].some((one) => asks(one, route)))
      assert.sameMembers(unasked.map(({ method, path }) => `${method} ${path}`), [...nameless])
    }))

  it.effect("every table of a tenant says whose its rows are", () =>
    Effect.map(ownerless, (tables) => assert.deepStrictEqual(tables, [])))

  it.effect("neither sees nor touches the other, by whichever id it asks", () =>
    Effect.gen(function*() {
      const ours = yield* aStore("org_ours")
      const before = yield* readBy(ours)
      assert.deepStrictEqual(before.filter(({ status }) => status !== 200), [])

      const theirs = yield* aStore("org_theirs")
      assert.deepStrictEqual(yield* readBy(ours), before, "another store's records show in what we read")
      const theirView = JSON.stringify(yield* readBy(theirs))
      assert.deepStrictEqual(
        names(ours).filter((name) => theirView.includes(ours[name]) && ours[name] !== theirs[name]),
        []
      )

      const untouched = yield* footprintOf("org_theirs")
      const letIn: Array<string> = []
      for (const probe of [...reads, ...writes, refusedAnyway]) {
        for (const name of namesIn(probe, ours).filter((one) => ours[one] !== theirs[one])) {
          const answer = yield* send(filled(probe, { ...ours, [name]: theirs[name] }), ours)
          if (![404, 422].includes(answer.status) && !isEmpty(answer)) {
            letIn.push(told(probe, `with their ${name}`, answer))
          }
        }
      }
      assert.deepStrictEqual(letIn, [])
      assert.deepStrictEqual(yield* footprintOf("org_theirs"), untouched)

      // The same requests are good ones: with records of their own store they are done.
      for (const probe of writes) {
        const answer = yield* send(filled(probe, theirs), theirs)
        assert.isBelow(answer.status, 300, told(probe, "with its own", answer))
      }
      const sold = yield* send(filled(refusedAnyway, theirs), theirs)
      assert.strictEqual(sold.status, 409, told(refusedAnyway, "of something sold", sold))
    }))
})

import { type Duration, Effect, Option, Struct } from "effect"
import { SqlClient } from "effect/sql"
import { onDatabase } from "../checkout/CheckoutFixtures.ts"
import { type Answer, api, TestApp } from "../support/TestApp.ts"
import { rowsLocked } from "./AnotherTenant.ts"
import { changeLogAtRest, footprintOf } from "./Footprint.ts"
import { askerOf, files, filled, namesIn, type Probe, reads, type RecordName, refusedAnyway, writes } from "./Probes.ts"
import { aStore, type Store } from "./Stores.ts"

const send = (probe: Probe, store: Store) => {
  const { body, method, path } = filled(probe, store)
  return api(method, path, { as: askerOf(probe, store), ...body && { body } })
}

/** A request and its answer, in one line. */
const recorded = ({ method, path }: Probe, about: string, { body, status }: Answer) =>
  `${method} ${path} ${about}: ${status} ${JSON.stringify(body)}`

/** Whether an answer has neither records nor stock. */
export const isEmpty = (answer: Answer): boolean =>
  answer.status === 200 && !/"id":|:[1-9]/.test(JSON.stringify(answer.at("data")))

/** The names of all records of a store: all keys but those of its actors. */
const names = ({ as: _, buyer: __, ...records }: Store): ReadonlyArray<RecordName> =>
  Object.keys(records) as ReadonlyArray<RecordName>

/** Looks for a sign that tenants are not isolated: one line, or nothing. */
export type Look = Effect.Effect<string | undefined, never, TestApp>

/** All signs that looks find, in their order. */
const allOf = (looks: ReadonlyArray<Look>) =>
  Effect.map(Effect.all(looks), (found) => found.filter((sign) => sign !== undefined))

const reading = (probe: Probe, store: Store) =>
  Effect.map(send(probe, store), ({ body, status }) => ({ path: filled(probe, store).path, status, body }))

/** What a store reads of itself, request by request. */
export const viewOf = Effect.fnUntraced(function*(store: Store) {
  yield* changeLogAtRest
  return yield* Effect.forEach(reads, (probe) => reading(probe, store))
})

/** All exports of a store. */
const filesOf = (store: Store) => Effect.forEach(files, (probe) => reading(probe, store))

const isSame = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other)

/** The records of another store that an answer names. */
const namesOthers = (text: string, store: Store, other: Store) =>
  names(other).filter((name) => text.includes(other[name]) && other[name] !== store[name])
    .map((name) => `it reads the other's ${name}`)

/** Whether the exports of a store differ from before, or name a record of another store. */
const otherFiles = (
  store: Store,
  other: Store,
  before: Effect.Success<ReturnType<typeof filesOf>>
): Look =>
  Effect.map(filesOf(store), (now) => {
    const changed = now.find((file, at) => !isSame(file, before[at]))
    return changed === undefined
      ? namesOthers(JSON.stringify(now), store, other)[0]
      : `${changed.path} reads otherwise`
  })

/** Whether a store reads something else than before. */
export const otherwise = (store: Store, before: Effect.Success<ReturnType<typeof viewOf>>): ReadonlyArray<Look> =>
  reads.map((probe, at) =>
    Effect.map(
      reading(probe, store),
      (now) => isSame(now, before[at]) ? undefined : `${now.path} reads otherwise`
    )
  )

/** Sends a request with ids of another store, which must be answered without waiting for that store. */
const withIdsOf = Effect.fnUntraced(function*(
  probe: Probe,
  names: ReadonlyArray<RecordName>,
  store: Store,
  other: Store,
  timeout: Duration.Input
) {
  const sent = yield* send(probe, { ...store, ...Struct.pick(other, names) }).pipe(Effect.timeoutOption(timeout))
  const about = `with their ${names.join(", ")}`
  if (Option.isNone(sent)) return `${probe.method} ${probe.path} ${about} waits for a lock`
  const answer = sent.value
  return [404, 422].includes(answer.status) || isEmpty(answer) ? undefined : recorded(probe, about, answer)
})

/** All requests of a store, with every id of another store in turn, and with all of them at once. */
export const outsidersIds = (
  store: Store,
  other: Store,
  timeout: Duration.Input = "60 seconds"
): ReadonlyArray<Look> =>
  [...reads, ...writes, refusedAnyway].flatMap((probe) => {
    const named = namesIn(probe, store).filter((name) => store[name] !== other[name])
    const exchanges = [...named.map((name) => [name]), ...named.length > 1 ? [named] : []]
    return exchanges.map((names) => withIdsOf(probe, names, store, other, timeout))
  })

/** Does it while all rows of an organization are locked. */
export const whileTaken = <A>(organization: string, body: Effect.Effect<A, never, TestApp>) =>
  Effect.flatMap(TestApp, (app) =>
    onDatabase((sql) =>
      rowsLocked(organization).pipe(
        Effect.provideService(SqlClient.SqlClient, sql),
        Effect.andThen(Effect.provideService(body, TestApp, app)),
        Effect.scoped
      )
    ))

/** Whether the rows of an organization differ from before. */
export const touched = (organization: string, before: ReadonlyArray<string>): Look =>
  Effect.map(footprintOf(organization), (now) => {
    const [changed] = [...now.filter((row) => !before.includes(row)), ...before.filter((row) => !now.includes(row))]
    return changed === undefined ? undefined : `rows of ${organization} were changed: ${changed}`
  })

/** Whether a store reads anything of another store. */
export const readsOf = (store: Store, other: Store): Look =>
  Effect.map(viewOf(store), (view) => namesOthers(JSON.stringify(view), store, other)[0])

/**
 * Opens two stores and sends all requests of the first one, with every id of the second one in turn, while all rows of the
 * second one are locked. Gives the stores and what one read or changed of the other, which should be nothing.
 */
export const otherTenants = Effect.fnUntraced(function*(timeout?: Duration.Input) {
  const ours = yield* aStore("org_ours")
  const ourFiles = yield* filesOf(ours)
  const before = yield* viewOf(ours)
  const failed = [...ourFiles, ...before].filter(({ status }) => status >= 400).map(({ path, status }) =>
    `${path}: ${status}`
  )
  const ourRows = yield* footprintOf("org_ours")

  const theirs = yield* aStore("org_theirs")
  const beside = yield* allOf([touched("org_ours", ourRows), ...otherwise(ours, before), readsOf(theirs, ours)])

  const theirRows = yield* footprintOf("org_theirs")
  const read = yield* whileTaken("org_theirs", allOf(outsidersIds(ours, theirs, timeout)))
  const left = yield* allOf([touched("org_theirs", theirRows), otherFiles(ours, theirs, ourFiles)])
  return { leaks: [...failed, ...beside, ...read, ...left], ours, theirs }
})

/** Whether a request of a store about records of the store fails or names a record of another store, one after the other. */
export const ownRequests = (store: Store, other: Store): ReadonlyArray<Look> => [
  ...writes.map((probe) =>
    Effect.map(send(probe, store), (answer) => {
      if (answer.status >= 300) return recorded(probe, "with own records", answer)
      const [named] = namesOthers(JSON.stringify(answer.body), store, other)
      return named === undefined ? undefined : recorded(probe, named, answer)
    })
  ),
  Effect.map(
    send(refusedAnyway, store),
    (sold) => sold.status === 409 ? undefined : recorded(refusedAnyway, "of a sold entity", sold)
  )
]

/** What goes wrong when a store sends every request about records of the store beside another store. */
export const ownAffairs = Effect.fnUntraced(function*(store: Store, other: Store) {
  const { organizationId = "" } = other.as
  const before = yield* footprintOf(organizationId)
  return yield* allOf([...ownRequests(store, other), touched(organizationId, before)])
})

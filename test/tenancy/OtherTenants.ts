import { Effect, Option } from "effect"
import { SqlClient } from "effect/sql"
import { onDatabase } from "../checkout/CheckoutFixtures.ts"
import { type Answer, api, TestApp } from "../support/TestApp.ts"
import { changeLogAtRest, footprintOf } from "./Footprint.ts"
import { askerOf, files, filled, namesIn, type Probe, reads, type RecordName, refusedAnyway, writes } from "./Probes.ts"
import { aStore, type Store } from "./Stores.ts"
import { rowsAreTaken } from "./Taken.ts"

/** Sends a request as whoever of a store makes it. */
export const send = (probe: Probe, store: Store) =>
  api(probe.method, probe.path, {
    as: askerOf(probe, store),
    ...(probe.body === undefined ? {} : { body: probe.body })
  })

/** A request and its answer, in one line. */
export const recorded = ({ method, path }: Probe, about: string, { body, status }: Answer) =>
  `${method} ${path} ${about}: ${status} ${JSON.stringify(body)}`

/** An answer without any record and without any stock. */
export const isEmpty = (answer: Answer): boolean =>
  answer.status === 200 && !/"id":|:[1-9]/.test(JSON.stringify(answer.at("data")))

/** The names of all records of a store. */
const names = ({ as: _, buyer: __, ...records }: Store): ReadonlyArray<RecordName> =>
  // Every other key of a store names a record.
  Object.keys(records) as ReadonlyArray<RecordName>

/** Looks for a sign that stores are not apart: one line, or nothing. */
export type Look = Effect.Effect<string | undefined, never, TestApp>

/** All signs that looks find, in their order. */
const allOf = (looks: ReadonlyArray<Look>) =>
  Effect.map(Effect.all(looks), (found) => found.filter((sign) => sign !== undefined))

const reading = (probe: Probe, store: Store) =>
  Effect.map(send(filled(probe, store), store), (answer) => {
    return { path: probe.path, status: answer.status, body: answer.body }
  })

/** What a store reads of itself, request by request. */
export const viewOf = Effect.fnUntraced(function*(store: Store) {
  yield* changeLogAtRest
  return yield* Effect.forEach(reads, (probe) => reading(probe, store))
})

/** All files of a store. */
const filesOf = (store: Store) => Effect.forEach(files, (probe) => reading(probe, store))

/** Are the files of a store other ones than before, or do they name a record of another one? */
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

const isSame = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other)

/** Does a store read otherwise than it did before? */
export const otherwise = (store: Store, before: Effect.Success<ReturnType<typeof viewOf>>): ReadonlyArray<Look> =>
  reads.map((probe, at) =>
    Effect.map(reading(probe, store), (now) => isSame(now, before[at]) ? undefined : `${probe.path} reads otherwise`)
  )

/** The answer to a request with an id of another store, unless it waits for somebody there. */
const outsidersId = Effect.fnUntraced(function*(probe: Probe, name: RecordName, ours: Store, theirs: Store) {
  const sent = yield* send(filled(probe, { ...ours, [name]: theirs[name] }), ours).pipe(
    Effect.timeoutOption("5 seconds")
  )
  if (Option.isNone(sent)) return `${probe.method} ${probe.path} with their ${name} waits for somebody`
  const answer = sent.value
  return [404, 422].includes(answer.status) || isEmpty(answer)
    ? undefined
    : recorded(probe, `with their ${name}`, answer)
})

/** Asks as one store about everything, with every id of another one in turn. */
export const outsidersIds = (ours: Store, theirs: Store): ReadonlyArray<Look> =>
  [...reads, ...writes, refusedAnyway].flatMap((probe) =>
    namesIn(probe, ours).filter((name) => ours[name] !== theirs[name]).map((name) =>
      outsidersId(probe, name, ours, theirs)
    )
  )

/** Does it while somebody of an organization is at all of its rows. */
export const whileTaken = <A>(organization: string, body: Effect.Effect<A, never, TestApp>) =>
  Effect.flatMap(TestApp, (app) =>
    onDatabase((sql) =>
      rowsAreTaken(organization).pipe(
        Effect.provideService(SqlClient.SqlClient, sql),
        Effect.andThen(Effect.provideService(body, TestApp, app)),
        Effect.scoped
      )
    ))

/** Are the rows of an organization other ones than before? */
export const touched = (organization: string, before: ReadonlyArray<string>): Look =>
  Effect.map(footprintOf(organization), (now) => {
    const [changed] = [...now.filter((row) => !before.includes(row)), ...before.filter((row) => !now.includes(row))]
    return changed === undefined ? undefined : `rows of ${organization} were changed: ${changed}`
  })

/** Does an answer to a store name a record of another one? */
const namesOthers = (text: string, store: Store, other: Store) =>
  names(other).filter((name) => text.includes(other[name]) && other[name] !== store[name])
    .map((name) => `it reads the other's ${name}`)

/** Does a store read anything of another one? */
export const readsOf = (store: Store, other: Store): Look =>
  Effect.map(viewOf(store), (view) => namesOthers(JSON.stringify(view), store, other)[0])

/**
 * Opens two stores side by side and asks as the first one about everything, with every id of the second one in turn, while
 * somebody there is at all of its rows. Gives what one saw or touched of the other, which should be nothing, and the
 * stores.
 */
export const otherTenants = Effect.gen(function*() {
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
  const pried = yield* whileTaken("org_theirs", allOf(outsidersIds(ours, theirs)))
  const left = yield* allOf([touched("org_theirs", theirRows), otherFiles(ours, theirs, ourFiles)])
  return { leaks: [...failed, ...beside, ...pried, ...left], ours, theirs }
})

/**
 * Does a request of a store about records of its own go wrong, or name one of another store? They are made one after the
 * other.
 */
export const ownRequests = (store: Store, other: Store): ReadonlyArray<Look> => [
  ...writes.map((probe) =>
    Effect.map(send(filled(probe, store), store), (answer) => {
      if (answer.status >= 300) return recorded(probe, "with its own", answer)
      const [named] = namesOthers(JSON.stringify(answer.body), store, other)
      return named === undefined ? undefined : recorded(probe, named, answer)
    })
  ),
  Effect.map(
    send(filled(refusedAnyway, store), store),
    (sold) => sold.status === 409 ? undefined : recorded(refusedAnyway, "of something sold", sold)
  )
]

/** What goes wrong when a store makes every request about records of its own beside another one. */
export const ownAffairs = Effect.fnUntraced(function*(store: Store, other: Store) {
  const { organizationId = "" } = other.as
  const before = yield* footprintOf(organizationId)
  return yield* allOf([...ownRequests(store, other), touched(organizationId, before)])
})

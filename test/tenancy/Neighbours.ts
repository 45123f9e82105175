import { Effect } from "effect"
import { type Answer, api } from "../support/TestApp.ts"
import { footprintOf, journalAtRest } from "./Footprint.ts"
import { filled, namesIn, type Probe, reads, type RecordName, refusedAnyway, writes } from "./Probes.ts"
import { aStore, type Store } from "./Stores.ts"

/** Sends a request as the administrator of a store. */
export const send = ({ body, method, path }: Probe, { as }: Store) =>
  api(method, path, { as, ...(body === undefined ? {} : { body }) })

/** A request and its answer, in one line. */
export const told = ({ method, path }: Probe, about: string, { body, status }: Answer) =>
  `${method} ${path} ${about}: ${status} ${JSON.stringify(body)}`

/** An answer without any record and without any stock. */
export const isEmpty = (answer: Answer): boolean =>
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

const isSame = (one: unknown, other: unknown): boolean => JSON.stringify(one) === JSON.stringify(other)

/**
 * Opens two stores side by side and asks as the first one about everything, with every id of the second one in turn.
 * Gives what one saw or touched of the other, which should be nothing, and the second store.
 */
export const neighbours = Effect.gen(function*() {
  const leaks: Array<string> = []
  const ours = yield* aStore("org_ours")
  const before = yield* readBy(ours)
  leaks.push(...before.filter(({ status }) => status !== 200).map(({ path, status }) => `${path}: ${status}`))

  const theirs = yield* aStore("org_theirs")
  const beside = yield* readBy(ours)
  leaks.push(
    ...before.filter((one, at) => !isSame(one, beside[at])).map(({ path }) => `${path} reads otherwise beside it`)
  )
  const theirView = JSON.stringify(yield* readBy(theirs))
  leaks.push(
    ...names(ours).filter((name) => theirView.includes(ours[name]) && ours[name] !== theirs[name])
      .map((name) => `it reads our ${name}`)
  )

  const untouched = yield* footprintOf("org_theirs")
  for (const probe of [...reads, ...writes, refusedAnyway]) {
    for (const name of namesIn(probe, ours).filter((one) => ours[one] !== theirs[one])) {
      const answer = yield* send(filled(probe, { ...ours, [name]: theirs[name] }), ours)
      if (![404, 422].includes(answer.status) && !isEmpty(answer)) leaks.push(told(probe, `with their ${name}`, answer))
    }
  }
  if (!isSame(yield* footprintOf("org_theirs"), untouched)) leaks.push("its rows were changed")
  return { leaks, theirs }
})

/** What goes wrong when a store makes every request about records of its own. */
export const ownAffairs = Effect.fnUntraced(function*(store: Store) {
  const wrong: Array<string> = []
  for (const probe of writes) {
    const answer = yield* send(filled(probe, store), store)
    if (answer.status >= 300) wrong.push(told(probe, "with its own", answer))
  }
  const sold = yield* send(filled(refusedAnyway, store), store)
  if (sold.status !== 409) wrong.push(told(refusedAnyway, "of something sold", sold))
  return wrong
})

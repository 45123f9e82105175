import { Context, Effect, Layer, Option } from "effect"
import { CurrentActor, systemActor } from "../platform/access/Actor.ts"
import type { CustomerId, OrderId } from "../platform/ids/Id.ts"

/** A person whose data are exported or erased. */
export interface Person {
  readonly customerId: CustomerId
  /** Their login; null for a profile without one. */
  readonly userId: string | null
  readonly orderIds: ReadonlyArray<OrderId>
}

/** Rows of plugins as the API shows them, by kind of record: `reviews/customer_reviews`. */
export type PersonalRows = Readonly<Record<string, ReadonlyArray<Readonly<Record<string, unknown>>>>>

/** Rows about people that a plugin keeps. All functions act as the system; an erasure runs its functions in one transaction. */
export interface PersonalRecordsOf {
  /** The newest `limit` rows of each kind about the person. */
  readonly exported: (person: Person, limit: number) => Effect.Effect<PersonalRows, never, CurrentActor>
  /** Takes the turns of its tables. Runs before the transaction locks any row. */
  readonly takeTurns: Effect.Effect<void, never, CurrentActor>
  /** Erases the person, also from the change log. Returns how many rows it deleted or blanked, by kind of record. */
  readonly erase: (person: Person) => Effect.Effect<Readonly<Record<string, number>>, never, CurrentActor>
}

const emptyRecords = () => {
  const all: Array<PersonalRecordsOf> = []

  const asSystem = <A>(work: Effect.Effect<A, never, CurrentActor>) =>
    Effect.flatMap(
      CurrentActor,
      ({ organizationId }) => Effect.provideService(work, CurrentActor, systemActor(organizationId))
    )

  return {
    /** Adds the records of a plugin while the process starts. */
    register: (records: PersonalRecordsOf) => Effect.sync(() => void all.push(records)),
    takeTurns: asSystem(Effect.suspend(() => Effect.forEach(all, ({ takeTurns }) => takeTurns, { discard: true }))),
    exported: (person: Person, limit: number): Effect.Effect<PersonalRows, never, CurrentActor> =>
      asSystem(Effect.forEach(all, ({ exported }) => exported(person, limit))).pipe(
        Effect.map((rows) => Object.assign({}, ...rows))
      ),
    erase: (person: Person): Effect.Effect<Readonly<Record<string, number>>, never, CurrentActor> =>
      asSystem(Effect.forEach(all, ({ erase }) => erase(person))).pipe(
        Effect.map((counts) => Object.assign({}, ...counts))
      )
  }
}

/** Records of plugins that exports and erasures cover (`personal` of a table, docs/plugins.md). */
export class PersonalRecords extends Context.Service<PersonalRecords>()("stoa/domain/privacy/PersonalRecords", {
  make: Effect.sync(emptyRecords)
}) {
  static readonly layer = Layer.effect(PersonalRecords, PersonalRecords.make)
}

/** The records of this process; none if a repository is built alone, as in some tests. */
export const personalRecords: Effect.Effect<PersonalRecords["Service"]> = Effect.flatMap(
  Effect.serviceOption(PersonalRecords),
  Option.match({ onNone: () => PersonalRecords.make, onSome: Effect.succeed })
)

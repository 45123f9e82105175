import { Context, DateTime, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { type Actor, type CurrentActor, currentOrganization } from "../access/Actor.ts"
import { journalInsert } from "../events/JournalRepo.ts"
import { newId } from "../ids/Id.ts"
import type { Customer } from "./Customer.ts"

interface CustomerRow {
  readonly id: string
  readonly organization_id: string
  readonly user_id: string | null
  readonly email: string | null
  readonly name: string | null
  readonly group_ids: ReadonlyArray<string>
  readonly metadata: Customer["metadata"]
  readonly created_at: Date
  readonly updated_at: Date
}

const toCustomer = (row: CustomerRow): Customer => ({
  id: row.id,
  organizationId: row.organization_id,
  userId: row.user_id,
  email: row.email,
  name: row.name,
  groupIds: row.group_ids,
  metadata: row.metadata,
  createdAt: row.created_at,
  updatedAt: row.updated_at
})

/** A profile, and whether it was made just now. */
export interface Profile {
  readonly customer: Customer
  readonly made: boolean
}

/** All SQL of customer profiles. */
export class CustomerRepo extends Context.Service<CustomerRepo, {
  /**
   * The profile of a signed-in user, made on first use with the event `customers.create`; one statement, and one
   * profile however many requests come first. Null for anonymous visitors and API keys, who are nobody's customers.
   */
  readonly profileOf: (actor: Actor) => Effect.Effect<Customer | null>
  /** The same, and whether it is this request that made it. */
  readonly openProfile: (actor: Actor) => Effect.Effect<Profile | null>
  /** The profile that a signed-in user has already; null before its first use, and for whoever is nobody's customer. */
  readonly existingProfileOf: (actor: Actor) => Effect.Effect<Customer | null>
  /** A profile by its id; undefined when the organization has none such. */
  readonly find: (id: string) => Effect.Effect<Customer | undefined, never, CurrentActor>
  /** Groups a profile is in: they decide about prices and promotions. Empty for an unknown profile. */
  readonly groupsOf: (id: string) => Effect.Effect<ReadonlyArray<string>, never, CurrentActor>
}>()("stoa/domain/customers/CustomerRepo") {}

/** `CustomerRepo` over the database of the process. */
export const customerRepoLayer = Layer.effect(
  CustomerRepo,
  Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient

    const openProfile = Effect.fn("CustomerRepo.openProfile")(function*(actor: Actor) {
      if (actor.type !== "user" || actor.userId === null) return null
      const now = DateTime.toDateUtc(yield* DateTime.now)
      const profile: Customer = {
        id: newId(),
        organizationId: actor.organizationId,
        userId: actor.userId,
        email: actor.email,
        name: actor.name,
        groupIds: [],
        metadata: {},
        createdAt: now,
        updatedAt: now
      }
      const event = {
        type: "customers.create",
        entityType: "customer",
        entityId: profile.id,
        payload: profile
      } as const
      // Of two requests that both find nothing, one inserts; the other's insert waits, meets the row and only reads it
      // (the update changes nothing but makes the row visible to this statement).
      const rows = yield* sql<CustomerRow>`with found as (
          select * from customers where organization_id = ${actor.organizationId} and user_id = ${actor.userId}),
        made as (
          insert into customers as c (id, organization_id, user_id, email, name, created_at, updated_at)
          select ${profile.id}::uuid, ${actor.organizationId}, ${actor.userId}, ${actor.email}, ${actor.name},
            ${now}::timestamptz, ${now}::timestamptz
          where not exists (select 1 from found)
          on conflict (organization_id, user_id) do update set user_id = c.user_id
          returning *),
        fresh as (select 1 from made where id = ${profile.id}::uuid),
        event as (${journalInsert(sql, actor, [event], "fresh")})
        select * from found union all select * from made`
      return rows[0] === undefined ? null : { customer: toCustomer(rows[0]), made: rows[0].id === profile.id }
    }, Effect.orDie)

    const profileOf = (actor: Actor) => Effect.map(openProfile(actor), (profile) => profile?.customer ?? null)

    const existingProfileOf = Effect.fn("CustomerRepo.existingProfileOf")(function*(actor: Actor) {
      if (actor.type !== "user" || actor.userId === null) return null
      const rows = yield* sql<CustomerRow>`select * from customers
        where organization_id = ${actor.organizationId} and user_id = ${actor.userId}`
      return rows[0] === undefined ? null : toCustomer(rows[0])
    }, Effect.orDie)

    const find = Effect.fn("CustomerRepo.find")(function*(id: string) {
      const organization = yield* currentOrganization
      const rows = yield* sql<CustomerRow>`select * from customers
        where id = ${id}::uuid and organization_id = ${organization}`
      return rows[0] === undefined ? undefined : toCustomer(rows[0])
    }, Effect.orDie)

    const groupsOf = Effect.fn("CustomerRepo.groupsOf")(function*(id: string) {
      const organization = yield* currentOrganization
      const rows = yield* sql<Pick<CustomerRow, "group_ids">>`select group_ids from customers
        where id = ${id}::uuid and organization_id = ${organization}`
      return rows[0]?.group_ids ?? []
    }, Effect.orDie)

    return CustomerRepo.of({ profileOf, openProfile, existingProfileOf, find, groupsOf })
  })
)

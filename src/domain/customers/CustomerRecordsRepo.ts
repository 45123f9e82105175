import { Context, Effect, Layer } from "effect"
import { SqlClient, SqlError } from "effect/sql"
import { CurrentActor } from "../platform/access/Actor.ts"
import { changeLogInsert, deleteRecorded } from "../platform/events/ChangeLogRepo.ts"
import type { Change } from "../platform/events/Event.ts"
import { idempotencyRecord } from "../platform/idempotency/IdempotencyRecordRepo.ts"
import type { AddressId, CustomerId, InteractionId } from "../platform/ids/Id.ts"
import { ownPage } from "../platform/paging/OwnPageRepo.ts"
import type { PageRequest } from "../platform/paging/Paging.ts"
import { Table } from "../platform/records/Table.ts"
import { recordRepo } from "../platform/resources/RecordRepo.ts"
import { Address, CustomerNotFound, maxAddresses, TooManyAddresses } from "./Customer.ts"
import { Interaction } from "./Interaction.ts"

export const addresses = new Table("customer_addresses", Address)

const toChange = (
  type: Extract<Change["type"], `customers.${string}Address`>,
  payload: Address,
  before: Address | null
): Change => ({ type, entityType: "customer", entityId: payload.customerId, payload, before })

export class AddressRepo extends Context.Service<AddressRepo>()("stoa/domain/customers/AddressRepo", {
  make: Effect.map(SqlClient.SqlClient, (sql) => {
    const list = Effect.fn("AddressRepo.list")((customerId: CustomerId, page: PageRequest) =>
      Effect.orDie(ownPage(sql, addresses, "created_at, id", page, [sql`customer_id = ${customerId}::uuid`]))
    )

    /**
     * A default replaces the previous one. Adds for one customer run one after the other. 404 without the customer, 409
     * at `maxAddresses`.
     */
    const add = Effect.fn("AddressRepo.add")(
      function*(address: Address) {
        const actor = yield* CurrentActor
        const owner = yield* sql`select 1 from customers where id = ${address.customerId}::uuid
          and organization_id = ${actor.organizationId} and erased_at is null for update`
        if (owner.length === 0) return yield* new CustomerNotFound()
        const theirs = yield* sql`select 1 from customer_addresses
          where customer_id = ${address.customerId}::uuid and organization_id = ${actor.organizationId}`
        if (theirs.length >= maxAddresses) return yield* new TooManyAddresses()
        const replaced = address.isDefault
          ? yield* addresses.rows(sql)`update customer_addresses set is_default = false
            where customer_id = ${address.customerId}::uuid and type = ${address.type} and is_default
              and organization_id = ${actor.organizationId} returning ${sql.literal(addresses.columns())}`
          : []
        const changes = [
          ...replaced.map((one) => toChange("customers.changeAddress", one, { ...one, isDefault: true })),
          toChange("customers.addAddress", address, null)
        ]
        yield* sql`with event as (${changeLogInsert(sql, actor, changes)})${idempotencyRecord(sql, actor)}
          insert into customer_addresses (${sql.literal(addresses.names)}, organization_id)
          select added.*, ${actor.organizationId} from (${addresses.values(sql, [address])}) added`
      },
      sql.withTransaction,
      Effect.catchIf(SqlError.isSqlError, Effect.die)
    )

    const remove = Effect.fn("AddressRepo.remove")((customerId: CustomerId, id: AddressId) =>
      deleteRecorded(
        sql,
        addresses,
        id,
        (gone: Address) => toChange("customers.removeAddress", gone, gone),
        sql`customer_id = ${customerId}::uuid`
      ).pipe(Effect.map((gone) => gone !== undefined), Effect.orDie)
    )

    return { list, add, remove }
  })
}) {
  static readonly layer = Layer.effect(AddressRepo, AddressRepo.make)
}

export const interactions = new Table("customer_interactions", Interaction)

export class InteractionRepo extends Context.Service<InteractionRepo>()("stoa/domain/customers/InteractionRepo", {
  make: Effect.map(SqlClient.SqlClient, (sql) => {
    const records = recordRepo(sql, {
      table: interactions,
      order: "created_at desc, id desc",
      entityType: "customer",
      entityId: ({ customerId }) => customerId,
      changes: {
        create: "customers.addInteraction",
        update: "customers.changeInteraction",
        delete: "customers.removeInteraction"
      }
    }, Effect.die)
    const of = (customerId: CustomerId) => sql`customer_id = ${customerId}::uuid`

    const insert = Effect.fn("InteractionRepo.insert")(function*(i: Interaction) {
      const actor = yield* CurrentActor
      const added = { type: "customers.addInteraction", entityType: "customer", entityId: i.customerId } as const
      // The lock prevents a concurrent erasure of the customer.
      const rows = yield* sql`with owner as materialized (select id from customers where id = ${i.customerId}::uuid
          and organization_id = ${actor.organizationId} and erased_at is null for no key update),
        made as (insert into customer_interactions (${sql.literal(interactions.names)})
          ${interactions.values(sql, [i])} where exists (select 1 from owner) returning id),
        event as (${changeLogInsert(sql, actor, [{ ...added, payload: i, before: null }], "made")})${
        idempotencyRecord(sql, actor, "made")
      } select id from made`
      return rows.length === 1
    }, Effect.orDie)

    return {
      list: (customerId: CustomerId, page: PageRequest) => records.list(page, [of(customerId)]),
      insert,
      change: (customerId: CustomerId, id: InteractionId, rule: (before: Interaction) => Interaction) =>
        records.change(id, (before) => Effect.succeed(rule(before)), of(customerId)),
      remove: (customerId: CustomerId, id: InteractionId) => records.remove(id, of(customerId))
    }
  })
}) {
  static readonly layer = Layer.effect(InteractionRepo, InteractionRepo.make)
}

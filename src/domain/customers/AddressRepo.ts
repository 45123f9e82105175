import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { type Actor, CurrentActor } from "../access/Actor.ts"
import { changeLogInsert } from "../events/ChangeLogRepo.ts"
import type { Change } from "../events/Event.ts"
import { deleteRecorded } from "../events/RecordedDeletionRepo.ts"
import { idempotencyRecord } from "../idempotency/IdempotencyRecordRepo.ts"
import { ownPage } from "../paging/OwnPageRepo.ts"
import type { PageRequest } from "../paging/Paging.ts"
import { Table } from "../records/Table.ts"
import { Address, maxAddresses } from "./Address.ts"

export const addresses = new Table("customer_addresses", Address)

/** All SQL of addresses. The change log records them as changes of their customer. */
export class AddressRepo extends Context.Service<AddressRepo>()("stoa/domain/customers/AddressRepo", {
  make: Effect.map(SqlClient.SqlClient, (sql) => {
    /** A page of a customer's addresses, oldest first, in two statements. */
    const list = Effect.fn("AddressRepo.list")((customerId: string, page: PageRequest) =>
      Effect.orDie(ownPage(sql, addresses, "created_at, id", page, [sql`customer_id = ${customerId}::uuid`]))
    )

    /** Deletes an address of a customer; false when there is none. */
    const remove = Effect.fn("AddressRepo.remove")((customerId: string, id: string) =>
      deleteRecorded(
        sql,
        addresses,
        id,
        (gone: Address) => toChange("customers.removeAddress", gone, gone),
        sql`customer_id = ${customerId}::uuid`
      ).pipe(Effect.map((gone) => gone !== undefined), Effect.orDie)
    )

    return { list, add: adding(sql), remove }
  })
}) {
  static readonly layer = Layer.effect(AddressRepo, AddressRepo.make)
}

const toChange = (
  type: Extract<Change["type"], `customers.${string}Address`>,
  payload: Address,
  before: Address | null
): Change => ({ type, entityType: "customer", entityId: payload.customerId, payload, before })

/**
 * Adds an address; a default replaces the previous one. Concurrent adds for one customer wait for each other, so that
 * neither the limit nor the single default is violated.
 */
const adding = (sql: SqlClient.SqlClient) => {
  const clearDefault = Effect.fnUntraced(function*(actor: Actor, address: Address) {
    const rows = yield* addresses.rows(sql)`update customer_addresses set is_default = false
      where customer_id = ${address.customerId}::uuid and type = ${address.type} and is_default
        and organization_id = ${actor.organizationId} returning ${sql.literal(addresses.columns())}`
    const changes = rows.map((one) => toChange("customers.changeAddress", one, { ...one, isDefault: true }))
    if (changes.length > 0) yield* changeLogInsert(sql, actor, changes)
  })

  const insert = Effect.fnUntraced(function*(actor: Actor, a: Address) {
    yield* sql`with event as (${changeLogInsert(sql, actor, [toChange("customers.addAddress", a, null)])})${
      idempotencyRecord(sql, actor)
    }
      insert into customer_addresses (id, organization_id, customer_id, type, is_default, first_name, last_name, line1,
        line2, city, state, postal_code, country, phone)
      values (${a.id}::uuid, ${actor.organizationId}, ${a.customerId}::uuid, ${a.type}, ${a.isDefault}, ${a.firstName},
        ${a.lastName}, ${a.line1}, ${a.line2}, ${a.city}, ${a.state}, ${a.postalCode}, ${a.country}, ${a.phone})`
  })

  return Effect.fn("AddressRepo.add")(
    function*(address: Address) {
      const actor = yield* CurrentActor
      const owner = yield* sql`select 1 from customers where id = ${address.customerId}::uuid
      and organization_id = ${actor.organizationId} and erased_at is null for update`
      if (owner.length === 0) return "no such customer" as const
      const [counted] = yield* sql<{ readonly count: number }>`select count(*)::int as count from customer_addresses
      where customer_id = ${address.customerId}::uuid and organization_id = ${actor.organizationId}`
      if (counted === undefined || counted.count >= maxAddresses) return "too many" as const
      if (address.isDefault) yield* clearDefault(actor, address)
      yield* insert(actor, address)
      return "added" as const
    },
    sql.withTransaction,
    Effect.orDie
  )
}

import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { type Actor, CurrentActor, currentOrganization } from "../access/Actor.ts"
import { changeLogInsert } from "../events/ChangeLogRepo.ts"
import type { Change } from "../events/Event.ts"
import { idempotencyRecord } from "../idempotency/IdempotencyRecordRepo.ts"
import { offsetOf, type PageOf, type PageRequest } from "../paging/Paging.ts"
import { type Address, maxAddresses } from "./Address.ts"

interface AddressRow {
  readonly id: string
  readonly customer_id: string
  readonly type: Address["type"]
  readonly is_default: boolean
  readonly first_name: string
  readonly last_name: string
  readonly line1: string
  readonly line2: string | null
  readonly city: string
  readonly state: string | null
  readonly postal_code: string | null
  readonly country: string
  readonly phone: string | null
}

const toAddress = (row: AddressRow): Address => ({
  id: row.id,
  customerId: row.customer_id,
  type: row.type,
  isDefault: row.is_default,
  firstName: row.first_name,
  lastName: row.last_name,
  line1: row.line1,
  line2: row.line2,
  city: row.city,
  state: row.state,
  postalCode: row.postal_code,
  country: row.country,
  phone: row.phone
})

/** Result of adding an address. */
export type AddressAdded = "added" | "too many" | "no such customer"

/** All SQL of addresses. The change log records them as changes of their customer. */
export class AddressRepo extends Context.Service<AddressRepo, {
  /** A page of a customer's addresses, oldest first, in two statements. */
  readonly list: (customerId: string, page: PageRequest) => Effect.Effect<PageOf<Address>, never, CurrentActor>
  /**
   * Adds an address; a default replaces the previous one. Concurrent adds for one customer wait for each other, so that
   * neither the limit nor the single default is violated.
   */
  readonly add: (address: Address) => Effect.Effect<AddressAdded, never, CurrentActor>
  /** Deletes an address of a customer; false when there is none. */
  readonly remove: (customerId: string, id: string) => Effect.Effect<boolean, never, CurrentActor>
}>()("stoa/domain/customers/AddressRepo") {}

const toChange = (
  type: Extract<Change["type"], `customers.${string}Address`>,
  payload: Address,
  before: Address | null
): Change => ({ type, entityType: "customer", entityId: payload.customerId, payload, before })

const adding = (sql: SqlClient.SqlClient) => {
  const clearDefault = Effect.fnUntraced(function*(actor: Actor, address: Address) {
    const rows = yield* sql<AddressRow>`update customer_addresses set is_default = false
      where customer_id = ${address.customerId}::uuid and type = ${address.type} and is_default
        and organization_id = ${actor.organizationId} returning *`
    const changes = rows.map(toAddress).map((one) =>
      toChange("customers.changeAddress", one, { ...one, isDefault: true })
    )
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
      if (owner.length === 0) return "no such customer"
      const [counted] = yield* sql<{ readonly count: number }>`select count(*)::int as count from customer_addresses
      where customer_id = ${address.customerId}::uuid and organization_id = ${actor.organizationId}`
      if (counted === undefined || counted.count >= maxAddresses) return "too many"
      if (address.isDefault) yield* clearDefault(actor, address)
      yield* insert(actor, address)
      return "added"
    },
    sql.withTransaction,
    Effect.orDie
  )
}

/** `AddressRepo` over the database of the process. */
export const addressRepoLayer = Layer.effect(
  AddressRepo,
  Effect.map(SqlClient.SqlClient, (sql) => {
    const list = Effect.fn("AddressRepo.list")(function*(customerId: string, page: PageRequest) {
      const where = sql`customer_id = ${customerId}::uuid and organization_id = ${yield* currentOrganization}`
      const [rows, counted] = yield* Effect.all([
        sql<AddressRow>`select * from customer_addresses where ${where} order by created_at, id
          limit ${page.limit} offset ${offsetOf(page)}`,
        sql<{ readonly count: bigint }>`select count(*) as count from customer_addresses where ${where}`
      ], { concurrency: "unbounded" })
      return { ...page, items: rows.map(toAddress), total: Number(counted[0]?.count ?? 0) }
    }, Effect.orDie)

    const remove = Effect.fn("AddressRepo.remove")(
      function*(customerId: string, id: string) {
        const actor = yield* CurrentActor
        const rows = yield* sql<AddressRow>`delete from customer_addresses where id = ${id}::uuid
        and customer_id = ${customerId}::uuid and organization_id = ${actor.organizationId} returning *`
        if (rows[0] === undefined) return false
        const gone = toAddress(rows[0])
        yield* sql`with event as (${changeLogInsert(sql, actor, [toChange("customers.removeAddress", gone, gone)])})${
          idempotencyRecord(sql, actor)
        } select 1`
        return true
      },
      sql.withTransaction,
      Effect.orDie
    )

    return AddressRepo.of({ list, add: adding(sql), remove })
  })
)

import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { CurrentActor, currentOrganization } from "../access/Actor.ts"
import { Conflict } from "../errors/ApiErrors.ts"
import { changeLogRows } from "../events/ChangeLogRepo.ts"
import { newId } from "../ids/Id.ts"
import { offsetOf, type PageOf, type PageRequest } from "../paging/Paging.ts"
import { defaultWarehouse, type NewWarehouse, type Warehouse } from "./Warehouse.ts"

interface WarehouseRow {
  readonly id: string
  readonly organization_id: string
  readonly name: string
  readonly code: string
  readonly address: Warehouse["address"]
  readonly is_active: boolean
  readonly priority: number
  readonly metadata: Warehouse["metadata"]
}

const toWarehouse = (row: WarehouseRow): Warehouse => ({
  id: row.id,
  organizationId: row.organization_id,
  name: row.name,
  code: row.code,
  address: row.address,
  isActive: row.is_active,
  priority: row.priority,
  metadata: row.metadata
})

/** Warehouses of the organization. */
export class WarehouseRepo extends Context.Service<WarehouseRepo, {
  /** 409 if the code is in use. */
  readonly create: (warehouse: NewWarehouse) => Effect.Effect<Warehouse, Conflict, CurrentActor>
  /** By priority, inactive ones included. */
  readonly list: (page: PageRequest) => Effect.Effect<PageOf<Warehouse>, never, CurrentActor>
  /** Creates the default warehouse when there is none at all. Safe at any time and from several processes. */
  readonly ensureDefault: Effect.Effect<void, never, CurrentActor>
}>()("stoa/domain/inventory/WarehouseRepo") {
  static readonly layer = Layer.effect(WarehouseRepo, Effect.map(SqlClient.SqlClient, (sql) => make(sql)))
}

const made = {
  type: "warehouses.create",
  entityType: "warehouse",
  entityId: "x.id::text",
  payload: `jsonb_build_object('id', x.id, 'organizationId', x.organization_id, 'name', x.name, 'code', x.code,
    'address', x.address, 'isActive', x.is_active, 'priority', x.priority, 'metadata', x.metadata)`,
  from: "made x"
} as const

const make = (sql: SqlClient.SqlClient): WarehouseRepo["Service"] => {
  const create = Effect.fn("WarehouseRepo.create")(
    function*(warehouse: NewWarehouse) {
      const actor = yield* CurrentActor
      const { address = null, code, isActive = true, metadata = {}, name, priority = 0 } = warehouse
      const rows = yield* sql<WarehouseRow>`with made as (insert into warehouses
            (id, organization_id, name, code, address, is_active, priority, metadata)
          values (${newId()}::uuid, ${actor.organizationId}, ${name}, ${code},
            ${address === null ? null : JSON.stringify(address)}::jsonb, ${isActive}, ${priority},
            ${JSON.stringify(metadata)}::jsonb)
          on conflict (organization_id, code) do nothing returning *),
        entry as (${changeLogRows(sql, actor, made)})
        select * from made`
      const [row] = rows
      return row === undefined
        ? yield* Conflict.of(`A warehouse with code '${code}' exists already.`)
        : toWarehouse(row)
    },
    Effect.catchTag("SqlError", Effect.die)
  )
  const list = Effect.fn("WarehouseRepo.list")(function*(page: PageRequest) {
    const organization = yield* currentOrganization
    const counts = yield* sql<{ total: bigint }>`select count(*) as total from warehouses
      where organization_id = ${organization}`
    const rows = yield* sql<WarehouseRow>`select * from warehouses where organization_id = ${organization}
      order by priority, id limit ${page.limit} offset ${offsetOf(page)}`
    return { ...page, items: rows.map(toWarehouse), total: Number(counts[0]?.total ?? 0n) }
  }, Effect.orDie)
  const ensureDefault = Effect.gen(function*() {
    const actor = yield* CurrentActor
    yield* sql`with made as (insert into warehouses (id, organization_id, name, code)
        select ${newId()}::uuid, ${actor.organizationId}, ${defaultWarehouse.name}, ${defaultWarehouse.code}
        where not exists (select 1 from warehouses where organization_id = ${actor.organizationId})
        on conflict (organization_id, code) do nothing returning *)
      ${changeLogRows(sql, actor, made)}`
  }).pipe(Effect.orDie, Effect.withSpan("WarehouseRepo.ensureDefault"))
  return { create, list, ensureDefault }
}

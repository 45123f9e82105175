import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { CurrentActor } from "../access/Actor.ts"
import { Conflict } from "../errors/ApiErrors.ts"
import { changeLogRows } from "../events/ChangeLogRepo.ts"
import { newId } from "../ids/Id.ts"
import { ownPage } from "../paging/OwnPageRepo.ts"
import type { PageRequest } from "../paging/Paging.ts"
import { Table } from "../records/Table.ts"
import { defaultWarehouse, type NewWarehouse, Warehouse } from "./Warehouse.ts"

export const warehouses = new Table("warehouses", Warehouse)

/** Warehouses of the organization. */
export class WarehouseRepo extends Context.Service<WarehouseRepo>()("stoa/domain/inventory/WarehouseRepo", {
  make: Effect.map(SqlClient.SqlClient, (sql) => make(sql))
}) {
  static readonly layer = Layer.effect(WarehouseRepo, WarehouseRepo.make)
}

const made = {
  type: "warehouses.create",
  entityType: "warehouse",
  entityId: "x.id::text",
  payload: warehouses.json("x"),
  from: "made x"
} as const

const make = (sql: SqlClient.SqlClient) => {
  /** 409 if the code is in use. */
  const create = Effect.fn("WarehouseRepo.create")(
    function*(warehouse: NewWarehouse) {
      const actor = yield* CurrentActor
      const { address = null, code, isActive = true, metadata = {}, name, priority = 0 } = warehouse
      const rows = yield* warehouses.rows(sql)`with made as (insert into warehouses
            (id, organization_id, name, code, address, is_active, priority, metadata)
          values (${newId()}::uuid, ${actor.organizationId}, ${name}, ${code},
            ${address === null ? null : JSON.stringify(address)}::jsonb, ${isActive}, ${priority},
            ${JSON.stringify(metadata)}::jsonb)
          on conflict (organization_id, code) do nothing returning *),
        entry as (${changeLogRows(sql, actor, made)})
        select ${sql.literal(warehouses.columns())} from made`
      const [row] = rows
      return row ?? (yield* Conflict.of(`A warehouse with code '${code}' exists already.`))
    },
    Effect.catchTag("SqlError", Effect.die)
  )
  /** By priority, inactive ones included. */
  const list = Effect.fn("WarehouseRepo.list")((page: PageRequest) =>
    Effect.orDie(ownPage(sql, warehouses, "priority, id", page))
  )
  /** Creates the default warehouse when there is none at all. Safe at any time and from several processes. */
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

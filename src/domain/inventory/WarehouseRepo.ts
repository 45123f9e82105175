import { Context, Effect, Layer } from "effect"
import { SqlClient, type Statement } from "effect/sql"
import { CurrentActor, currentOrganization } from "../platform/access/Actor.ts"
import { conflict } from "../platform/errors/ErrorKinds.ts"
import { changeLogRows } from "../platform/events/ChangeLogRepo.ts"
import { newId } from "../platform/ids/Id.ts"
import { ownPage } from "../platform/paging/OwnPageRepo.ts"
import type { PageRequest } from "../platform/paging/Paging.ts"
import { Table } from "../platform/records/Table.ts"
import { withSent } from "../platform/resources/RecordService.ts"
import { defaultWarehouse, type NewWarehouse, Warehouse } from "./StockLevel.ts"

export const warehouses = new Table("warehouses", Warehouse)

export class WarehouseCodeTaken
  extends conflict("WarehouseCodeTaken", (code: string) => `A warehouse with code '${code}' exists already.`)
{}

export class WarehouseRepo extends Context.Service<WarehouseRepo>()("stoa/domain/inventory/WarehouseRepo", {
  make: Effect.map(SqlClient.SqlClient, (sql) => make(sql))
}) {
  static readonly layer = Layer.effect(WarehouseRepo, WarehouseRepo.make)
}

const defaults = { address: null, isActive: true, priority: 0, metadata: {} }

const make = (sql: SqlClient.SqlClient) => {
  const insert = Effect.fnUntraced(function*(sent: typeof NewWarehouse.Type, where: Statement.Fragment) {
    const actor = yield* CurrentActor
    const { code, name } = sent
    const record = withSent<typeof Warehouse.Type>({
      id: newId(),
      organizationId: actor.organizationId,
      code,
      name,
      ...defaults
    }, sent)
    const entry = changeLogRows(sql, actor, {
      type: "warehouses.create",
      entityType: "warehouse",
      entityId: "x.id::text",
      payload: warehouses.json("x"),
      from: "made x"
    })
    const rows = yield* sql`with made as (
        insert into warehouses (${sql.literal(warehouses.names)}) ${warehouses.values(sql, [record])} where ${where}
        on conflict (organization_id, code) do nothing returning *),
      entry as (${entry})
      select 1 from made`
    return rows.length === 0 ? undefined : record
  }, Effect.catchTag("SqlError", Effect.die))

  return {
    create: Effect.fn("WarehouseRepo.create")(function*(sent: typeof NewWarehouse.Type) {
      return (yield* insert(sent, sql`true`)) ?? (yield* new WarehouseCodeTaken(sent.code))
    }),
    list: Effect.fn("WarehouseRepo.list")((page: PageRequest) =>
      Effect.orDie(ownPage(sql, warehouses, "priority, id", page, [], "all"))
    ),
    ensureDefault: Effect.flatMap(currentOrganization, (organization) =>
      insert(
        defaultWarehouse,
        sql`not exists (select 1 from warehouses where organization_id = ${organization})`
      )).pipe(Effect.withSpan("WarehouseRepo.ensureDefault"))
  }
}

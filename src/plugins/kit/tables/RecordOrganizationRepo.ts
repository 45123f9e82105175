import { Effect, Schema } from "effect"
import { CurrentActor, systemActor } from "../../../domain/platform/access/Actor.ts"
import type { NotFound } from "../../../domain/platform/errors/ApiErrors.ts"
import { isUuid } from "../../../domain/platform/ids/Id.ts"
import type { PluginCall } from "../PluginCall.ts"
import type { PluginDatabase } from "./PluginDatabase.ts"
import { rowsOf } from "./StatementRepo.ts"
import { columnName, type Table } from "./Table.ts"
import { RowNotFound } from "./TableHandle.ts"

/** Runs work in the organization of a row. */
export type OfRecord = (table: Table, id: string) => <A, E, R>(
  work: (call: PluginCall) => Effect.Effect<A, E, R>
) => Effect.Effect<A, E | NotFound, R | CurrentActor>

const organizations = rowsOf(Schema.Struct({ organizationId: Schema.String }))

/** The organization that a row belongs to; 404 without the row. */
const organizationOf = Effect.fnUntraced(function*({ sql, table: own }: PluginDatabase, table: Table, id: string) {
  // Dies of a table that is not the plugin's.
  own(table)
  if (!isUuid(id)) return yield* new RowNotFound()
  const { name, parent } = table
  const owner = parent === undefined
    ? sql`from ${sql(name)} owner where owner.id = ${id}::uuid`
    : sql`from ${sql(name)} child join ${sql(parent.table.name)} owner
        on owner.id = child.${sql.literal(columnName(parent.column))} where child.id = ${id}::uuid`
  const [row] = yield* Effect.orDie(organizations(sql`select owner.organization_id as "organizationId" ${owner}`))
  return row === undefined ? yield* new RowNotFound() : row.organizationId
})

/** `ofRecord` of a plugin; `call` is one in the organization of the current actor. */
export const ofRecordWith =
  (db: PluginDatabase, call: Effect.Effect<PluginCall, never, CurrentActor>): OfRecord => (table, id) => (work) =>
    Effect.gen(function*() {
      const { ip, requestId, source, userAgent } = yield* CurrentActor
      const system = systemActor(yield* organizationOf(db, table, id))
      // The change log tells from which request the change came.
      const actor = { ...system, ip, requestId, source, userAgent }
      return yield* Effect.provideService(Effect.flatMap(call, work), CurrentActor, actor)
    })

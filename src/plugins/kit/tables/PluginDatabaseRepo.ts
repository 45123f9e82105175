import { Effect, Schema } from "effect"
import type { SqlClient } from "effect/sql"
import { CurrentActor } from "../../../domain/platform/access/Actor.ts"
import { recordChange } from "../../../domain/platform/events/ChangeLogRepo.ts"
import type { PluginType } from "../../../domain/platform/events/Event.ts"
import type { Keyring } from "../../../domain/webhooks/SecretEncryption.ts"
import type { PluginDatabase } from "./PluginDatabase.ts"
import { rowsOf } from "./StatementRepo.ts"
import type { Table } from "./Table.ts"
import { tableHandle } from "./TableHandleRepo.ts"
import { takeTurn } from "./TableTurnsRepo.ts"

interface Owner {
  readonly id: string
  readonly tables: ReadonlyArray<Table>
  readonly events: ReadonlyArray<string>
}

interface Process {
  readonly sql: SqlClient.SqlClient
  /** For secrets; a deployment without a key starts without a plugin that has some. */
  readonly keyring: Keyring | undefined
}

const counted = rowsOf(Schema.Struct({ period: Schema.String, value: Schema.Int }))

const notOwn = (plugin: string, table: string) =>
  new Error(`Plugin "${plugin}" asks for the table "${table}", which its schema does not list.`)

/** The database of one plugin over the database of the process. */
export const pluginDatabase = (
  { keyring, sql }: Process,
  { events, id, tables }: Owner
): PluginDatabase => {
  const lists = new Map(tables.map((table) => [table.name, table.lists]))
  const announced = new Set(events)
  const db: PluginDatabase = {
    plugin: id,
    table: (table) => {
      if (!lists.has(table.name)) throw notOwn(id, table.name)
      return tableHandle({ sql, plugin: id, keyring, lists: lists.get(table.name) }, table)
    },
    use: ({ on }) => on(db),
    transaction: <A, E, R>(work: Effect.Effect<A, E, R>) =>
      sql.withTransaction(Effect.mapError(work, (error) => ({ _tag: "Failed" as const, error }))).pipe(
        // The work's own failure comes out as it was; what the transaction itself fails with is a defect.
        Effect.catch((failure) => failure._tag === "Failed" ? Effect.fail(failure.error) : Effect.die(failure))
      ),
    announce: Effect.fn("PluginDatabase.announce")(function*(event, of) {
      if (!announced.has(event)) {
        return yield* Effect.die(new Error(`Plugin "${id}" does not list the event "${event}".`))
      }
      // Names of events are those of the manifest, which the types of the core cannot know.
      const changes = [of].flat().map((one) => ({
        ...one,
        type: event as PluginType,
        entityType: one.entityType as PluginType
      }))
      yield* Effect.orDie(recordChange(sql, ...changes))
    }),
    nextNumber: Effect.fn("PluginDatabase.nextNumber")(function*({ kind, period, scope }) {
      const { organizationId } = yield* CurrentActor
      // A process whose clock is behind counts on in the newer period: no number is given twice.
      const [row] = yield* Effect.orDie(counted(sql`insert into plugin_counters as c
          (organization_id, plugin, kind, scope, period, value)
        values (${organizationId}, ${id}, ${kind}, ${scope}, ${period}, 1)
        on conflict (organization_id, plugin, kind, scope) do update set
          period = greatest(c.period, excluded.period),
          value = case when excluded.period > c.period then 1 else c.value + 1 end
        returning period, value`))
      return row ?? (yield* Effect.die(new Error(`The counter "${kind}" gave no number.`)))
    }),
    turn: Effect.fn("PluginDatabase.turn")(function*(of) {
      const { organizationId } = yield* CurrentActor
      yield* Effect.orDie(takeTurn(sql, typeof of === "string" ? { name: `${id} ${of}` } : of, organizationId))
    }),
    sql
  }
  return db
}

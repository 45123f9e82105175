import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { CurrentActor } from "../access/Actor.ts"
import { journalInsert } from "../events/JournalRepo.ts"
import { newId } from "../ids/Id.ts"
import type { ExportFormat, Kind } from "./Kind.ts"

/** What the audit trail knows of exports. */
export class ExportNoteRepo extends Context.Service<ExportNoteRepo, {
  /** Notes that somebody begins to read everything of a kind. */
  readonly note: (kind: Kind, format: ExportFormat) => Effect.Effect<void, never, CurrentActor>
}>()("stoa/domain/import-export/ExportNoteRepo") {
  static readonly layer = Layer.effect(
    ExportNoteRepo,
    Effect.map(SqlClient.SqlClient, (sql) => ({
      note: Effect.fn("ExportNoteRepo.note")(function*(kind: Kind, format: ExportFormat) {
        const actor = yield* CurrentActor
        const id = newId()
        const payload = { id, organizationId: actor.organizationId, kind, format }
        const change = { type: "exports.create", entityType: "export", entityId: id, payload } as const
        yield* sql`with entry as (${journalInsert(sql, actor, [change])}) select 1`
      }, Effect.orDie)
    }))
  )
}

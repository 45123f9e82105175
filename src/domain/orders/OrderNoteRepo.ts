import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { CurrentActor, currentOrganization } from "../access/Actor.ts"
import { changeLogInsert } from "../events/ChangeLogRepo.ts"
import { idempotencyRecord } from "../idempotency/IdempotencyRecordRepo.ts"
import { offsetOf, type PageOf, type PageRequest } from "../paging/Paging.ts"
import type { NoteVisibility, OrderNote } from "./OrderNote.ts"

/** All SQL of notes. The change log records them as changes of their order. */
export class OrderNoteRepo extends Context.Service<OrderNoteRepo, {
  /** A page of an order's notes, oldest first, in two statements; optionally of one visibility. */
  readonly list: (
    orderId: string,
    visibility: NoteVisibility | undefined,
    page: PageRequest
  ) => Effect.Effect<PageOf<OrderNote>, never, CurrentActor>
  /** Returns false and writes nothing if the organization has no such order. */
  readonly insert: (note: OrderNote) => Effect.Effect<boolean, never, CurrentActor>
  /** False if the order has no such note. */
  readonly remove: (orderId: string, id: string) => Effect.Effect<boolean, never, CurrentActor>
}>()("stoa/domain/orders/OrderNoteRepo") {}

interface NoteRow {
  readonly id: string
  readonly organization_id: string
  readonly order_id: string
  readonly text: string
  readonly visibility: NoteVisibility
  readonly author_id: string | null
  readonly author_name: string
  readonly created_at: Date
}

const toNote = (row: NoteRow): OrderNote => ({
  id: row.id,
  organizationId: row.organization_id,
  orderId: row.order_id,
  text: row.text,
  visibility: row.visibility,
  authorId: row.author_id,
  authorName: row.author_name,
  createdAt: row.created_at
})

/** The change log records a note without its text, which stays deletable in the table. */
const toChange = (type: "orders.addNote" | "orders.removeNote", { text: _, ...note }: OrderNote) => ({
  type,
  entityType: "order" as const,
  entityId: note.orderId,
  payload: { note },
  ...(type === "orders.removeNote" ? { before: { note } } : {})
})

/** `OrderNoteRepo` over the database of the process. */
export const orderNoteRepoLayer = Layer.effect(
  OrderNoteRepo,
  Effect.map(SqlClient.SqlClient, (sql) => {
    const list = Effect.fn("OrderNoteRepo.list")(
      function*(orderId: string, visibility: NoteVisibility | undefined, page: PageRequest) {
        const where = sql`order_id = ${orderId}::uuid and organization_id = ${yield* currentOrganization}
          and (${visibility ?? null}::text is null or visibility = ${visibility ?? null})`
        const [rows, counted] = yield* Effect.all([
          sql<NoteRow>`select * from order_notes where ${where} order by created_at, id
            limit ${page.limit} offset ${offsetOf(page)}`,
          sql<{ readonly count: bigint }>`select count(*) as count from order_notes where ${where}`
        ], { concurrency: "unbounded" })
        return { ...page, items: rows.map(toNote), total: Number(counted[0]?.count ?? 0) }
      },
      Effect.orDie
    )

    const insert = Effect.fn("OrderNoteRepo.insert")(function*(note: OrderNote) {
      const actor = yield* CurrentActor
      // Lock the order so that an erasure of its person, which deletes the notes, cannot run at the same time.
      const rows = yield* sql`with noted as materialized (select id from orders where id = ${note.orderId}::uuid
          and organization_id = ${actor.organizationId} for no key update),
        made as (insert into order_notes (id, organization_id, order_id, text, visibility, author_id, author_name,
            created_at)
          select ${note.id}::uuid, ${actor.organizationId}, noted.id, ${note.text}, ${note.visibility},
            ${note.authorId}, ${note.authorName}, ${note.createdAt}::timestamptz from noted returning id),
        event as (${changeLogInsert(sql, actor, [toChange("orders.addNote", note)], "made")})${
        idempotencyRecord(sql, actor, "made")
      }
        select id from made`
      return rows.length === 1
    }, Effect.orDie)

    const remove = Effect.fn("OrderNoteRepo.remove")(
      function*(orderId: string, id: string) {
        const actor = yield* CurrentActor
        const [row] = yield* sql<NoteRow>`delete from order_notes where id = ${id}::uuid and order_id = ${orderId}::uuid
          and organization_id = ${actor.organizationId} returning *`
        if (row === undefined) return false
        yield* sql`with event as (${changeLogInsert(sql, actor, [toChange("orders.removeNote", toNote(row))])})${
          idempotencyRecord(sql, actor)
        } select 1`
        return true
      },
      sql.withTransaction,
      Effect.orDie
    )

    return OrderNoteRepo.of({ list, insert, remove })
  })
)

import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { type Actor, CurrentActor } from "../../access/Actor.ts"
import { journalRows } from "../../events/JournalRepo.ts"
import { categoryJson, treeLock } from "./CategoryRowsRepo.ts"

/** Where a category is to stand; `parentId` null makes it a root. */
export interface Place {
  readonly parentId: string | null
  readonly before: string | undefined
  readonly after: string | undefined
}

/** What became of a move. `NoSibling`: the one it was to stand beside is no child of that parent. */
export type Moved = "Moved" | "Missing" | "NoParent" | "Circle" | "NoSibling"

/** Moves of categories to a place among siblings, which are numbered anew from 0. */
export class CategoryMoveRepo extends Context.Service<CategoryMoveRepo, {
  /** `parentId` undefined keeps the parent. */
  readonly move: (
    id: string,
    place: Omit<Place, "parentId"> & { readonly parentId: string | null | undefined }
  ) => Effect.Effect<Moved, never, CurrentActor>
}>()("stoa/domain/catalog/categories/CategoryMoveRepo") {
  static readonly layer = Layer.effect(CategoryMoveRepo, Effect.map(SqlClient.SqlClient, (sql) => make(sql)))
}

/** The siblings in their new order; undefined where the one to stand beside is none of them. */
const placed = (siblings: ReadonlyArray<string>, id: string, { after, before }: Place) => {
  const others = siblings.filter((sibling) => sibling !== id)
  const beside = before ?? after
  if (beside === undefined) return [...others, id]
  const at = others.indexOf(beside)
  return at < 0 ? undefined : others.toSpliced(before === undefined ? at + 1 : at, 0, id)
}

const make = (sql: SqlClient.SqlClient): CategoryMoveRepo["Service"] => {
  interface Row {
    readonly id: string
    readonly parent_id: string | null
  }

  /** The parent and all above it; empty when the organization has no such category. */
  const lineage = (organization: string, id: string) =>
    sql<{ readonly id: string }>`with recursive line as (
        select id, parent_id from categories where id = ${id}::uuid and organization_id = ${organization}
        union select c.id, c.parent_id from categories c join line on c.id = line.parent_id
          and c.organization_id = ${organization})
      select id from line`

  const children = (organization: string, parentId: string | null) =>
    sql<Row>`select id, parent_id from categories where organization_id = ${organization}
      and ${parentId === null ? sql`parent_id is null` : sql`parent_id = ${parentId}::uuid`}
      order by sort_order, slug`

  const write = (actor: Actor, id: string, parentId: string | null, order: ReadonlyArray<string>) =>
    sql`with old as materialized (select * from categories
        where id = any(${order}::uuid[]) and organization_id = ${actor.organizationId} order by id for no key update),
      place as (select v::uuid as id, n::int4 - 1 as sort_order from unnest(${order}::text[]) with ordinality t(v, n)),
      written as (update categories c set sort_order = p.sort_order,
          parent_id = case when c.id = ${id}::uuid then ${parentId}::uuid else c.parent_id end
        from place p join old o on o.id = p.id
        where c.id = p.id and c.organization_id = ${actor.organizationId} returning c.*),
      entry as (${
      journalRows(sql, actor, {
        type: "categories.update",
        entityType: "category",
        entityId: "x.id::text",
        payload: categoryJson("x"),
        before: categoryJson("o"),
        from: "written x join old o on o.id = x.id"
      })
    })
      select 1 from written`

  const inTransaction = Effect.fnUntraced(function*(
    id: string,
    sent: Omit<Place, "parentId"> & { readonly parentId: string | null | undefined }
  ) {
    const actor = yield* CurrentActor
    const organization = actor.organizationId
    yield* treeLock(sql, organization)
    const [found] = yield* sql<Row>`select id, parent_id from categories
      where id = ${id}::uuid and organization_id = ${organization}`
    if (found === undefined) return "Missing" as const
    const parentId = sent.parentId === undefined ? found.parent_id : sent.parentId
    if (parentId !== null) {
      // The parent stays until the move is done; if it is being deleted, it is not found afterwards.
      yield* sql`select 1 from categories where id = ${parentId}::uuid and organization_id = ${organization} for key share`
      const above = yield* lineage(organization, parentId)
      if (above.length === 0) return "NoParent" as const
      if (above.some((one) => one.id === id)) return "Circle" as const
    }
    const siblings = (yield* children(organization, parentId)).map((row) => row.id)
    const order = placed(siblings, id, { ...sent, parentId })
    if (order === undefined) return "NoSibling" as const
    yield* write(actor, id, parentId, order)
    return "Moved" as const
  })

  const move: CategoryMoveRepo["Service"]["move"] = Effect.fn("CategoryMoveRepo.move")(
    (id, place) => sql.withTransaction(inTransaction(id, place)),
    Effect.orDie
  )

  return { move }
}

import { Context, Effect, Layer } from "effect"
import { SqlClient } from "effect/sql"
import { type Actor, CurrentActor } from "../../access/Actor.ts"
import { changeLogRows } from "../../events/ChangeLogRepo.ts"
import { ancestors, categories, treeLock } from "./CategoryRowsRepo.ts"
import type { CategoryMove } from "./CategoryTree.ts"

/** Moves categories among siblings and renumbers the siblings from 0. */
export class CategoryMoveRepo
  extends Context.Service<CategoryMoveRepo>()("stoa/domain/catalog/categories/CategoryMoveRepo", {
    make: Effect.map(SqlClient.SqlClient, (sql) => make(sql))
  })
{
  static readonly layer = Layer.effect(CategoryMoveRepo, CategoryMoveRepo.make)
}

/** The siblings in their new order; undefined when `before` or `after` is none of them. */
const reordered = (siblings: ReadonlyArray<string>, id: string, { after, before }: CategoryMove) => {
  const others = siblings.filter((sibling) => sibling !== id)
  const anchor = before ?? after
  if (anchor === undefined) return [...others, id]
  const at = others.indexOf(anchor)
  return at < 0 ? undefined : others.toSpliced(before === undefined ? at + 1 : at, 0, id)
}

const make = (sql: SqlClient.SqlClient) => {
  interface Row {
    readonly id: string
    readonly parent_id: string | null
  }

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
      changeLogRows(sql, actor, {
        type: "categories.update",
        entityType: "category",
        entityId: "x.id::text",
        payload: categories.json("x"),
        before: categories.json("o"),
        from: "written x join old o on o.id = x.id"
      })
    })
      select 1 from written`

  const inTransaction = Effect.fnUntraced(function*(id: string, request: CategoryMove) {
    const actor = yield* CurrentActor
    const organization = actor.organizationId
    yield* treeLock(sql, organization)
    const [current] = yield* sql<Row>`select id, parent_id from categories
      where id = ${id}::uuid and organization_id = ${organization}`
    if (current === undefined) return "Missing" as const
    const parentId = request.parentId === undefined ? current.parent_id : request.parentId
    if (parentId !== null) {
      // Waits for a concurrent deletion of the parent, which is then not found.
      yield* sql`select 1 from categories where id = ${parentId}::uuid and organization_id = ${organization} for key share`
      const above = yield* ancestors(sql, organization, parentId)
      if (above.length === 0) return "NoParent" as const
      if (above.some((one) => one.id === id)) return "Circle" as const
    }
    const siblings = (yield* children(organization, parentId)).map((row) => row.id)
    const order = reordered(siblings, id, request)
    if (order === undefined) return "NoSibling" as const
    yield* write(actor, id, parentId, order)
    return "Moved" as const
  })

  /** `NoSibling`: `before` or `after` is no child of that parent. */
  const move = Effect.fn("CategoryMoveRepo.move")(
    (id: string, request: CategoryMove) => sql.withTransaction(inTransaction(id, request)),
    Effect.orDie
  )

  return { move }
}

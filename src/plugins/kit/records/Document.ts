import { Effect, Schema } from "effect"
import type { CurrentActor } from "../../../domain/platform/access/Actor.ts"
import type { Conflict, NotFound, ValidationFailed } from "../../../domain/platform/errors/ApiErrors.ts"
import { about } from "../../../domain/platform/hints/Hints.ts"
import type { PageOf, PageRequest } from "../../../domain/platform/paging/Paging.ts"
import type { PluginDatabase, Usable } from "../tables/PluginDatabase.ts"
import type { Columns, ColumnsOf, NewRowOf, RowOf, Simplify, Table } from "../tables/Table.ts"
import type { OrderOf } from "../tables/TableHandle.ts"
import type { Where, Which } from "../tables/TableWhereRepo.ts"
import type { Numbers } from "./Numbers.ts"
import { type ParentColumn, referenceTo } from "./Parent.ts"
import type { RowCall } from "./ResourceOptions.ts"

/** A head with its lines, in the order in which they were given. */
export interface DocumentRow<H, L> {
  readonly head: RowOf<H>
  readonly lines: ReadonlyArray<RowOf<L>>
}

/** The same under names of an API: `{ po, items }`. */
export type WholeRow<H, L, Head extends string, Lines extends string> =
  & { readonly [K in Head]: RowOf<H> }
  & { readonly [K in Lines]: ReadonlyArray<RowOf<L>> }

/** Records of a head and lines on a database. */
export interface DocumentRows<H, L, Parent extends string, Numbered extends string> {
  /** Writes head and lines, and takes the number, in one transaction and one statement for all lines. Errors as of `insert`. */
  readonly create: (
    head: Simplify<Omit<NewRowOf<H>, Numbered>>,
    lines: ReadonlyArray<Simplify<Omit<NewRowOf<L>, Parent>>>
  ) => Effect.Effect<DocumentRow<H, L>, Conflict | ValidationFailed, CurrentActor>
  /** 404. */
  readonly get: (which: Which<H>) => Effect.Effect<DocumentRow<H, L>, NotFound, CurrentActor>
  /** These heads with their lines, for the view of a list or a resource. */
  readonly of: (
    heads: ReadonlyArray<RowOf<H>>
  ) => Effect.Effect<ReadonlyArray<DocumentRow<H, L>>, never, CurrentActor>
  /** A page of documents with their lines, which one statement reads. */
  readonly page: (
    where: Where<H>,
    page: PageRequest,
    order?: OrderOf<H>
  ) => Effect.Effect<PageOf<DocumentRow<H, L>>, never, CurrentActor>
}

/** Records of a head and lines, such as orders to suppliers. */
export interface Documents<H, L, Parent extends string, Numbered extends string>
  extends Usable<DocumentRows<H, L, Parent, Numbered>>
{
  /** The `get` of a `resource` that answers with head and lines under these names. */
  readonly whole: <const Head extends string, const Lines extends string>(head: Head, lines: Lines) => {
    readonly success: Schema.Codec<WholeRow<H, L, Head, Lines>, unknown>
    readonly answer: (call: RowCall<H>) => Effect.Effect<WholeRow<H, L, Head, Lines>, NotFound, CurrentActor>
  }
}

/**
 * Records of a head and lines. `parent` is the column of the lines that names the head; a child table says it itself.
 * `number` names the column of the head that gets the next number: `{ poNumber: numbers({ kind: "PO" }) }`.
 */
export const document = <
  H extends Table<Columns, "organization">,
  L extends Table,
  const Parent extends keyof ColumnsOf<L> & string = ParentColumn<L> & keyof ColumnsOf<L> & string,
  const Numbered extends keyof ColumnsOf<H> & string = never
>({ head, lines, number, parent }: {
  readonly head: H
  readonly lines: L
  readonly parent?: Parent
  readonly number?: { readonly [K in Numbered]: Numbers<Omit<NewRowOf<H>, K>> }
}): Documents<H, L, Parent, Numbered> => {
  const key = referenceTo(lines, head, parent)
  const numbered: ReadonlyArray<readonly [string, Numbers<never>]> = Object.entries(number ?? {})

  const linesOf = Effect.fnUntraced(function*(db: PluginDatabase, heads: ReadonlyArray<RowOf<H>>) {
    const ids = heads.map(({ id }) => id)
    const where = { [key]: { in: ids } } as Where<L>
    const found = ids.length === 0 ? [] : yield* db.table(lines).list(where, {
      order: ["createdAt"]
    })
    const byHead = Map.groupBy(found, (line): unknown => Reflect.get(Object(line), key))
    return heads.map((one): DocumentRow<H, L> => ({ head: one, lines: byHead.get(one.id) ?? [] }))
  })

  const get = Effect.fn("Documents.get")(function*(db: PluginDatabase, which: Which<H>) {
    const found = yield* db.table(head).get(which)
    const [whole] = yield* linesOf(db, [found])
    return whole ?? { head: found, lines: [] }
  })

  return {
    whole: <Head extends string, Lines extends string>(one: Head, many: Lines) => ({
      // The types of a computed name are those of any text.
      success: Schema.Struct({
        [one]: head.Row.pipe(about("Head of the document.")),
        [many]: Schema.Array(lines.Row).pipe(about("Lines of the document."))
      }) as Schema.Codec<
        unknown,
        unknown
      > as Schema.Codec<WholeRow<H, L, Head, Lines>, unknown>,
      answer: ({ db, which }) =>
        Effect.map(
          get(db, which),
          (found) => ({ [one]: found.head, [many]: found.lines }) as WholeRow<H, L, Head, Lines>
        )
    }),
    on: (db) => ({
      create: (given, rows) =>
        db.transaction(Effect.gen(function*() {
          const taken: Record<string, string> = {}
          for (const [column, source] of numbered) taken[column] = yield* db.use(source).next(given as never)
          // What is left out of a new row is added here.
          const made = yield* db.table(head).insert({ ...given, ...taken } as NewRowOf<H>)
          const all = rows.map((row) => ({ ...row, [key]: made.id }) as NewRowOf<L>)
          return { head: made, lines: yield* db.table(lines).insertMany(all) }
        })),
      get: (which) => get(db, which),
      of: (heads) => linesOf(db, heads),
      page: Effect.fn("Documents.page")(function*(where, page, order) {
        const found = yield* db.table(head).page(where, page, order)
        return { ...found, items: yield* linesOf(db, found.items) }
      })
    })
  }
}

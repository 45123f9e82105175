import { Context, Effect, Layer, Schema } from "effect"
import { SqlClient, SqlError } from "effect/sql"
import { currentOrganization } from "../platform/access/Actor.ts"
import { EntityId } from "../platform/ids/Id.ts"
import { decoding } from "../platform/records/Rows.ts"
import type { SearchAddition, SearchFields } from "./SearchFields.ts"

export type WhichDocuments =
  | { readonly ids: ReadonlyArray<EntityId> }
  | { readonly after: EntityId | null; readonly limit: number }

const Row = Schema.Struct({ id: EntityId })
const Organization = Schema.Struct({ id: Schema.String })

const organizationsAtOnce = 1_000

export class SearchAdditionRepo extends Context.Service<SearchAdditionRepo>()("stoa/domain/search/SearchAdditionRepo", {
  make: Effect.gen(function*() {
    const sql = yield* SqlClient.SqlClient

    const locked = Effect.fnUntraced(function*(which: WhichDocuments) {
      const organization = yield* currentOrganization
      const rows = yield* decoding(sql, Row)`select entity_id as id from search_documents
        where organization_id = ${organization} and ${
        "ids" in which
          ? sql`entity_id = any(${which.ids}::uuid[])`
          : sql`(${which.after}::uuid is null or entity_id > ${which.after}::uuid)`
      } order by entity_id limit ${"ids" in which ? which.ids.length : which.limit} for update`
      return rows.map(({ id }) => id)
    })

    const store = (additions: ReadonlyArray<SearchAddition>) =>
      sql`with given as materialized (
          select id, nullif(attributes, '{}') as attributes, nullif(numbers, '{}') as numbers,
            strip(to_tsvector('simple', nullif(search_normalize(words), ''))) as words
          from jsonb_to_recordset(${JSON.stringify(additions)}::jsonb)
            as g(id uuid, attributes jsonb, numbers jsonb, words text)),
        stored as (update search_documents d
          set added_attributes = g.attributes, added_words = g.words, sort_values = g.numbers
          from given g where d.entity_id = g.id
            and (d.added_attributes, d.added_words, d.sort_values) is distinct from (g.attributes, g.words, g.numbers)
          returning d.organization_id, d.added_words)
        insert into search_vocabulary (organization_id, word, is_name)
        select distinct s.organization_id, w.word, false from stored s, unnest(tsvector_to_array(s.added_words)) w(word)
        where char_length(w.word) between 3 and 8 and not exists (select 1 from search_vocabulary v
          where v.organization_id = s.organization_id and v.word = w.word)`

    /**
     * During a rolling update processes with other fields run as well; their values would lack the new ones. Runs while
     * the documents are locked: the updates of a later start follow.
     */
    const requireLatest = Effect.fnUntraced(function*(declared: ReadonlyArray<object>) {
      const latest = yield* sql`select from search_fields where fields = ${JSON.stringify(declared)}::jsonb`
      if (latest.length === 0) {
        return yield* Effect.die(new Error("A process that started later adds other search fields."))
      }
    })

    return {
      /**
       * Locks documents, asks for additions, and stores them. Locking before reading keeps the last of two writers from
       * storing an older state. Dies where a process that started later has other fields.
       */
      update: Effect.fn("SearchAdditionRepo.update")(function*(
        which: WhichDocuments,
        { additionsOf, declared }: Pick<SearchFields["Service"], "additionsOf" | "declared">
      ) {
        return yield* sql.withTransaction(Effect.gen(function*() {
          const ids = yield* locked(which)
          if (ids.length === 0) return ids
          yield* requireLatest(declared())
          yield* store(yield* additionsOf(ids))
          yield* sql`select search_index(${ids}::uuid[])`
          return ids
        }))
      }, Effect.orDie),

      /**
       * Records the fields of a start. When they changed, calls `each` with all organizations that have documents, in
       * the same transaction; of two starts at once the second waits, and finds its fields.
       */
      declare: Effect.fn("SearchAdditionRepo.declare")(
        function*<E, R>(
          declared: ReadonlyArray<object>,
          each: (organizations: ReadonlyArray<string>) => Effect.Effect<unknown, E, R>
        ) {
          const fields = JSON.stringify(declared)
          const other = yield* sql`update search_fields set fields = ${fields}::jsonb where fields <> ${fields}::jsonb
            returning true`
          for (let after = "", more = other.length > 0; more;) {
            const page = yield* decoding(sql, Organization)`select id from organizations_read o where id > ${after}
              and exists (select from search_documents d where d.organization_id = o.id)
              order by id limit ${organizationsAtOnce}`
            yield* each(page.map(({ id }) => id))
            after = page.at(-1)?.id ?? after
            more = page.length === organizationsAtOnce
          }
        },
        sql.withTransaction,
        Effect.catchIf(SqlError.isSqlError, Effect.die)
      )
    }
  })
}) {
  static readonly layer = Layer.effect(SearchAdditionRepo, SearchAdditionRepo.make)
}
